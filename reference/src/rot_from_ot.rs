//! `rot-from-ot`: random from chosen-message oblivious transfer, the paper's Figure 2, as in
//! `docs/wire/rot-from-ot.md`, section 9.
//!
//! ```text
//!     receiver                                         sender
//!  1  t ← bits,  b ← bits
//!  2                          ── Commitment: hash of t ──→
//!  3                      ←── any OT: b_i; m_{i,0}, m_{i,1} ──→
//!  4                         ←── Swap: c ← bits ──
//!  5                          ── Opening: t ──→
//!  6  b ⊕ c, m_b ⊕ share(i, b)
//!  7                                                   is t what was committed to?
//!  8                                                   m_j ⊕ share(i, j) at position j ⊕ c
//! ```
//!
//! The messages m are drawn here, the OT itself runs elsewhere.

use crate::oracle::{Id, oracle, sub_session_id};
use crate::{bits_from_bytes, bytes_from_bits, xor};

/// A message or key.
pub type Key = [u8; 16];

/// A party's only randomness for one batch.
pub type Seed = [u8; 32];

/// The receiver's state while the OT runs.
#[derive(Debug)]
pub struct ReceiverState {
    id: Id,
    t: Vec<u8>,
}

/// The sender's state while the OT runs.
#[derive(Debug)]
pub struct SenderState {
    id: Id,
    commitment: Vec<u8>,
    c: Vec<bool>,
}

/// Returns the id under which the OT of that name runs within the batch `id`.
#[must_use]
pub fn ot_id(id: &Id, ot: &str) -> Id {
    sub_session_id(id, 0, 0, ot)
}

/// Returns n pairs of messages that are drawn from the sender's seed; `id` is that of the OT.
#[must_use]
pub fn drawn_messages(id: &Id, n: usize, seed: &Seed) -> Vec<[Key; 2]> {
    let message = |i, j| key(&oracle("foxtrot v1 drawn messages", id, i, j, &[seed], 16));
    (0..n).map(|i| [message(i, 0), message(i, 1)]).collect()
}

/// Starts a batch of n; returns the state, `Commitment`, and the choices for the OT.
#[must_use]
pub fn receiver_commit(id: &Id, n: usize, seed: &Seed) -> (ReceiverState, Vec<u8>, Vec<bool>) {
    let context = "foxtrot v1 rot-from-ot receiver coins";
    let mut t = oracle(context, id, 0, 0, &[seed], 32 + n.div_ceil(8));
    let choices = bits_from_bytes(&t.split_off(32), n);
    let commitment = commitment(id, &t);
    (ReceiverState { id: *id, t }, commitment, choices)
}

/// Takes `Commitment`; returns the state and `Swap`, which is sent after the OT.
#[must_use]
pub fn sender_swap(id: &Id, n: usize, commitment: &[u8], seed: &Seed) -> (SenderState, Vec<u8>) {
    let context = "foxtrot v1 rot-from-ot sender coins";
    let c = bits_from_bytes(&oracle(context, id, 0, 0, &[seed], n.div_ceil(8)), n);
    let swap = bytes_from_bits(&c);
    (SenderState { id: *id, commitment: commitment.to_vec(), c }, swap)
}

/// Takes the OT's output and `Swap`; returns choices, keys and `Opening`.
#[must_use]
pub fn receiver_open(
    state: ReceiverState,
    choices: &[bool],
    received: &[Key],
    swap: &[u8],
) -> (Vec<bool>, Vec<Key>, Vec<u8>) {
    let ReceiverState { id, t } = state;
    let c = bits_from_bytes(swap, choices.len());
    let swapped = choices.iter().zip(&c).map(|(b, c)| b ^ c).collect();
    let keys = received.iter().zip(choices).enumerate();
    let keys = keys.map(|(i, (m, &b))| key(&xor(m, &share(&id, i, u8::from(b), &t)))).collect();
    (swapped, keys, t)
}

/// Takes `Opening`; returns both keys of every instance.
///
/// # Panics
///
/// If `opening` is not what `Commitment` committed to.
#[must_use]
pub fn sender_finish(state: SenderState, messages: &[[Key; 2]], opening: &[u8]) -> Vec<[Key; 2]> {
    let SenderState { id, commitment: committed, c } = state;
    assert_eq!(committed, commitment(&id, opening), "opening of another commitment");
    let pair = |(i, ([zero, one], c)): (usize, (&[Key; 2], bool))| {
        let mut pair = [
            key(&xor(zero, &share(&id, i, 0, opening))),
            key(&xor(one, &share(&id, i, 1, opening))),
        ];
        if c {
            pair.swap(0, 1);
        }
        pair
    };
    messages.iter().zip(c).enumerate().map(pair).collect()
}

fn commitment(id: &Id, t: &[u8]) -> Vec<u8> {
    oracle("foxtrot v1 rot-from-ot commitment", id, 0, 0, &[t], 32)
}

fn share(id: &Id, i: usize, j: u8, t: &[u8]) -> Vec<u8> {
    oracle("foxtrot v1 rot-from-ot share", id, i, j, &[t], 16)
}

fn key(bytes: &[u8]) -> Key {
    let mut key = [0; 16];
    key.copy_from_slice(bytes);
    key
}
