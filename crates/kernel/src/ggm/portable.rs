//! Batches of nodes through the crate's cipher.

use super::{
    ONE,
    correction::{Correction, Spread},
};
use crate::{
    Block,
    aes::portable::{Cipher, encrypt},
    backend::Scalar,
    blocks::{and, xor},
    erase,
};

/// Blocks that go through the cipher together.
const BATCH: usize = 64;

pub(super) fn next_level<const CORRELATED: bool>(
    pi: &Cipher,
    nodes: &mut [Block],
    kept: &Block,
    correction: Option<&Correction>,
) -> [Block; 2] {
    let of_node = if CORRELATED { 1 } else { 2 };
    let (parents, step) = (nodes.len() / 2, BATCH / of_node);
    let (mut seeds, mut images) = ([[0; 16]; BATCH], [[0; 16]; BATCH]);
    let mut sums = [0; 2];
    let correction = correction.map(inlined!(|correction| Spread::new(Scalar, correction)));
    // Backwards: children are written where parents have been read.
    for first in (0..parents).step_by(step).rev() {
        let count = step.min(parents - first);
        if let Some(correction) = &correction {
            correction.correct(Scalar, first, &mut nodes[first..first + count]);
        }
        let (seeds, images) = (&mut seeds[..of_node * count], &mut images[..of_node * count]);
        for (seeds, node) in seeds.chunks_mut(of_node).zip(&nodes[first..first + count]) {
            seeds[0] = if CORRELATED { sigma(node) } else { *node };
            seeds[1..].fill(xor(node, &ONE));
        }
        images.copy_from_slice(seeds);
        encrypt(pi, images);
        images.iter_mut().zip(&*seeds).for_each(|(image, seed)| *image = xor(image, seed));
        for (k, images) in images.chunks(of_node).enumerate().rev() {
            let odd = images.get(1).copied().unwrap_or_else(|| xor(&images[0], &nodes[first + k]));
            let children = [images[0], odd].map(|it| and(&it, kept));
            for (sum, child) in sums.iter_mut().zip(&children) {
                *sum ^= u128::from_le_bytes(*child);
            }
            nodes[2 * (first + k)..][..2].copy_from_slice(&children);
        }
    }
    erase(&mut seeds, [0; 16]);
    erase(&mut images, [0; 16]);
    sums.map(u128::to_le_bytes)
}

/// σ of [`TreeKind::Correlated`](super::TreeKind::Correlated).
fn sigma(s: &Block) -> Block {
    let s = u128::from_le_bytes(*s);
    (s.rotate_left(64) ^ s >> 64 << 64).to_le_bytes()
}
