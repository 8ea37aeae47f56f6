//! Imitated links: the rate and the delay of a network between two threads of one program.

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::{collections::VecDeque, time::Instant};

/// A link, the same in both directions, which do not slow each other down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    bits_per_second: u64,
    delay: Duration,
}

/// The bytes that a writer's system holds back for the link.
const SEND_BUFFER: u64 = 256 << 10;

/// The bytes that a reader's system holds back for it, beside those on their way.
const RECEIVE_BUFFER: u64 = 4 << 20;

/// A piece arrives as a whole. It is this long in time, and in bytes between these bounds.
const PIECE: Duration = Duration::from_micros(100);
const PIECE_BYTES: (u64, u64) = (1500, 64 << 10);

impl Link {
    /// A link of that rate, not zero, on which a bit takes `delay` from one end to the other.
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub const fn new(bits_per_second: u64, delay: Duration) -> Self {
        assert!(bits_per_second > 0, "a link without a rate");
        Self { bits_per_second, delay }
    }

    /// Its rate, in bits per second.
    #[must_use]
    pub const fn bits_per_second(&self) -> u64 {
        self.bits_per_second
    }

    /// The time from one end to the other: half a round trip.
    #[must_use]
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns the time for which the link is busy with `bytes` bytes.
    #[must_use]
    pub fn busy_for(&self, bytes: u64) -> Duration {
        let nanoseconds = u128::from(bytes) * 8 * 1_000_000_000;
        let nanoseconds = nanoseconds.div_ceil(u128::from(self.bits_per_second));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    fn bytes_in(&self, time: Duration) -> u64 {
        let bytes = u128::from(self.bits_per_second) * time.as_nanos() / 8_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// One direction of a link: what is on its way, and when it will be there.
pub(crate) struct Schedule {
    link: Link,
    /// Instant at which all that was taken has left.
    free: Instant,
    /// Pieces with the instants of their arrival.
    pieces: VecDeque<(Instant, usize)>,
    /// Bytes of all pieces.
    held: u64,
}

impl Schedule {
    pub(crate) fn new(link: Link) -> Self {
        Self { link, free: Instant::now(), pieces: VecDeque::new(), held: 0 }
    }

    /// Returns the instant at which there is room for more, as far as it is known: `None` if the
    /// reader has to read first.
    pub(crate) fn takes_at(&self) -> Option<Instant> {
        let window = RECEIVE_BUFFER + self.link.bytes_in(self.link.delay);
        // An instant in the past will do.
        let ahead = self.link.busy_for(SEND_BUFFER);
        (self.held < window).then(|| self.free.checked_sub(ahead).unwrap_or(self.free))
    }

    /// Takes some of `len` bytes, at least one if there are any, and says how many.
    pub(crate) fn take(&mut self, len: usize, now: Instant) -> usize {
        let (least, most) = PIECE_BYTES;
        let piece = self.link.bytes_in(PIECE).clamp(least, most);
        let piece = usize::try_from(piece).unwrap_or(usize::MAX);
        let most = usize::try_from(SEND_BUFFER).unwrap_or(usize::MAX);
        let taken = len.min(most);
        let mut left = taken;
        // An idle link does not save up its rate.
        self.free = self.free.max(now);
        while left > 0 {
            let len = left.min(piece);
            self.free += self.link.busy_for(len as u64);
            self.pieces.push_back((self.free + self.link.delay, len));
            left -= len;
        }
        self.held += taken as u64;
        taken
    }

    /// Returns the instant at which the next byte can be read; `None` if none is on its way.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.pieces.front().map(|(arrival, _)| *arrival)
    }

    /// Lets at most `most` bytes be read of what has arrived, and says how many.
    pub(crate) fn give(&mut self, most: usize, now: Instant) -> usize {
        let mut given = 0;
        while let Some((arrival, len)) = self.pieces.front_mut() {
            let part = (most - given).min(*len);
            if *arrival > now || part == 0 {
                break;
            }
            given += part;
            *len -= part;
            if *len == 0 {
                self.pieces.pop_front();
            }
        }
        self.held -= given as u64;
        given
    }
}
