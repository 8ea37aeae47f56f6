//! Products and prefix sums, some cells at a time.

use super::{CHUNK, Factors, LINE, Layer, Next, check::Sums, prefetch};
use crate::{
    Block,
    aes::Aes128,
    blocks::{Blocks, Clmul},
    erase, halves,
};

use super::permutation::{BUCKETS, Entries, Places};

/// Cells to be added up, by their places.
pub(super) trait Source<S: Blocks> {
    /// Asks for the memory of a cell that comes soon after one.
    fn ask(&self, place: usize);
    /// A cell.
    fn cell(&self, s: S, place: usize) -> S::Vector;
}

impl<S: Blocks> Source<S> for &[Block] {
    #[inline(always)]
    fn ask(&self, place: usize) {
        prefetch::<false, _>(self, place + LINE);
    }

    #[inline(always)]
    fn cell(&self, s: S, place: usize) -> S::Vector {
        s.splat(&self[place])
    }
}

/// Cells in the order of the buckets, times factors, are added up, and the sums go on to their places. Returns the sums that the check
/// wants.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn accumulate<C: Clmul, S: Blocks>(
    c: C,
    s: S,
    layer: Layer<'_>,
    x: impl Source<S>,
    to: &mut [Block],
) -> [u128; 2] {
    let Layer { factors, buckets, next, check } = layer;
    let (mut source, mut target) = (buckets.places(), Target::new(next));
    let mut checked = Sums::new(c, check);
    let mut cells = [[0; 16]; CHUNK];
    let mut d = [[0; 16]; CHUNK];
    let mut sum = s.zero();
    let n = buckets.n();
    for first in (0..n).step_by(CHUNK) {
        let count = CHUNK.min(n - first);
        source.for_each(
            count,
            inlined!(|i, place| {
                x.ask(place);
                s.store(x.cell(s, place), &mut cells[i]);
            }),
        );
        checked.add(c, first, &cells[..count]);
        match factors {
            Factors::Ones => {}
            Factors::Gf128(pi) => {
                of_gf128(pi, first, &mut d);
                multiply(c, &mut cells, &d, inlined!(|x, d| c.multiply(x, d)));
            }
            Factors::Gf64(pi) => {
                of_gf64(pi, first, &mut d);
                multiply(c, &mut cells, &d, inlined!(|x, d| c.scale(x, d)));
            }
        }
        target.for_each(
            first,
            count,
            inlined!(|i, place, ahead| {
                prefetch::<false, _>(to, ahead);
                sum = s.xor(sum, s.splat(&cells[i]));
                s.store(sum, &mut to[place]);
            }),
            LINE,
        );
    }
    erase(&mut cells, [0; 16]);
    checked.finish(c, n)
}

/// Places of sums, one after another.
#[expect(clippy::large_enum_variant, reason = "there is one, on the stack")]
enum Target<'a> {
    /// Entries, and how far ahead memory is asked for.
    Table(Entries<'a>, usize),
    Buckets(Places<'a>),
}

impl<'a> Target<'a> {
    fn new(next: Next<'a>) -> Self {
        match next {
            Next::Sum(permutation) => {
                Self::Table(permutation.entries(0), permutation.n() / BUCKETS)
            }
            Next::Encode(buckets) => Self::Buckets(buckets.places()),
        }
    }

    /// Calls f with the places of the next `n` sums, and those for which memory is to be asked.
    #[inline(always)]
    fn for_each(
        &mut self,
        first: usize,
        n: usize,
        mut f: impl FnMut(usize, usize, usize),
        line: usize,
    ) {
        match self {
            Self::Table(entries, window) => {
                entries.for_each(n, inlined!(|i, place| f(i, place, first + i + *window)));
            }
            Self::Buckets(buckets) => {
                buckets.for_each(n, inlined!(|i, place| f(i, place, place + line)));
            }
        }
    }
}

/// Factors from `first` on.
#[inline(always)]
fn of_gf128(pi: &Aes128, first: usize, d: &mut [Block; CHUNK]) {
    pi.ctr(first as u128, d.as_flattened_mut());
    let mut has_zero = false;
    for factor in &*d {
        let [low, high] = halves(u128::from_le_bytes(*factor));
        has_zero |= low | high == 0;
    }
    if has_zero {
        replace_zeros(d);
    }
}

/// Factors of half a block, in the low halves of blocks.
#[inline(always)]
fn of_gf64(pi: &Aes128, first: usize, d: &mut [Block; CHUNK]) {
    let mut factors = [[0; 8]; CHUNK];
    pi.ctr((first / 2) as u128, factors.as_flattened_mut());
    let mut has_zero = false;
    for (d, factor) in d.iter_mut().zip(&factors) {
        let factor = u64::from_le_bytes(*factor);
        has_zero |= factor == 0;
        *d = u128::from(factor).to_le_bytes();
    }
    if has_zero {
        replace_zeros(d);
    }
}

#[cold]
fn replace_zeros(factors: &mut [Block]) {
    for factor in factors.iter_mut().filter(|factor| **factor == [0; 16]) {
        factor[0] = 1;
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn multiply<C: Clmul>(
    c: C,
    x: &mut [Block],
    d: &[Block],
    product: impl Fn(C::Vector, C::Vector) -> C::Vector,
) {
    const { assert!(CHUNK.is_multiple_of(C::BLOCKS), "whole vectors") };
    let d = d.as_flattened().chunks_exact(C::BYTES);
    for (x, d) in x.as_flattened_mut().chunks_exact_mut(C::BYTES).zip(d) {
        c.store(product(c.load(x), c.load(d)), x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_of_zero_becomes_one() {
        let mut factors = [[0; 16], [5; 16], [0; 16]];
        replace_zeros(&mut factors);
        assert_eq!(factors.map(u128::from_le_bytes), [1, u128::from_le_bytes([5; 16]), 1]);
    }
}
