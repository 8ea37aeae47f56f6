//! The jobs as futures, over tokio's sockets or any of its streams. The names are those of the blocking calls.
//!
//! ```
//! use foxtrot::{Config, tokio::{Peer, psi}};
//!
//! # #[tokio::main(flavor = "multi_thread", worker_threads = 2)]
//! # async fn main() -> Result<(), foxtrot::Error> {
//! let (ours, theirs) = tokio::io::duplex(1 << 16);
//! let mut ours = Peer::over(ours, foxtrot::Side::Initiator, &Config::insecure())?;
//! let mut theirs = Peer::over(theirs, foxtrot::Side::Responder, &Config::insecure())?;
//! let (sent, common) = tokio::join!(
//!     psi::send(&mut theirs, &["ann", "bob"]),
//!     psi::receive(&mut ours, &["bob", "eve"]),
//! );
//! sent?;
//! assert_eq!(common?, [0]);
//! # Ok(())
//! # }
//! ```
//!
//! A job computes, so it runs on one of tokio's blocking threads and holds up no other future; only inputs are copied
//! before, and [`Peer::run`] copies nothing. A future that is dropped cancels its job and ends the connection. The errors of
//! a future are those of the call that it names.
#![expect(clippy::missing_errors_doc, reason = "the calls that the futures name have them")]

use std::{
    future::{Future, poll_fn},
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    thread,
};

use ::tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf, ReadHalf, WriteHalf, split},
    runtime::Handle,
    sync::{Notify, oneshot, watch},
    task::spawn_blocking,
};
use zeroize::Zeroizing;

use crate::{
    Config, Ended, Error, Listener, Stream,
    peer::{self, Attempt},
};
#[cfg(feature = "tls")]
use crate::{Fingerprint, Identity};

/// A connection to the other party whose jobs are futures. Dropping it inside a runtime blocks nothing: one of tokio's
/// blocking threads ends the connection. To be sure that all was sent, [`close`](Self::close) it.
#[derive(Debug)]
pub struct Peer {
    /// Absent while a job runs, and after a future of one was dropped.
    peer: Option<peer::Peer>,
}

/// Cancels what runs on another thread when a future is dropped.
struct OnDrop<F: Fn()>(F);

impl Peer {
    /// The future of [`Peer::connect`](crate::Peer::connect).
    ///
    /// ```
    /// use foxtrot::{Identity, tokio::{Peer, psi}};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (ours, theirs) = (Identity::generate()?, Identity::generate()?);
    /// let (of_ours, of_theirs) = ([ours.fingerprint()], [theirs.fingerprint()]);
    /// # let port = std::net::TcpListener::bind("localhost:0")?.local_addr()?.port();
    /// # let address = &format!("localhost:{port}");
    /// let (listening, connecting) = tokio::join!(
    ///     Peer::listen(address, &ours, &of_theirs),
    ///     Peer::connect(address, &theirs, &of_ours),
    /// );
    /// let (mut sender, mut receiver) = (listening?, connecting?);
    /// let (sent, common) =
    ///     tokio::join!(psi::send(&mut sender, &["bob"]), psi::receive(&mut receiver, &["ann", "bob"]));
    /// sent?;
    /// assert_eq!(common?, [1]);
    /// sender.close().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tls")]
    pub async fn connect(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
    ) -> Result<Self, Error> {
        Self::connect_with(address, &Config::tls(identity, peers)?).await
    }

    /// The future of [`Config::connect`]. Dropping it ends the attempt, but for a look-up of the name that is under way.
    pub async fn connect_with(address: &str, config: &Config) -> Result<Self, Error> {
        let (address, config) = (address.to_string(), config.clone());
        attempt(move |attempt| config.connect_while(&address, attempt)).await
    }

    /// The future of [`Peer::listen`](crate::Peer::listen).
    #[cfg(feature = "tls")]
    pub async fn listen(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
    ) -> Result<Self, Error> {
        let (address, config) = (address.to_string(), Config::tls(identity, peers)?);
        attempt(move |attempt| config.bind(&address)?.accept_while(attempt)).await
    }

