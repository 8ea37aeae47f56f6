//! The matrices of a batch: secret rows of bits, reused from batch to batch.

use alloc::{vec, vec::Vec};

use crate::erase::erase;

/// Bytes by which rows are longer than their bits: rows at a distance of a power of two would all
/// fall into the same few places of the first-level cache.
const GAP: usize = 64;

/// Bytes of a cache line, where rows begin: a vector that crosses lines takes twice the time.
const LINE: usize = 64;

/// Rows of the same number of bits.
pub(super) struct Matrix {
    bytes: Vec<u8>,
    /// Bytes before the first row.
    start: usize,
    rows: usize,
    stride: usize,
}

impl Matrix {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..][..self.rows * self.stride]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..][..self.rows * self.stride]
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
    /// Takes a matrix of these dimensions, whose content is arbitrary.
    pub(super) fn take(&mut self, rows: usize, columns: usize) -> Matrix {
        let stride = columns / 8 + GAP;
        let len = rows * stride + LINE;
        let fitting = self.0.iter().position(|matrix| matrix.bytes.len() >= len);
        let unused = match fitting {
            Some(at) => Some(self.0.swap_remove(at)),
            None => self.0.pop(),
        };
        let mut matrix = unused.unwrap_or(Matrix { bytes: Vec::new(), start: 0, rows, stride });
        (matrix.rows, matrix.stride) = (rows, stride);
        if matrix.bytes.len() < len {
            // Growing would leave a copy behind.
            erase(&mut matrix.bytes);
            matrix.bytes = vec![0; len];
            matrix.start = matrix.bytes.as_ptr().align_offset(LINE).min(LINE);
        }
        matrix
    }

    /// Keeps it for the next batch.
    pub(super) fn put(&mut self, matrix: Matrix) {
        self.0.push(matrix);
    }
}
