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
    deadline::{self, lock},
};

/// The most bytes between writer and reader.
const CAPACITY: usize = 256 << 10;

/// The two ends of a connection.
///
/// # Panics
/// If the system does not give a thread.
#[must_use]
pub fn pair(timeout: Duration) -> (Channel, Channel) {
    let [(near, to_near), (far, to_far)] = [(); 2].map(|()| one_way(timeout));
    (open(near, to_far), open(far, to_near))
}

/// A channel over the two halves of its end.
pub(crate) fn open(reader: Reader, writer: Writer) -> Channel {
    let (incoming, outgoing) = (reader.hook(), Arc::clone(&writer.pipe));
    let hook: Hook = Box::new(move |how| {
        if how != Shutdown::Read {
            outgoing.change(|state| state.ended = true);
        }
        incoming(how);
    });
    let timeout = writer.timeout;
    let channel = Channel::new(Box::new(reader), Box::new(writer), hook, timeout);
    channel.expect("a thread for a channel in memory")
}

/// A byte stream one way.
pub(crate) fn one_way(timeout: Duration) -> (Reader, Writer) {
    let pipe = Arc::new(Pipe::default());
    (Reader { pipe: Arc::clone(&pipe) }, Writer { pipe, timeout })
}

pub(crate) struct Reader {
    pipe: Arc<Pipe>,
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
    /// True if no more will be written.
    ended: bool,
    /// Nobody will read what is written from now on. As with TCP, the writer does not learn of it, and reads on its own
    /// side why.
    is_deaf: bool,
    /// True if no more will be read.
    abandoned: bool,
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

impl Pipe {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    /// The state once it is the caller's turn.
    fn wait(
        &self,
        deadline: Instant,
        is_ready: impl Fn(&State) -> bool,
    ) -> io::Result<MutexGuard<'_, State>> {
        let mut state = lock(&self.state);
        while !is_ready(&state) {
            let (guard, woken) = deadline::wait(deadline, &self.changed, state);
            state = guard;
            woken?;
        }
        Ok(state)
    }
}

impl State {
    /// Returns true if there is nothing to wait for any more.
    fn is_over(&self) -> bool {
        self.ended || self.abandoned || self.is_deaf
    }
}

impl ReadHalf for Reader {
    fn read_by(&mut self, deadline: Instant, buffer: &mut [u8]) -> io::Result<usize> {
        // Also with bytes at hand: a drip does not outlast the deadline.
        if deadline::remaining(deadline).is_none() {
            return Err(ErrorKind::TimedOut.into());
        }
        let mut state =
            self.pipe.wait(deadline, |state| state.is_over() || !state.bytes.is_empty())?;
        if state.abandoned {
            return Ok(0);
        }
        // The rest, behind the end of the ring, is for the next read.
        let here = buffer.len().min(state.bytes.as_slices().0.len());
        let read = state.bytes.read(&mut buffer[..here])?;
        self.pipe.changed.notify_all();
        Ok(read)
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.pipe.wait(deadline::after(self.timeout), |state| {
            state.is_over() || state.bytes.len() < CAPACITY
        })?;
        if state.ended || state.abandoned {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if state.is_deaf {
            return Ok(bytes.len());
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
