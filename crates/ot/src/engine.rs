//! The engine: runs a protocol that is written once, as an async function, over anything that carries messages.
//!
//! A protocol sends and receives through [`Io`]. An [`Engine`] is a plain value around one party's run: give it the
//! peer's messages, take its own, ask whether it is done. It has no socket, no thread and no clock, and it needs no
//! async runtime. A driver for a transport is a loop of a few lines:
//!
//! ```
//! use foxtrot_ot::engine::{Engine, Progress};
//!
//! // A protocol of two messages: it sends 7 and adds what comes back.
//! let mut engine = Engine::new(|io| async move {
//!     io.send(vec![7]).await;
//!     let answer = io.recv(1).await;
//!     Ok(7 + answer[0])
//! });
//!
//! loop {
//!     let progress = engine.advance()?;
//!     while let Some((_stream, message)) = engine.outgoing() {
//!         assert_eq!(message, [7]); // here a driver writes the message to the peer
//!     }
//!     match progress {
//!         Progress::Done(sum) => break assert_eq!(sum, 12),
//!         Progress::Waiting { stream, len } => {
//!             engine.deliver(stream, vec![5; len]); // here a driver reads a message of that length
//!         }
//!     }
//! }
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```
//!
//! A run ends once: by its output, by an error, or by being dropped. There is no way back into it, and the sessions
//! that it consumed are gone with it.

#[cfg(test)]
mod tests;

use alloc::{boxed::Box, collections::VecDeque, sync::Arc, vec::Vec};
use core::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker},
};

use spin::Mutex;

use crate::{Error, Usage};

/// The number of a stream of messages within a connection. Messages of a stream keep their order.
pub type Stream = u8;

/// A protocol's end of the connection to its peer.
///
/// Both operations only move messages between the protocol and its [`Engine`]. They cannot fail: when the connection
/// does, the driver drops the engine, and the protocol with it.
#[derive(Clone)]
pub struct Io {
    mailbox: Arc<Mutex<Mailbox>>,
    stream: Stream,
}

/// Messages between a protocol and its driver.
#[derive(Default)]
struct Mailbox {
    incoming: VecDeque<(Stream, Vec<u8>)>,
    outgoing: VecDeque<(Stream, Vec<u8>)>,
    /// The messages that the protocol waits for, in the order in which it began to wait.
    awaited: Vec<(Stream, usize)>,
}

/// A protocol's run, as a future on the heap.
type Run<'a, Out> = Pin<Box<dyn Future<Output = Result<Out, Error>> + Send + 'a>>;

/// One party's run of a protocol.
pub struct Engine<'a, Out> {
    mailbox: Arc<Mutex<Mailbox>>,
    /// `None` when the run has ended.
    run: Option<Run<'a, Out>>,
}

/// How far a run has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress<Out> {
    /// The protocol waits for a message of the peer: of several, this is the one that it has waited for longest.
    Waiting {
        /// The stream that the message comes on.
        stream: Stream,
        /// Its length in bytes.
        len: usize,
    },
    /// The protocol's output. Messages that it sent last are still to be taken from [`Engine::outgoing`].
    Done(Out),
}

impl Io {
    /// Sends a message to the peer.
    #[expect(clippy::unused_async, reason = "a driver with bounded memory will let it wait")]
    pub async fn send(&self, message: Vec<u8>) {
        let stream = self.stream;
        self.mailbox.lock().outgoing.push_back((stream, message));
    }

    /// Receives the peer's next message, which should have `len` bytes. A driver that knows better refuses another
    /// length before the message gets here, but the protocol's decoder must check it all the same.
    pub async fn recv(&self, len: usize) -> Vec<u8> {
        let stream = self.stream;
        let mut waits = false;
        poll_fn(move |_| {
            let mut mailbox = self.mailbox.lock();
            match mailbox.take(stream) {
                Some(message) => {
                    if waits {
                        mailbox.stop_waiting(stream, len);
                    }
                    Poll::Ready(message)
                }
                None => {
                    if !waits {
                        mailbox.awaited.push((stream, len));
                        waits = true;
                    }
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// The same connection's stream of that number.
    #[must_use]
    pub fn on(&self, stream: Stream) -> Self {
        Self { mailbox: Arc::clone(&self.mailbox), stream }
    }
}

impl Mailbox {
    fn take(&mut self, stream: Stream) -> Option<Vec<u8>> {
        let at = self.incoming.iter().position(|(of, _)| *of == stream)?;
        self.incoming.remove(at).map(|(_, message)| message)
    }

    fn stop_waiting(&mut self, stream: Stream, len: usize) {
        if let Some(at) = self.awaited.iter().position(|it| *it == (stream, len)) {
            self.awaited.remove(at);
        }
    }
}

impl<'a, Out> Engine<'a, Out> {
    /// A run of the protocol, which has not begun. The protocol gets stream 0, and others by [`Io::on`].
    pub fn new<F>(protocol: impl FnOnce(Io) -> F) -> Self
    where
        F: Future<Output = Result<Out, Error>> + Send + 'a,
    {
        let mailbox = Arc::<Mutex<Mailbox>>::default();
        let io = Io { mailbox: Arc::clone(&mailbox), stream: 0 };
        Self { mailbox, run: Some(Box::pin(protocol(io))) }
    }

    /// Runs the protocol until it is done or waits for the peer.
    ///
    /// # Errors
    /// The protocol's error, once; [`Usage::SessionEnded`] whenever the run has ended before.
    ///
    /// # Panics
    /// If the protocol waits for something else than its [`Io`].
    #[expect(clippy::panic_in_result_fn, reason = "the protocol is wrong, whatever the peer sends")]
    pub fn advance(&mut self) -> Result<Progress<Out>, Error> {
        let Some(run) = &mut self.run else { return Err(Usage::SessionEnded.into()) };
        // Nothing has to be woken: whoever delivers a message calls this afterwards.
        match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => match self.mailbox.lock().awaited.first() {
                Some(&(stream, len)) => Ok(Progress::Waiting { stream, len }),
                None => panic!("a protocol waits for something else than its peer"),
            },
            Poll::Ready(ended) => {
                self.run = None;
                ended.map(Progress::Done)
            }
        }
    }

    /// The next message for the peer, with its stream.
    pub fn outgoing(&mut self) -> Option<(Stream, Vec<u8>)> {
        self.mailbox.lock().outgoing.pop_front()
    }

    /// Hands over a message of the peer. [`Engine::advance`] continues the protocol.
    pub fn deliver(&mut self, stream: Stream, message: Vec<u8>) {
        self.mailbox.lock().incoming.push_back((stream, message));
    }
}

impl fmt::Debug for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Io(stream {})", self.stream)
    }
}

impl<Out> fmt::Debug for Engine<'_, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.run.is_some() { "running" } else { "ended" };
        write!(f, "Engine({state})")
    }
}
