//! `naor-pinkas`: a batch of n transfers, as in `docs/wire/naor-pinkas.md`, section 15.
//!
//! ```text
//!     sender                                           receiver (choice c)
//!  1  C from bits, r ← scalars, A = r·G
//!                       ── Setup: C, A ──→
//!  2                                                   k ← scalars, P_c = k·G
//!  3                    ←── PublicKeys: P₀ ──          P_{1−c} = C − P_c
//!  4  keys: hash of C, A, P₀, r·P_j                 5  key: hash of C, A, P₀, k·A
//! ```

use crate::oracle::{Id, oracle};
use crate::p256::Number;
use crate::ristretto::{Element, scalar};
use crate::roted::{Key, Seed};

/// Step 1: returns r and `Setup`.
#[must_use]
pub fn sender_setup(id: &Id, seed: &Seed) -> (Number, Vec<u8>) {
    let r = scalar(&hash("sender coins", id, 0, 0, &[seed], 64));
    let c = Element::from_uniform(&hash("sender coins", id, 0, 1, &[seed], 64));
    (r, [c.encode(), Element::generator().times(&r).encode()].concat())
}

/// Steps 2, 3 and 5: returns the chosen keys and `PublicKeys`.
#[must_use]
pub fn receiver_choose(
    id: &Id,
    choices: &[bool],
    setup: &[u8],
    seed: &Seed,
) -> (Vec<Key>, Vec<u8>) {
    let [c, a] = points(setup);
    let (mut keys, mut public_keys) = (vec![], vec![]);
    for (i, &choice) in choices.iter().enumerate() {
        let k = scalar(&hash("receiver coins", id, i, 0, &[seed], 64));
        let own = Element::generator().times(&k);
        let zero = if choice { c.minus(&own) } else { own }.encode();
        keys.push(key(id, i, u8::from(choice), setup, &zero, &a.times(&k)));
        public_keys.extend(zero);
    }
    (keys, public_keys)
}

/// Step 4: returns both keys of every instance.
///
/// # Panics
///
/// If `public_keys` is no encoding.
#[must_use]
pub fn sender_finish(id: &Id, r: &Number, setup: &[u8], public_keys: &[u8]) -> Vec<[Key; 2]> {
    let [c, _] = points(setup);
    let pair = |(i, zero): (usize, &[u8])| {
        let point = Element::decode(zero).expect("an element");
        let points = [point, c.minus(&point)];
        [0, 1].map(|j| key(id, i, j, setup, zero, &points[usize::from(j)].times(r)))
    };
    public_keys.chunks(32).enumerate().map(pair).collect()
}

fn points(setup: &[u8]) -> [Element; 2] {
    [&setup[..32], &setup[32..]].map(|bytes| Element::decode(bytes).expect("an element"))
}

fn key(id: &Id, i: usize, j: u8, setup: &[u8], zero: &[u8], shared: &Element) -> Key {
    let answer = hash("output", id, i, j, &[setup, zero, &shared.encode()], 16);
    answer.try_into().expect("16 bytes")
}

fn hash(what: &str, id: &Id, i: usize, j: u8, fields: &[&[u8]], length: usize) -> Vec<u8> {
    oracle(&format!("foxtrot v1 naor-pinkas {what}"), id, i, j, fields, length)
}
