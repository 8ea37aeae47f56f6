//! Turns in which both protocols work, with several batches on their way at a time.

use foxtrot_ot::tasks::Executor;

/// The most batches that are computed at once.
const MOST_AT_ONCE: usize = 8;

/// Returns the number of turns between a message and the answer to it, for the bytes of a turn in each direction.
///
/// At least 8, a power of two, and 3.75 MB: at 100 Mbit/s that takes 300 ms, and no part of the link is idle where a
/// message takes less, 100 ms say, to arrive.
pub(crate) fn depth(bytes: usize) -> u64 {
    const BYTES: u64 = 3_750_000;
    BYTES.div_ceil(bytes as u64).next_power_of_two().max(MOST_AT_ONCE as u64)
}

/// Batches that are computed at once: one per thread, and a part of the [`depth`], which may be another one than the peer's.
pub(crate) fn group(executor: &dyn Executor) -> u64 {
    1 << executor.threads().clamp(1, MOST_AT_ONCE).ilog2()
}

/// Returns the number of batches, of a stream of n, in the group that begins with batch `first`.
pub(crate) fn part(n: u64, first: Option<u64>, group: u64) -> usize {
    let rest = first.map_or(0, |first| n.saturating_sub(first));
    usize::try_from(rest.min(group)).unwrap_or(usize::MAX)
}
