//! Gaussian elimination of the core: what peeling leaves over, with the dense slots.

use alloc::{vec, vec::Vec};

use super::{Okvs, dense::xor, rows::Row};
use crate::erase::Secret;

/// The largest core that is solved, in a second or two. Cores are smaller by far (`docs/protocols/okvs.md`,
/// section 4).
const MAX_CORE: usize = 1 << 13;

/// The core's rows over the slots that occur in them, and a right-hand side of `W` bytes each.
pub(super) struct System<const W: usize> {
    /// The slots by column: dense ones, then the core's, ascending.
    columns: Secret<u32>,
    dense: usize,
    words: usize,
    /// Rows of bits, one after another.
    bits: Secret<u64>,
    pub(super) right: Vec<[u8; W]>,
}

impl<const W: usize> System<W> {
    /// Sets up the system with a right-hand side of zeros; `None` if there are too many rows.
    pub(super) fn new(okvs: &Okvs, core: &[Row]) -> Option<Self> {
        if core.len() > MAX_CORE {
            return None;
        }
        let mut columns = Vec::with_capacity(okvs.dense() + okvs.sparse() * core.len());
        columns.extend(0..okvs.dense);
        columns.extend(core.iter().flat_map(|row| okvs.all_slots_of(row)));
        columns[okvs.dense()..].sort_unstable();
        columns.dedup();
        let words = columns.len().div_ceil(64);
        let mut bits = vec![0; words * core.len()];
        for (row, bits) in core.iter().zip(bits.chunks_exact_mut(words)) {
            bits[0] = row[1] & ((1 << okvs.dense) - 1);
            for slot in okvs.all_slots_of(row) {
                let column = columns.binary_search(&slot).ok()?;
                bits[column / 64] ^= 1 << (column % 64);
            }
        }
        let right = vec![[0; W]; core.len()];
        let (columns, bits) = (Secret(columns), Secret(bits));
        Some(Self { columns, dense: okvs.dense(), words, bits, right })
    }

    /// Leaves the sparse part.
    pub(super) fn forget_dense(&mut self) {
        let mask = !((1 << self.dense) - 1);
        self.bits.0.iter_mut().step_by(self.words).for_each(|word| *word &= mask);
    }

    /// The number of independent rows.
    pub(super) fn rank(&mut self) -> usize {
        (0..self.right.len()).filter(|&row| self.pivot(row).is_some()).count()
    }

    /// Makes the right-hand side a solution that is zero but in the slots given, one for each row;
    /// `None` if the rows depend on each other.
    pub(super) fn solve(&mut self) -> Option<Secret<u32>> {
        let mut slots = Secret::with_capacity(self.right.len());
        for row in 0..self.right.len() {
            let column = self.pivot(row)?;
            slots.0.push(self.columns.0[column]);
        }
        Some(slots)
    }

    /// Takes a column of that row and clears it in all others, above and below.
    fn pivot(&mut self, row: usize) -> Option<usize> {
        let words = self.words;
        let (above, rest) = self.bits.0.split_at_mut(row * words);
        let (this, below) = rest.split_at_mut(words);
        let word = this.iter().position(|&word| word != 0)?;
        let mask = this[word] & this[word].wrapping_neg();
        let column = 64 * word + this[word].trailing_zeros() as usize;
        let value = self.right[row];
        let others = above.chunks_exact_mut(words).chain(below.chunks_exact_mut(words));
        let rights = (0..).filter(|&other| other != row);
        for (other, bits) in rights.zip(others) {
            if bits[word] & mask != 0 {
                bits.iter_mut().zip(&*this).for_each(|(bits, this)| *bits ^= this);
                xor(&mut self.right[other], &value);
            }
        }
        Some(column)
    }
}

impl<const W: usize> Drop for System<W> {
    fn drop(&mut self) {
        crate::erase::erase(self.right.as_flattened_mut());
    }
}
