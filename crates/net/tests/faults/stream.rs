//! A connection in memory whose two directions keep what was written, and have faults.

use core::{ops::Range, time::Duration};
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
    time::Instant,
};

use foxtrot_net::{
    Channel,
    channel::{Hook, ReadHalf},
};

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    ToSender,
    ToReceiver,
}

/// A fault in the bytes of one direction, counted from its beginning.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// These are the last that arrive.
    Cut(usize, Cut),
    /// These bits of that byte arrive otherwise.
    Flip(usize, u8),
    /// These do not arrive.
    Drop(Range<usize>),
    /// These arrive twice.
    Repeat(Range<usize>),
    /// The first of these arrive behind the second, which follow them.
    Swap(Range<usize>, Range<usize>),
}

/// The cut of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Both directions end, and both sides get to know; what was written before arrives.
    End,
    /// Both directions end, and bytes not read yet are lost.
    Reset,
    /// This direction ends for the reader; the writer's bytes are taken and lost.
    Lost,
    /// The writer's bytes are taken and lost, and nobody gets to know.
    Silence,
}

/// The pace at which bytes are handed over, in both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The most bytes that a write takes.
    pub(crate) write: usize,
    /// The most bytes that a read gives.
    pub(crate) read: usize,
    /// The most bytes that lie in between.
    pub(crate) between: usize,
    /// True if every other call is interrupted.
    pub(crate) interrupted: bool,
    /// The time for which a read waits with bytes at hand, while more of them come.
    pub(crate) delay: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let (all, delay) = (usize::MAX, Duration::ZERO);
        Self { write: all, read: all, between: all, interrupted: false, delay }
    }
}

/// The treatment of the bytes by a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) pace: Pace,
    pub(crate) fault: Option<(Way, Fault)>,
}

/// The state that both ends share.
pub(crate) struct Wire {
    plan: Plan,
    pipes: Mutex<[Pipe; 2]>,
    changed: Condvar,
}

#[derive(Default)]
struct Pipe {
    /// The bytes written.
    log: Vec<u8>,
    /// The number of bytes of the log that were written when the other side wrote last.
    answered: usize,
    /// The bytes not read yet.
    bytes: VecDeque<u8>,
    /// No more will be written.
    ended: bool,
    /// No more will be read.
    abandoned: bool,
    /// The reader reads the end, whatever the writer writes.
    lost: bool,
    /// The reader does not get to know of an end.
    silent: bool,
    reset: bool,
}

impl Wire {
    pub(crate) fn new(plan: Plan) -> Arc<Self> {
        let wire = Self { plan, pipes: Mutex::default(), changed: Condvar::new() };
        if let Some((way, Fault::Cut(0, cut))) = wire.plan.fault {
            wire.cut(&mut wire.lock(), way, cut);
        }
        Arc::new(wire)
    }

    /// The end that writes that way.
    pub(crate) fn end(self: &Arc<Self>, outgoing: Way, timeout: Duration) -> Channel {
        let incoming = outgoing.opposite();
        let reader = Reader { wire: Arc::clone(self), way: incoming, calls: 0 };
        let writer = Writer { wire: Arc::clone(self), way: outgoing, timeout, calls: 0 };
        let wire = Arc::clone(self);
        let hook: Hook = Box::new(move |how| {
            let mut pipes = wire.lock();
            match how {
                Shutdown::Write => pipes[outgoing as usize].ended = true,
                Shutdown::Read => pipes[incoming as usize].lost = true,
                Shutdown::Both => {
                    pipes[outgoing as usize].ended = true;
                    pipes[incoming as usize].abandoned = true;
                }
            }
            wire.changed.notify_all();
        });
        Channel::new(Box::new(reader), Box::new(writer), hook, timeout).unwrap()
    }

    /// The bytes written that way.
    pub(crate) fn log(&self, way: Way) -> Vec<u8> {
        self.lock()[way as usize].log.clone()
    }

    /// Returns the byte from which on nothing of that way was followed by anything of the other.
    pub(crate) fn answered(&self, way: Way) -> usize {
        self.lock()[way as usize].answered
    }