    /// The future of [`Listener::accept`]. Dropping it ends the wait and closes the port.
    ///
    /// ```
    /// use foxtrot::{Config, tokio::{Peer, rot}};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), foxtrot::Error> {
    /// let config = Config::insecure();
    /// let listener = config.bind("localhost:0")?;
    /// let address = listener.local_addr().to_string();
    /// let (accepted, connected) =
    ///     tokio::join!(Peer::accept(listener), Peer::connect_with(&address, &config));
    /// let (mut sender, mut receiver) = (accepted?, connected?);
    /// // Any blocking job, with its options.
    /// let options = foxtrot::rot::Options::new().semi_honest();
    /// let (sent, received) = tokio::join!(
    ///     sender.run(move |peer| options.send(peer, 100)),
    ///     receiver.run(move |peer| options.receive(peer, 100)),
    /// );
    /// assert_eq!(sent?.len(), received?.1.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn accept(listener: Listener) -> Result<Self, Error> {
        attempt(move |attempt| listener.accept_while(attempt)).await
    }

    /// Talks to the peer over a stream of tokio, say of a TLS library or a web socket. Nothing is encrypted or
    /// authenticated here; a [`Stream`] with a [`ChannelBinding`](crate::ChannelBinding) binds sessions to what is below.
    ///
    /// # Errors
    /// [`Error::Config`] for a configuration with keys; [`Error::Session`] if the system starts no thread.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn over(
        stream: impl AsyncRead + AsyncWrite + Send + 'static,
        side: impl Into<Stream>,
        config: &Config,
    ) -> Result<Self, Error> {
        let (half, writer) = split(stream);
        let (runtime, ended) = (Handle::current(), Arc::new(Notify::new()));
        let (end, over) = watch::channel(false);
        let reader = Reader { half, runtime: runtime.clone(), ended: Arc::clone(&ended) };
        let stream = side.into().also_closed_by(move |how| {
            if how != Shutdown::Write {
                ended.notify_one();
            }
            if how == Shutdown::Both {
                end.send_replace(true);
            }
        });
        config.over(reader, Writer { half: writer, runtime, over }, stream).map(Self::from)
    }

    /// Runs any job of the blocking calls, with all their options. Inputs that it owns are not copied.
    ///
    /// # Errors
    /// The job's; [`Error::Cancelled`] if an earlier future was dropped before its end.
    pub async fn run<T: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut peer::Peer) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let mut peer = self.peer.take().ok_or(Error::Cancelled)?;
        let canceller = peer.canceller();
        let on_drop = OnDrop(|| canceller.cancel());
        let (peer, done) = blocking(move || {
            let done = job(&mut peer);
            // Dropped here if the future was.
            Ok((Self::from(peer), done))
        })
        .await?;
        std::mem::forget(on_drop);
        *self = peer;
        done
    }

    /// The future of [`Peer::close`](crate::Peer::close).
    pub async fn close(mut self) -> Result<(), Error> {
        match self.peer.take() {
            Some(peer) => blocking(move || peer.close()).await,
            None => Err(Error::Cancelled),
        }
    }

    /// The blocking peer, between two jobs: for [`on_progress`](crate::Peer::on_progress), say; there is none after a future of a job was dropped.
    pub fn get_mut(&mut self) -> Option<&mut peer::Peer> {
        self.peer.as_mut()
    }
}

