//! V or W of a batch, which may wait for the last step of the code.

use alloc::sync::Arc;

use foxtrot_kernel::{Backend, lpn::encode};

use super::{
    TILE,
    code::{Cells, Code, Machine},
};
use crate::{
    Bits,
    base::Block,
    erase::{Secret, SecretBytes},
    tasks::Executor,
};

/// Rows of a batch.
pub(super) enum Rows {
    List(Secret<u128>),
    /// Sums of the last accumulator, from which n rows are encoded.
    Sums {
        code: Arc<Code>,
        backend: Backend,
        cells: Cells,
        n: usize,
    },
}

impl Rows {
    /// The number of rows.
    pub(super) fn n(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Sums { n, .. } => *n,
        }
    }

    /// Rows from `first` on, a multiple of 32.
    pub(super) fn read(&self, first: usize, rows: &mut [Block]) {
        match self {
            Self::List(list) => {
                let list = &list[first..][..rows.len()];
                rows.iter_mut().zip(list).for_each(|(to, row)| *to = row.to_le_bytes());
            }
            Self::Sums { code, backend, cells, .. } => {
                encode(*backend, code.last(), cells.get(), first, rows);
            }
        }
    }

    /// Bit 0 of every row.
    pub(super) fn bits(&self) -> Bits {
        let mut bytes = SecretBytes::zeroed(self.n().div_ceil(8));
        let mut tile = Secret::zeroed(TILE);
        for (bytes, first) in bytes.chunks_mut(TILE / 8).zip((0..).step_by(TILE)) {
            let rows = &mut tile[..(self.n() - first).min(TILE)];
            self.read(first, rows);
            pack_choices(rows, bytes);
        }
        Bits::from_bytes(&bytes, self.n())
    }

    /// All rows, and the string that they were encoded from.
    pub(super) fn into_list(self, executor: &dyn Executor) -> (Secret<u128>, Option<Cells>) {
        match self {
            Self::List(list) => (list, None),
            Self::Sums { code, backend, cells, n } => {
                let list = code.encode(Machine { backend, executor }, &cells, n);
                (list, Some(cells))
            }
        }
    }

    /// The string of a batch that is over.
    pub(super) fn into_cells(self) -> Option<Cells> {
        match self {
            Self::List(_) => None,
            Self::Sums { cells, .. } => Some(cells),
        }
    }
}

/// Writes bit 0 of every row.
pub(super) fn pack_choices(rows: &[Block], bits: &mut [u8]) {
    for (rows, byte) in rows.chunks(8).zip(bits) {
        *byte = (0..).zip(rows).fold(0, |byte, (k, row)| byte | (row[0] & 1) << k);
    }
}

/// Adds Δ to rows whose flip is 1.
pub(super) fn exchange(rows: &mut [Block], flips: &[u8], delta: u128) {
    for (rows, byte) in rows.chunks_mut(8).zip(flips) {
        for (k, row) in rows.iter_mut().enumerate() {
            let mask = u128::from(byte >> k & 1).wrapping_neg();
            *row = (u128::from_le_bytes(*row) ^ mask & delta).to_le_bytes();
        }
    }
}

/// Adds a block to each row.
pub(super) fn add(rows: &mut [Block], blocks: &[Block]) {
    for (row, block) in rows.iter_mut().zip(blocks) {
        *row = (u128::from_le_bytes(*row) ^ u128::from_le_bytes(*block)).to_le_bytes();
    }
}
