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
pub(super) trait Source: Copy {
    /// Asks for the memory of a cell that comes soon after one.
    fn ask(&self, place: usize);
    /// A cell.
    fn cell<S: Blocks>(&self, s: S, place: usize) -> S::Vector;
}

impl Source for &[Block] {
    #[inline(always)]
    fn ask(&self, place: usize) {
        prefetch(self, place + LINE);
    }

    #[inline(always)]
    fn cell<S: Blocks>(&self, s: S, place: usize) -> S::Vector {
        s.splat(&self[place])
    }
}

/// Cells for sums, one after another.
trait Target {
    /// The buckets of a chunk's sums, or nothing if a table says their places.
    type Chunk;
    /// Takes up the next chunk.
    fn chunk(&mut self) -> Self::Chunk;
    /// Puts sum i of a chunk to its place.
    fn put<S: Blocks>(&mut self, s: S, chunk: &Self::Chunk, i: usize, sum: S::Vector);
}

/// Places by a table: all cells, and the one that is asked for with the next sum.
struct ByTable<'a> {
    entries: Entries<'a>,
    ahead: usize,
    to: &'a mut [Block],
}

impl Target for ByTable<'_> {
    type Chunk = ();

    #[inline(always)]
    fn chunk(&mut self) {}

    #[inline(always)]
    fn put<S: Blocks>(&mut self, s: S, (): &(), _: usize, sum: S::Vector) {
        prefetch(self.to, self.ahead);
        self.ahead += 1;
        s.store(sum, &mut self.to[self.entries.place()]);
    }
}

/// Places in buckets: all cells.
struct ByBucket<'a> {
    places: Places<'a>,
    to: &'a mut [Block],
}

impl Target for ByBucket<'_> {
    type Chunk = [u8; CHUNK];

    #[inline(always)]
    fn chunk(&mut self) -> [u8; CHUNK] {
        self.places.chunk()
    }

    #[inline(always)]
    fn put<S: Blocks>(&mut self, s: S, chunk: &[u8; CHUNK], i: usize, sum: S::Vector) {
        let place = self.places.next(chunk[i]);
        prefetch(self.to, place + LINE);
        s.store(sum, &mut self.to[place]);
    }
}

/// Places in buckets: the cells of each that a part's sums go to.
struct OfPart<'a> {
    buckets: BucketsOf<'a>,
    cells: Cells<'a>,
}

/// The cells of every bucket that sums of a part go to.
pub(super) type Cells<'a> = [slice::IterMut<'a, Block>; BUCKETS];

impl Target for OfPart<'_> {
    type Chunk = [u8; CHUNK];

    #[inline(always)]
    fn chunk(&mut self) -> [u8; CHUNK] {
        self.buckets.chunk()
    }

    #[inline(always)]
    fn put<S: Blocks>(&mut self, s: S, chunk: &[u8; CHUNK], i: usize, sum: S::Vector) {
        let cells = &mut self.cells[usize::from(chunk[i])];
        prefetch(cells.as_slice(), LINE);
        if let Some(cell) = cells.next() {
            s.store(sum, cell);
        }
    }
}

/// The numbers of a layer, or a part of them, which begins at a multiple of 4096, and the cells that their sums go to.
struct Work<'a, T> {
    layer: Layer<'a>,
    numbers: Range<usize>,
    source: Places<'a>,
    target: T,
}

/// Accumulates all numbers of a layer, as [`Work::run`] does.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn all<C: Clmul, S: Blocks>(
    c: C,
    s: S,
    layer: Layer<'_>,
    x: impl Source,
    to: &mut [Block],
) -> [u128; 2] {
    let Layer { buckets, next, .. } = layer;
    let (numbers, source) = (0..buckets.n(), buckets.places(0, 1));
    match next {
        Next::Sum(permutation) => {
            let (entries, ahead) = (permutation.entries(0), permutation.n() / BUCKETS);
            let target = ByTable { entries, ahead, to };
            Work { layer, numbers, source, target }.run(c, s, x, None)
        }
        Next::Encode(buckets) => {
            let target = ByBucket { places: buckets.places(0, 1), to };
            Work { layer, numbers, source, target }.run(c, s, x, None)
        }
    }
}

/// Accumulates part k of so many, of which the last step is to come.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn part<C: Clmul, S: Blocks>(
    (c, s): (C, S),
    (layer, next): (Layer<'_>, &Buckets),
    (k, of): (usize, usize),
    x: impl Source,
    cells: Cells<'_>,
    last: &mut Block,
) -> [u128; 2] {
    let Layer { buckets, .. } = layer;
    let numbers = buckets.first_number(k, of)..buckets.first_number(k + 1, of);
    let target = OfPart { buckets: next.buckets_of(k, of), cells };
    Work { layer, numbers, source: buckets.places(k, of), target }.run(c, s, x, Some(last))
}

impl<T: Target> Work<'_, T> {
    /// Cells in the order of the buckets, times factors, are added up, and the sums go on to their places; the last one also to `last`.
    /// Returns the sums that the check wants.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn run<C: Clmul, S: Blocks>(
        self,
        c: C,
        s: S,
        x: impl Source,
        last: Option<&mut Block>,
    ) -> [u128; 2] {
        let Self { layer: Layer { factors, check, .. }, numbers, mut source, mut target } = self;
        let mut checked = Sums::new(c, check);
        let mut cells = [[0; 16]; CHUNK];
        let mut d = [[0; 16]; CHUNK];
        let mut sum = s.zero();
        // The chunk whose cells are still to be checked.
        let mut due = None;
        for first in numbers.clone().step_by(CHUNK) {
            let count = CHUNK.min(numbers.end - first);
            let (from, to) = (source.chunk(), target.chunk());
            if let (Factors::Ones, CHUNK) = (factors, count) {
                let chi = due.and_then(inlined!(|due| checked.challenges(due)));
                for i in (0..CHUNK).step_by(C::BLOCKS) {
                    // While memory is waited for, cells of the chunk before are checked, until those of this one take their places.
                    if let Some(chi) = chi {
                        let (cells, chi) = (cells[i..].as_flattened(), chi[i..].as_flattened());
                        checked.add_vector(c, c.load(cells), c.load(chi));
                    }
                    for i in i..i + C::BLOCKS {
                        let place = source.next(from[i]);
                        x.ask(place);
                        let x = x.cell(s, place);
                        s.store(x, &mut cells[i]);
                        sum = s.xor(sum, x);
                        target.put(s, &to, i, sum);
                    }
                }
                if let Some(due) = due {
                    checked.end_chunk(c, due + CHUNK);
                }
                due = Some(first);
                continue;
            }
            if let Some(due) = due.take() {
                checked.add(c, due, &cells);
            }
            for (cell, bucket) in cells[..count].iter_mut().zip(from) {
                let place = source.next(bucket);
                x.ask(place);
                s.store(x.cell(s, place), cell);
            }
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
            for (i, cell) in cells[..count].iter().enumerate() {
                sum = s.xor(sum, s.splat(cell));
                target.put(s, &to, i, sum);
            }
        }
        if let Some(due) = due {
            checked.add(c, due, &cells);
        }
        erase(&mut cells, [0; 16]);
        if let Some(last) = last {
            s.store(sum, last);
        }
        checked.finish(c, numbers.end)
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
