//! Running a protocol's engine over a stream of `tokio`, or over anything that reads and writes asynchronously.
//!
//! The frames are those of [`Channel`](crate::Channel) (`docs/wire/README.md`, section 2): lane [`Lane::PROTOCOL`] is the
//! protocol's stream 0. A program agrees with its peer on a session by [`exchange_by`](crate::hello::exchange_by) and ends it by [`Connection::finish`](crate::Connection::finish), or
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
    channel::{
        HEADER_BYTES, MAX_FRAME, Tally, Transcript, held_back,
        inbox::{Inbox, Next, Want},
    },
    drive::{FIRST, awaited},
};

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
    /// True if the stream has passed on all that was written.
    is_flushed: bool,
    /// Tallies of what this side has sent, and of what came, in a session that a hello began.
    tallies: Option<[Tally; 2]>,
    /// The transcript of a session that both sides have ended.
    ended: Option<Transcript>,
    /// True if this side has said why it ends the session.
    is_over: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lanes<S> {
    /// Lanes over the stream, of which nothing has been read or written.
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            inbox: Inbox::new(false),
            bytes: Vec::new(),
            parsed: 0,
            outbox: Vec::new(),
            written: 0,
            is_flushed: true,
            tallies: None,
            ended: None,
            is_over: false,
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
        let run = async {
            loop {
                let progress = engine.advance().map_err(foxtrot_ot::Error::from)?;
                let Limits { streams, messages, len } = engine.limits();
                self.inbox.in_use = FIRST.index().saturating_add(streams.max(1));
                self.inbox.most = held_back(messages.max(1), len.max(READ));
                while let Some((stream, message)) = engine.outgoing() {
                    self.push(FIRST.offset(stream), &message)?;
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
                        let awaited = awaited(&engine);
                        let (lane, message) =
                            poll_fn(|waking| self.poll_message(waking, &awaited)).await?;
                        engine.deliver(lane.index() - FIRST.index(), message);
                    }
                }
            }
        };
        let out: Result<Out, Error> = run.await;
        out.map_err(|e| if self.tallies.is_some() { self.tell_why(e) } else { e })
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
                // The frame is for a lane that is full: the peer does not follow the protocol. This ends when the program's
                // time limit does.
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
            ready!(self.poll_read(waking)?);
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
    fn poll_read(&mut self, waking: &mut Waking<'_>) -> Result<Poll<()>, Error> {
        let mut space = [0; READ];
        let mut buffer = ReadBuf::new(&mut space);
        match Pin::new(&mut self.stream).poll_read(waking, &mut buffer) {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                Err(ChannelError::ClosedReceiving.into())
            }
            Poll::Ready(Ok(())) => {
                self.bytes.extend(buffer.filled());
                Ok(Poll::Ready(()))
            }
            Poll::Ready(Err(e)) => {
                Err(failed("receive from the peer", ChannelError::ClosedReceiving, &e))
            }
        }
    }
}

fn not_sent(e: &io::Error) -> Error {
    failed("send to the peer", ChannelError::ClosedSending, e)
}

fn failed(action: &str, closed: ChannelError, e: &io::Error) -> Error {
    // The program sets time limits, so that a time-out is one of the system's.
    ChannelError::of(e, ChannelError::io(action, e), closed, action).into()
}

#[cfg(test)]
mod tests;
