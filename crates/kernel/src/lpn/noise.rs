//! The receiver's other string, whose elements are sums of the noise: they are known by a mark of each.

use core::ops::Range;

use super::{Layer, Permutation, accumulate};
use crate::{Backend, Block, blocks::Blocks, joined};

/// Writes `mark` to the places of leaves, and with its lowest bit exchanged to those of leaf `alpha` and later ones. Leaf 0 is the first of
/// the batch. `marks` begins with place `first`.
///
/// Time does not depend on `alpha`.
///
/// # Panics
/// If the permutation has fewer entries than there are leaves, or `marks` lacks a place.
pub fn mark(
    backend: Backend,
    permutation: Permutation<'_>,
    leaves: Range<usize>,
    alpha: u32,
    mark: u16,
    (first, marks): (usize, &mut [u16]),
) {
    assert!(leaves.end <= permutation.n(), "an entry for every leaf");
    backend.run(inlined!(|| {
        let (from, alpha) = (leaves.start as u64, u64::from(alpha));
        permutation.entries(leaves.start).for_each(
            leaves.len(),
            inlined!(|i, place| {
                let below = (from + i as u64).wrapping_sub(alpha) >> 63;
                marks[place - first] = mark ^ 1 ^ below as u16;
            }),
        );
    }));
}

/// A string whose element is the sum of the noise up to a leaf.
#[derive(Clone, Copy)]
pub struct Noise<'a> {
    /// For every place the [`mark`] of its leaf: twice the number of its tree, and 1 more from the noise position on.
    pub marks: &'a [u16],
    /// For every tree, the sum of the noise of all trees before it, and its own.
    pub sums: &'a [[Block; 2]],
}

redacted! {
    Noise<'_>, noise => "{} trees", noise.sums.len();
}

/// [`accumulate`](super::accumulate) of noise.
///
/// # Panics
/// As the other does, or if a mark names no tree.
pub fn accumulate_noise(
    backend: Backend,
    layer: Layer<'_>,
    noise: Noise<'_>,
    to: &mut [Block],
) -> [u128; 2] {
    layer.check_cells([noise.marks.len(), to.len()]);
    dispatch!(wide backend, simd => accumulate::all(simd, simd.single(), layer, noise, to))
}

impl accumulate::Source for Noise<'_> {
    #[inline(always)]
    fn ask(&self, place: usize) {
        super::prefetch(self.marks, place + 32);
    }

    #[inline(always)]
    fn cell<S: Blocks>(&self, s: S, place: usize) -> S::Vector {
        let mark = self.marks[place];
        let [before, own] = &self.sums[usize::from(mark >> 1)];
        let mask = joined([u64::from(mark & 1).wrapping_neg(); 2]).to_le_bytes();
        s.xor(s.splat(before), s.and(s.splat(own), s.splat(&mask)))
    }
}
