//! Turns of two parties that both begin batches and answer the peer's.

use crate::tasks::Executor;

/// The most batches that are computed at once.
const MOST_AT_ONCE: usize = 8;

/// Turns in which each step is taken for a group of batches: the first step for the newest batches, every other step a number of
/// depths behind.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    depth: u64,
    group: u64,
    /// The number of the first batch of the turn in the first step.
    turn: u64,
}

impl Turns {
    /// Turns of so many bytes in each direction.
    #[must_use]
    pub fn new(bytes: usize, executor: &dyn Executor) -> Self {
        // One per thread, and a part of the depth, which may be another one than the peer's.
        let group = 1 << executor.threads().clamp(1, MOST_AT_ONCE).ilog2();
        Self { depth: Self::depth(bytes), group, turn: 0 }
    }

    /// Returns the number of batches between a message and the answer to it, for the bytes of a turn in each direction.
    ///
    /// At least 8, a power of two, and 3.75 MB: at 100 Mbit/s that takes 300 ms, and no part of the link is idle where a
    /// message takes less, 100 ms say, to arrive.
    #[must_use]
    pub fn depth(bytes: usize) -> u64 {
        const BYTES: u64 = 3_750_000;
        BYTES.div_ceil(bytes as u64).next_power_of_two().max(MOST_AT_ONCE as u64)
    }

    /// Returns true if there are batches whose last step, so many depths behind the first, is still to be taken.
    #[must_use]
    pub fn goes_on(&self, batches: u64, behind: u64) -> bool {
        batches > 0 && self.turn < batches.saturating_add(behind * self.depth)
    }

    /// Returns the number of batches, of a stream of n, in the group of this turn for a step so many depths behind.
    #[must_use]
    pub fn part(&self, n: u64, behind: u64) -> usize {
        let first = self.turn.checked_sub(behind * self.depth);
        let rest = first.map_or(0, |first| n.saturating_sub(first));
        usize::try_from(rest.min(self.group)).unwrap_or(usize::MAX)
    }

    /// The number of the first batch of this turn.
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.turn
    }

    /// Goes on to the next turn.
    pub fn advance(&mut self) {
        self.turn += self.group;
    }
}
