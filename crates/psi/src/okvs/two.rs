//! The shape with two sparse slots per row, that of PaXoS [PRTY20]: two tables of 1.2 n slots and
//! γ = 60 dense ones.
//!
//! The rows are the edges of a graph. It has cycles in every other run, so the dense slots are at
//! work more often than not. For comparison: twice the slots of [`Okvs::three`].
//!
//! [PRTY20]: https://eprint.iacr.org/2020/193

use foxtrot_ot::Usage;

use super::Okvs;

/// The paper's γ.
const DENSE: u32 = 60;

impl Okvs {
    /// Lays a store out for this number of keys, 0 included.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if there are more than [`MAX_KEYS`](super::MAX_KEYS).
    pub fn two(keys: usize) -> Result<Self, Usage> {
        let n = Self::check_keys(keys)?;
        Ok(Self { keys, sparse: 2, dense: DENSE, starts: 1, segment: (n * 6).div_ceil(5).max(1) })
    }
}
