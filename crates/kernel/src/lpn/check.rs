//! The sums by which two parties compare their strings.

use super::CHUNK;
use crate::{
    Backend, Block,
    aes::Aes128,
    blocks::Clmul,
    erase,
    gf::{Element, gf128},
};

/// Cells whose challenges have a factor in common.
const RUN: usize = 256;
const _: () = assert!(RUN.is_multiple_of(CHUNK), "whole chunks");

/// The number from which on blocks are the other factors.
const WITHIN: u128 = 1 << 64;

/// The challenges of cells, from one key: χ_l = E(⌊l / 256⌋)·E(2⁶⁴ + l mod 256) in GF(2¹²⁸), where E encrypts a number as a
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
        for (block, l) in within.iter_mut().zip(WITHIN..) {
            *block = l.to_le_bytes();
        }
        pi.encrypt(&mut within);
        Self { pi, within }
    }

    /// Returns the factor of a run.
    fn of_run(&self, run: usize) -> u128 {
        let mut block = [(run as u128).to_le_bytes()];
        self.pi.encrypt(&mut block);
        u128::from_le_bytes(block[0])
    }
}

/// The sums that a layer makes of its cells before factors multiply them.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// χ.
    pub challenges: &'a Challenges,
    /// True if bit 0 of the cells has a sum also.
    pub bits: bool,
}

/// The sums of the cells so far.
pub(super) struct Sums<'a, C: Clmul> {
    check: Option<Check<'a>>,
    /// Products of the run, by weight.
    products: [C::Vector; 3],
    /// The sum of factors of cells whose bit 0 is 1.
    factors: C::Vector,
    /// The sums of the runs before.
    sums: [u128; 2],
}

impl<'a, C: Clmul> Sums<'a, C> {
    #[inline(always)]
    pub(super) fn new(c: C, check: Option<Check<'a>>) -> Self {
        Self { check, products: [c.zero(); 3], factors: c.zero(), sums: [0; 2] }
    }

    /// Adds cells that begin with number `first`: [`CHUNK`] of them, or the last ones.
    #[inline(always)]
    pub(super) fn add(&mut self, c: C, first: usize, cells: &[Block]) {
        let Some(chi) = self.challenges(first) else { return };
        let chi = chi[..cells.len()].as_flattened();
        let (wide, wide_chi) =
            (cells.as_flattened().chunks_exact(C::BYTES), chi.chunks_exact(C::BYTES));
        let (rest, rest_of_chi) = (wide.remainder(), wide_chi.remainder());
        for (cells, chi) in wide.zip(wide_chi) {
            self.add_vector(c, c.load(cells), c.load(chi));
        }
        if !rest.is_empty() {
            self.add_vector(c, c.load_part(rest), c.load_part(rest_of_chi));
        }
        self.end_chunk(c, first + cells.len());
    }

    /// The challenges within a run of the chunk that begins with number `first`; none if nothing is checked.
    #[inline(always)]
    pub(super) fn challenges(&self, first: usize) -> Option<&'a [Block; CHUNK]> {
        self.check.and_then(inlined!(|it| it.challenges.within[first % RUN..].first_chunk()))
    }

    /// Adds cells of a chunk, whose challenges these are.
    #[inline(always)]
    pub(super) fn add_vector(&mut self, c: C, cells: C::Vector, chi: C::Vector) {
        // The middle one lacks the two others (Karatsuba).
        let [low, middle, high] = &mut self.products;
        *low = c.xor(*low, c.product::<0x00>(cells, chi));
        *high = c.xor(*high, c.product::<0x11>(cells, chi));
        let [a, b] = [c.xor(cells, c.swap(cells)), c.xor(chi, c.swap(chi))];
        *middle = c.xor(*middle, c.product::<0x00>(a, b));
        if self.check.is_some_and(inlined!(|it| it.bits)) {
            let bit = c.and(cells, c.splat(&1u128.to_le_bytes()));
            let ones = c.splat(&(1u128 << 64 | 1).to_le_bytes());
            let mask = c.equal(c.xor(bit, c.swap(bit)), ones);
            self.factors = c.xor(self.factors, c.and(chi, mask));
        }
    }

    /// Takes note that all cells below number `end` have been added since the chunk's first one.
    #[inline(always)]
    pub(super) fn end_chunk(&mut self, c: C, end: usize) {
        if end.is_multiple_of(RUN) {
            self.end_run(c, end / RUN - 1);
        }
    }

    #[inline(always)]
    fn end_run(&mut self, c: C, run: usize) {
        let Some(Check { challenges, bits }) = self.check else { return };
        let [low, middle, high] = self.products;
        let middle = c.xor3(low, middle, high);
        let cells = u128::reduce([c.sum(low), c.sum(middle), c.sum(high)]);
        let (backend, of_run) = (challenges.pi.backend(), challenges.of_run(run));
        self.sums[0] ^= gf128::mul(backend, cells, of_run);
        if bits {
            self.sums[1] ^= gf128::mul(backend, c.sum(self.factors), of_run);
        }
        (self.products, self.factors) = ([c.zero(); 3], c.zero());
    }

    /// Returns Σ χ_l·(cell l) and Σ χ_l·(bit 0 of cell l) of all n cells; what is not wanted is 0.
    #[inline(always)]
    pub(super) fn finish(mut self, c: C, n: usize) -> [u128; 2] {
        if !n.is_multiple_of(RUN) {
            self.end_run(c, n / RUN);
        }
        let sums = self.sums;
        erase(&mut self.sums, 0);
        sums
    }
}
