//! Four vectors of nodes at a time, whose children are eight vectors.

use super::{Correction, ONE};
use crate::{
    Block,
    aes::{
        RoundKeys,
        vectors::{WIDE, encrypt, pairs, spread},
    },
    blocks::{Blocks, Cipher},
    joined,
};

/// Vectors of nodes at a time.
const NODES: usize = WIDE / 2;

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn next_level<C: Cipher>(
    c: C,
    keys: &RoundKeys,
    nodes: &mut [Block],
    correction: &Correction,
) -> [Block; 2] {
    let (keys, one) = (spread(c, keys), c.splat(&ONE));
    let correction = Spread::new(c, correction);
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
        let seeds = pairs(c, correction.apply(c, at / 16, parents), one);
        let children = c.xor_all(encrypt(c, &keys, seeds), seeds);
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

/// Corrects the nodes of a level, two or more.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn correct<C: Blocks>(c: C, nodes: &mut [Block], correction: &Correction) {
    let correction = Spread::new(c, correction);
    let mut wide = nodes.as_flattened_mut().chunks_exact_mut(NODES * C::BYTES);
    let mut first = 0;
    for bytes in &mut wide {
        c.store_all(correction.apply(c, first, c.load_all(bytes)), bytes);
        first += NODES * C::BLOCKS;
    }
    let rest = wide.into_remainder();
    if !rest.is_empty() {
        c.store_parts(correction.apply(c, first, c.load_parts(rest)), rest);
    }
}

/// A correction in all blocks.
struct Spread<V> {
    parent: V,
    /// Both blocks in turn.
    blocks: [V; 2],
    /// The parents of the first nodes.
    from_zero: [V; NODES],
}

impl<V: Copy> Spread<V> {
    #[inline(always)]
    fn new<C: Blocks<Vector = V>>(c: C, correction: &Correction) -> Self {
        let [even, odd] = correction.blocks;
        let blocks = [even, odd, even, odd, even, odd, even, odd];
        Self {
            parent: c.splat(&joined([correction.parent; 2]).to_le_bytes()),
            blocks: c.load_all(blocks.as_flattened()),
            from_zero: c.load_all(PARENTS.as_flattened()),
        }
    }

    /// Corrects nodes, the first of which has an even index.
    #[inline(always)]
    fn apply<C: Blocks<Vector = V>>(
        &self,
        c: C,
        first: usize,
        mut nodes: [V; NODES],
    ) -> [V; NODES] {
        let parent = c.splat(&joined([first as u64 >> 1; 2]).to_le_bytes());
        for (k, node) in nodes.iter_mut().enumerate() {
            let mask = c.equal(c.add(parent, self.from_zero[k]), self.parent);
            *node = c.xor(*node, c.and(mask, self.blocks[k % 2]));
        }
        nodes
    }
}

/// ⌊k/2⌋ in both halves of block k.
const PARENTS: [Block; 16] = {
    let mut parents = [[0; 16]; 16];
    let mut k = 0;
    while k < 16 {
        parents[k] = joined([k as u64 / 2; 2]).to_le_bytes();
        k += 1;
    }
    parents
};

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
