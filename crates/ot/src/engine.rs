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
//!     Ok::<_, foxtrot_ot::Error>(7 + answer[0])
//! });
//!
//! loop {
//!     let progress = engine.advance()?;
//!     while let Some((_stream, message)) = engine.outgoing() {
//!         assert_eq!(message, [7]); // here a driver writes the message to the peer
//!     }
//!     match progress {
//!         Progress::Sending => {} // its messages are on their way; it goes on
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
//!
//! Protocols are made of protocols: a protocol calls another one's async function, or [runs](Io::run) its engine. Two
//! that run side by side are [`join`]ed; then the engine waits for several messages at a time, and a driver receives on
//! all of these streams.

#[cfg(test)]
mod tests;

pub mod batches;
mod join;

use alloc::{boxed::Box, collections::VecDeque, sync::Arc, vec::Vec};
use core::{
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker},
};

use spin::Mutex;

use crate::{Error, Usage};

pub use join::join;

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
    limits: Limits,
    spares: Spares,
    /// Batches that the window lacks of the widest one.
    narrower: usize,
    /// The number of waits that a wider window would end.
    impatient: usize,
}

/// Buffers of messages that have been read or written, for later messages. What a party sends and receives is no secret,
/// so these buffers keep their bytes. Clones share the buffers.
///
/// A stream of large messages would otherwise take fresh memory for each, and the system would clear it first.
#[derive(Clone, Default)]
pub struct Spares(Arc<Mutex<Vec<Vec<u8>>>>);

impl Spares {
    /// The number of buffers that are kept.
    const MOST: usize = batches::WINDOW;

    /// The longest buffer that is kept, in bytes.
    pub const LONGEST: usize = 2 << 20;

    /// An empty buffer, or one with bytes of another message.
    #[must_use]
    pub fn take(&self) -> Vec<u8> {
        self.0.lock().pop().unwrap_or_default()
    }

    /// Frees all buffers.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// Keeps a buffer, unless it is short or long or there are enough.
    pub fn put(&self, buffer: Vec<u8>) {
        let mut all = self.0.lock();
        if (1 << 12..=Self::LONGEST).contains(&buffer.capacity()) && all.len() < Self::MOST {
            all.push(buffer);
        }
    }
}

/// Bounds of what is on its way to a party while both follow the protocol. A driver need hold back no more than that.
/// Bounds within which [`Io::run`] runs another protocol are for the outer protocol to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The protocol uses streams below this number.
    pub streams: Stream,
    /// The number of messages of a stream that may come before the party waits for them …
    pub messages: usize,
    /// … and the most bytes of each.
    pub len: usize,
}

/// A protocol's run, as a future on the heap. An async function is compiled again in each crate that awaits it; a function
/// that returns this is compiled once.
pub type Run<'a, Out, E = Error> = Pin<Box<dyn Future<Output = Result<Out, E>> + Send + 'a>>;

/// One party's run of a protocol.
pub struct Engine<'a, Out, E = Error> {
    mailbox: Arc<Mutex<Mailbox>>,
    /// `None` when the run has ended.
    run: Option<Run<'a, Out, E>>,
}

/// The state of a run.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress<Out> {
    /// The protocol goes on as soon as its messages have been taken from [`Engine::outgoing`].
    Sending,
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

/// A caller's sink has no use for further output: the run ends with [`Usage::Abandoned`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned;

impl From<Abandoned> for Error {
    fn from(_: Abandoned) -> Self {
        Usage::Abandoned.into()
    }
}

