//! Small-field VOLE of SoftSpokenOT ([Roy22], figure 7) together with its pseudorandom generator.
//!
//! A tree of 2^k leaves gives the strings G_x, x < 2^k: AES keystreams under the leaves. One party
//! knows all and computes their sum u and, for each bit j of x, v_j = ⊕ of the G_x with that bit
//! set. The other lacks one leaf; with its leaves numbered by the difference to the one that it
//! lacks, the same sums over what it has are v_j ⊕ Δ_j·u.
//!
//! Leaves are added up in a binary tree, about two additions per leaf for all k sums together, on
//! pieces of the strings that stay in the nearest cache.
//!
//! [Roy22]: https://eprint.iacr.org/2022/192

use core::ops::Range;

use crate::aes::{Aes128, check_counters};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// The largest k.
pub const MAX_K: usize = 8;

/// Writes u, the sum of all strings, to `sum`, and v_j to `rows[j * stride..]` for j < k. The
/// strings are keystreams from block `first_block`, as long as `sum`.
///
/// # Panics
/// If there are not 2^k leaves with 1 ≤ k ≤ 8, all of one backend; if `sum` is not a multiple of 64
/// bytes, is longer than `stride`, or `rows` does not hold k rows; if the lower half of a counter
/// reaches 2^64.
pub fn expand(
    leaves: &[Aes128],
    k: usize,
    first_block: u128,
    sum: &mut [u8],
    rows: &mut [u8],
    stride: usize,
) {
    let len = sum.len();
    let tree = Tree { leaves, k, missing: 0, first_block };
    run(&tree, len, Sums { sum: Some(sum), rows, stride });
}

/// Writes the v_j as [`expand`] does, `len` bytes each, without the string of x = 0: `leaves` are
/// those of x = 1, 2, … 2^k − 1.
///
/// # Panics
/// If there are not 2^k − 1 leaves with 1 ≤ k ≤ 8, all of one backend; if `len` is not a multiple
/// of 64, is larger than `stride`, or `rows` does not hold k rows; if the lower half of a counter
/// reaches 2^64.
pub fn expand_punctured(
    leaves: &[Aes128],
    k: usize,
    first_block: u128,
    rows: &mut [u8],
    stride: usize,
    len: usize,
) {
    let tree = Tree { leaves, k, missing: 1, first_block };
    run(&tree, len, Sums { sum: None, rows, stride });
}

/// The strings of a tree.
struct Tree<'a> {
    /// Those of x = `missing` and up.
    leaves: &'a [Aes128],
    k: usize,
    missing: usize,
    first_block: u128,
}

impl<'a> Tree<'a> {
    /// The leaf of x, unless it is missing.
    #[inline(always)]
    fn leaf(&self, x: usize) -> Option<&'a Aes128> {
        x.checked_sub(self.missing).map(|at| &self.leaves[at])
    }
}

/// Where the results go.
struct Sums<'a> {
    sum: Option<&'a mut [u8]>,
    rows: &'a mut [u8],
    stride: usize,
}

impl Sums<'_> {
    #[inline(always)]
    fn row(&mut self, j: usize, piece: &Range<usize>) -> &mut [u8] {
        &mut self.rows[j * self.stride..][piece.clone()]
    }

    #[inline(always)]
    fn sum(&mut self, piece: &Range<usize>) -> Option<&mut [u8]> {
        self.sum.as_deref_mut().map(|sum| &mut sum[piece.clone()])
    }
}

fn run(tree: &Tree<'_>, len: usize, sums: Sums<'_>) {
    let Tree { leaves, k, missing, first_block } = *tree;
    assert!((1..=MAX_K).contains(&k), "k is 1 to 8");
    assert!(leaves.len() + missing == 1 << k, "the leaves of a tree of depth k");
    assert!(len.is_multiple_of(64), "strings come by 64 bytes");
    assert!(len <= sums.stride, "rows do not overlap");
    assert!(sums.rows.len() >= (k - 1) * sums.stride + len, "k rows");
    check_counters(first_block, len / 16);
    let backend = leaves[0].backend();
    assert!(leaves.iter().all(|leaf| leaf.backend() == backend), "leaves of one backend");
    per_isa!(backend, expand(tree, len, sums));
}

#[cfg(test)]
mod tests;
