//! The MSB fix: from a random OT, of which P₀ is the sender, the parties have shares of w·p, w being 1 where the sum of
//! product and mask has left [0, p). Section 5 of `docs/protocols/triples.md`.
//!
//! With p so large that half of it has room for all products the sum leaves [0, p) exactly where r, P₁'s mask, is in the
//! upper half, m₁ = 1, and P₀'s d in the lower one, m₀ = 1.

#[cfg(test)]
mod tests;

use foxtrot_ot::{
    Bits, Usage,
    base::{Block, ReceiverKeys},
    expect_count,
};

use super::ring::{store, word};
use crate::params::Set;

/// P₁'s part of the random OTs of a batch: choices and the keys that they chose. It serves for one batch.
pub struct Chosen<'a> {
    /// γ.
    pub choices: &'a Bits,
    /// The keys; of each only the first ℓ bits are used.
    pub keys: &'a [Block],
}

/// Returns an error unless there are as many OTs as a batch of the set takes.
pub(super) fn check_ots(set: &Set, got: usize) -> Result<(), Usage> {
    expect_count("OTs of a batch", set.ots(), got)
}

impl<'a> From<&'a ReceiverKeys> for Chosen<'a> {
    fn from(keys: &'a ReceiverKeys) -> Self {
        Self { choices: keys.choices(), keys: keys.keys() }
    }
}

impl Chosen<'_> {
    pub(super) fn check(this: Option<&Self>, set: &Set) -> Result<(), Usage> {
        check_ots(set, this.map_or(0, |it| it.keys.len()))?;
        check_ots(set, this.map_or(0, |it| it.choices.len()))
    }
}

/// p modulo 2⁶⁴.
fn modulus(set: &Set) -> u64 {
    set.plain.iter().fold(1, |p, prime| p.wrapping_mul(*prime))
}

/// Step 4: r = r − k_γ, so that P₁'s share gets k_γ.
pub(super) fn take_keys(r: &mut [u64], keys: &[Block]) {
    for (r, key) in r.iter_mut().zip(keys) {
        *r = r.wrapping_sub(first_word(key));
    }
}

/// Step 5: d = d − k_x, and z = k_x + m₀·p − k_{1⊕x}. Where d is in the upper half `upper` is 1, else 0; `flips` are the bits x.
pub(super) fn correct(
    set: &Set,
    pairs: &[[Block; 2]],
    [upper, flips]: [&[u64]; 2],
    d: &mut [u64],
    z: &mut [u8],
) {
    let p = modulus(set);
    match set.width() {
        1 => correct_with::<1>(p, pairs, [upper, flips], d, z),
        2 => correct_with::<2>(p, pairs, [upper, flips], d, z),
        4 => correct_with::<4>(p, pairs, [upper, flips], d, z),
        _ => correct_with::<8>(p, pairs, [upper, flips], d, z),
    }
}

fn correct_with<const W: usize>(
    p: u64,
    pairs: &[[Block; 2]],
    [upper, flips]: [&[u64]; 2],
    d: &mut [u64],
    z: &mut [u8],
) {
    let outputs = d.iter_mut().zip(z.as_chunks_mut::<W>().0);
    for (((d, z), pair), (upper, flip)) in outputs.zip(pairs).zip(upper.iter().zip(flips)) {
        let [zero, one] = pair.each_ref().map(first_word);
        let both = zero ^ one;
        let key = zero ^ both & flip.wrapping_neg();
        let other = key ^ both;
        let wrapped = p & upper.wrapping_sub(1);
        store(z, key.wrapping_add(wrapped).wrapping_sub(other));
        *d = d.wrapping_sub(key);
    }
}

/// Step 6: c = c + z where m₁ is 1.
pub(super) fn add_where(width: usize, m1: &[u64], z: &[u8], c: &mut [u8]) {
    match width {
        1 => add_where_with::<1>(m1, z, c),
        2 => add_where_with::<2>(m1, z, c),
        4 => add_where_with::<4>(m1, z, c),
        _ => add_where_with::<8>(m1, z, c),
    }
}

fn add_where_with<const W: usize>(m1: &[u64], z: &[u8], c: &mut [u8]) {
    for ((c, z), m1) in c.as_chunks_mut::<W>().0.iter_mut().zip(z.as_chunks::<W>().0).zip(m1) {
        store(c, word(c).wrapping_add(word(z) & m1.wrapping_neg()));
    }
}

fn first_word(key: &Block) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&key[..8]);
    u64::from_le_bytes(bytes)
}

foxtrot_kernel::redacted! {
    Chosen<'_>, chosen => "<{} redacted>", chosen.keys.len();
}
