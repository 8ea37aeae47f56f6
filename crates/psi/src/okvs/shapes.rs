//! Shapes of stores with two, three and four sparse slots per row. Sizes are from the bounds and measurements of
//! `docs/protocols/okvs.md`.

use foxtrot_ot::Usage;

use super::Okvs;

/// Dense slots with three and four sparse ones: four bits for the expected number of dependencies, and σ = 40.
const DENSE: u32 = 44;
/// Dense slots with two sparse ones: the γ of PaXoS.
const DENSE_OF_TWO: u32 = 60;
/// The most keys with three sparse slots and one start.
const PLAIN_MAX: u32 = 1 << 19;
/// The length of a segment of three slots where there are many.
const SEGMENT: u32 = 1 << 14;
/// The fewest keys for which a store of four slots is laid out: with fewer, three slots take no more room.
pub(super) const FEWEST: u32 = 1 << 17;

impl Okvs {
    /// Lays a store out with two sparse slots per row, as PaXoS [PRTY20] has them: two tables of 1.2 n slots.
    ///
    /// The rows are the edges of a graph. It has cycles in every other run, so the dense slots are at
    /// work more often than not. For comparison: twice the slots of [`Okvs::three`].
    ///
    /// [PRTY20]: https://eprint.iacr.org/2020/193
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if there are more than [`MAX_KEYS`](super::MAX_KEYS).
    pub fn two(keys: usize) -> Result<Self, Usage> {
        let segment = (Self::check_keys(keys)? * 6).div_ceil(5).max(1);
        Ok(Self { keys, sparse: 2, dense: DENSE_OF_TWO, starts: 1, segment })
    }

    /// Lays a store out with three sparse slots per row.
    ///
    /// Up to 2¹⁹ keys there is one start: three tables of a segment each. A row may be anywhere
    /// then, and memory is touched at random. Above, rows start at many segments (the layout of binary
    /// fuse filters [GL22]), so that in the order of starts all work moves through a window of three
    /// segments. This layout also couples the windows: peeling starts at both ends.
    ///
    /// [GL22]: https://arxiv.org/abs/2201.01174
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if there are more than [`MAX_KEYS`](super::MAX_KEYS).
    pub fn three(keys: usize) -> Result<Self, Usage> {
        let n = Self::check_keys(keys)?;
        let (starts, segment) = if n <= PLAIN_MAX {
            // 1.225 n, where 1.222 n peel in the limit, and the fluctuation's √n.
            let sparse = (n * 49).div_ceil(40) + 5 * n.isqrt();
            (1, sparse.div_ceil(3).max(1))
        } else {
            // 14/17 keys per slot between the ends.
            ((n * 17).div_ceil(14 * SEGMENT), SEGMENT)
        };
        Ok(Self { keys, sparse: 3, dense: DENSE, starts, segment })
    }

    /// Lays a store out with four sparse slots per row. With fewer than 2¹⁷ keys it is as large as with 2¹⁷.
    ///
    /// Rows start at many segments. The longer segments are, the less the number of their rows deviates in proportion, and
    /// the fuller they may be: so segments are longer in larger stores.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if there are more than [`MAX_KEYS`](super::MAX_KEYS).
    pub fn four(keys: usize) -> Result<Self, Usage> {
        let n = Self::check_keys(keys)?.max(FEWEST);
        // Rows of a start per slot of a segment, in the mean: 32/37, 8/9, 10/11, 35/38 at most.
        let (log2_segment, rows, slots) = match n.ilog2() {
            17 => (11, 32, 37),
            18 | 19 => (12, 8, 9),
            20 => (13, 10, 11),
            _ => (14, 35, 38),
        };
        let segment = 1 << log2_segment;
        let starts = (n * slots).div_ceil(rows * segment);
        Ok(Self { keys, sparse: 4, dense: DENSE, starts, segment })
    }
}
