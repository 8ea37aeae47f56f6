//! `mcquoid-rosulek-roy:feistel2:ristretto`: a batch of n endemic oblivious transfers, as in
//! `docs/wire.md`, section 12.
//!
//! ```text
//!     receiver (choice c)                              sender
//!  1                                                   a ← scalars, A = a·G, once for all
//!                       ←── KeyShare: A ──
//!  2  b ← scalars, B = b·G;  r ← bits
//!  3  T = B − H₁(c, r),  s = r ⊕ H′(c, T)
//!                       ── Blinded: T, s ──→
//!  4                                                   P^j = T + H₁(j, s ⊕ H′(j, T))
//!  5  key: hash of A, b·A                              keys: hash of A, a·P^j
//! ```
//!
//! The messages do not depend on each other.

use crate::oracle::{Id, ask, oracle, oracle32};
use crate::p256::Number;
use crate::ristretto::{Element, scalar};
use crate::roted::{Key, Seed};
use crate::xor;

/// What the sender keeps between its message and the receiver's.
#[derive(Debug)]
pub struct SenderState {
    id: Id,
    a: Number,
    share: Vec<u8>,
}

/// What the receiver keeps between its message and the sender's.
#[derive(Debug)]
pub struct ReceiverState {
    id: Id,
    choices: Vec<bool>,
    scalars: Vec<Number>,
}

/// Step 1: returns the state and `KeyShare`.
#[must_use]
pub fn sender_share(id: &Id, seed: &Seed) -> (SenderState, Vec<u8>) {
    let a = scalar(&hash("sender coins", id, 0, 0, &[seed], 64));
    let share = Element::generator().times(&a).encode();
    (SenderState { id: *id, a, share: share.clone() }, share)
}

/// Steps 2 and 3: returns the state and `Blinded`.
#[must_use]
pub fn receiver_blind(id: &Id, choices: &[bool], seed: &Seed) -> (ReceiverState, Vec<u8>) {
    let (mut scalars, mut blinded) = (vec![], vec![]);
    for (i, &choice) in choices.iter().enumerate() {
        let c = u8::from(choice);
        let b = scalar(&hash("receiver coins", id, i, 0, &[seed], 64));
        let r = hash("receiver coins", id, i, 1, &[seed], 48);
        let t = Element::generator().times(&b).minus(&h_1(id, i, c, &r)).encode();
        let s = xor(&r, &h_prime(id, i, c, &t));
        blinded.extend([t, s].concat());
        scalars.push(b);
    }
    (ReceiverState { id: *id, choices: choices.to_vec(), scalars }, blinded)
}

/// Steps 4 and 5: takes `Blinded`, returns both keys of every instance.
///
/// # Panics
///
/// If `blinded` is no encoding.
#[must_use]
pub fn sender_finish(state: &SenderState, blinded: &[u8]) -> Vec<[Key; 2]> {
    let SenderState { id, a, share } = state;
    let pair = |(i, phi): (usize, &[u8])| {
        let (t, s) = phi.split_at(32);
        [0, 1].map(|j| {
            let point = Element::decode(t).expect("an element");
            let point = point.plus(&h_1(id, i, j, &xor(s, &h_prime(id, i, j, t))));
            key(id, i, j, share, &point.times(a))
        })
    };
    blinded.chunks(80).enumerate().map(pair).collect()
}

/// Step 5: takes `KeyShare`, returns the chosen keys.
///
/// # Panics
///
/// If `share` is no encoding.
#[must_use]
pub fn receiver_finish(state: &ReceiverState, share: &[u8]) -> Vec<Key> {
    let a = Element::decode(share).expect("an element");
    let key = |(i, b): (usize, &Number)| {
        key(&state.id, i, u8::from(state.choices[i]), share, &a.times(b))
    };
    state.scalars.iter().enumerate().map(key).collect()
}

fn hash(what: &str, id: &Id, i: usize, j: u8, fields: &[&[u8]], length: usize) -> Vec<u8> {
    oracle(&format!("foxtrot v1 mcquoid-rosulek-roy {what}"), id, i, j, fields, length)
}

/// Returns an answer of a keyed oracle.
fn answer(what: &str, id: &Id, i: usize, j: u8, text: &[u8], length: usize) -> Vec<u8> {
    let key = oracle32(&format!("foxtrot v1 mcquoid-rosulek-roy {what}"), id, 0, 0, &[]);
    ask(&key, text, i, j, length)
}

fn h_1(id: &Id, i: usize, j: u8, r: &[u8]) -> Element {
    Element::from_uniform(&answer("H1", id, i, j, r, 64))
}

fn h_prime(id: &Id, i: usize, j: u8, t: &[u8]) -> Vec<u8> {
    let digest = answer("T", id, i, 0, t, 32);
    answer("H'", id, i, j, &digest, 48)
}

fn key(id: &Id, i: usize, j: u8, share: &[u8], shared: &Element) -> Key {
    hash("output", id, i, j, &[share, &shared.encode()], 16).try_into().expect("16 bytes")
}
