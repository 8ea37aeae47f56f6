//! Products and prefix sums, some cells at a time.

use core::{ops::Range, slice};

use super::{
    Buckets, CHUNK, Factors, LINE, Layer, Next,
    check::Sums,
    permutation::{BUCKETS, BucketsOf, Entries, Places},
    prefetch,
};
use crate::{
    Block,
    aes::Aes128,
    blocks::{Blocks, Clmul},
    erase, halves,
};

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

/// The numbers of a layer, or a part of them, which begins at a multiple of 4096, and the cells that their sums go to.
pub(super) struct Work<'a> {
    layer: Layer<'a>,
    numbers: Range<usize>,
    source: Places<'a>,
    target: Target<'a>,
}

/// Cells for sums, one after another.
#[expect(clippy::large_enum_variant, reason = "there is one, on the stack")]
enum Target<'a> {
    /// Places by a table: how far ahead memory is asked for, and all cells.
    Table(Entries<'a>, usize, &'a mut [Block]),
    /// Places in buckets: all cells.
    Buckets(Places<'a>, &'a mut [Block]),
    /// Places in buckets: the cells of each that the part's sums go to.
    Part(BucketsOf<'a>, Cells<'a>),
}

/// The cells of every bucket that sums of a part go to.
pub(super) type Cells<'a> = [slice::IterMut<'a, Block>; BUCKETS];

impl<'a> Work<'a> {
    /// All numbers.
    pub(super) fn new(layer: Layer<'a>, to: &'a mut [Block]) -> Self {
        let target = match layer.next {
            Next::Sum(permutation) => {
                Target::Table(permutation.entries(0), permutation.n() / BUCKETS, to)
            }
            Next::Encode(buckets) => Target::Buckets(buckets.places(0, 1), to),
        };
        let Layer { buckets, .. } = layer;
        Self { layer, numbers: 0..buckets.n(), source: buckets.places(0, 1), target }
    }

    /// Part k of so many, of which the last step is to come.
    pub(super) fn part(
        (layer, next): (Layer<'a>, &'a Buckets),
        (k, of): (usize, usize),
        cells: Cells<'a>,
    ) -> Self {
        let Layer { buckets, .. } = layer;
        let numbers = buckets.first_number(k, of)..buckets.first_number(k + 1, of);
        let target = Target::Part(next.buckets_of(k, of), cells);
        Self { layer, numbers, source: buckets.places(k, of), target }
    }

    /// Cells in the order of the buckets, times factors, are added up, and the sums go on to their places; the last one also to `last`.
    /// Returns the sums that the check wants.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn run<C: Clmul, S: Blocks>(
        self,
        c: C,
        s: S,
        x: impl Source<S>,
        last: Option<&mut Block>,
    ) -> [u128; 2] {
        let Self { layer: Layer { factors, check, .. }, numbers, mut source, mut target } = self;
        let mut checked = Sums::new(c, check);
        let mut cells = [[0; 16]; CHUNK];
        let mut d = [[0; 16]; CHUNK];
        let mut sum = s.zero();
        for first in numbers.clone().step_by(CHUNK) {
            let count = CHUNK.min(numbers.end - first);
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
                inlined!(|i, cell| {
                    sum = s.xor(sum, s.splat(&cells[i]));
                    s.store(sum, cell);
                }),
            );
        }
        erase(&mut cells, [0; 16]);
        if let Some(last) = last {
            s.store(sum, last);
        }
        checked.finish(c, numbers.end)
    }
}

impl Target<'_> {
    /// Calls f with the cells of the next `n` sums, of which that number is the first.
    #[inline(always)]
    fn for_each(&mut self, first: usize, n: usize, mut f: impl FnMut(usize, &mut Block)) {
        match self {
            Self::Table(entries, window, to) => entries.for_each(
                n,
                inlined!(|i, place| {
                    prefetch::<false, _>(to, first + i + *window);
                    f(i, &mut to[place]);
                }),
            ),
            Self::Buckets(places, to) => places.for_each(
                n,
                inlined!(|i, place| {
                    prefetch::<false, _>(to, place + LINE);
                    f(i, &mut to[place]);
                }),
            ),
            Self::Part(buckets, cells) => buckets.for_each(
                n,
                inlined!(|i, bucket| {
                    prefetch::<false, _>(cells[bucket].as_slice(), LINE);
                    if let Some(cell) = cells[bucket].next() {
                        f(i, cell);
                    }
                }),
            ),
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
