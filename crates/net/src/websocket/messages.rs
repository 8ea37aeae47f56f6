//! The bytes of WebSocket messages over an asynchronous stream. Channels have theirs in `frames.rs`.

use core::{
    pin::Pin,
    task::{Context as Waking, Poll, Waker, ready},
};
use std::io::{self, ErrorKind};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use super::frames::{Frames, MOST, Next, control, header};
use crate::{ChannelError, tokio::outgoing::Outgoing};

/// A connection to a browser after its handshake: the bytes of messages on one side, frames on the stream below.
///
/// Writes gather frames: [flush](AsyncWrite::poll_flush) them. A dropped stream tells the browser that it ends, if the stream
/// below takes the words at once.
#[derive(Debug)]
pub struct Messages<S: AsyncRead + AsyncWrite + Unpin> {
    stream: S,
    frames: Frames,
    out: Outgoing,
    /// The answer to the browser's last ping.
    pong: Option<Vec<u8>>,
    has_ended: bool,
    /// True if this side has said that it ends.
    is_closing: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Messages<S> {
    /// The messages of a connection whose handshake is done. `rest` came behind the handshake.
    pub(super) fn new(stream: S, rest: Vec<u8>) -> Self {
        Self {
            stream,
            frames: Frames::behind(rest),
            out: Outgoing::default(),
            pong: None,
            has_ended: false,
            is_closing: false,
        }
    }

    /// Reads more into the buffer of frames. Returns false at the end of the connection.
    fn poll_fill(&mut self, waking: &mut Waking<'_>) -> Poll<io::Result<bool>> {
        let mut buffer = ReadBuf::new(self.frames.room());
        let read = Pin::new(&mut self.stream).poll_read(waking, &mut buffer);
        let len = buffer.filled().len();
        self.frames.filled(len);
        read.map_ok(|()| len > 0)
    }

    /// Writes the frames that are there, and a pong behind them.
    fn poll_out(&mut self, waking: &mut Waking<'_>) -> Poll<io::Result<()>> {
        if !self.is_closing
            && let Some(payload) = self.pong.take()
        {
            self.out.bytes.extend(control(Control::Pong, &payload));
        }
        self.out.poll_into(&mut self.stream, waking)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Messages<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        waking: &mut Waking<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 || self.has_ended {
            return Poll::Ready(Ok(()));
        }
        loop {
            match self.frames.next(buffer.initialize_unfilled())? {
                Next::Payload(some) => {
                    buffer.advance(some);
                    return Poll::Ready(Ok(()));
                }
                Next::Ping(payload) => {
                    self.pong = Some(payload);
                    // A writer that waits pays it, and would not be woken in our place.
                    if self.out.bytes.is_empty() {
                        let _ = self.poll_out(waking)?;
                    }
                }
                Next::Closed => {
                    self.has_ended = true;
                    return Poll::Ready(match self.frames.has_spoken {
                        true => Ok(()),
                        false => Err(io::Error::other(ChannelError::Served)),
                    });
                }
                // Without a closing frame: the connection was lost.
                Next::More if !ready!(self.poll_fill(waking))? => {
                    return Poll::Ready(Err(ErrorKind::UnexpectedEof.into()));
                }
                Next::More => {}
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Messages<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        waking: &mut Waking<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_closing {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        ready!(self.poll_out(waking))?;
        let len = bytes.len().min(MOST);
        if len > 0 {
            header(OpCode::Data(Data::Binary), len, &mut self.out.bytes);
            self.out.bytes.extend_from_slice(&bytes[..len]);
            // Also what does not go now is taken: the next call goes on.
            let _ = self.poll_out(waking)?;
        }
        Poll::Ready(Ok(len))
    }

    fn poll_flush(mut self: Pin<&mut Self>, waking: &mut Waking<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_out(waking))?;
        Pin::new(&mut self.stream).poll_flush(waking)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, waking: &mut Waking<'_>) -> Poll<io::Result<()>> {
        if !self.is_closing {
            self.is_closing = true;
            let normal = 1000_u16.to_be_bytes();
            self.out.bytes.extend(control(Control::Close, &normal));
        }
        ready!(self.as_mut().poll_flush(waking))?;
        Pin::new(&mut self.stream).poll_shutdown(waking)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Drop for Messages<S> {
    fn drop(&mut self) {
        let waking = &mut Waking::from_waker(Waker::noop());
        // Nobody is left to be told.
        let _ = Pin::new(self).poll_shutdown(waking);
    }
}