    fn lock(&self) -> MutexGuard<'_, [Pipe; 2]> {
        self.pipes.lock().unwrap()
    }

    fn wait(
        &self,
        until: Instant,
        mut ready: impl FnMut(&[Pipe; 2]) -> bool,
    ) -> io::Result<MutexGuard<'_, [Pipe; 2]>> {
        let left = until.saturating_duration_since(Instant::now());
        let waiting = |pipes: &mut [Pipe; 2]| !ready(pipes);
        let (pipes, woken) = self.changed.wait_timeout_while(self.lock(), left, waiting).unwrap();
        if woken.timed_out() { Err(ErrorKind::TimedOut.into()) } else { Ok(pipes) }
    }

    fn cut(&self, pipes: &mut [Pipe; 2], way: Way, cut: Cut) {
        match cut {
            Cut::End => pipes.iter_mut().for_each(|pipe| pipe.ended = true),
            Cut::Reset => pipes.iter_mut().for_each(|pipe| pipe.reset = true),
            Cut::Lost => pipes[way as usize].lost = true,
            Cut::Silence => pipes[way as usize].silent = true,
        }
        self.changed.notify_all();
    }

    /// Takes bytes from the writer, and lets arrive what the fault lets arrive.
    fn take(&self, pipes: &mut [Pipe; 2], way: Way, bytes: &[u8]) {
        let other = &mut pipes[way.opposite() as usize];
        other.answered = other.log.len();
        let pipe = &mut pipes[way as usize];
        let fault = self.plan.fault.as_ref().filter(|(faulty, _)| *faulty == way);
        for &byte in bytes {
            let k = pipe.log.len();
            pipe.log.push(byte);
            match fault {
                Some((_, Fault::Cut(at, _))) if k >= *at => {}
                Some((_, Fault::Flip(at, bits))) if k == *at => pipe.bytes.push_back(byte ^ bits),
                Some((_, Fault::Drop(range))) if range.contains(&k) => {}
                Some((_, Fault::Repeat(range))) if k + 1 == range.end => {
                    pipe.bytes.push_back(byte);
                    pipe.bytes.extend(&pipe.log[range.clone()]);
                }
                Some((_, Fault::Swap(first, _))) if first.contains(&k) => {}
                Some((_, Fault::Swap(first, second))) if k + 1 == second.end => {
                    pipe.bytes.push_back(byte);
                    pipe.bytes.extend(&pipe.log[first.clone()]);
                }
                _ => pipe.bytes.push_back(byte),
            }
        }
        let written = pipe.log.len();
        if let Some((_, Fault::Cut(at, cut))) = fault
            && (written - bytes.len()..=written).contains(at)
        {
            self.cut(pipes, way, *cut);
        }
    }
}

impl Way {
    pub(crate) const BOTH: [Self; 2] = [Self::ToSender, Self::ToReceiver];

    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::ToSender => Self::ToReceiver,
            Self::ToReceiver => Self::ToSender,
        }
    }
}

struct Reader {
    wire: Arc<Wire>,
    way: Way,
    calls: usize,
}

struct Writer {
    wire: Arc<Wire>,
    way: Way,
    timeout: Duration,
    calls: usize,
}

impl ReadHalf for Reader {
    fn read_by(&mut self, deadline: Instant, buffer: &mut [u8]) -> io::Result<usize> {
        let Pace { read, interrupted, delay, .. } = self.wire.plan.pace;
        self.calls += 1;
        if interrupted && self.calls % 2 == 1 {
            return Err(ErrorKind::Interrupted.into());
        }
        let way = self.way as usize;
        let ready = |pipes: &[Pipe; 2]| {
            let pipe = &pipes[way];
            let ended = pipe.lost || pipe.abandoned || pipe.ended && !pipe.silent;
            ended || pipe.reset || !pipe.bytes.is_empty()
        };
        drop(self.wire.wait(deadline, ready)?);
        thread::sleep(delay);
        let mut pipes = self.wire.wait(deadline, ready)?;
        let pipe = &mut pipes[way];
        if pipe.reset {
            return Err(ErrorKind::ConnectionReset.into());
        }
        let most = buffer.len().min(read);
        let given = pipe.bytes.read(&mut buffer[..most])?;
        self.wire.changed.notify_all();
        Ok(given)
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Plan { pace, fault } = &self.wire.plan;
        self.calls += 1;
        if pace.interrupted && self.calls % 2 == 1 {
            return Err(ErrorKind::Interrupted.into());
        }
        let way = self.way as usize;
        let mut pipes = self.wire.wait(Instant::now() + self.timeout, |pipes| {
            let pipe = &pipes[way];
            pipe.ended || pipe.abandoned || pipe.reset || pipe.bytes.len() < pace.between
        })?;
        let pipe = &pipes[way];
        if pipe.reset {
            return Err(ErrorKind::ConnectionReset.into());
        }
        if pipe.ended || pipe.abandoned {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let mut most = bytes.len().min(pace.write).min(pace.between - pipe.bytes.len());
        if let Some((faulty, Fault::Cut(at, Cut::End | Cut::Reset))) = fault
            && *faulty == self.way
        {
            most = most.min(at - pipe.log.len());
        }
        self.wire.take(&mut pipes, self.way, &bytes[..most]);
        self.wire.changed.notify_all();
        Ok(most)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.wire.lock()[self.way as usize].abandoned = true;
        self.wire.changed.notify_all();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.wire.lock()[self.way as usize].ended = true;
        self.wire.changed.notify_all();
    }
}