impl Io {
    /// Sends a message to the peer. Ends when the driver has taken it, whenever the peer reads it: each of a
    /// protocol's [`join`]ed parts holds at most one message back.
    pub async fn send(&self, message: Vec<u8>) {
        self.mailbox.lock().outgoing.push_back((self.stream, message));
        poll_fn(|_| match self.mailbox.lock().outgoing.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Receives the peer's next message, which should have `len` bytes. A driver that knows better refuses another
    /// length before the message gets here, but the protocol's decoder must check it all the same.
    pub async fn recv(&self, len: usize) -> Vec<u8> {
        self.recv_first(&[(self.stream, len)]).await.1
    }

    /// Receives the first message that comes on any of these streams, with its stream.
    async fn recv_first(&self, wanted: &[(Stream, usize)]) -> (Stream, Vec<u8>) {
        let mut waits = false;
        poll_fn(move |_| {
            let mut mailbox = self.mailbox.lock();
            let message = wanted
                .iter()
                .find_map(|(stream, _)| mailbox.take(*stream).map(|message| (*stream, message)));
            match message {
                Some(message) => {
                    if waits {
                        wanted.iter().for_each(|it| mailbox.stop_waiting(it));
                    }
                    Poll::Ready(message)
                }
                None => {
                    if !waits {
                        mailbox.awaited.extend(wanted);
                        waits = true;
                    }
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Returns true when the oldest batch under way is due, and false as soon as another batch may be begun.
    ///
    /// While fewer batches than the window, or than `least`, are under way, another one may be begun at once. Else the call waits: until the
    /// oldest batch's message of `len` bytes is there, which the caller then receives, or until the window is wider. Without bytes nothing is
    /// waited for, and any batch under way is due.
    pub async fn wait_until_due(&self, under_way: usize, least: usize, len: usize) -> bool {
        if len == 0 {
            return under_way > 0;
        }
        let awaited = (self.stream, len);
        // A wider window ends no other wait.
        let narrow = usize::from(under_way < batches::WINDOW);
        let mut waits = false;
        poll_fn(move |_| {
            let mut mailbox = self.mailbox.lock();
            let full = under_way >= mailbox.window().max(least).min(batches::WINDOW);
            let here = mailbox.incoming.iter().any(|(stream, _)| *stream == self.stream);
            if full && !here {
                if !waits {
                    mailbox.awaited.push(awaited);
                    mailbox.impatient += narrow;
                    waits = true;
                }
                return Poll::Pending;
            }
            if waits {
                mailbox.stop_waiting(&awaited);
                mailbox.impatient -= narrow;
            }
            Poll::Ready(full)
        })
        .await
    }

    /// Sends a message that a protocol may not have: one without bytes is not sent.
    pub async fn send_any(&self, message: Vec<u8>) {
        if !message.is_empty() {
            self.send(message).await;
        }
    }

    /// Receives a message that a protocol may not have: one without bytes is not waited for.
    pub async fn recv_any(&self, len: usize) -> Vec<u8> {
        if len == 0 { Vec::new() } else { self.recv(len).await }
    }

    /// Sends several messages, one after another.
    pub async fn send_all(&self, messages: Vec<Vec<u8>>) {
        for message in messages {
            self.send(message).await;
        }
    }

    /// Receives messages of these lengths, one after another.
    pub async fn recv_all(&self, lens: Vec<usize>) -> Vec<Vec<u8>> {
        let mut messages = Vec::with_capacity(lens.len());
        for len in lens {
            messages.push(self.recv(len).await);
        }
        messages
    }

    /// Buffers for messages to send, and of messages that have been read.
    #[must_use]
    pub fn spares(&self) -> Spares {
        self.mailbox.lock().spares.clone()
    }

    /// Returns a handle for another stream of the same connection.
    #[must_use]
    pub fn on(&self, stream: Stream) -> Self {
        Self { mailbox: Arc::clone(&self.mailbox), stream }
    }

    /// Names the bounds of what is on its way to this party from now on.
    pub fn limit(&self, limits: Limits) {
        self.mailbox.lock().limits = limits;
    }

    /// Runs another protocol within this one. Its streams are those from this one on.
    ///
    /// # Errors
    /// Errors of that protocol.
    pub async fn run<Out, E: From<Usage>>(&self, mut inner: Engine<'_, Out, E>) -> Result<Out, E> {
        loop {
            let progress = inner.advance()?;
            while let Some((stream, message)) = inner.outgoing() {
                self.on(self.stream + stream).send(message).await;
            }
            match progress {
                Progress::Sending => {}
                Progress::Done(out) => return Ok(out),
                Progress::Waiting { .. } => {
                    let mut wanted = inner.awaited();
                    wanted.iter_mut().for_each(|(stream, _)| *stream += self.stream);
                    let (stream, message) = self.recv_first(&wanted).await;
                    inner.deliver(stream - self.stream, message);
                }
            }
        }
    }
}

impl Mailbox {
    /// Batches that may be on their way.
    const fn window(&self) -> usize {
        batches::WINDOW - self.narrower
    }

    fn take(&mut self, stream: Stream) -> Option<Vec<u8>> {
        let at = self.incoming.iter().position(|(of, _)| *of == stream)?;
        self.incoming.remove(at).map(|(_, message)| message)
    }

    fn stop_waiting(&mut self, message: &(Stream, usize)) {
        if let Some(at) = self.awaited.iter().position(|it| it == message) {
            self.awaited.remove(at);
        }
    }
}

impl<'a, Out, E: From<Usage>> Engine<'a, Out, E> {
    /// A run of the protocol, which has not begun. The protocol gets stream 0, and others by [`Io::on`].
    pub fn new<F>(protocol: impl FnOnce(Io) -> F) -> Self
    where
        F: Future<Output = Result<Out, E>> + Send + 'a,
    {
        let mailbox = Arc::<Mutex<Mailbox>>::default();
        let io = Io { mailbox: Arc::clone(&mailbox), stream: 0 };
        Self { mailbox, run: Some(Box::pin(protocol(io))) }
    }

    /// Runs the protocol until it is done, waits for the peer, or has something to send.
    ///
    /// # Errors
    /// The protocol's error, once; [`Usage::SessionEnded`] whenever the run has ended before.
    ///
    /// # Panics
    /// If the protocol waits for something else than its [`Io`].
    #[expect(clippy::panic_in_result_fn, reason = "the protocol is wrong, whatever the peer sends")]
    pub fn advance(&mut self) -> Result<Progress<Out>, E> {
        let Some(run) = &mut self.run else { return Err(Usage::SessionEnded.into()) };
        // Nothing has to be woken: a driver that delivers a message calls this afterwards.
        match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => {
                let mailbox = self.mailbox.lock();
                match mailbox.awaited.first() {
                    _ if !mailbox.outgoing.is_empty() => Ok(Progress::Sending),
                    Some(&(stream, len)) => Ok(Progress::Waiting { stream, len }),
                    None => panic!("a protocol waits for something else than its peer"),
                }
            }
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

    /// Sets how many batches may be on their way, at most [`WINDOW`](batches::WINDOW), which hides the latency of any link. Fewer stay in the
    /// processor's caches. The peer may wait for all of [`WINDOW`](batches::WINDOW): a driver that sets fewer must
    /// [widen](Self::widen) the window when nothing comes.
    pub fn set_window(&mut self, batches: usize) {
        self.mailbox.lock().narrower = batches::WINDOW - batches.clamp(1, batches::WINDOW);
    }

    /// Returns true if the protocol waits and would go on if the window were [wider](Self::widen).
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        let mailbox = self.mailbox.lock();
        mailbox.impatient > 0 && mailbox.narrower > 0
    }

    /// Doubles the window, and returns it. [`Engine::advance`] continues the protocol.
    pub fn widen(&mut self) -> usize {
        let mut mailbox = self.mailbox.lock();
        let window = (2 * mailbox.window()).min(batches::WINDOW);
        mailbox.narrower = batches::WINDOW - window;
        window
    }

    /// Takes buffers from those of the driver, and gives them back to it.
    pub fn share(&mut self, spares: &Spares) {
        self.mailbox.lock().spares = spares.clone();
    }

    /// All messages that the protocol waits for: streams and lengths.
    #[must_use]
    pub fn awaited(&self) -> Vec<(Stream, usize)> {
        self.mailbox.lock().awaited.clone()
    }

    /// The bounds that the protocol named last; the default is that of a protocol that has named none.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.mailbox.lock().limits
    }
}

foxtrot_kernel::redacted! {
    [Out, E] Engine<'_, Out, E>, engine => "{}", if engine.run.is_some() { "running" } else { "ended" };
    Spares;
    Io, io => "stream {}", io.stream;
}