/// Answers all peers that come, side by side, until the future is dropped: [`Listener::serve`] with an async function.
/// `session` gets each peer; a thread of its own waits for its future. `ended` is told of sessions that have ended.
///
/// Dropping the future ends the listening; sessions run on to their end. A runtime that is dropped waits for their jobs:
/// [`Config::session_timeout`] bounds that.
///
/// ```
/// use foxtrot::{Config, tokio::{Peer, psi, serve}};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), foxtrot::Error> {
/// let config = Config::insecure();
/// let listener = config.bind("localhost:0")?;
/// let address = listener.local_addr().to_string();
/// let server = tokio::spawn(serve(
///     listener,
///     |mut peer| async move { psi::send(&mut peer, &["bob", "cid"]).await },
///     |ended| println!("{}: {:?}", ended.peer, ended.result),
/// ));
///
/// let mut peer = Peer::connect_with(&address, &config).await?;
/// assert_eq!(psi::receive(&mut peer, &["ann", "bob"]).await?, [1]);
/// server.abort();
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Session`] if the system starts no thread.
pub async fn serve<F>(
    listener: Listener,
    session: impl Fn(Peer) -> F + Send + Sync + 'static,
    ended: impl FnMut(Ended) + Send + 'static,
) -> Result<(), Error>
where
    F: Future<Output = Result<(), Error>>,
{
    let runtime = Handle::current();
    let server = listener.serve_each(move |peer| runtime.block_on(session(Peer::from(peer))))?;
    let stopper = server.stopper();
    let _on_drop = OnDrop(|| stopper.stop());
    // A blocking thread of the runtime would be missing to the sessions.
    let (tell, done) = oneshot::channel();
    let wait = move || {
        server.for_each(ended);
        let _ = tell.send(());
    };
    let started = thread::Builder::new().name("foxtrot-server".into()).spawn(wait);
    started.map_err(|e| Error::Threads(e.to_string()))?;
    done.await.map_err(|_| Error::Panicked("of ended sessions".into()))
}

impl From<peer::Peer> for Peer {
    fn from(peer: peer::Peer) -> Self {
        Self { peer: Some(peer) }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let Some(peer) = self.peer.take() else { return };
        // A blocking thread has a runtime, and may also wait for one that there is not any more.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || drop(peer));
        }
    }
}

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Tries to reach a peer on a thread that may block, until the future is dropped.
async fn attempt(
    work: impl FnOnce(&Attempt) -> Result<peer::Peer, Error> + Send + 'static,
) -> Result<Peer, Error> {
    let attempt = Attempt::default();
    let for_drop = attempt.clone();
    let _on_drop = OnDrop(move || for_drop.cancel());
    blocking(move || work(&attempt).map(Peer::from)).await
}

/// Runs `work` on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(e) if e.is_panic() => std::panic::resume_unwind(e.into_panic()),
        // The runtime ends.
        Err(_) => Err(Error::Cancelled),
    }
}

/// The reading half of a stream for a thread that may block, until `ended` is notified.
struct Reader<S> {
    half: ReadHalf<S>,
    runtime: Handle,
    ended: Arc<Notify>,
}

/// The writing half. Its drop ends the direction, which that of tokio's half does not.
struct Writer<S: AsyncWrite> {
    half: WriteHalf<S>,
    runtime: Handle,
    /// The connection has ended, and with it a write that the peer does not take.
    over: watch::Receiver<bool>,
}

impl<S: AsyncWrite> Writer<S> {
    /// Waits for a write until the connection ends.
    fn wait<T>(
        &mut self,
        mut write: impl FnMut(Pin<&mut WriteHalf<S>>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> io::Result<T> {
        let Self { half, runtime, over } = self;
        runtime.block_on(async {
            let mut ended = pin!(over.wait_for(|over| *over));
            poll_fn(|cx| match write(Pin::new(&mut *half), cx) {
                Poll::Pending if ended.as_mut().poll(cx).is_ready() => {
                    Poll::Ready(Err(ErrorKind::BrokenPipe.into()))
                }
                done => done,
            })
            .await
        })
    }
}

impl<S: AsyncRead> Read for Reader<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { half, runtime, ended } = self;
        let mut buffer = ReadBuf::new(buffer);
        runtime.block_on(async {
            let mut ended = pin!(ended.notified());
            poll_fn(|cx| match ended.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Ok(())),
                Poll::Pending => Pin::new(&mut *half).poll_read(cx, &mut buffer),
            })
            .await
        })?;
        Ok(buffer.filled().len())
    }
}

impl<S: AsyncWrite> Write for Writer<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(|half, cx| half.poll_write(cx, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.wait(|half, cx| half.poll_flush(cx))
    }
}

impl<S: AsyncWrite> Drop for Writer<S> {
    fn drop(&mut self) {
        // The channel's thread has no runtime. If it could not be started, nothing was written.
        if Handle::try_current().is_err() && !thread::panicking() {
            let _ = self.wait(|half, cx| half.poll_shutdown(cx));
        }
    }
}

/// A copy of a caller's items, for another thread: one allocation for all, erased on drop.
struct Copied {
    bytes: Zeroizing<Vec<u8>>,
    lengths: Vec<usize>,
}

impl Copied {
    fn of<'a>(items: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        let lengths: Vec<_> = items.clone().map(<[u8]>::len).collect();
        let mut bytes = Zeroizing::new(Vec::with_capacity(lengths.iter().sum()));
        items.for_each(|item| bytes.extend_from_slice(item));
        Self { bytes, lengths }
    }

    fn items(&self) -> Vec<&[u8]> {
        let mut rest = &self.bytes[..];
        let next = |&len: &usize| rest.split_off(..len).unwrap_or_default();
        self.lengths.iter().map(next).collect()
    }
}

/// Private set intersection: see [`psi`](crate::psi).
#[cfg(feature = "psi")]
pub mod psi {
    use zeroize::Zeroizing;

    use super::{Copied, Peer};
    use crate::{Error, psi};

    /// The future of [`psi::send`].
    pub async fn send<T: AsRef<[u8]>>(peer: &mut Peer, items: &[T]) -> Result<(), Error> {
        let copied = Copied::of(items.iter().map(AsRef::as_ref));
        peer.run(move |peer| psi::send(peer, &copied.items())).await
    }

    /// The future of [`psi::receive`].
    pub async fn receive<T: AsRef<[u8]>>(
        peer: &mut Peer,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let copied = Copied::of(items.iter().map(AsRef::as_ref));
        peer.run(move |peer| psi::receive(peer, &copied.items())).await
    }

    /// The future of [`Options::send_with`](psi::Options::send_with), of items and payloads, as many of either.
    pub async fn send_with<T: AsRef<[u8]>, P: AsRef<[u8]>>(
        peer: &mut Peer,
        options: psi::Options,
        rows: &[(T, P)],
        len: usize,
    ) -> Result<(), Error> {
        let items = Copied::of(rows.iter().map(|(item, _)| item.as_ref()));
        let payloads = Copied::of(rows.iter().map(|(_, payload)| payload.as_ref()));
        peer.run(move |peer| {
            let rows: Vec<_> = items.items().into_iter().zip(payloads.items()).collect();
            options.send_with(peer, &rows, len)
        })
        .await
    }

    /// The future of [`Options::receive_with`](psi::Options::receive_with).
    pub async fn receive_with<T: AsRef<[u8]>>(
        peer: &mut Peer,
        options: psi::Options,
        items: &[T],
        len: usize,
    ) -> Result<Vec<(usize, Vec<u8>)>, Error> {
        let copied = Copied::of(items.iter().map(AsRef::as_ref));
        peer.run(move |peer| options.receive_with(peer, &copied.items(), len)).await
    }

    /// The future of [`Options::send_both`](psi::Options::send_both).
    pub async fn send_both<T: AsRef<[u8]>>(
        peer: &mut Peer,
        options: psi::Options,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let copied = Copied::of(items.iter().map(AsRef::as_ref));
        peer.run(move |peer| options.send_both(peer, &copied.items())).await
    }

    /// The future of [`Options::receive_both`](psi::Options::receive_both).
    pub async fn receive_both<T: AsRef<[u8]>>(
        peer: &mut Peer,
        options: psi::Options,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let copied = Copied::of(items.iter().map(AsRef::as_ref));
        peer.run(move |peer| options.receive_both(peer, &copied.items())).await
    }

    /// The future of [`Count::send`](psi::Count::send).
    pub async fn send_count<T: AsRef<[u8]>>(
        peer: &mut Peer,
        count: psi::Count,
        items: &[T],
    ) -> Result<psi::Outcome, Error> {
        let copied = Copied::of(items.iter().map(AsRef::as_ref));
        peer.run(move |peer| count.send(peer, &copied.items())).await
    }

    /// The future of [`Count::receive`](psi::Count::receive).
    pub async fn receive_count<T: AsRef<[u8]>>(
        peer: &mut Peer,
        count: psi::Count,
        items: &[T],
    ) -> Result<psi::Outcome, Error> {
        let copied = Copied::of(items.iter().map(AsRef::as_ref));
        peer.run(move |peer| count.receive(peer, &copied.items())).await
    }

    /// The future of [`Count::send_sum`](psi::Count::send_sum).
    pub async fn send_sum<T: AsRef<[u8]>>(
        peer: &mut Peer,
        count: psi::Count,
        rows: &[(T, u64)],
        largest: u64,
    ) -> Result<psi::Outcome, Error> {
        let items = Copied::of(rows.iter().map(|(item, _)| item.as_ref()));
        let numbers = Zeroizing::new(rows.iter().map(|(_, number)| *number).collect::<Vec<_>>());
        peer.run(move |peer| {
            let rows: Vec<_> = items.items().into_iter().zip(numbers.iter().copied()).collect();
            count.send_sum(peer, &rows, largest)
        })
        .await
    }

    /// The future of [`Count::receive_sum`](psi::Count::receive_sum).
    pub async fn receive_sum<T: AsRef<[u8]>>(
        peer: &mut Peer,
        count: psi::Count,
        items: &[T],
        largest: u64,
    ) -> Result<psi::Outcome, Error> {
        let copied = Copied::of(items.iter().map(AsRef::as_ref));
        peer.run(move |peer| count.receive_sum(peer, &copied.items(), largest)).await
    }
}

/// Random and correlated OTs: see [`rot`](crate::rot).
pub mod rot {
    use zeroize::Zeroizing;

    use super::Peer;
    use crate::{
        Bits, Block, Error, Secret,
        rot::{self, Delta},
    };

    /// The future of [`rot::send`].
    pub async fn send(peer: &mut Peer, n: usize) -> Result<Secret<[Block; 2]>, Error> {
        peer.run(move |peer| rot::send(peer, n)).await
    }

    /// The future of [`rot::receive`].
    pub async fn receive(peer: &mut Peer, n: usize) -> Result<(Bits, Secret<Block>), Error> {
        peer.run(move |peer| rot::receive(peer, n)).await
    }

    /// The future of [`rot::send_correlated`].
    pub async fn send_correlated(
        peer: &mut Peer,
        n: usize,
    ) -> Result<(Delta, Secret<Block>), Error> {
        peer.run(move |peer| rot::send_correlated(peer, n)).await
    }

    /// The future of [`rot::receive_correlated`].
    pub async fn receive_correlated(
        peer: &mut Peer,
        choices: &[bool],
    ) -> Result<Secret<Block>, Error> {
        let choices = Zeroizing::new(choices.to_vec());
        peer.run(move |peer| rot::receive_correlated(peer, &choices)).await
    }
}

/// Oblivious transfer of messages: see [`ot`](crate::ot).
pub mod ot {
    use zeroize::Zeroizing;

    use super::{Copied, Peer};
    use crate::{
        Error,
        ot::{self, Messages},
    };

    /// The future of [`ot::send`].
    pub async fn send<M: AsRef<[u8]>>(peer: &mut Peer, messages: &[[M; 2]]) -> Result<(), Error> {
        let copied = Copied::of(messages.as_flattened().iter().map(AsRef::as_ref));
        peer.run(move |peer| ot::send(peer, copied.items().as_chunks().0)).await
    }

    /// The future of [`ot::receive`].
    pub async fn receive(peer: &mut Peer, choices: &[bool]) -> Result<Messages, Error> {
        let choices = Zeroizing::new(choices.to_vec());
        peer.run(move |peer| ot::receive(peer, &choices)).await
    }

    /// One in N messages: see [`ot::one_of_n`].
    pub mod one_of_n {
        use super::*;

        /// The future of [`one_of_n::send`](crate::ot::one_of_n::send).
        pub async fn send<M: AsRef<[u8]>>(
            peer: &mut Peer,
            choices: usize,
            messages: &[M],
        ) -> Result<(), Error> {
            let copied = Copied::of(messages.iter().map(AsRef::as_ref));
            peer.run(move |peer| ot::one_of_n::send(peer, choices, &copied.items())).await
        }

        /// The future of [`one_of_n::receive`](crate::ot::one_of_n::receive).
        pub async fn receive(
            peer: &mut Peer,
            choices: usize,
            picks: &[u64],
        ) -> Result<Messages, Error> {
            let picks = Zeroizing::new(picks.to_vec());
            peer.run(move |peer| ot::one_of_n::receive(peer, choices, &picks)).await
        }
    }
}

/// Multiplication triples: see [`triples`](crate::triples).
#[cfg(feature = "triples")]
pub mod triples {
    use super::Peer;
    use crate::{
        Error,
        triples::{self, Triples, Word},
    };

    /// The future of [`triples::generate`].
    pub async fn generate<T: Word>(peer: &mut Peer, n: usize) -> Result<Triples<T>, Error> {
        peer.run(move |peer| triples::generate(peer, n)).await
    }
}
