//! The shape with four sparse slots per row, for [`FEWEST`] keys or more: with fewer, three slots take no more room.
//!
//! Rows start at many segments. The longer segments are, the less the number of their rows deviates in proportion, and
//! the fuller they may be: so segments are longer in larger stores.
//!
//! Sizes are from the bounds of `docs/protocols/okvs.md`.

use foxtrot_ot::Usage;

use super::Okvs;

/// Dense slots: four bits for the expected number of dependencies, and σ = 40.
const DENSE: u32 = 44;

/// The fewest keys for which a store is laid out.
pub(super) const FEWEST: u32 = 1 << 17;

impl Okvs {
    /// Lays a store out for this number of keys. With fewer than 2¹⁷ it is as large as with 2¹⁷.
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
