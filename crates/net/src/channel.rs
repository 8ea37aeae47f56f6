//! Full-duplex channels with lanes.
//!
//! A frame is `length` (u32, little endian, of the payload) ‖ `lane` (u8) ‖ payload. A send only
//! queues: a thread of the channel's own writes, so that two sides that both speak before they
//! listen get on. Receivers read for each other: a receiver that waits and finds nobody reading reads one
//! frame, and leaves it to its lane if it is for another.

pub(crate) mod buffer;
mod closing;
pub(crate) mod inbox;
mod lane;
mod meter;
mod receive;
mod transcript;
mod transmit;

#[cfg(test)]
mod tests;

use core::{fmt, time::Duration};
use std::{
    io::{self, Write},
    net::Shutdown,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use foxtrot_ot::{
    Sid,
    engine::{Spares, batches::WINDOW},
};

use crate::{
    ChannelError, Error, HelloError,
    deadline::{self, lock},
};

pub use crate::error::Reason;
pub(crate) use closing::Step;
use inbox::{Inbox, Phase};
pub use lane::Lane;
use lane::PerLane;
pub use meter::Counters;
pub(crate) use meter::Meter;
pub(crate) use transcript::Tally;
pub use transcript::Transcript;
use transmit::Outbox;

/// Batches that protocols send ahead at first. Windows does not promise that a read which has timed out has lost nothing, so no read is cut short there.
pub(crate) const NARROW: usize = if cfg!(windows) { WINDOW } else { 2 };

/// The most bytes that one lane holds back in either direction, for a peer or a thread that is not
/// ready to take them: 64 MiB; of what comes in, less where a protocol says so.
pub const QUEUE_BYTES: usize = 64 << 20;

/// The longest payload of a frame in bytes: 256 MiB.
pub const MAX_FRAME: usize = 256 << 20;

pub(crate) const HEADER_BYTES: usize = 5;
/// The longest farewell.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// Bytes of the writer's stack. It frames and, under TLS, encrypts; all tests of the command pass with a quarter of that.
const WRITER_STACK: usize = 256 << 10;

/// The reading half of a byte stream.
pub trait ReadHalf: Send {
    /// Reads as [`Read`](std::io::Read) does until this instant.
    ///
    /// # Errors
    /// As of a reader; `TimedOut` or `WouldBlock` at the deadline. Such a read has lost nothing: a later one goes on.
    fn read_by(&mut self, deadline: Instant, buffer: &mut [u8]) -> io::Result<usize>;
}

/// Ends a byte stream from outside of its halves: for `Shutdown::Write` the peer reads the end of
/// the stream after all that has been written; for `Shutdown::Read` a read that is under way ends,
/// and what we write still goes out; for `Shutdown::Both` reads and writes that are under way fail.
pub type Hook = Box<dyn Fn(Shutdown) + Send + Sync>;

/// A connection to the peer, shared by the threads that use it.
///
/// Every call ends within the timeout, for [`Channel::recv`] counted from its beginning however
/// the bytes drip in. After a failure every call returns the error of that failure.
///
/// Dropping a channel tries for at most a second to have the queued messages sent; where they
/// matter, [`Channel::close`] it.
pub struct Channel {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

struct Shared {
    timeout: Duration,
    /// The longest time of the connection, and the instant of its end.
    limit: Mutex<Option<(Duration, Instant)>>,
    /// Batches that protocols send ahead.
    window: AtomicUsize,
    hook: Hook,
    /// Buffers of frames that have been written, and of messages that have been read.
    spares: Spares,
    /// Tallies of what went either way; nothing before the hello. The threads that write and read do the hashing.
    told: Mutex<Option<Tally>>,
    heard: Mutex<Option<Tally>>,
    state: Mutex<State>,
    /// A frame has come, or its reader is free.
    inbound: Condvar,
    /// A frame is to be sent, has been sent, or was the last.
    outbound: Condvar,
}

struct State {
    failure: Option<Error>,
    /// Transcript, when this side has received all.
    transcript: Option<Transcript>,
    meter: Meter,
    inbox: Inbox,
    /// Absent while somebody reads.
    reader: Option<buffer::Reader>,
    outbox: Outbox,
}

impl Channel {
    /// Makes a channel over the halves of a byte stream. Writes have to fail after the timeout if
    /// not a byte is taken.
    ///
    /// # Errors
    /// [`ChannelError::Io`] if the system does not give a thread.
    pub fn new(
        reader: Box<dyn ReadHalf>,
        writer: Box<dyn Write + Send>,
        hook: Hook,
        timeout: Duration,
    ) -> Result<Self, Error> {
        let shared = Arc::new(Shared {
            timeout,
            limit: Mutex::default(),
            window: AtomicUsize::new(NARROW),
            hook,
            spares: Spares::default(),
            told: Mutex::default(),
            heard: Mutex::default(),
            state: Mutex::new(State {
                failure: None,
                transcript: None,
                meter: Meter::default(),
                inbox: Inbox::new(true),
                reader: Some(buffer::Reader::new(reader)),
                outbox: Outbox::default(),
            }),
            inbound: Condvar::new(),
            outbound: Condvar::new(),
        });
        let for_thread = Arc::clone(&shared);
        let writer = thread::Builder::new()
            .name("foxtrot-writer".into())
            .stack_size(WRITER_STACK)
            .spawn(move || for_thread.write_all_frames(writer))
            .map_err(|e| ChannelError::io("start a thread", &e))?;
        Ok(Self { shared, writer: Some(writer) })
    }

    /// Returns the number of batches that protocols send ahead: few, until waiting shows that the peer is far.
    pub(crate) fn window(&self) -> usize {
        self.shared.window.load(Ordering::SeqCst)
    }

    /// Sets that number.
    pub(crate) fn set_window(&self, batches: usize) {
        self.shared.window.store(batches, Ordering::SeqCst);
    }

    /// Returns the buffers for messages.
    pub(crate) fn spares(&self) -> &Spares {
        &self.shared.spares
    }

    /// Ends the connection after this time: then the wait that is under way, or the next one, fails.
    pub fn end_after(&self, limit: Duration) {
        *lock(&self.shared.limit) = Some((limit, deadline::after(limit)));
    }

    /// Counts of what has been sent and received so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.shared.lock().meter.counters
    }

    /// Restricts the peer to lanes below this number from now on; after a hello these are
    /// [`Lane::HELLO`] and [`Lane::PROTOCOL`] unless a protocol has more.
    pub fn use_lanes(&self, below: u8) {
        self.shared.lock().inbox.in_use = below;
    }

    /// Bounds what a lane holds back from now on: at most so many messages of so many bytes that came before they
    /// are asked for, or the most that any protocol of this channel has asked for, if that is less than
    /// [`QUEUE_BYTES`]. A peer that follows the protocol never has more on their way; what another sends waits at
    /// its side.
    pub(crate) fn hold_back(&self, messages: usize, len: usize) {
        let (bytes, inbox) = (held_back(messages, len), &mut self.shared.lock().inbox);
        inbox.most = if inbox.most == Inbox::UNBOUNDED { bytes } else { bytes.max(inbox.most) };
    }

    /// The hellos have been compared; details follow.
    pub(crate) fn greeted(&self) {
        self.shared.lock().inbox.phase = Phase::Details;
    }

    /// Details have been exchanged; counts from zero again, and keeps a transcript.
    pub(crate) fn agreed(&self, sid: Sid, initiator: bool) {
        let [told, heard] = Tally::of_both(sid, initiator).map(Some);
        *lock(&self.shared.told) = told;
        *lock(&self.shared.heard) = heard;
        let mut state = self.shared.lock();
        state.inbox.phase = Phase::Session;
        state.inbox.in_use = Lane::PROTOCOL.index() + 1;
        state.meter = Meter::default();
    }

    /// Ends the use of the channel because of an error that was found above it, and tells the peer
    /// why, as far as it may know. Returns the error, or the one that came first.
    pub fn give_up(&self, error: impl Into<Error>) -> Error {
        self.shared.fail(&mut self.shared.lock(), error)
    }

    /// Refuses the session that the peer wants, though it has done nothing wrong, and tells it why. What the peer
    /// sends meanwhile is read and dropped, for a second at most: unread bytes would reset the connection, and could
    /// take our word back.
    pub fn refuse(&self, why: Reason) {
        let deadline = deadline::after(self.shared.timeout.min(LINGER));
        {
            let state = &mut *self.shared.lock();
            let error = HelloError::Refused(why).into();
            let reason = state.inbox.phase.last_word(&error);
            reason.into_iter().for_each(|reason| state.outbox.last_word(reason as u8));
        }
        // The writer ends with it, and the peer reads an end.
        if self.shared.drain(deadline) {
            self.shared.drop_what_comes(deadline);
        }
        self.shared.lock().fail(HelloError::Refused(why).into());
    }

    /// Hands all queued messages to the operating system and tells the peer that there are no
    /// more.
    ///
    /// Call it when everything that the peer sends has been received: a TCP socket that goes away
    /// with unread bytes resets the connection, and that can take our last messages back.
    ///
    /// # Errors
    /// [`ChannelError`] if a message could not be handed over in time; the error of an earlier
    /// failure.
    pub fn close(mut self) -> Result<(), Error> {
        self.end(self.shared.deadline(), self.shared.timeout)
    }

    /// Ends the writer, and then the connection; does nothing when called again.
    fn end(&mut self, deadline: Instant, wait: Duration) -> Result<(), Error> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let drained = self.shared.drain(deadline);
        if !drained {
            // Before the hook, which makes the writer fail for another reason.
            let mut state = self.shared.lock();
            state.fail(self.shared.timed_out(ChannelError::NothingTaken(wait).into()));
            // A writer that does not end keeps none of them.
            state.outbox.frames.clear();
        }
        (self.shared.hook)(Shutdown::Both);
        if drained {
            // It has nothing left to do, so this does not wait; that it panicked is not news.
            let _ = writer.join();
        }
        self.shared.lock().check()
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let wait = self.shared.timeout.min(LINGER);
        // Nobody is left to be told.
        let _ = self.end(deadline::after(wait), wait);
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("Channel")
            .field("timeout", &self.shared.timeout)
            .field("counters", &state.meter.counters)
            .field("failure", &state.failure)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// When a wait ends that begins now.
    fn deadline(&self) -> Instant {
        let wait = deadline::after(self.timeout);
        (*lock(&self.limit)).map_or(wait, |(_, limit)| wait.min(limit))
    }

    /// The error of a wait that has ended: that the connection has lasted too long, if it has.
    fn timed_out(&self, error: Error) -> Error {
        use ChannelError::{NothingReceived, NothingTaken, TooSlow};
        match (&error, *lock(&self.limit)) {
            (Error::Channel(NothingReceived(_) | NothingTaken(_)), Some((limit, until)))
                if until <= Instant::now() =>
            {
                TooSlow(limit).into()
            }
            _ => error,
        }
    }

    /// The transcript of what has been written and read so far; all zero without a hello.
    fn transcript(&self) -> Transcript {
        match (&*lock(&self.told), &*lock(&self.heard)) {
            (Some(told), Some(heard)) => told.transcript(heard),
            _ => Transcript::default(),
        }
    }

    /// Makes the error everybody's, and returns the one that came first.
    fn fail(&self, state: &mut State, error: impl Into<Error>) -> Error {
        let error = self.timed_out(error.into());
        if state.failure.is_none()
            && let Some(reason) = state.inbox.phase.last_word(&error)
        {
            state.outbox.last_word(reason as u8);
        }
        state.outbox.closing = true;
        let first = state.fail(error);
        // Somebody may be reading for all.
        (self.hook)(Shutdown::Read);
        self.inbound.notify_all();
        self.outbound.notify_all();
        first
    }
}

impl State {
    fn check(&self) -> Result<(), Error> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    fn fail(&mut self, error: Error) -> Error {
        self.failure.get_or_insert(error).clone()
    }
}

/// Bytes of so many messages of that length that a lane holds back.
#[must_use]
pub fn held_back(messages: usize, len: usize) -> usize {
    messages.saturating_mul(cost(len)).min(QUEUE_BYTES)
}

/// The bytes that a message counts against [`QUEUE_BYTES`]: its payload and about what it takes to keep it,
/// lest a flood of empty ones be free.
pub(crate) fn cost(len: usize) -> usize {
    len + 64
}

/// Returns true if a lane that holds back `queued` of at most `most` bytes can also hold back a message of this
/// length.
pub(crate) fn fits(most: usize, queued: usize, len: usize) -> bool {
    queued.saturating_add(cost(len)) <= most
}
