//! `csw`: a batch of n transfers with selective failure, as in `docs/wire/csw.md`, section 17.
//!
//! ```text
//!     receiver (choice c)                              sender
//!  1  seed ← bits, T = H₁(seed)
//!  2  α ← scalars, B = α·G + c·T
//!                       ── Points: seed, B ──→
//!  3                                                   r ← scalars, z = r·G; p_j = H₂(z, B, r·(B − j·T))
//!  4                                                   χ = H₃(p₀) ⊕ H₃(p₁), a = H₄(all H₃(p₀)), γ = H₅(a)
//!                       ←── Challenge: z, γ, χ ──
//!  5  p = H₂(z, B, α·z), a′ = H₄(all H₃(p) ⊕ c·χ)
//!     γ = H₅(a′)?
//!                       ── Response: a′ ──→         6  a′ = a?
//! ```

use crate::oracle::{Id, oracle};
use crate::p256::Number;
use crate::ristretto::{Element, scalar};
use crate::roted::{Key, Seed};
use crate::xor;

/// Steps 1 and 2: returns α of every instance and `Points`.
#[must_use]
pub fn receiver_points(id: &Id, choices: &[bool], seed: &Seed) -> (Vec<Number>, Vec<u8>) {
    let mut points = hash("receiver coins", id, 0, 1, &[seed], 32);
    let t = h_1(id, &points);
    let mut scalars = vec![];
    for (i, &c) in choices.iter().enumerate() {
        let alpha = scalar(&hash("receiver coins", id, i, 0, &[seed], 64));
        let point = Element::generator().times(&alpha);
        points.extend(if c { point.plus(&t) } else { point }.encode());
        scalars.push(alpha);
    }
    (scalars, points)
}

/// Steps 3 and 4: takes `Points`, returns both keys of every instance, the response to expect, and
/// `Challenge`.
///
/// # Panics
///
/// If `points` is no encoding.
#[must_use]
pub fn sender_challenge(id: &Id, points: &[u8], seed: &Seed) -> (Vec<[Key; 2]>, Vec<u8>, Vec<u8>) {
    let r = scalar(&hash("sender coins", id, 0, 0, &[seed], 64));
    let z = Element::generator().times(&r).encode();
    let t = h_1(id, &points[..32]);
    let (mut keys, mut of_zero, mut differences) = (vec![], vec![], vec![]);
    for (i, b) in points[32..].chunks(32).enumerate() {
        let point = Element::decode(b).expect("an element");
        let zero = h_2(id, i, 0, &z, b, &point.times(&r));
        let one = h_2(id, i, 1, &z, b, &point.minus(&t).times(&r));
        let (h_zero, h_one) = (h_3(id, i, 0, &zero), h_3(id, i, 1, &one));
        differences.extend(xor(&h_zero, &h_one));
        of_zero.extend(h_zero);
        keys.push([zero, one]);
    }
    let answer = h_4(id, &of_zero);
    let challenge = [z, h_5(id, &answer), differences].concat();
    (keys, answer, challenge)
}

/// Step 5: takes `Challenge`, returns the chosen keys and `Response`.
///
/// # Panics
///
/// If `challenge` is none for these points.
#[must_use]
pub fn receiver_respond(
    id: &Id,
    choices: &[bool],
    scalars: &[Number],
    points: &[u8],
    challenge: &[u8],
) -> (Vec<Key>, Vec<u8>) {
    let z = Element::decode(&challenge[..32]).expect("an element");
    let (mut keys, mut of_zero) = (vec![], vec![]);
    for (i, (&c, alpha)) in choices.iter().zip(scalars).enumerate() {
        let b = &points[32 + 32 * i..][..32];
        let key = h_2(id, i, u8::from(c), &challenge[..32], b, &z.times(alpha));
        let hash = h_3(id, i, u8::from(c), &key);
        of_zero.extend(if c { xor(&hash, &challenge[64 + 16 * i..][..16]) } else { hash });
        keys.push(key);
    }
    let answer = h_4(id, &of_zero);
    assert_eq!(h_5(id, &answer), challenge[32..64]);
    (keys, answer)
}

fn h_1(id: &Id, seed: &[u8]) -> Element {
    Element::from_uniform(&hash("H1", id, 0, 0, &[seed], 64))
}

fn h_2(id: &Id, i: usize, j: u8, z: &[u8], b: &[u8], shared: &Element) -> Key {
    hash("H2", id, i, j, &[z, b, &shared.encode()], 16).try_into().expect("16 bytes")
}

fn h_3(id: &Id, i: usize, j: u8, key: &Key) -> Vec<u8> {
    hash("H3", id, i, j, &[key], 16)
}

fn h_4(id: &Id, hashes: &[u8]) -> Vec<u8> {
    hash("H4", id, 0, 0, &[hashes], 32)
}

fn h_5(id: &Id, answer: &[u8]) -> Vec<u8> {
    hash("H5", id, 0, 0, &[answer], 32)
}

fn hash(what: &str, id: &Id, i: usize, j: u8, fields: &[&[u8]], length: usize) -> Vec<u8> {
    oracle(&format!("foxtrot v1 csw {what}"), id, i, j, fields, length)
}
