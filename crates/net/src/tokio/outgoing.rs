//! Bytes on their way to an asynchronous stream.

use core::{
    pin::Pin,
    task::{Context as Waking, Poll, ready},
};
use std::io::{self, ErrorKind};

use tokio::io::AsyncWrite;

/// Bytes for a stream; from `written` on it has not taken them.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    pub(crate) bytes: Vec<u8>,
    written: usize,
}

impl Outgoing {
    /// Writes all bytes.
    pub(crate) fn poll_into<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        waking: &mut Waking<'_>,
    ) -> Poll<io::Result<()>> {
        while self.written < self.bytes.len() {
            match ready!(Pin::new(&mut *stream).poll_write(waking, &self.bytes[self.written..]))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                n => self.written += n,
            }
        }
        self.bytes.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}
