//! The shape with three sparse slots per row.
//!
//! Up to [`PLAIN_MAX`] keys there is one start: three tables of a segment each. A row may be anywhere
//! then, and memory is touched at random. Above, rows start at many segments (the layout of binary
//! fuse filters [GL22]), so that in the order of starts all work moves through a window of three
//! segments. This layout also couples the windows: peeling starts at both ends.
//!
//! Sizes are from the bounds and measurements of `docs/protocols/okvs.md`.
//!
//! [GL22]: https://arxiv.org/abs/2201.01174

use foxtrot_ot::Usage;

use super::Okvs;

/// Dense slots: four bits for the expected number of dependencies, and σ = 40.
const DENSE: u32 = 44;
/// The most keys with one start.
const PLAIN_MAX: u32 = 1 << 19;
/// The length of a segment where there are many.
const SEGMENT: u32 = 1 << 14;

impl Okvs {
    /// Lays a store out for this number of keys, 0 included.
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
}
