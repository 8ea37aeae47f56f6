//! Imitated links: the rate and the delay of a network between two threads of one program.

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use clap::ValueEnum;
use foxtrot_net::{Channel, Error, channel::ReadHalf};

/// A link, the same in both directions, which do not slow each other down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
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
    pub(crate) const fn new(bits_per_second: u64, delay: Duration) -> Self {
        assert!(bits_per_second > 0, "a link without a rate");
        Self { bits_per_second, delay }
    }

    /// Its rate, in bits per second.
    pub(crate) const fn bits_per_second(&self) -> u64 {
        self.bits_per_second
    }

    /// The time from one end to the other: half a round trip.
    pub(crate) const fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns the time for which the link is busy with `bytes` bytes.
    pub(crate) fn busy_for(&self, bytes: u64) -> Duration {
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
struct Schedule {
    link: Link,
    /// Instant at which all that was taken has left.
    free: Instant,
    /// Pieces with the instants of their arrival.
    pieces: VecDeque<(Instant, usize)>,
    /// Bytes of all pieces.
    held: u64,
}

impl Schedule {
    fn new(link: Link) -> Self {
        Self { link, free: Instant::now(), pieces: VecDeque::new(), held: 0 }
    }

    /// Returns the instant at which there is room for more, as far as it is known: `None` if the
    /// reader has to read first.
    fn takes_at(&self) -> Option<Instant> {
        let window = RECEIVE_BUFFER + self.link.bytes_in(self.link.delay);
        // An instant in the past will do.
        let ahead = self.link.busy_for(SEND_BUFFER);
        (self.held < window).then(|| self.free.checked_sub(ahead).unwrap_or(self.free))
    }

    /// Takes some of `len` bytes, at least one if there are any, and says how many.
    fn take(&mut self, len: usize, now: Instant) -> usize {
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
    fn next_at(&self) -> Option<Instant> {
        self.pieces.front().map(|(arrival, _)| *arrival)
    }

    /// Lets at most `most` bytes be read of what has arrived, and says how many.
    fn give(&mut self, most: usize, now: Instant) -> usize {
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

/// The two ends of a connection over such a link: no byte is read before it would arrive. It may be read later, by what the
/// system takes to wake a thread.
pub(crate) fn pair(link: Link, timeout: Duration) -> Result<[Channel; 2], Error> {
    let [there, back] = [(); 2].map(|()| Arc::new(Pipe::over(link)));
    let open = |incoming: &Arc<Pipe>, outgoing: &Arc<Pipe>| {
        let [incoming, outgoing] = [incoming, outgoing].map(Arc::clone);
        let reader = Reader { pipe: Arc::clone(&incoming) };
        let writer = Writer { pipe: Arc::clone(&outgoing), timeout };
        let hook = move |how| {
            if how != Shutdown::Read {
                outgoing.end(|state| state.is_written = true);
            }
            if how != Shutdown::Write {
                incoming.end(|state| state.is_read = true);
            }
        };
        Channel::new(Box::new(reader), Box::new(writer), Box::new(hook), timeout)
    };
    Ok([open(&back, &there)?, open(&there, &back)?])
}

/// One direction of a connection in memory.
struct Pipe {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    bytes: VecDeque<u8>,
    schedule: Schedule,
    /// True if no more will be written.
    is_written: bool,
    /// True if no more will be read. As with TCP, the writer does not learn of it.
    is_read: bool,
}

struct Reader {
    pipe: Arc<Pipe>,
}

struct Writer {
    pipe: Arc<Pipe>,
    timeout: Duration,
}

impl Pipe {
    fn over(link: Link) -> Self {
        let schedule = Schedule::new(link);
        let state = State { bytes: VecDeque::new(), schedule, is_written: false, is_read: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// The state once it is the caller's turn, at the instant that `turn` tells as far as it is known.
    fn wait(
        &self,
        deadline: Instant,
        turn: impl Fn(&State) -> Option<Instant>,
    ) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        loop {
            let turn = turn(&state);
            let now = Instant::now();
            if turn.is_some_and(|turn| turn <= now) {
                return Ok(state);
            }
            let until = turn.unwrap_or(deadline).min(deadline);
            let left = until.checked_duration_since(now).filter(|left| !left.is_zero());
            let left = left.ok_or(ErrorKind::TimedOut)?;
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl ReadHalf for Reader {
    fn read_by(&mut self, deadline: Instant, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.pipe.wait(deadline, |state| {
            let over = state.is_read || state.is_written;
            state.schedule.next_at().or_else(|| over.then(Instant::now))
        })?;
        // The rest, behind the end of the ring, is for the next read.
        let most = buffer.len().min(state.bytes.as_slices().0.len());
        let here = state.schedule.give(most, Instant::now());
        let read = state.bytes.read(&mut buffer[..here])?;
        self.pipe.changed.notify_all();
        Ok(read)
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.pipe.wait(Instant::now() + self.timeout, |state| {
            let over = state.is_read || state.is_written;
            if over { Some(Instant::now()) } else { state.schedule.takes_at() }
        })?;
        if state.is_written {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if state.is_read {
            return Ok(bytes.len());
        }
        let taken = state.schedule.take(bytes.len(), Instant::now());
        state.bytes.extend(&bytes[..taken]);
        self.pipe.changed.notify_all();
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.pipe.end(|state| state.is_read = true);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.pipe.end(|state| state.is_written = true);
    }
}

/// The links of the papers, by rate and round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Net {
    /// 10 Gbit/s, 0.5 ms
    Lan10,
    /// 1 Gbit/s, 0.5 ms
    Lan1,
    /// 100 Mbit/s, 100 ms
    Wan,
    /// 10 Gbit/s, 0.2 ms: the faster one of "Batching Base Oblivious Transfers"
    BatchingLan,
    /// 100 Mbit/s, 60 ms: its slower one
    BatchingWan,
}

impl Net {
    pub(crate) fn link(self) -> Link {
        const GBIT: u64 = 1_000_000_000;
        let (rate, delay) = match self {
            Self::Lan10 => (10 * GBIT, 250),
            Self::Lan1 => (GBIT, 250),
            Self::Wan => (GBIT / 10, 50_000),
            Self::BatchingLan => (10 * GBIT, 100),
            Self::BatchingWan => (GBIT / 10, 30_000),
        };
        Link::new(rate, Duration::from_micros(delay))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lan10 => "lan10",
            Self::Lan1 => "lan1",
            Self::Wan => "wan",
            Self::BatchingLan => "batching-lan",
            Self::BatchingWan => "batching-wan",
        }
    }
}
