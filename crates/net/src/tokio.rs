//! Running a protocol's engine over a stream of `tokio`, or over anything that reads and writes asynchronously.
//!
//! The frames are those of [`Channel`](crate::Channel) (`docs/wire/README.md`, section 2): lane [`Lane::PROTOCOL`] is the
//! protocol's stream 0. A program agrees with its peer on a session by [`exchange_by`](crate::hello::exchange_by) and ends it by [`Connection::finish`](crate::Connection::finish), or
//! by means of its own. It has a secure stream. Limits of time take a [`Runtime`]: [`Lanes::on`]. A future that is dropped
//! leaves a stream that is of no further use; the peer reads an end when the lanes are dropped.

mod limits;
#[cfg(all(feature = "tokio-net", any(feature = "tls", feature = "websocket")))]
pub(crate) mod outgoing;
#[cfg(feature = "tokio-net")]
mod runtime;
mod session;

use core::{
    future::poll_fn,
    mem,
    pin::Pin,
    task::{Context as Waking, Poll, ready},
};
use std::{
    io,
    sync::{Arc, Mutex},
};

use foxtrot_ot::{
    Usage,
    engine::{Engine, Io, Limits, Progress},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{
    ChannelError, Error, FrameError, Lane, TlsError,
    channel::{
        HEADER_BYTES, MAX_FRAME, Meter, Tally, Transcript, held_back,
        inbox::{Inbox, Next, Want},
    },
    deadline::lock,
    drive::{FIRST, awaited},
};
use limits::{Awaited, Clock};
pub use limits::{Later, Runtime};
#[cfg(feature = "tokio-net")]
pub use runtime::Tokio;

/// Bytes that wait to be written before the protocol may send more.
const OUTBOUND: usize = 1 << 18;

/// Bytes that are read at a time.
const READ: usize = 1 << 16;

/// A stream of bytes as lanes of messages. Protocols run over it one after another.
#[derive(Debug)]
pub struct Lanes<S> {
    stream: S,
    inbox: Inbox,
    /// Bytes that were read; from `parsed` on those of the frame that is coming, and of the next ones.
    bytes: Vec<u8>,
    parsed: usize,
    /// Frames that are not written yet, from `written` on.
    outbox: Vec<u8>,
    written: usize,
    /// All bytes that the stream has taken.
    taken: u64,
    /// True if the stream has passed on all that was written.
    is_flushed: bool,
    /// Tallies of what this side has sent, and of what came, in a session that a hello began.
    tallies: Option<[Tally; 2]>,
    meter: Meter,
    clock: Option<Clock>,
    /// The transcript of a session that both sides have ended.
    ended: Option<Transcript>,
    /// The error that ended the connection.
    failed: Option<Error>,
    /// True while a protocol runs.
    is_running: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lanes<S> {
    /// Lanes over the stream, of which nothing has been read or written.
    pub fn new(stream: S) -> Self {
        let mut inbox = Inbox::new(false);
        // Before a protocol begins, no other lane is in use: a stranger fills none.
        inbox.in_use = Lane::HELLO.index() + 1;
        Self {
            stream,
            inbox,
            bytes: Vec::new(),
            parsed: 0,
            outbox: Vec::new(),
            written: 0,
            taken: 0,
            is_flushed: true,
            tallies: None,
            meter: Meter::default(),
            clock: None,
            ended: None,
            failed: None,
            is_running: false,
        }
    }

    /// The stream, when all protocols are done.
    pub fn into_inner(self) -> S {
        self.stream
    }

    /// Hands all that waits to the stream, and tells the peer that nothing follows.
    ///
    /// # Errors
    /// [`ChannelError`].
    pub async fn close(mut self) -> Result<(), Error> {
        self.flush_all().await?;
        self.shut_down().await
    }

    /// Runs a protocol that is an async function to its end.
    ///
    /// A step computes in proportion to its batch, and between two steps other tasks get on. [`Lanes::run_owned`] computes
    /// elsewhere.
    ///
    /// # Errors
    /// As for [`Lanes::run`].
    pub async fn play<'a, Out, E, F>(
        &mut self,
        protocol: impl FnOnce(Io) -> F,
    ) -> Result<Out, Error>
    where
        F: Future<Output = Result<Out, E>> + Send + 'a,
        E: From<Usage>,
        foxtrot_ot::Error: From<E>,
    {
        self.run(Engine::new(protocol)).await
    }

    /// Runs the protocol to its end, and has all its messages written.
    ///
    /// # Errors
    /// Errors of the protocol; [`Error::Frame`] if the peer's message has another length than the protocol expects, or
    /// comes on a lane that is not in use; [`Error::Channel`]. The stream is of no further use then.
    pub async fn run<Out, E>(&mut self, mut engine: Engine<'_, Out, E>) -> Result<Out, Error>
    where
        E: From<Usage>,
        foxtrot_ot::Error: From<E>,
    {
        self.still_open()?;
        self.is_running = true;
        let run = async {
            loop {
                let progress = engine.advance();
                if let Some(out) = self.carry(&mut engine, progress).await? {
                    return Ok(out);
                }
                let_others_in().await;
            }
        };
        let out: Result<Out, Error> = run.await;
        self.is_running = false;
        out.map_err(|e| if self.tallies.is_some() { self.tell_why(e) } else { e })
    }

    /// [`run`](Self::run) for a protocol that owns all it works on: each step goes through [`Runtime::offload`], if there is
    /// a runtime. A step that is under way when the future is dropped computes to its end, and its result is dropped.
    ///
    /// # Errors
    /// As of [`run`](Self::run); [`ChannelError::Abandoned`] if the runtime does not compute a step.
    pub async fn run_owned<Out, E>(
        &mut self,
        mut engine: Engine<'static, Out, E>,
    ) -> Result<Out, Error>
    where
        Out: Send + 'static,
        E: From<Usage> + Send + 'static,
        foxtrot_ot::Error: From<E>,
    {
        self.still_open()?;
        let Some(clock) = &self.clock else { return self.run(engine).await };
        let runtime = Arc::clone(&clock.runtime);
        self.is_running = true;
        let run = async {
            loop {
                let put = Arc::new(Mutex::new(None));
                let place = Arc::clone(&put);
                let step = move || {
                    let progress = engine.advance();
                    *lock(&place) = Some((engine, progress));
                };
                runtime.offload(Box::new(step)).await;
                let (returned, progress) = lock(&put).take().ok_or(ChannelError::Abandoned)?;
                engine = returned;
                if let Some(out) = self.carry(&mut engine, progress).await? {
                    return Ok(out);
                }
            }
        };
        let out: Result<Out, Error> = run.await;
        self.is_running = false;
        out.map_err(|e| if self.tallies.is_some() { self.tell_why(e) } else { e })
    }

    /// Carries messages after a step of the engine, until the next step can be taken or there is an output.
    async fn carry<Out, E>(
        &mut self,
        engine: &mut Engine<'_, Out, E>,
        progress: Result<Progress<Out>, E>,
    ) -> Result<Option<Out>, Error>
    where
        E: From<Usage>,
        foxtrot_ot::Error: From<E>,
    {
        let progress = progress.map_err(foxtrot_ot::Error::from)?;
        let Limits { streams, messages, len } = engine.limits();
        self.inbox.in_use = FIRST.index().saturating_add(streams.max(1));
        self.inbox.most = held_back(messages.max(1), len.max(READ));
        while let Some((stream, message)) = engine.outgoing() {
            self.push(FIRST.offset(stream), &message)?;
        }
        match progress {
            Progress::Sending => {
                let below =
                    |it: &mut Self, waking: &mut Waking<'_>| it.poll_write_below(waking, OUTBOUND);
                self.within(Awaited::Room, below).await?;
            }
            Progress::Done(out) => {
                self.flush_all().await?;
                return Ok(Some(out));
            }
            Progress::Waiting { .. } => {
                let (lane, message) = self.message(&awaited(engine)).await?;
                engine.deliver(lane.index() - FIRST.index(), message);
            }
        }
        Ok(None)
    }

    /// The first of these messages that comes.
    async fn message(&mut self, wanted: &[(Lane, Want)]) -> Result<(Lane, Vec<u8>), Error> {
        let (lane, message) =
            self.within(Awaited::Message, |it, waking| it.poll_message(waking, wanted)).await?;
        if lane != Lane::HELLO || !self.inbox.phase.is_session() {
            self.meter.received(message.len());
        }
        Ok((lane, message))
    }

    /// Puts a frame behind those that wait to be written.
    fn push(&mut self, lane: Lane, message: &[u8]) -> Result<(), Error> {
        let (got, max) = (message.len(), MAX_FRAME);
        let len = u32::try_from(got).ok().filter(|_| got <= max);
        let len = len.ok_or(FrameError::TooLong { max, got })?;
        self.outbox.extend(len.to_le_bytes());
        self.outbox.push(lane.index());
        self.outbox.extend(message);
        if let Some([told, _]) = &mut self.tallies {
            told.frame(lane, message);
        }
        if lane != Lane::HELLO || !self.inbox.phase.is_session() {
            self.meter.sent(got);
        }
        self.is_flushed = false;
        Ok(())
    }

    /// Writes as much as the stream takes now.
    fn write_some(&mut self, waking: &mut Waking<'_>) -> Result<(), Error> {
        while self.written < self.outbox.len() {
            let stream = Pin::new(&mut self.stream);
            match stream.poll_write(waking, &self.outbox[self.written..]) {
                Poll::Pending => break,
                Poll::Ready(Ok(0)) => return Err(ChannelError::ClosedSending.into()),
                Poll::Ready(Ok(n)) => {
                    self.written += n;
                    self.taken += n as u64;
                }
                Poll::Ready(Err(e)) => return Err(not_sent(&e)),
            }
        }
        if self.written == self.outbox.len() || self.written >= OUTBOUND {
            self.outbox.drain(..self.written);
            self.written = 0;
        }
        Ok(())
    }

    /// Writes until fewer bytes wait; reads meanwhile what has room, so that two sides that both write do not wait for
    /// each other.
    fn poll_write_below(
        &mut self,
        waking: &mut Waking<'_>,
        most: usize,
    ) -> Poll<Result<(), Error>> {
        self.write_some(waking)?;
        if self.outbox.len() - self.written < most {
            return Poll::Ready(Ok(()));
        }
        let _ = self.poll_frames(waking, &[])?;
        Poll::Pending
    }

    /// Lets a stream that gathers bytes of its own pass them on, when all is written.
    fn poll_flush(&mut self, waking: &mut Waking<'_>) -> Poll<Result<(), Error>> {
        if self.is_flushed || !self.outbox.is_empty() {
            return Poll::Ready(Ok(()));
        }
        ready!(Pin::new(&mut self.stream).poll_flush(waking)).map_err(|e| not_sent(&e))?;
        self.is_flushed = true;
        Poll::Ready(Ok(()))
    }

    /// The first of these messages; writes meanwhile.
    fn poll_message(
        &mut self,
        waking: &mut Waking<'_>,
        wanted: &[(Lane, Want)],
    ) -> Poll<Result<(Lane, Vec<u8>), Error>> {
        self.write_some(waking)?;
        if let Poll::Ready(flushed) = self.poll_flush(waking) {
            flushed?;
        }
        self.poll_frames(waking, wanted)
    }

    /// Reads until one of these messages is here: what follows may be of the next protocol, which has other limits.
    fn poll_frames(
        &mut self,
        waking: &mut Waking<'_>,
        wanted: &[(Lane, Want)],
    ) -> Poll<Result<(Lane, Vec<u8>), Error>> {
        loop {
            let here = &self.bytes[self.parsed..];
            match self.inbox.next(wanted)? {
                Next::Here(lane, frame) => return Poll::Ready(Ok((lane, frame))),
                // The frame is for a lane that is full: the peer does not follow the protocol. This ends when the time limit
                // does.
                Next::Wait => return Poll::Pending,
                Next::Header => {
                    if let Some(header) = here.first_chunk() {
                        self.inbox.begin(*header)?;
                        self.pass(HEADER_BYTES);
                        continue;
                    }
                }
                Next::Payload(header) => {
                    if let Some(payload) = here.get(..header.len) {
                        let frame = payload.to_vec();
                        if let Some([_, heard]) = &mut self.tallies {
                            heard.frame(header.lane, &frame);
                        }
                        self.pass(header.len);
                        self.inbox.put(header, frame)?;
                        continue;
                    }
                }
            }
            ready!(self.poll_read(waking))?;
        }
    }

    /// Passes over bytes that were read.
    fn pass(&mut self, len: usize) {
        self.parsed += len;
        if self.parsed >= READ {
            self.bytes.drain(..self.parsed);
            self.parsed = 0;
        }
    }

    /// Reads some bytes.
    fn poll_read(&mut self, waking: &mut Waking<'_>) -> Poll<Result<(), Error>> {
        let mut space = [0; READ];
        let mut buffer = ReadBuf::new(&mut space);
        let read = ready!(Pin::new(&mut self.stream).poll_read(waking, &mut buffer));
        read.map_err(|e| failed("receive from the peer", ChannelError::ClosedReceiving, &e))?;
        if buffer.filled().is_empty() {
            return Poll::Ready(Err(ChannelError::ClosedReceiving.into()));
        }
        self.bytes.extend(buffer.filled());
        Poll::Ready(Ok(()))
    }

    /// Tells the peer that nothing follows what is written.
    async fn shut_down(&mut self) -> Result<(), Error> {
        let shut = |it: &mut Self, waking: &mut Waking<'_>| {
            Pin::new(&mut it.stream).poll_shutdown(waking).map_err(|e| not_sent(&e))
        };
        self.within(Awaited::Room, shut).await
    }
}

/// Lets other tasks of this thread get on, whatever runtime they have.
async fn let_others_in() {
    let mut has_waited = false;
    poll_fn(|waking| {
        if mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        waking.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn not_sent(e: &io::Error) -> Error {
    failed("send to the peer", ChannelError::ClosedSending, e)
}

fn failed(action: &str, closed: ChannelError, e: &io::Error) -> Error {
    if let Some(tls) = TlsError::within(e) {
        return tls.into();
    }
    // The stream below has said it in our words.
    if let Some(ours) = e.get_ref().and_then(|it| it.downcast_ref::<ChannelError>()) {
        return ours.clone().into();
    }
    // Limits of time are those of the lanes, so that a time-out is one of the system's.
    ChannelError::of(e, ChannelError::io(action, e), closed, action).into()
}

#[cfg(test)]
mod tests;
