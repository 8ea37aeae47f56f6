//! The sending side of a channel.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Write},
    net::Shutdown,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{MutexGuard, PoisonError},
    time::Instant,
};

use super::{
    Channel, Lane, MAX_FRAME, PerLane, QUEUE_BYTES, Shared, State, buffer::Writer, cost, fits, lock,
};
use crate::{ChannelError, Error, TlsError, deadline};

/// Frames that are to be written.
#[derive(Default)]
pub(super) struct Outbox {
    pub(super) frames: VecDeque<(Lane, Vec<u8>)>,
    held: PerLane<usize>,
    /// Nothing follows what is queued: the peer reads an end behind it.
    pub(super) closing: bool,
    /// The writer has ended.
    done: bool,
}

impl Outbox {
    /// Returns true if the writer has had all frames.
    pub(super) fn is_written(&self) -> bool {
        self.held.iter().all(|held| *held == 0)
    }

    /// Goes out behind what is queued.
    pub(super) fn last_word(&mut self, byte: u8) {
        self.held[Lane::HELLO.place()] += cost(1);
        self.frames.push_back((Lane::HELLO, vec![byte]));
    }
}

impl Channel {
    /// Queues a message. Waits only while the lane holds [`QUEUE_BYTES`] that the peer does not
    /// take.
    ///
    /// # Errors
    /// [`ChannelError`], also when an earlier message could not be sent.
    pub fn send(&self, lane: Lane, message: Vec<u8>) -> Result<(), Error> {
        let shared = &*self.shared;
        let (deadline, len) = (shared.deadline(), message.len());
        if len > MAX_FRAME {
            let mut state = shared.lock();
            state.check()?;
            return Err(shared.fail(&mut state, ChannelError::TooLong { len, max: MAX_FRAME }));
        }
        let mut state = shared.await_outbox(deadline, |outbox| {
            let held = outbox.held[lane.place()];
            // A long message may go alone.
            held == 0 || fits(QUEUE_BYTES, held, len)
        })?;
        if lane != Lane::HELLO || !state.inbox.phase.is_session() {
            state.meter.sent(len);
        }
        state.outbox.held[lane.place()] += cost(len);
        state.outbox.frames.push_back((lane, message));
        // Who is woken would wait for the lock.
        drop(state);
        shared.outbound.notify_all();
        Ok(())
    }
}

impl Shared {
    /// Waits until the writer has taken enough of what is queued.
    pub(super) fn await_outbox(
        &self,
        deadline: Instant,
        is_enough: impl Fn(&Outbox) -> bool,
    ) -> Result<MutexGuard<'_, State>, Error> {
        let mut state = self.lock();
        loop {
            state.check()?;
            if is_enough(&state.outbox) {
                return Ok(state);
            }
            let (guard, woken) = deadline::wait(deadline, &self.outbound, state);
            state = guard;
            if woken.is_err() {
                return Err(self.fail(&mut state, ChannelError::NothingTaken(self.timeout)));
            }
        }
    }

    /// Lets the writer finish; says whether it has.
    pub(super) fn drain(&self, deadline: Instant) -> bool {
        let mut state = self.lock();
        state.outbox.closing = true;
        self.outbound.notify_all();
        while !state.outbox.done {
            let (guard, woken) = deadline::wait(deadline, &self.outbound, state);
            state = guard;
            if woken.is_err() {
                return false;
            }
        }
        true
    }

    /// The writer: ends when the channel closes or the connection fails.
    pub(super) fn write_all_frames(&self, half: Box<dyn Write + Send>) {
        let write = AssertUnwindSafe(|| self.write_frames(&mut Writer::new(half)));
        let panicked = |_| Err(io::Error::other("the writer of the stream panicked"));
        let written = catch_unwind(write).unwrap_or_else(panicked);
        (self.hook)(Shutdown::Write);
        let mut state = self.lock();
        if let Err(e) = written {
            self.fail(&mut state, self.write_error(&e));
        }
        state.outbox.frames.clear();
        state.outbox.done = true;
        self.outbound.notify_all();
    }

    fn write_frames(&self, out: &mut Writer) -> io::Result<()> {
        loop {
            let next = self.lock().outbox.frames.pop_front();
            let next = match next {
                Some(frame) => Some(frame),
                None => {
                    out.flush()?;
                    self.next_frame()
                }
            };
            let Some((lane, payload)) = next else { return Ok(()) };
            let len = u32::try_from(payload.len()).map_err(|_| ErrorKind::InvalidInput)?;
            if let Some(told) = &mut *lock(&self.told) {
                told.frame(lane, &payload);
            }
            let [a, b, c, d] = len.to_le_bytes();
            out.write_all(&[a, b, c, d, lane.index()])?;
            out.write_all(&payload)?;
            let len = payload.len();
            self.spares.put(payload);
            self.lock().outbox.held[lane.place()] -= cost(len);
            self.outbound.notify_all();
        }
    }

    /// Waits for a frame; `None` if there will be none.
    fn next_frame(&self) -> Option<(Lane, Vec<u8>)> {
        let idle = |state: &mut State| state.outbox.frames.is_empty() && !state.outbox.closing;
        self.outbound
            .wait_while(self.lock(), idle)
            .unwrap_or_else(PoisonError::into_inner)
            .outbox
            .frames
            .pop_front()
    }

    fn write_error(&self, error: &io::Error) -> Error {
        if let Some(tls) = TlsError::within(error) {
            return tls.into();
        }
        let late = ChannelError::NothingTaken(self.timeout);
        ChannelError::of(error, late, ChannelError::ClosedSending, "send to the peer").into()
    }
}
