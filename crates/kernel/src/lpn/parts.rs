//! The last accumulator in parts, which threads can take.

use core::{mem, slice};

use super::{
    Buckets, Layer, Next, Noise,
    accumulate::{self, Cells, Source},
};
use crate::{Backend, Block};

/// A part of the work of a layer: of its numbers, and the cells that their sums go to. Every part begins with 0, and lacks what those before
/// it add up to.
pub struct Part<'a> {
    layer: Layer<'a>,
    next: &'a Buckets,
    k: usize,
    of: usize,
    cells: Cells<'a>,
}

/// The parts of a layer's work: part k, and those behind it.
pub struct Parts<'a>(Part<'a>);

redacted! {
    Part<'_>, part => "{} of {}", part.k, part.of;
    Parts<'_>, parts => "from {} of {}", parts.0.k, parts.0.of;
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
            let (cells, others) = mem::take(&mut rest).split_at_mut(next.numbers_in(bucket, 0, 1));
            rest = others;
            cells.iter_mut()
        });
        Some(Parts(Part { layer: self, next, k: 0, of: of.clamp(1, 8), cells }))
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let Part { layer, next, k, of, ref mut cells } = self.0;
        if k == of {
            return None;
        }
        self.0.k += 1;
        let cells = core::array::from_fn(|bucket| {
            let all = mem::take(&mut cells[bucket]).into_slice();
            let (own, rest) = all.split_at_mut(next.numbers_in(bucket, k, of));
            cells[bucket] = rest.iter_mut();
            own.iter_mut()
        });
        Some(Part { layer, next, k, of, cells })
    }
}

impl<'a> Part<'a> {
    /// Does with the part what [`accumulate`](super::accumulate) does with all, and writes the part's last sum. Returns the part of what
    /// that returns.
    ///
    /// # Panics
    /// If there are not as many cells of `x` as numbers.
    #[must_use]
    pub fn accumulate(self, backend: Backend, x: &[Block], last: &mut Block) -> [u128; 2] {
        self.run(backend, x.len(), x, last)
    }

    /// Does with the part what [`accumulate_noise`](super::accumulate_noise) does with all, as [`accumulate`](Self::accumulate) does.
    ///
    /// # Panics
    /// If there are not as many marks as numbers.
    #[must_use]
    pub fn accumulate_noise(
        self,
        backend: Backend,
        noise: Noise<'_>,
        last: &mut Block,
    ) -> [u128; 2] {
        self.run(backend, noise.marks.len(), noise, last)
    }

    /// Adds a number to all cells of the part: what the parts before add up to.
    pub fn add(self, backend: Backend, before: &Block) {
        backend.run(inlined!(|| {
            let before = u128::from_le_bytes(*before);
            for cell in self.cells.into_iter().flat_map(slice::IterMut::into_slice) {
                *cell = (u128::from_le_bytes(*cell) ^ before).to_le_bytes();
            }
        }));
    }

    fn run(self, backend: Backend, n: usize, x: impl Source, last: &mut Block) -> [u128; 2] {
        assert!(n == self.layer.buckets.n(), "a cell for every number");
        let Self { layer, next, k, of, cells } = self;
        dispatch!(wide backend, simd => {
            accumulate::part((simd, simd.single()), (layer, next), (k, of), x, cells, last)
        })
    }
}
