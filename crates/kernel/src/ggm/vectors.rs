//! Four vectors of nodes at a time, whose children are eight vectors.

use super::{
    ONE,
    correction::{Correction, NODES, Spread},
};
use crate::{
    Block,
    aes::{
        RoundKeys,
        vectors::{WIDE, encrypt, interleaved, pairs, spread},
    },
    blocks::{Cipher, Clmul},
};

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn next_level<C: Cipher + Clmul, const CORRELATED: bool>(
    c: C,
    keys: &RoundKeys,
    nodes: &mut [Block],
    kept: &Block,
    correction: Option<&Correction>,
) -> [Block; 2] {
    let correction = correction.map(inlined!(|correction| Spread::new(c, correction)));
    const { assert!(NODES == WIDE / 2, "two children each") };
    let (keys, one, kept) = (spread(c, keys), c.splat(&ONE), c.splat(kept));
    let mut sums = [c.zero(); 2];
    let bytes = nodes.as_flattened_mut();
    let (len, step) = (bytes.len() / 2, NODES * C::BYTES);
    // Backwards: children are written where parents have been read.
    for at in (0..len).step_by(step).rev() {
        let here = &mut bytes[at..];
        let parents = match here.get(..step) {
            Some(parents) if len >= step => c.load_all(parents),
            _ => c.load_parts(&here[..len]),
        };
        let parents = match &correction {
            Some(correction) => correction.apply(c, at / 16, parents),
            None => parents,
        };
        let mut children = if CORRELATED {
            let mut seeds = parents;
            for s in &mut seeds {
                *s = sigma(c, *s);
            }
            let images = c.xor_all(encrypt(c, &keys, seeds), seeds);
            interleaved(c, images, c.xor_all(images, parents))
        } else {
            let seeds = pairs(c, parents, one);
            c.xor_all(encrypt(c, &keys, seeds), seeds)
        };
        for child in &mut children {
            *child = c.and(*child, kept);
        }
        if len >= step {
            for pair in children.as_chunks().0 {
                sums = c.xor_all(sums, *pair);
            }
            c.store_all(children, &mut bytes[2 * at..]);
        } else {
            // What stands behind the last one is not a child.
            c.store_parts(children, &mut bytes[..2 * len]);
            let children: [C::Vector; WIDE] = c.load_parts(&bytes[..2 * len]);
            for pair in children.as_chunks().0 {
                sums = c.xor_all(sums, *pair);
            }
        }
    }
    even_and_odd(c, sums)
}

/// The sums of the even and the odd blocks of two vectors, one after the other.
#[inline(always)]
fn even_and_odd<C: Cipher>(c: C, sums: [C::Vector; 2]) -> [Block; 2] {
    let mut bytes = [0; 128];
    c.store_all(sums, &mut bytes);
    let mut out = [0; 2];
    for (k, block) in bytes.as_chunks().0[..2 * C::BLOCKS].iter().enumerate() {
        out[k % 2] ^= u128::from_le_bytes(*block);
    }
    out.map(u128::to_le_bytes)
}

/// σ of [`TreeKind::Correlated`](super::TreeKind::Correlated).
#[inline(always)]
fn sigma<C: Cipher + Clmul>(c: C, s: C::Vector) -> C::Vector {
    let high = c.splat(&(u128::MAX << 64).to_le_bytes());
    c.xor(c.swap(s), c.and(s, high))
}
