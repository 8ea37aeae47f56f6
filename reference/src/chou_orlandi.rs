//! `chou-orlandi`: a batch of n transfers of 1 of 2 keys, and of messages, as in `docs/wire/chou-orlandi.md`, section 14.
//!
//! ```text
//!     sender                                           receiver (choice c)
//!  1  y ← bits, S = y·B
//!                       ── Share: E(S) ──→
//!  2                                                   x ← bits, 8R = c·8S + 8x·B
//!  3                    ←── Points: E(8R) ──
//!  4  T = y·S
//!  5  keys: hash of 8S, 64R, 64(y·R − j·T)          6  key: hash of 8S, 64R, 64x·S
//!  7  c₁ = M + α, c₂ = β·c₁, of (α, β) = key
//!                       ── Ciphertexts ──→
//!  8                                                   M = c₁ + α if c₂ = β·c₁
//! ```

use crate::curve25519::{Bytes, base, compress, decompress, times, times_8};
use crate::oracle::{Id, oracle};
use crate::ristretto::Element;
use crate::roted::Seed;
use crate::two_round::multiply;

/// A key of 256 bits.
pub type Key = Bytes;

/// Step 1: returns y and `Share`.
#[must_use]
pub fn sender_share(id: &Id, seed: &Seed) -> (Bytes, Bytes) {
    let y = bytes(&hash("sender coins", id, 0, 0, &[seed], 32));
    (y, compress(&times(&base(), &y)))
}

/// Steps 2, 3 and 6: returns the chosen keys and `Points`.
///
/// # Panics
///
/// If `share` is no encoding.
#[must_use]
pub fn receiver_choose(
    id: &Id,
    choices: &[bool],
    share: &Bytes,
    seed: &Seed,
) -> (Vec<Key>, Vec<u8>) {
    let s_8 = times_8(&decompress(share).expect("a point"));
    let (mut keys, mut points) = (vec![], vec![]);
    for (i, &c) in choices.iter().enumerate() {
        let x = bytes(&hash("receiver coins", id, i, 0, &[seed], 32));
        let x_b_8 = times_8(&times(&base(), &x));
        let r_8 = if c { x_b_8.plus(&s_8) } else { x_b_8 };
        points.extend(compress(&r_8));
        let shared = times_8(&times(&s_8, &x));
        keys.push(key(id, i, u8::from(c), &s_8, &times_8(&r_8), &shared));
    }
    (keys, points)
}

/// Steps 4 and 5: returns both keys of every instance.
///
/// # Panics
///
/// If `points` is no encoding.
#[must_use]
pub fn sender_finish(id: &Id, y: &Bytes, points: &[u8]) -> Vec<[Key; 2]> {
    let s_8 = times_8(&times(&base(), y));
    let t_64 = times_8(&times(&s_8, y));
    let pair = |(i, point): (usize, &[u8])| {
        let r_64 = times_8(&decompress(&bytes(point)).expect("a point"));
        let zero = times(&r_64, y);
        let one = zero.minus(&t_64);
        [key(id, i, 0, &s_8, &r_64, &zero), key(id, i, 1, &s_8, &r_64, &one)]
    };
    points.chunks(32).enumerate().map(pair).collect()
}

/// Step 7: returns `Ciphertexts`.
#[must_use]
pub fn encrypt(keys: &[[Key; 2]], messages: &[[[u8; 16]; 2]]) -> Vec<u8> {
    let pairs = keys.as_flattened().iter().zip(messages.as_flattened());
    pairs
        .flat_map(|(key, message)| {
            let (alpha, beta) = halves(key);
            let c_1 = u128::from_le_bytes(*message) ^ alpha;
            [c_1.to_le_bytes(), multiply(beta, c_1).to_le_bytes()].concat()
        })
        .collect()
}

/// Step 8: returns the chosen messages.
///
/// # Panics
///
/// If one does not decrypt.
#[must_use]
pub fn decrypt(keys: &[Key], choices: &[bool], ciphertexts: &[u8]) -> Vec<[u8; 16]> {
    let open = |((key, &c), pair): ((&Key, &bool), &[u8])| {
        let (alpha, beta) = halves(key);
        let (c_1, c_2) = halves(&bytes(&pair[32 * usize::from(c)..][..32]));
        assert_eq!(c_2, multiply(beta, c_1));
        (c_1 ^ alpha).to_le_bytes()
    };
    keys.iter().zip(choices).zip(ciphertexts.chunks(64)).map(open).collect()
}

fn halves(key: &Key) -> (u128, u128) {
    let (alpha, beta) = key.split_at(16);
    let half = |bytes: &[u8]| u128::from_le_bytes(bytes.try_into().expect("16 bytes"));
    (half(alpha), half(beta))
}

fn key(id: &Id, i: usize, j: u8, s_8: &Element, r_64: &Element, shared: &Element) -> Key {
    let fields = [s_8, r_64, shared].map(compress);
    bytes(&hash("output", id, i, j, &fields.each_ref().map(|field| &field[..]), 32))
}

fn hash(what: &str, id: &Id, i: usize, j: u8, fields: &[&[u8]], length: usize) -> Vec<u8> {
    oracle(&format!("foxtrot v1 chou-orlandi {what}"), id, i, j, fields, length)
}

fn bytes(slice: &[u8]) -> Bytes {
    slice.try_into().expect("32 bytes")
}
