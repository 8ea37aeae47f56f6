//! Channels between two threads of one program, with the manners of TCP.

use core::time::Duration;
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::{
    Channel,
    channel::{Hook, ReadHalf},
    deadline::Deadline,
};

/// As much lies between writer and reader.
const CAPACITY: usize = 256 << 10;

/// The two ends of a connection.
///
/// # Panics
/// If the system does not give a thread.
#[must_use]
pub fn pair(timeout: Duration) -> (Channel, Channel) {
    let (left, right) = streams(timeout);
    let open = |end: Stream| end.open(timeout).expect("a thread for a channel in memory");
    (open(left), open(right))
}

/// The two ends of a byte stream each way.
pub(crate) fn streams(timeout: Duration) -> (Stream, Stream) {
    let (there, back) = (Arc::new(Pipe::default()), Arc::new(Pipe::default()));
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
    /// Nobody will write more.
    ended: bool,
    /// Nobody will read more.
    abandoned: bool,
}

impl Stream {
    pub(crate) fn open(self, timeout: Duration) -> Result<Channel, crate::Error> {
        let (incoming, outgoing) = (Arc::clone(&self.reader.pipe), Arc::clone(&self.writer.pipe));
        let hook: Hook = Box::new(move |how| {
            if how != Shutdown::Read {
                outgoing.change(|state| state.ended = true);
            }
            match how {
                Shutdown::Read => incoming.change(|state| state.ended = true),
                Shutdown::Write => {}
                Shutdown::Both => incoming.change(|state| state.abandoned = true),
            }
        });
        Channel::new(Box::new(self.reader), Box::new(self.writer), hook, timeout)
    }
}

impl Pipe {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state once the condition holds.
    fn wait_until(
        &self,
        deadline: Deadline,
        holds: impl Fn(&State) -> bool,
    ) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        while !holds(&state) {
            let (guard, woken) = deadline.wait(&self.changed, state);
            state = guard;
            woken?;
        }
        Ok(state)
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Also with bytes at hand: a drip does not outlast the deadline.
        if self.deadline.remaining().is_none() {
            return Err(ErrorKind::TimedOut.into());
        }
        let mut state = self.pipe.wait_until(self.deadline, |state| {
            !state.bytes.is_empty() || state.ended || state.abandoned
        })?;
        if state.abandoned {
            return Ok(0);
        }
        let read = state.bytes.read(buffer)?;
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
        let mut state = self.pipe.wait_until(Deadline::after(self.timeout), |state| {
            state.bytes.len() < CAPACITY || state.ended || state.abandoned
        })?;
        if state.ended || state.abandoned {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.len().min(CAPACITY - state.bytes.len());
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
