//! `bdgm`: a batch of n chosen-message oblivious transfers from Module-LWE with a proof of timely
//! decryption, as in `docs/wire/rot-from-ot.md`, section 9.
//!
//! The points and what is computed from them are those of [`crate::roted`]: φ, the answer
//! (U, hints) to a point with its string sk, and recovering sk from it.
//!
//! ```text
//!     receiver (choice c)                              sender (messages M_0, M_1)
//!  1–3  φ from s_R, as in `roted`
//!  4                          ── Blinded: φ ──→
//!  5                                                   P^0, P^1
//!  6                                                   w ← bits; for both j
//!                                                      (answer^j, sk^j) to P^j with coins G(j, w)
//!                                                      x^j = w ⊕ mask(j, sk^j)
//!  7                     ←── Challenge: answer^j, x^j ──
//!  8  sk^c, w = x^c ⊕ mask(c, sk^c); is step 6 with this w the challenge?
//!  9                          ── Response: hash of all w ──→
//! 10                                                   is this the hash of all w?
//! 11                                                   (answer′^j, sk′^j) with fresh coins
//!                                                      C^j = M_j ⊕ message mask(j, sk′^j, …)
//!                       ←── Ciphertexts: answer′^j, C^j ──
//! 12  M_c = C^c ⊕ message mask(c, sk′^c, …)
//! ```

use crate::oracle::{Id, oracle, oracle32};
use crate::ring::Vector;
use crate::roted::{answer, blind, matrix, points, recover};
use crate::xor;

/// A message.
pub type Message = [u8; 16];

/// A party's only randomness for one batch.
pub type Seed = [u8; 32];

/// The receiver's state after `Blinded`.
#[derive(Debug)]
pub struct ReceiverState {
    id: Id,
    choices: Vec<bool>,
    secrets: Vec<Vector>,
    blinded: Vec<u8>,
    transcript: [u8; 32],
}

/// The sender's state between `Challenge` and `Response`.
#[derive(Debug)]
pub struct SenderState {
    response: Vec<u8>,
    ciphertexts: Vec<u8>,
}

/// Starts a batch; returns the state and `Blinded`.
#[must_use]
pub fn receiver_blind(id: &Id, choices: &[bool], seed: &Seed) -> (ReceiverState, Vec<u8>) {
    let a_matrix = matrix("bdgm", id);
    let (mut secrets, mut blinded) = (vec![], vec![]);
    for (i, &choice) in choices.iter().enumerate() {
        let (s_r, phi) = blind("bdgm", &a_matrix, id, i, u8::from(choice), seed);
        blinded.extend(phi);
        secrets.push(s_r);
    }
    let (choices, transcript) = (choices.to_vec(), [0; 32]);
    let state = ReceiverState { id: *id, choices, secrets, blinded: blinded.clone(), transcript };
    (state, blinded)
}

/// Takes `Blinded`; returns the state and `Challenge`.
///
/// # Panics
///
/// If `blinded` has another length than it should.
#[must_use]
pub fn sender_challenge(
    id: &Id,
    blinded: &[u8],
    messages: &[[Message; 2]],
    seed: &Seed,
) -> (SenderState, Vec<u8>) {
    assert_eq!(blinded.len(), 1296 * messages.len());
    let a_matrix = matrix("bdgm", id);
    let (mut answers, mut challenge, mut fresh) = (vec![], vec![], vec![]);
    for (i, phi) in blinded.chunks(1296).enumerate() {
        // Step 5.
        let points = points("bdgm", id, i, phi);
        // Step 6.
        let w = oracle("foxtrot v1 bdgm challenge seed", id, i, 0, &[seed], 32);
        challenge.extend(encrypt(&a_matrix, id, i, &points, &w));
        answers.extend(w);
        // Step 11, whose coins do not depend on the response.
        for j in [0, 1] {
            let coins = oracle("foxtrot v1 bdgm message coins", id, i, j, &[seed], 7 * 128);
            fresh.push(answer(&a_matrix, &points[usize::from(j)], coins));
        }
    }
    let transcript = transcript(id, blinded, &challenge);
    let mut ciphertexts = vec![];
    for (k, (message, (answered, sk))) in messages.as_flattened().iter().zip(fresh).enumerate() {
        let j = if k % 2 == 0 { 0 } else { 1 };
        let c = xor(message, &message_mask(id, k / 2, j, &sk, &transcript));
        ciphertexts.extend([answered, c].concat());
    }
    (SenderState { response: response(id, &answers), ciphertexts }, challenge)
}

