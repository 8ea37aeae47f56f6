//! The TLS state over an asynchronous stream. [`Channel`](crate::Channel)s have theirs in `stream.rs`.

use core::{
    ops::Range,
    pin::Pin,
    task::{Context as Waking, Poll, Waker, ready},
};
use std::io::{self, ErrorKind, Read, Write};

use rustls::Connection;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::stream::{FIRST_READ, MOST_READ, MOST_WRITTEN, in_our_words, tls_error};
use crate::{TlsError, tokio::outgoing::Outgoing};

/// A stream secured by TLS after its handshake: plain bytes on one side, records on the stream below.
///
/// Writes gather records: [flush](AsyncWrite::poll_flush) them. A dropped stream tells the peer that it ends, if the stream
/// below takes the words at once.
#[derive(Debug)]
pub struct Secure<S: AsyncRead + AsyncWrite + Unpin> {
    connection: Connection,
    stream: S,
    /// Bytes from the stream; those in `pending` have not been given to the connection.
    raw: Vec<u8>,
    pending: Range<usize>,
    records: Outgoing,
    /// True if this side has said that it ends.
    is_closing: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Secure<S> {
    /// The stream of a connection whose handshake is done. What the connection has read already comes first.
    pub(super) fn new(mut connection: Connection, stream: S) -> Self {
        connection.set_buffer_limit(Some(MOST_WRITTEN));
        Self {
            connection,
            stream,
            raw: Vec::new(),
            pending: 0..0,
            records: Outgoing::default(),
            is_closing: false,
        }
    }

    /// Gives the connection more of the peer's bytes. Returns how many; none at the end of the stream.
    fn poll_receive(&mut self, waking: &mut Waking<'_>) -> Poll<io::Result<usize>> {
        if self.pending.is_empty() {
            if self.pending.end == self.raw.len() && self.raw.len() < MOST_READ {
                // The last read filled it: more comes than it takes.
                self.raw = vec![0; (2 * self.raw.len()).max(FIRST_READ)];
            }
            let mut buffer = ReadBuf::new(&mut self.raw);
            ready!(Pin::new(&mut self.stream).poll_read(waking, &mut buffer))?;
            self.pending = 0..buffer.filled().len();
        }
        let mut bytes = &self.raw[self.pending.clone()];
        let taken = self.connection.read_tls(&mut bytes)?;
        self.pending.start += taken;
        // What this wants sent, an alert or the answer to a key update, goes out with our next records.
        let processed = self.connection.process_new_packets();
        Poll::Ready(processed.map(|_| taken).map_err(|e| io::Error::other(tls_error(&e))))
    }

    /// Writes the records that are there.
    fn poll_records(&mut self, waking: &mut Waking<'_>) -> Poll<io::Result<()>> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.records.bytes)?;
        }
        let written = ready!(self.records.poll_into(&mut self.stream, waking));
        Poll::Ready(written.map_err(|e| self.cause(waking, e)))
    }

    /// The error of a write that has failed: the peer's last words, if they are here, say why.
    fn cause(&mut self, waking: &mut Waking<'_>, error: io::Error) -> io::Error {
        loop {
            match self.poll_receive(waking) {
                Poll::Ready(Ok(taken)) if taken > 0 => {}
                Poll::Ready(Err(e)) if TlsError::within(&e).is_some() => return e,
                _ => return error,
            }
        }
    }

    fn say_goodbye(&mut self) {
        if !self.is_closing {
            self.is_closing = true;
            self.connection.send_close_notify();
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Secure<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        waking: &mut Waking<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            // Without the end of the connection in TLS, the end of the stream is an error of its own.
            match self.connection.reader().read(buffer.initialize_unfilled()) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    ready!(self.poll_receive(waking))?;
                }
                read => return Poll::Ready(read.map(|read| buffer.advance(read))),
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Secure<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        waking: &mut Waking<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_records(waking))?;
        let taken = self.connection.writer().write(bytes).map_err(in_our_words)?;
        // Also what does not go now is taken: the next call goes on.
        let _ = self.poll_records(waking)?;
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(mut self: Pin<&mut Self>, waking: &mut Waking<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_records(waking))?;
        Pin::new(&mut self.stream).poll_flush(waking)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, waking: &mut Waking<'_>) -> Poll<io::Result<()>> {
        self.say_goodbye();
        ready!(self.as_mut().poll_flush(waking))?;
        Pin::new(&mut self.stream).poll_shutdown(waking)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Drop for Secure<S> {
    fn drop(&mut self) {
        let waking = &mut Waking::from_waker(Waker::noop());
        // Nobody is left to be told.
        let _ = Pin::new(self).poll_shutdown(waking);
    }
}
