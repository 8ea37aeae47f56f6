//! `masny-rindal`: a batch of n endemic oblivious transfers, as in `docs/wire/masny-rindal.md`, section 16.
//!
//! ```text
//!     receiver (choice c)                              sender
//!  1  b ← scalars, s_{1−c} from bits
//!  2  s_c = b·G − H_c(s_{1−c})
//!                       ── Blinded: s₀, s₁ ──→
//!  3                                                   a_j ← scalars, A_j = a_j·G
//!  4                    ←── Shares: A₀, A₁ ──          keys: hash of A_j, a_j·(s_j + H_j(s_{1−j}))
//!  5  key: hash of A_c, b·A_c
//! ```

use crate::oracle::{Id, ask, oracle, oracle32};
use crate::p256::Number;
use crate::ristretto::{Element, scalar};
use crate::roted::{Key, Seed};

/// Steps 1 and 2: returns b of every instance and `Blinded`.
#[must_use]
pub fn receiver_blind(id: &Id, choices: &[bool], seed: &Seed) -> (Vec<Number>, Vec<u8>) {
    let (mut scalars, mut blinded) = (vec![], vec![]);
    for (i, &c) in choices.iter().enumerate() {
        let b = scalar(&hash("receiver coins", id, i, 0, &[seed], 64));
        let other = Element::from_uniform(&hash("receiver coins", id, i, 1, &[seed], 64)).encode();
        let own = Element::generator().times(&b).minus(&h(id, i, u8::from(c), &other)).encode();
        blinded.extend(if c { [other, own] } else { [own, other] }.concat());
        scalars.push(b);
    }
    (scalars, blinded)
}

/// Steps 3 and 4: takes `Blinded`, returns both keys of every instance and `Shares`.
///
/// # Panics
///
/// If `blinded` is no encoding.
#[must_use]
pub fn sender_respond(id: &Id, blinded: &[u8], seed: &Seed) -> (Vec<[Key; 2]>, Vec<u8>) {
    let mut shares = vec![];
    let pair = |(i, phi): (usize, &[u8])| {
        [0, 1].map(|j: u8| {
            let part = |k: u8| &phi[32 * usize::from(k)..][..32];
            let a = scalar(&hash("sender coins", id, i, j, &[seed], 64));
            let share = Element::generator().times(&a).encode();
            let point =
                Element::decode(part(j)).expect("an element").plus(&h(id, i, j, part(1 - j)));
            shares.extend(share.clone());
            key(id, i, j, &share, &point.times(&a))
        })
    };
    let keys = blinded.chunks(64).enumerate().map(pair).collect();
    (keys, shares)
}

/// Step 5: takes `Shares`, returns the chosen keys.
///
/// # Panics
///
/// If `shares` is no encoding.
#[must_use]
pub fn receiver_finish(id: &Id, choices: &[bool], scalars: &[Number], shares: &[u8]) -> Vec<Key> {
    let key = |(i, (&c, pair)): (usize, (&bool, &[u8]))| {
        let share = &pair[32 * usize::from(c)..][..32];
        let shared = Element::decode(share).expect("an element").times(&scalars[i]);
        key(id, i, u8::from(c), share, &shared)
    };
    choices.iter().zip(shares.chunks(64)).enumerate().map(key).collect()
}

/// The oracle of `mcquoid-rosulek-roy` with this POPF.
fn h(id: &Id, i: usize, x: u8, s: &[u8]) -> Element {
    let key = oracle32("foxtrot v1 mcquoid-rosulek-roy masny-rindal H", id, 0, 0, &[]);
    Element::from_uniform(&ask(&key, s, i, x, 64))
}

fn key(id: &Id, i: usize, j: u8, share: &[u8], shared: &Element) -> Key {
    hash("output", id, i, j, &[share, &shared.encode()], 16).try_into().expect("16 bytes")
}

fn hash(what: &str, id: &Id, i: usize, j: u8, fields: &[&[u8]], length: usize) -> Vec<u8> {
    oracle(&format!("foxtrot v1 masny-rindal {what}"), id, i, j, fields, length)
}
