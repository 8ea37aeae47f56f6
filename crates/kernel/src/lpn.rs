//! A block–accumulate code for dual LPN: permutations, prefix sums, and a small fixed code on blocks of 64 elements.
//!
//! The input is the string of N leaves of all trees of a batch ([`ggm`](crate::ggm)), N a multiple of 64. [`Prefix`]
//! adds them up, tree after tree, and puts the sums to the places of a [`permutation`]. [`accumulate`] multiplies by public
//! factors and adds up again, with [`Next::Sum`] as often as there are layers. A layer also makes the sums of a [`Check`], if it has
//! one. Threads share the last layer by its [`Parts`]. [`encode`] takes the sums in the order of another permutation and encodes blocks. Two parties do this with their
//! strings. The receiver's second string, that of its noise, begins as [`Noise`], with a [`mark`] per leaf.
//!
//! Large buffers should begin at a multiple of 64 bytes: see [`aligned`]. Permutations and factors are public. Time depends
//! on nothing else but lengths.

use core::ops::Range;

use crate::{Backend, Block, aes::Aes128, halves};

mod accumulate;
mod blocks;
mod check;
mod noise;
mod parts;
mod permutation;
mod prefix;

pub use check::{Challenges, Check};
pub use noise::{Noise, accumulate_noise, mark};
pub use parts::{Part, Parts};
pub use permutation::{Buckets, Permutation, permutation};
pub use prefix::Prefix;

/// Cells whose factors are made together.
const CHUNK: usize = 64;

/// The first row of the circulant matrix of the code on blocks: bit k multiplies element k + i of the second half for
/// element i of the first. With the unit matrix beside it it generates a self-dual code of distance 12.
pub const CIRCULANT: u32 = 0x000a_b0ed;

/// The number of elements of a block of the code, and of a half.
pub(crate) const WHOLE: usize = 64;
pub(crate) const HALF: usize = 32;

/// The source of a layer's factors: a keystream, of which 0 is replaced by 1.
#[derive(Clone, Copy, Debug)]
pub enum Factors<'a> {
    /// All are 1.
    Ones,
    /// Factor l is block l, an element of GF(2¹²⁸).
    Gf128(&'a Aes128),
    /// Factor l is little-endian word l of 64 bits, an element of GF(2⁶⁴). It multiplies both halves of a block.
    Gf64(&'a Aes128),
}

/// Elements of a field as outputs: a block, or the number that its little-endian bytes are.
pub trait Element: Copy {
    /// The element of a block.
    fn from_block(block: &Block) -> Self;
}

impl Element for Block {
    #[inline(always)]
    fn from_block(block: &Block) -> Self {
        *block
    }
}

impl Element for u128 {
    #[inline(always)]
    fn from_block(block: &Block) -> Self {
        Self::from_le_bytes(*block)
    }
}

/// The low half: an element of GF(2⁶⁴) in the larger field.
impl Element for u64 {
    #[inline(always)]
    fn from_block(block: &Block) -> Self {
        halves(u128::from_le_bytes(*block))[0]
    }
}

/// Returns the part of a buffer that begins at the first multiple of 64 bytes and has `len` blocks. The buffer has three
/// blocks more.
///
/// # Panics
/// If the buffer is shorter than `len` + 3 blocks.
#[must_use]
pub fn aligned(buffer: &[Block], len: usize) -> Range<usize> {
    assert!(buffer.len() >= len + 3, "blocks to spare");
    // Memory that is not even aligned to blocks is taken as it is.
    let skip = Some(buffer.as_ptr().align_offset(64)).filter(|skip| *skip <= 3).unwrap_or(0);
    skip..skip + len
}

/// The step after a layer, which takes its sums.
#[derive(Clone, Copy, Debug)]
pub enum Next<'a> {
    /// A further layer: sum i goes to the place of entry i.
    Sum(Permutation<'a>),
    /// [`encode`]: sum i goes to its bucket.
    Encode(&'a Buckets),
}

/// A layer: cells, times factors, are added up.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// The factors of cells.
    pub factors: Factors<'a>,
    /// The buckets that the cells come from, one for each number l.
    pub buckets: &'a Buckets,
    /// The step that takes the sums.
    pub next: Next<'a>,
    /// The sums of the cells times challenges that are wanted also.
    pub check: Option<Check<'a>>,
}

impl Layer<'_> {
    fn check_cells(&self, cells: [usize; 2]) {
        let n = self.buckets.n();
        let further = match self.next {
            Next::Sum(permutation) => permutation.n(),
            Next::Encode(buckets) => buckets.n(),
        };
        assert!(cells == [n; 2] && further == n, "a cell for every number");
    }
}

/// Takes the cells of `x` from their buckets, one for each number l, and puts cell i of `to`, the sum of those with l ≤ i, each
/// times factor l, to its place. Returns Σ χ_l·(cell l) and Σ χ_l·(bit 0 of cell l); what the layer does not want is 0.
///
/// # Panics
/// If there are not as many cells of `x` and of `to` as numbers in the buckets and in those of what comes next.
pub fn accumulate(backend: Backend, layer: Layer<'_>, x: &[Block], to: &mut [Block]) -> [u128; 2] {
    layer.check_cells([x.len(), to.len()]);
    dispatch!(wide backend, simd => accumulate::all(simd, simd.single(), layer, x, to))
}

/// Takes as z_j the cell of `x` at the place of entry j, and writes y_{32g + i} = z_{64g + i} ⊕ Σ_k c_k·z_{64g + 32 + (i + k) mod 32},
/// i below 32, where c is [`CIRCULANT`]; as many as there are outputs, y_`first` first.
///
/// # Panics
/// If there are not as many cells as entries, not a multiple of 64, or more outputs than half of them, or `first` is not a
/// multiple of 32.
pub fn encode<T: Element>(
    backend: Backend,
    permutation: Permutation<'_>,
    x: &[Block],
    first: usize,
    out: &mut [T],
) {
    check_code(permutation.n(), x.len(), first..first + out.len());
    let range = (first, out.len());
    dispatch!(wide backend, simd => blocks::encode(simd, permutation, x, range, inlined!(|half, done| {
        for (out, y) in out[done..].iter_mut().zip(half) {
            *out = T::from_block(y);
        }
    })));
}

fn check_code(entries: usize, cells: usize, outputs: Range<usize>) {
    assert!(entries == cells, "a cell for every entry");
    assert!(entries.is_multiple_of(WHOLE), "whole blocks of the code");
    assert!(outputs.end <= entries / 2, "an output for two cells");
    assert!(outputs.start.is_multiple_of(HALF), "whole blocks before");
}

/// Blocks of a line of the cache.
const LINE: usize = 4;

/// Asks for the line of a block that is soon read or written, in the second cache: so many lines are in use that they do
/// not fit in the nearest one.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "nothing to ask"))]
fn prefetch<T>(memory: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "an instruction of the baseline")]
    // SAFETY: the instruction is part of SSE, which every x86-64 processor has. It reads nothing; any address will do.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(memory.as_ptr().wrapping_add(at).cast());
    }
}

#[cfg(test)]
mod tests;
