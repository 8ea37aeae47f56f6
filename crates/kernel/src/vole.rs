//! Small-field VOLE of SoftSpokenOT ([Roy22], figure 7) together with its pseudorandom generator.
//!
//! A tree of 2^k leaves gives the strings G_x, x < 2^k: AEGIS-128L keystreams under the leaves. One
//! party knows all and computes their sum u and, for each bit j of x, v_j = ⊕ of the G_x with that
//! bit set. The other lacks one leaf; with its leaves numbered by the difference to the one that it
//! lacks, the same sums over what it has are v_j ⊕ Δ_j·u.
//!
//! Leaves are added up by groups, whose sums stay in the nearest cache; a group's sum goes to the rows of the bits of
//! its number once.
//!
//! [Roy22]: https://eprint.iacr.org/2022/192

#[cfg(target_feature = "simd128")]
use crate::backend::Vectors;
use crate::{
    Backend, Block,
    aegis::{STEP, keystream, pair},
    bits::xor,
};

mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
mod vectors;

/// The largest k.
pub const MAX_K: usize = 8;

/// Writes u, the sum of all strings, to `sum`, and v_j to `rows[j * stride..]` for j < k. The
/// strings are the streams of the leaves and a nonce, as long as `sum`.
///
/// # Panics
/// If there are not 2^k leaves with 1 ≤ k ≤ 8; if `sum` is not a multiple of 64 bytes, is longer
/// than `stride`, or `rows` does not hold k rows.
pub fn expand(
    backend: Backend,
    leaves: &[Block],
    nonce: &Block,
    sum: &mut [u8],
    rows: &mut [u8],
    stride: usize,
) {
    let len = sum.len();
    run(backend, &Tree::new(leaves, 0, nonce), len, Sums { sum: Some(sum), rows, stride });
}

/// Writes the v_j as [`expand`] does, `len` bytes each, without the string of x = 0: `leaves` are
/// those of x = 1, 2, … 2^k − 1.
///
/// # Panics
/// If there are not 2^k − 1 leaves with 1 ≤ k ≤ 8; if `len` is not a multiple of 64, is larger than
/// `stride`, or `rows` does not hold k rows.
pub fn expand_punctured(
    backend: Backend,
    leaves: &[Block],
    nonce: &Block,
    rows: &mut [u8],
    stride: usize,
    len: usize,
) {
    run(backend, &Tree::new(leaves, 1, nonce), len, Sums { sum: None, rows, stride });
}

struct Tree<'a> {
    /// The leaves of x = `missing` and up.
    leaves: &'a [Block],
    k: usize,
    missing: usize,
    nonce: &'a Block,
}

impl<'a> Tree<'a> {
    fn new(leaves: &'a [Block], missing: usize, nonce: &'a Block) -> Self {
        let count = leaves.len() + missing;
        let k = count.ilog2() as usize;
        assert!(count == 1 << k && (1..=MAX_K).contains(&k), "the leaves of a tree");
        Self { leaves, k, missing, nonce }
    }

    /// The leaf of x, unless it is missing.
    #[inline(always)]
    fn leaf(&self, x: usize) -> Option<&'a Block> {
        x.checked_sub(self.missing).and_then(|at| self.leaves.get(at))
    }
}

/// The memory for the results.
struct Sums<'a> {
    sum: Option<&'a mut [u8]>,
    rows: &'a mut [u8],
    stride: usize,
}

fn run(backend: Backend, tree: &Tree<'_>, len: usize, mut sums: Sums<'_>) {
    assert!(len.is_multiple_of(2 * STEP), "strings come by 64 bytes");
    assert!(len <= sums.stride, "rows do not overlap");
    assert!(sums.rows.len() >= (tree.k - 1) * sums.stride + len, "k rows");
    if tree.k == 1 {
        return add_pair(backend, tree, len, sums);
    }
    #[cfg(target_feature = "simd128")]
    if let Vectors::Simd128(simd) = backend.vectors() {
        return vectors::run(simd, tree, len, &mut sums);
    }
    dispatch!(
        wide backend,
        simd => vectors::run(simd, tree, len, &mut sums),
        portable::run(tree, len, &mut sums),
    );
}

/// The smallest tree: its row is the string of x = 1.
fn add_pair(backend: Backend, tree: &Tree<'_>, len: usize, sums: Sums<'_>) {
    let row = &mut sums.rows[..len];
    if let (Some(leaves), Some(sum)) = (tree.leaves.first_chunk(), sums.sum) {
        pair(backend, leaves, tree.nonce, [&mut *sum, &mut *row]);
        xor(backend, sum, row);
    } else if let [leaf] = tree.leaves {
        keystream(backend, leaf, tree.nonce, row);
    }
}

#[cfg(test)]
mod tests;
