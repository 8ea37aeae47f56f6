//! The first accumulator, tree after tree, and the sums by which two parties compare their leaves.

use super::{Permutation, permutation::BUCKETS, prefetch};
use crate::{
    Backend, Block,
    aes::Aes128,
    blocks::{Blocks, Clmul},
    erase,
    gf::{Element, gf128},
};

/// Leaves whose challenges have a factor in common.
const RUN: usize = 256;

/// The number from which on blocks are the other factors.
const WITHIN: u128 = 1 << 64;

/// The challenges of leaves, from one key: χ_i = E(⌊i / 256⌋)·E(2⁶⁴ + i mod 256) in GF(2¹²⁸), where E encrypts a number as a
/// little-endian block.
#[derive(Debug)]
pub struct Challenges {
    pi: Aes128,
    /// The factors that all runs have.
    within: [Block; RUN],
}

impl Challenges {
    /// The challenges of that key. They are public.
    #[must_use]
    pub fn new(backend: Backend, key: &Block) -> Self {
        let pi = Aes128::new(backend, key);
        let mut within = [[0; 16]; RUN];
        for (block, i) in within.iter_mut().zip(WITHIN..) {
            *block = i.to_le_bytes();
        }
        pi.encrypt(&mut within);
        Self { pi, within }
    }

    /// Returns χ of a leaf. Time does not depend on which it is.
    #[must_use]
    pub fn of(&self, leaf: u32) -> u128 {
        let i = u128::from(leaf);
        let mut factors = [i / RUN as u128, WITHIN + i % RUN as u128].map(u128::to_le_bytes);
        self.pi.encrypt(&mut factors);
        let [run, within] = factors.map(u128::from_le_bytes);
        erase(&mut factors, [0; 16]);
        gf128::mul(self.pi.backend(), run, within)
    }

    /// Returns the factor of a run.
    fn of_run(&self, run: usize) -> u128 {
        let mut block = [(run as u128).to_le_bytes()];
        self.pi.encrypt(&mut block);
        u128::from_le_bytes(block[0])
    }
}

/// The sums of all leaves so far, of a batch whose trees come one after another.
///
/// Leaf i of the batch adds to a sum, and this sum goes to the place of entry i of a permutation, whatever tree the leaf is of. With challenges,
/// leaves times these are added up also.
pub struct Prefix<'a> {
    backend: Backend,
    challenges: Option<&'a Challenges>,
    /// The first leaf, and the number of the next one.
    first: usize,
    next: usize,
    /// The sum of the leaves.
    sum: Block,
    /// The sum of leaves times challenges.
    check: u128,
}

redacted! {
    Prefix<'_>;
}

impl<'a> Prefix<'a> {
    /// No leaves so far.
    #[must_use]
    pub fn new(backend: Backend, challenges: Option<&'a Challenges>) -> Self {
        Self::from(backend, challenges, 0, [0; 16])
    }

    /// Begins with leaf `first`, the first of a [part](super::Buckets::part) of the permutation; `sum` is that of all leaves before.
    #[must_use]
    pub fn from(
        backend: Backend,
        challenges: Option<&'a Challenges>,
        first: usize,
        sum: Block,
    ) -> Self {
        Self { backend, challenges, first, next: first, sum, check: 0 }
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
        dispatch!(wide backend, simd => self.all(simd, simd.single(), leaves, permutation, x));
    }

    /// Returns Σ χ_i·leaf_i.
    #[must_use]
    pub fn check(&self) -> u128 {
        self.check
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn all<C: Clmul, S: Blocks>(
        &mut self,
        c: C,
        s: S,
        leaves: &[Block],
        permutation: Permutation<'_>,
        x: &mut [Block],
    ) {
        let (first, mut entries) = (self.first, permutation.entries(self.next));
        let mut ahead = self.next - first + permutation.n() / BUCKETS;
        let mut sum = s.splat(&self.sum);
        let mut rest = leaves;
        while !rest.is_empty() {
            let within = self.next % RUN;
            let (leaves, later) = rest.split_at(rest.len().min(RUN - within));
            rest = later;
            if let Some(challenges) = self.challenges {
                let chi = &challenges.within[within..][..leaves.len()];
                let sum = inner_product(c, leaves.as_flattened(), chi.as_flattened());
                let of_run = challenges.of_run(self.next / RUN);
                self.check ^= gf128::mul(self.backend, sum, of_run);
            }
            entries.for_each(
                leaves.len(),
                inlined!(|i, place| {
                    prefetch::<false, _>(x, ahead + i);
                    sum = s.xor(sum, s.splat(&leaves[i]));
                    s.store(sum, &mut x[place - first]);
                }),
            );
            self.next += leaves.len();
            ahead += leaves.len();
        }
        s.store(sum, &mut self.sum);
    }
}

/// Returns the sum of the products of blocks.
#[cfg_attr(not(unoptimized), inline(always))]
fn inner_product<C: Clmul>(c: C, a: &[u8], b: &[u8]) -> u128 {
    // By weight; the middle one lacks the two others (Karatsuba).
    let mut sums = [c.zero(); 3];
    let (wide_a, wide_b) = (a.chunks_exact(C::BYTES), b.chunks_exact(C::BYTES));
    let (rest_a, rest_b) = (wide_a.remainder(), wide_b.remainder());
    for (a, b) in wide_a.zip(wide_b) {
        add_product(c, c.load(a), c.load(b), &mut sums);
    }
    if !rest_a.is_empty() {
        add_product(c, c.load_part(rest_a), c.load_part(rest_b), &mut sums);
    }
    let [low, middle, high] = sums;
    let middle = c.xor3(low, middle, high);
    u128::reduce([c.sum(low), c.sum(middle), c.sum(high)])
}

#[inline(always)]
fn add_product<C: Clmul>(
    c: C,
    a: C::Vector,
    b: C::Vector,
    [low, middle, high]: &mut [C::Vector; 3],
) {
    *low = c.xor(*low, c.product::<0x00>(a, b));
    *high = c.xor(*high, c.product::<0x11>(a, b));
    let [a, b] = [c.xor(a, c.swap(a)), c.xor(b, c.swap(b))];
    *middle = c.xor(*middle, c.product::<0x00>(a, b));
}

impl Drop for Prefix<'_> {
    fn drop(&mut self) {
        erase(&mut self.sum, 0);
        erase(core::slice::from_mut(&mut self.check), 0);
    }
}
