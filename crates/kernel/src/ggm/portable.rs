//! Batches of nodes through the crate's cipher.

use super::{
    ONE,
    correction::{Correction, Spread},
};
use crate::{
    Block,
    aes::portable::{Cipher, encrypt},
    backend::Scalar,
    erase,
};

/// Children that go through the cipher together.
const BATCH: usize = 64;

pub(super) fn next_level(
    pi: &Cipher,
    nodes: &mut [Block],
    kept: &Block,
    correction: Option<&Correction>,
) -> [Block; 2] {
    let (parents, step) = (nodes.len() / 2, BATCH / 2);
    let (mut seeds, mut children) = ([[0; 16]; BATCH], [[0; 16]; BATCH]);
    let mut sums = [0; 2];
    let correction = correction.map(inlined!(|correction| Spread::new(Scalar, correction)));
    // Backwards: children are written where parents have been read.
    for first in (0..parents).step_by(step).rev() {
        let count = step.min(parents - first);
        if let Some(correction) = &correction {
            correction.correct(Scalar, first, &mut nodes[first..first + count]);
        }
        let (seeds, children) = (&mut seeds[..2 * count], &mut children[..2 * count]);
        for (seeds, node) in seeds.as_chunks_mut().0.iter_mut().zip(&nodes[first..first + count]) {
            *seeds = [*node, xor(node, &ONE)];
        }
        children.copy_from_slice(seeds);
        encrypt(pi, children);
        let out = nodes[2 * first..].as_chunks_mut().0;
        for (out, (seeds, images)) in
            out.iter_mut().zip(seeds.as_chunks().0.iter().zip(children.as_chunks().0))
        {
            let pair: [&[Block; 2]; 2] = [seeds, images];
            *out = [0, 1].map(|k| and(&xor(&pair[0][k], &pair[1][k]), kept));
            sums[0] ^= u128::from_le_bytes(out[0]);
            sums[1] ^= u128::from_le_bytes(out[1]);
        }
    }
    erase(&mut seeds, [0; 16]);
    erase(&mut children, [0; 16]);
    sums.map(u128::to_le_bytes)
}

fn xor(a: &Block, b: &Block) -> Block {
    (u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b)).to_ne_bytes()
}

fn and(a: &Block, b: &Block) -> Block {
    (u128::from_ne_bytes(*a) & u128::from_ne_bytes(*b)).to_ne_bytes()
}
