//! The matrix of a batch: 128 secret rows of bits, reused from batch to batch.

use alloc::{vec, vec::Vec};

use super::ROWS;
use crate::erase::erase;

/// Bytes by which rows are longer than their bits: rows at a distance of a power of two would all
/// fall into the same few places of the first-level cache.
const GAP: usize = 64;

/// 128 rows of the same number of bits.
pub(super) struct Matrix {
    bytes: Vec<u8>,
    stride: usize,
}

impl Matrix {
    /// The bytes of all rows.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..ROWS * self.stride]
    }

    /// The bytes of all rows.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..ROWS * self.stride]
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
    /// A matrix of that many columns, with anything in it.
    pub(super) fn take(&mut self, columns: usize) -> Matrix {
        let stride = columns / 8 + GAP;
        let mut matrix = self.0.pop().unwrap_or(Matrix { bytes: Vec::new(), stride });
        matrix.stride = stride;
        if matrix.bytes.len() < ROWS * stride {
            // Growing would leave a copy behind.
            erase(&mut matrix.bytes);
            matrix.bytes = vec![0; ROWS * stride];
        }
        matrix
    }

    /// Keeps it for the next batch.
    pub(super) fn put(&mut self, matrix: Matrix) {
        self.0.push(matrix);
    }
}
