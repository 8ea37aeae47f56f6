//! The last accumulator in parts, which threads can take.

use core::slice;

use super::{
    Buckets, Layer, Next, Noise,
    accumulate::{Cells, Work},
};
use crate::{Backend, Block};

/// Parts of the work of a layer: of its numbers, and of the cells that their sums go to. Every part begins with 0, and lacks what those
/// before it add up to.
pub struct Parts<'a> {
    layer: Layer<'a>,
    next: &'a Buckets,
    k: usize,
    of: usize,
    /// The cells of every bucket that are left.
    cells: Cells<'a>,
}

/// One of the [`Parts`].
pub struct Part<'a> {
    layer: Layer<'a>,
    next: &'a Buckets,
    k: usize,
    of: usize,
    cells: Cells<'a>,
}

redacted! {
    Parts<'_>, parts => "{} of {}", parts.k, parts.of;
    Part<'_>, part => "{} of {}", part.k, part.of;
}

impl<'a> Layer<'a> {
    /// Divides the work on the cells of `to` into so many parts, 8 at most. There are none unless the next step is to encode.
    ///
    /// # Panics
    /// If there are not as many cells as numbers.
    #[must_use]
    pub fn parts(self, to: &'a mut [Block], of: usize) -> Option<Parts<'a>> {
        let Next::Encode(next) = self.next else { return None };
        self.check_cells([self.buckets.n(), to.len()]);
        let mut rest = to;
        let cells = core::array::from_fn(|bucket| {
            let (cells, others) =
                core::mem::take(&mut rest).split_at_mut(next.of_part(bucket, 0, 1));
            rest = others;
            cells.iter_mut()
        });
        Some(Parts { layer: self, next, k: 0, of: of.clamp(1, 8), cells })
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let Self { layer, next, k, of, ref mut cells } = *self;
        if k == of {
            return None;
        }
        self.k += 1;
        let cells = core::array::from_fn(|bucket| {
            let all = core::mem::replace(&mut cells[bucket], [].iter_mut()).into_slice();
            let (own, rest) = all.split_at_mut(next.of_part(bucket, k, of));
            cells[bucket] = rest.iter_mut();
            own.iter_mut()
        });
        Some(Part { layer, next, k, of, cells })
    }
}

impl Part<'_> {
    /// Does with the part what [`accumulate`](super::accumulate) does with all. Returns the part of what that returns, and the part's last sum.
    ///
    /// # Panics
    /// If there are not as many cells of `x` as numbers.
    #[must_use]
    pub fn accumulate(self, backend: Backend, x: &[Block]) -> ([u128; 2], u128) {
        self.check(x.len());
        let work = self.work();
        let (sums, last) = dispatch!(wide backend, simd => work.run(simd, simd.single(), x));
        (sums, u128::from_le_bytes(last))
    }

    /// Does with the part what [`accumulate_noise`](super::accumulate_noise) does with all, and returns the same as
    /// [`accumulate`](Self::accumulate).
    ///
    /// # Panics
    /// If there are not as many marks as numbers.
    #[must_use]
    pub fn accumulate_noise(self, backend: Backend, noise: Noise<'_>) -> ([u128; 2], u128) {
        self.check(noise.marks.len());
        let work = self.work();
        let (sums, last) = dispatch!(wide backend, simd => work.run(simd, simd.single(), noise));
        (sums, u128::from_le_bytes(last))
    }

    /// Adds a number to all cells of the part: what the parts before add up to.
    pub fn add(self, backend: Backend, before: u128) {
        backend.run(inlined!(|| {
            for cell in self.cells.into_iter().flat_map(slice::IterMut::into_slice) {
                *cell = (u128::from_le_bytes(*cell) ^ before).to_le_bytes();
            }
        }));
    }

    fn check(&self, cells: usize) {
        assert!(cells == self.layer.buckets.n(), "a cell for every number");
    }
}

impl<'a> Part<'a> {
    fn work(self) -> Work<'a> {
        Work::part((self.layer, self.next), (self.k, self.of), self.cells)
    }
}
