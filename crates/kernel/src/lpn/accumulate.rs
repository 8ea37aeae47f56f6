//! Products and prefix sums, some cells at a time.

use super::{BUCKETS, CHUNK, Factors, LINE, Next, prefetch};
use crate::{
    Block,
    aes::Aes128,
    blocks::{Blocks, Clmul},
    erase, halves,
};

use super::permutation::{Buckets, Places};

/// Cells in the order of the buckets, times factors, are added up, and the sums go on to their places.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn accumulate<C: Clmul, S: Blocks, const L: usize>(
    c: C,
    s: S,
    factors: Factors<'_>,
    buckets: &Buckets,
    x: &[Block],
    next: Next<'_>,
    to: &mut [Block],
) {
    let (x, to) = (x.as_chunks::<L>().0, to.as_chunks_mut::<L>().0);
    let (mut source, mut target) = (buckets.places(), Target::new(next));
    let mut cells = [[[0; 16]; L]; CHUNK];
    let mut d = [[[0; 16]; L]; CHUNK];
    let mut sums = [s.zero(); L];
    let n = buckets.n();
    for first in (0..n).step_by(CHUNK) {
        let count = CHUNK.min(n - first);
        source.for_each(
            count,
            inlined!(|i, place| {
                prefetch::<false, _>(x, place + LINE / L);
                cells[i] = x[place];
            }),
        );
        match factors {
            Factors::Ones => {}
            Factors::Gf128(pi) => {
                of_gf128(pi, first, &mut d);
                multiply(
                    c,
                    cells.as_flattened_mut(),
                    d.as_flattened(),
                    inlined!(|x, d| c.multiply(x, d)),
                );
            }
            Factors::Gf64(pi) => {
                of_gf64(pi, first, &mut d);
                multiply(
                    c,
                    cells.as_flattened_mut(),
                    d.as_flattened(),
                    inlined!(|x, d| c.scale(x, d)),
                );
            }
        }
        target.for_each(
            first,
            count,
            inlined!(|i, place, ahead| {
                prefetch::<false, _>(to, ahead);
                for ((sum, block), to) in sums.iter_mut().zip(&cells[i]).zip(&mut to[place]) {
                    *sum = s.xor(*sum, s.splat(block));
                    s.store(*sum, to);
                }
            }),
            LINE / L,
        );
    }
    erase(&mut cells, [[0; 16]; L]);
}

/// Places of sums, one after another.
#[expect(clippy::large_enum_variant, reason = "there is one, on the stack")]
pub(super) enum Target<'a> {
    Table(&'a [u32]),
    Buckets(Places<'a>),
}

impl<'a> Target<'a> {
    pub(super) fn new(next: Next<'a>) -> Self {
        match next {
            Next::Sum(table) => Self::Table(table),
            Next::Encode(buckets) => Self::Buckets(buckets.places()),
        }
    }

    /// Calls f with the places of the next `n` sums, and those for which memory is to be asked.
    #[inline(always)]
    pub(super) fn for_each(
        &mut self,
        first: usize,
        n: usize,
        mut f: impl FnMut(usize, usize, usize),
        line: usize,
    ) {
        match self {
            Self::Table(table) => {
                let window = table.len() / BUCKETS;
                for (i, &place) in table[first..][..n].iter().enumerate() {
                    f(i, place as usize, first + i + window);
                }
            }
            Self::Buckets(buckets) => {
                buckets.for_each(n, inlined!(|i, place| f(i, place, place + line)));
            }
        }
    }
}

/// Factors from `first` on, for all blocks of a cell.
#[inline(always)]
fn of_gf128<const L: usize>(pi: &Aes128, first: usize, d: &mut [[Block; L]; CHUNK]) {
    let mut factors = [[0; 16]; CHUNK];
    pi.ctr(first as u128, factors.as_flattened_mut());
    let mut has_zero = false;
    for (d, factor) in d.iter_mut().zip(&factors) {
        let [low, high] = halves(u128::from_le_bytes(*factor));
        has_zero |= low | high == 0;
        *d = [*factor; L];
    }
    if has_zero {
        replace_zeros(d.as_flattened_mut());
    }
}

/// Factors of half a block, in the low halves of all blocks of a cell.
#[inline(always)]
fn of_gf64<const L: usize>(pi: &Aes128, first: usize, d: &mut [[Block; L]; CHUNK]) {
    let mut factors = [[0; 8]; CHUNK];
    pi.ctr((first / 2) as u128, factors.as_flattened_mut());
    let mut has_zero = false;
    for (d, factor) in d.iter_mut().zip(&factors) {
        let factor = u64::from_le_bytes(*factor);
        has_zero |= factor == 0;
        *d = [u128::from(factor).to_le_bytes(); L];
    }
    if has_zero {
        replace_zeros(d.as_flattened_mut());
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
