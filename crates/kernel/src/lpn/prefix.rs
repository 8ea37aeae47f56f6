//! The first accumulator, tree after tree.

use super::{Permutation, permutation::BUCKETS, prefetch};
use crate::{Backend, Block, blocks::Blocks, erase};

/// The sums of all leaves so far, of a batch whose trees come one after another.
///
/// Leaf i of the batch adds to a sum, and this sum goes to the place of entry i of a permutation, whatever tree the leaf is of.
pub struct Prefix {
    backend: Backend,
    /// The first leaf, and the number of the next one.
    first: usize,
    next: usize,
    sum: Block,
}

redacted! {
    Prefix;
}

impl Prefix {
    /// No leaves so far.
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        Self::from(backend, 0, [0; 16])
    }

    /// Begins with leaf `first`, the first of a [part](super::Buckets::part) of the permutation; `sum` is that of all leaves before.
    #[must_use]
    pub fn from(backend: Backend, first: usize, sum: Block) -> Self {
        Self { backend, first, next: first, sum }
    }

    /// Adds a tree's leaves, or some of them. The cells of `x` begin with that of the first leaf.
    ///
    /// # Panics
    /// If the permutation has fewer entries than there are leaves, or an entry is not a cell of `x`.
    pub fn add(&mut self, leaves: &[Block], permutation: Permutation<'_>, x: &mut [Block]) {
        assert!(
            leaves.len() <= permutation.n().saturating_sub(self.next),
            "an entry for every leaf"
        );
        let backend = self.backend;
        dispatch!(wide backend, simd => self.all(simd.single(), leaves, permutation, x));
    }

    /// Returns the sum of all leaves so far.
    #[must_use]
    pub fn sum(&self) -> u128 {
        u128::from_le_bytes(self.sum)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn all<S: Blocks>(
        &mut self,
        s: S,
        leaves: &[Block],
        permutation: Permutation<'_>,
        x: &mut [Block],
    ) {
        let (first, mut entries) = (self.first, permutation.entries(self.next));
        let ahead = self.next - first + permutation.n() / BUCKETS;
        let mut sum = s.splat(&self.sum);
        entries.for_each(
            leaves.len(),
            inlined!(|i, place| {
                prefetch(x, ahead + i);
                sum = s.xor(sum, s.splat(&leaves[i]));
                s.store(sum, &mut x[place - first]);
            }),
        );
        self.next += leaves.len();
        s.store(sum, &mut self.sum);
    }
}

impl Drop for Prefix {
    fn drop(&mut self) {
        erase(&mut self.sum, 0);
    }
}
