//! `pvw`: a batch of n chosen-message oblivious transfers from DDH on P-256, as in `docs/wire/rot-from-ot.md`,
//! section 9.
//!
//! ```text
//!     receiver (choice b)                              sender (messages M_0, M_1)
//!  1  r ← scalars
//!  2  P = r·G_b,  Q = r·H_b
//!                       ── PublicKeys: P, Q ──→
//!  3                                                   s, t ← scalars, afresh for each j
//!                                                      U = s·G_j + t·H_j,  V = s·P + t·Q
//!  4                                                   C = M_j ⊕ mask(j, P, Q, U, V)
//!                       ←── Ciphertexts: U, C for both j ──
//!  5  M_b = C ⊕ mask(b, P, Q, U, r·U)
//! ```
//!
//! On branch b, V = s·r·G_b + t·r·H_b = r·U. On the other one (G, H) and (P, Q) have different
//! discrete logarithms, so that U and V are two independent combinations of s and t.

use crate::oracle::{Id, oracle};
use crate::p256::{Number, Point, scalar};
use crate::xor;

/// A message.
pub type Message = [u8; 16];

/// A party's only randomness for one batch.
pub type Seed = [u8; 32];

/// The receiver's state between `PublicKeys` and `Ciphertexts`.
#[derive(Debug)]
pub struct ReceiverState {
    id: Id,
    choices: Vec<bool>,
    scalars: Vec<Number>,
    public_keys: Vec<u8>,
}

/// Starts a batch; returns the state and `PublicKeys`.
#[must_use]
pub fn receiver_keys(id: &Id, choices: &[bool], seed: &Seed) -> (ReceiverState, Vec<u8>) {
    let crs = reference_string(id);
    let (mut scalars, mut public_keys) = (vec![], vec![]);
    for (i, &choice) in choices.iter().enumerate() {
        // Step 1.
        let r = scalar(&oracle("foxtrot v1 pvw receiver coins", id, i, 0, &[seed], 48));
        // Step 2.
        let [g, h] = crs[usize::from(choice)];
        public_keys.extend([g.times(&r).encode(), h.times(&r).encode()].concat());
        scalars.push(r);
    }
    let choices = choices.to_vec();
    (ReceiverState { id: *id, choices, scalars, public_keys: public_keys.clone() }, public_keys)
}

/// Takes `PublicKeys`; returns `Ciphertexts` of these messages.
///
/// # Panics
///
/// If `public_keys` is not an encoding of as many keys as there are pairs of messages.
#[must_use]
pub fn sender_encrypt(
    id: &Id,
    public_keys: &[u8],
    messages: &[[Message; 2]],
    seed: &Seed,
) -> Vec<u8> {
    assert_eq!(public_keys.len(), 66 * messages.len());
    let crs = reference_string(id);
    let mut ciphertexts = vec![];
    for (i, (key, pair)) in public_keys.chunks(66).zip(messages).enumerate() {
        let [p, q] = [&key[..33], &key[33..]].map(|bytes| Point::decode(bytes).expect("a point"));
        for (j, ([g, h], message)) in (0..).zip(crs.iter().zip(pair)) {
            // Step 3.
            let coins = oracle("foxtrot v1 pvw sender coins", id, i, j, &[seed], 96);
            let (s, t) = (scalar(&coins[..48]), scalar(&coins[48..]));
            let u = g.times(&s).plus(&h.times(&t)).encode();
            let v = p.times(&s).plus(&q.times(&t)).encode();
            // Step 4.
            let c = xor(message, &mask(id, i, j, key, &u, &v));
            ciphertexts.extend([u, c].concat());
        }
    }
    ciphertexts
}

/// Takes `Ciphertexts`; returns the chosen messages.
///
/// # Panics
///
/// If `ciphertexts` is not an encoding for as many instances as there are choices.
#[must_use]
pub fn receiver_decrypt(state: ReceiverState, ciphertexts: &[u8]) -> Vec<Message> {
    let ReceiverState { id, choices, scalars, public_keys } = state;
    assert_eq!(ciphertexts.len(), 98 * choices.len());
    let open = |i: usize| {
        // Step 5.
        let branch = 98 * i + 49 * usize::from(choices[i]);
        let (u, c) = ciphertexts[branch..branch + 49].split_at(33);
        let v = Point::decode(u).expect("a point").times(&scalars[i]).encode();
        let key = &public_keys[66 * i..66 * (i + 1)];
        let mut message = [0; 16];
        message.copy_from_slice(&xor(c, &mask(&id, i, u8::from(choices[i]), key, u, &v)));
        message
    };
    (0..choices.len()).map(open).collect()
}

/// Returns (G_0, H_0) and (G_1, H_1).
#[must_use]
pub fn reference_string(id: &Id) -> [[Point; 2]; 2] {
    [0, 2].map(|k| [hash_to_curve(id, k), hash_to_curve(id, k + 1)])
}

/// Returns the first point among the answers 0, 1, 2, …
fn hash_to_curve(id: &Id, k: u8) -> Point {
    let candidate = |attempt| {
        let mut bytes = oracle("foxtrot v1 pvw CRS", id, attempt, k, &[], 33);
        bytes[0] = 2 | bytes[0] & 1;
        Point::decode(&bytes)
    };
    (0..).find_map(candidate).expect("half of all candidates are points")
}

fn mask(id: &Id, i: usize, j: u8, key: &[u8], u: &[u8], v: &[u8]) -> Vec<u8> {
    oracle("foxtrot v1 pvw mask", id, i, j, &[key, u, v], 16)
}
