//! The matrices of a batch, reused from batch to batch.

use alloc::{vec, vec::Vec};

use crate::erase::erase;

/// Bytes by which rows are longer than their bits: rows at a distance of a power of two would all
/// fall into the same few places of the first-level cache.
const GAP: usize = 64;

/// Secret rows of the same number of bits.
pub(super) struct Matrix {
    bytes: Vec<u8>,
    rows: usize,
    stride: usize,
}

impl Matrix {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.rows * self.stride]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.rows * self.stride]
    }

    /// Bytes from row to row.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }
}

impl Drop for Matrix {
    fn drop(&mut self) {
        erase(&mut self.bytes);
    }
}

/// Matrices that are not in use.
#[derive(Default)]
pub(super) struct Pool(Vec<Matrix>);

impl Pool {
    /// So many rows of so many columns, with anything in them.
    pub(super) fn take(&mut self, rows: usize, columns: usize) -> Matrix {
        let stride = columns / 8 + GAP;
        let unused = self.0.iter().position(|matrix| matrix.bytes.len() >= rows * stride);
        let Some(k) = unused else {
            return Matrix { bytes: vec![0; rows * stride], rows, stride };
        };
        let mut matrix = self.0.swap_remove(k);
        (matrix.rows, matrix.stride) = (rows, stride);
        matrix
    }

    /// Keeps it for the next batch.
    pub(super) fn put(&mut self, matrix: Matrix) {
        self.0.push(matrix);
    }
}