/// Takes `Challenge`; returns the state and `Response`.
///
/// # Panics
///
/// If `challenge` has another length than it should, or is not what step 6 makes of its w.
#[must_use]
pub fn receiver_respond(state: ReceiverState, challenge: &[u8]) -> (ReceiverState, Vec<u8>) {
    let ReceiverState { id, choices, secrets, blinded, .. } = &state;
    assert_eq!(challenge.len(), 2240 * choices.len());
    let a_matrix = matrix("bdgm", id);
    let mut answers = vec![];
    for (i, (received, phi)) in challenge.chunks(2240).zip(blinded.chunks(1296)).enumerate() {
        // Step 8.
        let (answered, x) = received[1120 * usize::from(choices[i])..][..1120].split_at(1088);
        let sk = recover(&secrets[i], answered);
        let w = xor(x, &mask(id, i, u8::from(choices[i]), &sk));
        let expected = encrypt(&a_matrix, id, i, &points("bdgm", id, i, phi), &w);
        assert_eq!(received, expected, "not made as the protocol says");
        answers.extend(w);
    }
    // Step 9.
    let response = response(id, &answers);
    let transcript = transcript(id, blinded, challenge);
    (ReceiverState { transcript, ..state }, response)
}

/// Takes `Response`; returns `Ciphertexts`.
///
/// # Panics
///
/// If the response is not the expected one.
#[must_use]
pub fn sender_encrypt(state: SenderState, response: &[u8]) -> Vec<u8> {
    // Step 10.
    assert_eq!(state.response, response, "not the answer to the challenge");
    state.ciphertexts
}

/// Takes `Ciphertexts`; returns the chosen messages.
///
/// # Panics
///
/// If `ciphertexts` has another length than it should.
#[must_use]
pub fn receiver_decrypt(state: ReceiverState, ciphertexts: &[u8]) -> Vec<Message> {
    let ReceiverState { id, choices, secrets, transcript, .. } = state;
    assert_eq!(ciphertexts.len(), 2208 * choices.len());
    let open = |(i, pair): (usize, &[u8])| {
        // Step 12.
        let (answered, c) = pair[1104 * usize::from(choices[i])..][..1104].split_at(1088);
        let sk = recover(&secrets[i], answered);
        let mut message = [0; 16];
        let mask = message_mask(&id, i, u8::from(choices[i]), &sk, &transcript);
        message.copy_from_slice(&xor(c, &mask));
        message
    };
    ciphertexts.chunks(2208).enumerate().map(open).collect()
}

/// Step 6 for a given w.
fn encrypt(a_matrix: &[Vector; 3], id: &Id, i: usize, points: &[Vector; 2], w: &[u8]) -> Vec<u8> {
    let branch = |j: u8| {
        let coins = oracle("foxtrot v1 bdgm challenge coins", id, i, j, &[w], 7 * 128);
        let (answered, sk) = answer(a_matrix, &points[usize::from(j)], coins);
        [answered, xor(w, &mask(id, i, j, &sk))].concat()
    };
    [branch(0), branch(1)].concat()
}

fn mask(id: &Id, i: usize, j: u8, sk: &[u8]) -> Vec<u8> {
    oracle("foxtrot v1 bdgm challenge mask", id, i, j, &[sk], 32)
}

fn response(id: &Id, answers: &[u8]) -> Vec<u8> {
    oracle("foxtrot v1 bdgm response", id, 0, 0, &[answers], 32)
}

fn transcript(id: &Id, blinded: &[u8], challenge: &[u8]) -> [u8; 32] {
    oracle32("foxtrot v1 bdgm transcript", id, 0, 0, &[blinded, challenge])
}

fn message_mask(id: &Id, i: usize, j: u8, sk: &[u8], transcript: &[u8]) -> Vec<u8> {
    oracle("foxtrot v1 bdgm message mask", id, i, j, &[sk, transcript], 16)
}
