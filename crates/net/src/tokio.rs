//! Running a protocol's engine over a stream of `tokio`, or over anything that reads and writes asynchronously.
//!
//! The frames are those of [`Channel`](crate::Channel) (`docs/wire/README.md`, section 2): lane [`Lane::PROTOCOL`] is the
//! protocol's stream 0. A program agrees with its peer on a session by [`Lanes::greet`] and ends it by [`Lanes::finish`], or
//! by means of its own. It has a secure stream. The program also sets time limits, say with `tokio::time::timeout`; a
//! future that is dropped leaves a stream that is of no further use.

mod session;

use core::{
    future::poll_fn,
    pin::Pin,
    task::{Context as Waking, Poll, ready},
};
use std::io;

use foxtrot_ot::{
    Usage,
    engine::{Engine, Io, Limits, Progress},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{
    ChannelError, Error, FrameError, Lane,
    channel::{HEADER_BYTES, MAX_FRAME, Queue, Reason, Step, Tally, held_back},
};

/// The lane of a protocol's stream 0.
const FIRST: u8 = Lane::PROTOCOL.index();

/// Bytes that wait to be written before the protocol may send more.
const OUTBOUND: usize = 1 << 18;

/// Bytes that are read at a time.
const READ: usize = 1 << 16;

/// A stream of bytes as lanes of messages. Protocols run over it one after another.
#[derive(Debug)]
pub struct Lanes<S> {
    stream: S,
    inbox: Inbox,
    /// Frames that are not written yet, from `written` on.
    outbox: Vec<u8>,
    written: usize,
    /// True if the stream has passed on all that was written.
    is_flushed: bool,
    /// The session that a hello began; its transcript is kept.
    session: Option<session::Told>,
    /// True if there was a session before.
    is_renewed: bool,
}

/// Frames that came before a protocol waited for them.
#[derive(Debug, Default)]
struct Inbox {
    lanes: [Queue; Lane::COUNT as usize],
    /// Bytes of the frame that is coming, header and all; from `parsed` on those of the next ones.
    bytes: Vec<u8>,
    parsed: usize,
    limits: Limits,
    /// A hash of what came, in a session that a hello began.
    heard: Option<Tally>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lanes<S> {
    /// Lanes over the stream, of which nothing has been read or written.
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            inbox: Inbox::default(),
            outbox: Vec::new(),
            written: 0,
            is_flushed: true,
            session: None,
            is_renewed: false,
        }
    }

    /// The stream, when all protocols are done.
    pub fn into_inner(self) -> S {
        self.stream
    }

    /// Runs a protocol that is an async function to its end.
    ///
    /// A step computes in proportion to its batch: for many, run it where it may take long.
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
        Error: From<E>,
    {
        self.run(Engine::new(protocol)).await
    }

    /// Runs the protocol to its end, and has all its messages written.
    ///
    /// # Errors
    /// Errors of the protocol; [`Error::Frame`] if the peer's message has another length than the protocol expects, or
    /// comes on a lane that is not in use; [`Error::Channel`]. The stream is of no further use then.
    pub async fn run<Out, E>(&mut self, engine: Engine<'_, Out, E>) -> Result<Out, Error>
    where
        E: From<Usage>,
        Error: From<E>,
    {
        let out = self.drive(engine).await;
        out.map_err(|e| if self.session.is_some() { self.give_up(e) } else { e })
    }

    async fn drive<Out, E>(&mut self, mut engine: Engine<'_, Out, E>) -> Result<Out, Error>
    where
        E: From<Usage>,
        Error: From<E>,
    {
        loop {
            let progress = engine.advance()?;
            self.inbox.limits = engine.limits();
            while let Some((stream, message)) = engine.outgoing() {
                self.push(FIRST + stream, &message)?;
            }
            match progress {
                Progress::Sending => {
                    poll_fn(|waking| self.poll_write_below(waking, OUTBOUND)).await?;
                }
                Progress::Done(out) => {
                    self.flush_all().await?;
                    return Ok(out);
                }
                Progress::Waiting { .. } => {
                    let awaited = engine.awaited();
                    let (stream, message) =
                        poll_fn(|waking| self.poll_message(waking, &awaited)).await?;
                    engine.deliver(stream, message);
                }
            }
        }
    }

    /// Puts a frame behind those that wait to be written.
    fn push(&mut self, lane: u8, message: &[u8]) -> Result<(), Error> {
        let (got, max) = (message.len(), MAX_FRAME);
        let len = u32::try_from(got).ok().filter(|_| got <= max);
        let len = len.ok_or(FrameError::TooLong { max, got })?;
        self.outbox.extend(len.to_le_bytes());
        self.outbox.push(lane);
        self.outbox.extend(message);
        if let (Some(session), Some(lane)) = (&mut self.session, Lane::new(lane)) {
            session.tally.frame(lane, message);
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
                Poll::Ready(Ok(n)) => self.written += n,
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
        self.inbox.take_frames(&[])?;
        while self.inbox.wants_more(&[]) && self.poll_read(waking)?.is_ready() {
            self.inbox.take_frames(&[])?;
        }
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

    /// The first message on one of these streams; writes meanwhile.
    fn poll_message(
        &mut self,
        waking: &mut Waking<'_>,
        awaited: &[(u8, usize)],
    ) -> Poll<Result<(u8, Vec<u8>), Error>> {
        self.write_some(waking)?;
        if let Poll::Ready(flushed) = self.poll_flush(waking) {
            flushed?;
        }
        loop {
            self.inbox.take_frames(awaited)?;
            if let Some(message) = self.inbox.pop(awaited)? {
                return Poll::Ready(Ok(message));
            }
            if !self.inbox.wants_more(awaited) {
                // The next frame is for a lane that is full: the peer does not follow the protocol. This ends when
                // the program's time limit does.
                return Poll::Pending;
            }
            ready!(self.poll_read(waking)?);
        }
    }

    /// Reads some bytes.
    fn poll_read(&mut self, waking: &mut Waking<'_>) -> Result<Poll<()>, Error> {
        let mut space = [0; READ];
        let mut buffer = ReadBuf::new(&mut space);
        match Pin::new(&mut self.stream).poll_read(waking, &mut buffer) {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                Err(ChannelError::ClosedReceiving.into())
            }
            Poll::Ready(Ok(())) => {
                self.inbox.bytes.extend(buffer.filled());
                Ok(Poll::Ready(()))
            }
            Poll::Ready(Err(e)) => {
                Err(failed("receive from the peer", ChannelError::ClosedReceiving, &e))
            }
        }
    }
}

impl Inbox {
    /// Header and payload of the frame that comes next, as far as they are here.
    fn header(&self) -> Option<(u8, usize)> {
        let header: [u8; HEADER_BYTES] = *self.bytes[self.parsed..].first_chunk()?;
        let [a, b, c, d, lane] = header;
        Some((lane, usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX)))
    }

    /// Puts whole frames into their lanes, as far as they are awaited or have room, until one is there that is awaited:
    /// what follows may be of the next protocol, which has other limits. Refuses frames that no peer sends who follows
    /// the protocol, as soon as their header is here.
    fn take_frames(&mut self, awaited: &[(u8, usize)]) -> Result<(), Error> {
        while let Some((lane, len)) = self.header() {
            let is_here =
                |(stream, _): &(u8, usize)| !self.lanes[usize::from(FIRST + stream)].is_empty();
            if awaited.iter().any(is_here) {
                return Ok(());
            }
            if lane == Lane::HELLO.index() && self.heard.is_some() {
                return self.end_of_session(len, awaited);
            }
            let in_use = FIRST..FIRST.saturating_add(self.limits.streams.max(1)).min(Lane::COUNT);
            if !in_use.contains(&lane) {
                if awaited.is_empty() {
                    // It is refused when this side waits for something else.
                    return Ok(());
                }
                return Err(FrameError::Lane { got: lane }.into());
            }
            if len > MAX_FRAME {
                return Err(FrameError::TooLong { max: MAX_FRAME, got: len }.into());
            }
            match self.expected(lane, awaited) {
                Some(expected) if len != expected => {
                    return Err(FrameError::Length { expected, got: len }.into());
                }
                None if !self.has_room(lane, len) => return Ok(()),
                _ => {}
            }
            let Some(payload) = self.payload(len) else { return Ok(()) };
            let frame = payload.to_vec();
            if let (Some(heard), Some(lane)) = (&mut self.heard, Lane::new(lane)) {
                heard.frame(lane, &frame);
            }
            self.lanes[usize::from(lane)].push(frame);
            self.pass(len);
        }
        Ok(())
    }

    /// The payload of the frame that comes next, if all of it is here.
    fn payload(&self, len: usize) -> Option<&[u8]> {
        let start = self.parsed + HEADER_BYTES;
        self.bytes.get(start..start + len)
    }

    /// Passes over the frame that comes next.
    fn pass(&mut self, len: usize) {
        self.parsed += HEADER_BYTES + len;
        if self.parsed >= READ {
            self.bytes.drain(..self.parsed);
            self.parsed = 0;
        }
    }

    /// The frame that comes next is the peer's last word, or its closing, for which somebody has to wait.
    fn end_of_session(&self, len: usize, awaited: &[(u8, usize)]) -> Result<(), Error> {
        match (len, awaited.first()) {
            (Reason::LEN, _) => match self.payload(len) {
                Some(word) => Err(ChannelError::GivenUp(Reason::from_byte(word[0])).into()),
                None => Ok(()),
            },
            (_, None) => Ok(()),
            (Step::LEN, Some((stream, _))) => {
                Err(FrameError::Missing { lane: FIRST + stream }.into())
            }
            (got, Some(_)) => Err(FrameError::Length { expected: Step::LEN, got }.into()),
        }
    }

    /// The most bytes that a lane holds back.
    fn most(&self) -> usize {
        held_back(self.limits.messages.max(1), self.limits.len.max(READ))
    }

    /// The length that the next frame on that lane should have, if somebody waits for it.
    fn expected(&self, lane: u8, awaited: &[(u8, usize)]) -> Option<usize> {
        let next = self.lanes[usize::from(lane)].is_empty();
        let of_lane = awaited.iter().find(|(stream, _)| next && FIRST + stream == lane);
        of_lane.map(|(_, len)| *len)
    }

    fn has_room(&self, lane: u8, len: usize) -> bool {
        self.lanes[usize::from(lane)].has_room(self.most(), len)
    }

    /// Returns true if more is to be read: the next frame is not whole, and somebody waits for it or it has room.
    fn wants_more(&self, awaited: &[(u8, usize)]) -> bool {
        self.header().is_none_or(|(lane, len)| {
            if lane == Lane::HELLO.index() {
                return self.heard.is_some() && len == Reason::LEN;
            }
            let is_lane = (FIRST..Lane::COUNT).contains(&lane) && len <= MAX_FRAME;
            is_lane && (self.expected(lane, awaited).is_some() || self.has_room(lane, len))
        })
    }

    fn pop(&mut self, awaited: &[(u8, usize)]) -> Result<Option<(u8, Vec<u8>)>, Error> {
        for &(stream, expected) in awaited {
            if let Some(frame) = self.lanes[usize::from(FIRST + stream)].pop() {
                let got = frame.len();
                if got != expected {
                    return Err(FrameError::Length { expected, got }.into());
                }
                return Ok(Some((stream, frame)));
            }
        }
        Ok(None)
    }
}

fn not_sent(e: &io::Error) -> Error {
    failed("send to the peer", ChannelError::ClosedSending, e)
}

fn failed(action: &str, closed: ChannelError, e: &io::Error) -> Error {
    match e.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::NotConnected
        | io::ErrorKind::BrokenPipe => closed,
        _ => ChannelError::io(action, e),
    }
    .into()
}

#[cfg(test)]
mod tests;
