//! Channels between two threads of one program, with the manners of TCP.

use core::time::Duration;
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::Instant,
};

use crate::{
    Channel,
    channel::{Hook, ReadHalf},
    deadline::{Deadline, lock},
    shape::{Link, Schedule},
};

/// The most bytes between writer and reader.
const CAPACITY: usize = 256 << 10;

/// The two ends of a connection.
///
/// # Panics
/// If the system does not give a thread.
#[must_use]
pub fn pair(timeout: Duration) -> (Channel, Channel) {
    open(streams(timeout), timeout)
}

/// The two ends of a connection with the rate and delay of a link each way: no byte is read before it would arrive.
/// It may be read later, by what the system takes to wake a thread.
///
/// # Panics
/// If the system does not give a thread.
#[must_use]
pub fn pair_over(link: Link, timeout: Duration) -> (Channel, Channel) {
    open(ends([Pipe::over(link), Pipe::over(link)], timeout), timeout)
}

fn open((left, right): (Stream, Stream), timeout: Duration) -> (Channel, Channel) {
    let open = |end: Stream| end.open(timeout).expect("a thread for a channel in memory");
    (open(left), open(right))
}

/// The two ends of a byte stream each way.
pub(crate) fn streams(timeout: Duration) -> (Stream, Stream) {
    ends([Pipe::default(), Pipe::default()], timeout)
}

/// A byte stream one way.
pub(crate) fn one_way(timeout: Duration) -> (Reader, Writer) {
    let pipe = Arc::new(Pipe::default());
    let reader = Reader { pipe: Arc::clone(&pipe), deadline: Deadline::after(timeout) };
    (reader, Writer { pipe, timeout })
}

fn ends(pipes: [Pipe; 2], timeout: Duration) -> (Stream, Stream) {
    let [there, back] = pipes.map(Arc::new);
    let end = |incoming: &Arc<Pipe>, outgoing: &Arc<Pipe>| Stream {
        reader: Reader { pipe: Arc::clone(incoming), deadline: Deadline::after(timeout) },
        writer: Writer { pipe: Arc::clone(outgoing), timeout },
    };
    (end(&back, &there), end(&there, &back))
}

/// One end.
pub(crate) struct Stream {
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
}

pub(crate) struct Reader {
    pipe: Arc<Pipe>,
    deadline: Deadline,
}

pub(crate) struct Writer {
    pipe: Arc<Pipe>,
    timeout: Duration,
}

#[derive(Default)]
struct Pipe {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    /// Arrival of the bytes; at once if there is no link.
    schedule: Option<Schedule>,
    /// True if no more will be written.
    ended: bool,
    /// Nobody will read what is written from now on. As with TCP, the writer does not learn of it, and reads on its own
    /// side why.
    is_deaf: bool,
    /// True if no more will be read.
    abandoned: bool,
}

impl Stream {
    pub(crate) fn open(self, timeout: Duration) -> Result<Channel, crate::Error> {
        let (incoming, outgoing) = (self.reader.hook(), Arc::clone(&self.writer.pipe));
        let hook: Hook = Box::new(move |how| {
            if how != Shutdown::Read {
                outgoing.change(|state| state.ended = true);
            }
            incoming(how);
        });
        Channel::new(Box::new(self.reader), Box::new(self.writer), hook, timeout)
    }
}

impl Reader {
    /// Ends reads, as a channel's hook does.
    pub(crate) fn hook(&self) -> impl Fn(Shutdown) + Send + Sync + use<> {
        let incoming = Arc::clone(&self.pipe);
        move |how| match how {
            Shutdown::Read => incoming.change(|state| state.is_deaf = true),
            Shutdown::Write => {}
            Shutdown::Both => incoming.change(|state| state.abandoned = true),
        }
    }
}

/// The next action of a thread that waits for a pipe.
enum Turn {
    Go,
    WaitUntil(Instant),
    Wait,
}

impl Turn {
    fn at(instant: Instant) -> Self {
        if instant <= Instant::now() { Self::Go } else { Self::WaitUntil(instant) }
    }
}

impl Pipe {
    fn over(link: Link) -> Self {
        let state = State { schedule: Some(Schedule::new(link)), ..State::default() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The state once it is the caller's turn.
    fn wait(
        &self,
        deadline: Deadline,
        turn: impl Fn(&State) -> Turn,
    ) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        loop {
            let until = match turn(&state) {
                Turn::Go => return Ok(state),
                Turn::Wait => deadline,
                Turn::WaitUntil(instant) if instant < deadline.instant() => Deadline::at(instant),
                Turn::WaitUntil(_) => deadline,
            };
            let (guard, woken) = until.wait(&self.changed, state);
            state = guard;
            // The end of a shorter wait is no failure.
            if deadline.remaining().is_none() {
                woken?;
            }
        }
    }
}

impl State {
    fn readers_turn(&self) -> Turn {
        if self.abandoned {
            return Turn::Go;
        }
        match (&self.schedule, self.ended || self.is_deaf) {
            (Some(schedule), ended) => match schedule.next_at() {
                Some(arrival) => Turn::at(arrival),
                None if ended => Turn::Go,
                None => Turn::Wait,
            },
            (None, ended) if ended || !self.bytes.is_empty() => Turn::Go,
            (None, _) => Turn::Wait,
        }
    }

    fn writers_turn(&self) -> Turn {
        if self.ended || self.abandoned || self.is_deaf {
            return Turn::Go;
        }
        match &self.schedule {
            Some(schedule) => schedule.takes_at().map_or(Turn::Wait, Turn::at),
            None if self.bytes.len() < CAPACITY => Turn::Go,
            None => Turn::Wait,
        }
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Also with bytes at hand: a drip does not outlast the deadline.
        if self.deadline.remaining().is_none() {
            return Err(ErrorKind::TimedOut.into());
        }
        let mut state = self.pipe.wait(self.deadline, State::readers_turn)?;
        if state.abandoned {
            return Ok(0);
        }
        // The rest, behind the end of the ring, is for the next read.
        let most = buffer.len().min(state.bytes.as_slices().0.len());
        let here = match &mut state.schedule {
            Some(schedule) => schedule.give(most, Instant::now()),
            None => most,
        };
        let read = state.bytes.read(&mut buffer[..here])?;
        self.pipe.changed.notify_all();
        Ok(read)
    }
}

impl ReadHalf for Reader {
    fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Deadline::at(deadline);
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.pipe.wait(Deadline::after(self.timeout), State::writers_turn)?;
        if state.ended || state.abandoned {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if state.is_deaf {
            return Ok(bytes.len());
        }
        let taken = match &mut state.schedule {
            Some(schedule) => schedule.take(bytes.len(), Instant::now()),
            None => bytes.len().min(CAPACITY - state.bytes.len()),
        };
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
        self.pipe.change(|state| state.abandoned = true);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.pipe.change(|state| state.ended = true);
    }
}
