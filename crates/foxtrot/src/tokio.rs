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
//! A job computes, so it runs on one of tokio's blocking threads and holds up no other future. A future that is dropped
//! cancels its job and ends the connection.

use std::io::{self, Read, Write};

use ::tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf, split},
    runtime::Handle,
    task::spawn_blocking,
};

use crate::{Canceller, Config, Error, Side, peer};
#[cfg(feature = "tls")]
use crate::{Fingerprint, Identity};

/// A connection to the other party whose jobs are futures.
#[derive(Debug)]
pub struct Peer {
    /// Absent while a job runs, and after a future of one was dropped.
    peer: Option<peer::Peer>,
}

/// Cancels a job whose future is dropped.
struct OnDrop(Option<Canceller>);

impl Peer {
    /// The future of [`Peer::connect`](crate::Peer::connect).
    ///
    /// # Errors
    /// [`Error`].
    #[cfg(feature = "tls")]
    pub async fn connect(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
    ) -> Result<Self, Error> {
        Self::connect_with(address, &Config::tls(identity, peers)?).await
    }

    /// The future of [`Config::connect`].
    ///
    /// # Errors
    /// [`Error`].
    pub async fn connect_with(address: &str, config: &Config) -> Result<Self, Error> {
        let (address, config) = (address.to_string(), config.clone());
        blocking(move || config.connect(&address)).await.map(Self::from)
    }

    /// The future of [`Peer::listen`](crate::Peer::listen).
    ///
    /// # Errors
    /// [`Error`].
    #[cfg(feature = "tls")]
    pub async fn listen(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
    ) -> Result<Self, Error> {
        let listener = Config::tls(identity, peers)?.bind(address)?;
        Self::accept(listener).await
    }

    /// The future of [`Listener::accept`](crate::Listener::accept).
    ///
    /// # Errors
    /// [`Error`].
    pub async fn accept(listener: crate::Listener) -> Result<Self, Error> {
        blocking(move || listener.accept()).await.map(Self::from)
    }

    /// Talks to the peer over a stream of tokio, say of a TLS library or a web socket. Nothing is encrypted or
    /// authenticated here.
    ///
    /// # Errors
    /// [`Error::Session`] if the system starts no thread.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn over(
        stream: impl AsyncRead + AsyncWrite + Send + 'static,
        side: Side,
        config: &Config,
    ) -> Result<Self, Error> {
        let (reader, writer) = split(stream);
        let runtime = Handle::current();
        let reader = Blocking(reader, runtime.clone());
        config.over(reader, Blocking(writer, runtime), side).map(Self::from)
    }

    /// Runs any job of the blocking calls, with all their options.
    ///
    /// ```
    /// # async fn example(peer: &mut foxtrot::tokio::Peer) -> Result<(), foxtrot::Error> {
    /// let options = foxtrot::rot::Options::new().semi_honest();
    /// let pairs = peer.run(move |peer| options.send(peer, 1000)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The job's; [`Error::Cancelled`] if an earlier future was dropped before its end.
    pub async fn run<T: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut peer::Peer) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let mut peer = self.peer.take().ok_or(Error::Cancelled)?;
        let mut on_drop = OnDrop(Some(peer.canceller()));
        let (peer, done) = blocking(move || {
            let done = job(&mut peer);
            Ok((peer, done))
        })
        .await?;
        on_drop.0 = None;
        self.peer = Some(peer);
        done
    }

    /// The future of [`Peer::close`](crate::Peer::close).
    ///
    /// # Errors
    /// [`Error`].
    pub async fn close(self) -> Result<(), Error> {
        match self.peer {
            Some(peer) => blocking(move || peer.close()).await,
            None => Err(Error::Cancelled),
        }
    }

    /// The blocking peer, between two jobs; there is none after a future of a job was dropped.
    pub fn get_mut(&mut self) -> Option<&mut peer::Peer> {
        self.peer.as_mut()
    }
}

impl From<peer::Peer> for Peer {
    fn from(peer: peer::Peer) -> Self {
        Self { peer: Some(peer) }
    }
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(canceller) = &self.0 {
            canceller.cancel();
        }
    }
}

/// Runs that on a thread that may block.
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

/// Half of a stream for a thread that may block.
struct Blocking<T>(T, Handle);

impl<S: AsyncRead> Read for Blocking<ReadHalf<S>> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1.block_on(self.0.read(buffer))
    }
}

impl<S: AsyncWrite> Write for Blocking<WriteHalf<S>> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.block_on(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.block_on(self.0.flush())
    }
}

/// Private set intersection: see [`psi`](crate::psi).
#[cfg(feature = "psi")]
pub mod psi {
    use super::Peer;
    use crate::{
        Error,
        psi::{Options, Set},
    };

    /// The future of [`psi::send`](crate::psi::send).
    ///
    /// # Errors
    /// [`Error`].
    pub async fn send<T: AsRef<[u8]>>(peer: &mut Peer, items: &[T]) -> Result<(), Error> {
        let set = Set::of(items)?;
        peer.run(move |peer| Options::new().send_set(peer, &set)).await
    }

    /// The future of [`psi::receive`](crate::psi::receive).
    ///
    /// # Errors
    /// [`Error`].
    pub async fn receive<T: AsRef<[u8]>>(
        peer: &mut Peer,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let set = Set::of(items)?;
        peer.run(move |peer| Options::new().receive_set(peer, &set)).await
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
    ///
    /// # Errors
    /// [`Error`].
    pub async fn send(peer: &mut Peer, n: usize) -> Result<Secret<[Block; 2]>, Error> {
        peer.run(move |peer| rot::send(peer, n)).await
    }

    /// The future of [`rot::receive`].
    ///
    /// # Errors
    /// [`Error`].
    pub async fn receive(peer: &mut Peer, n: usize) -> Result<(Bits, Secret<Block>), Error> {
        peer.run(move |peer| rot::receive(peer, n)).await
    }

    /// The future of [`rot::send_correlated`].
    ///
    /// # Errors
    /// [`Error`].
    pub async fn send_correlated(
        peer: &mut Peer,
        n: usize,
    ) -> Result<(Delta, Secret<Block>), Error> {
        peer.run(move |peer| rot::send_correlated(peer, n)).await
    }

    /// The future of [`rot::receive_correlated`].
    ///
    /// # Errors
    /// [`Error`].
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

    use super::Peer;
    use crate::{
        Error,
        ot::{self, Messages},
    };

    /// The future of [`ot::send`].
    ///
    /// # Errors
    /// [`Error`].
    pub async fn send<M: AsRef<[u8]>>(peer: &mut Peer, messages: &[[M; 2]]) -> Result<(), Error> {
        let copy = |message: &M| Zeroizing::new(message.as_ref().to_vec());
        let messages: Vec<_> = messages.iter().map(|pair| pair.each_ref().map(copy)).collect();
        peer.run(move |peer| {
            let messages: Vec<_> =
                messages.iter().map(|pair| pair.each_ref().map(|it| it.as_slice())).collect();
            ot::send(peer, &messages)
        })
        .await
    }

    /// The future of [`ot::receive`].
    ///
    /// # Errors
    /// [`Error`].
    pub async fn receive(peer: &mut Peer, choices: &[bool]) -> Result<Messages, Error> {
        let choices = Zeroizing::new(choices.to_vec());
        peer.run(move |peer| ot::receive(peer, &choices)).await
    }

    /// One in N messages: see [`ot::one_of_n`].
    pub mod one_of_n {
        use super::*;

        /// The future of [`one_of_n::send`](crate::ot::one_of_n::send).
        ///
        /// # Errors
        /// [`Error`].
        pub async fn send<M: AsRef<[u8]>>(
            peer: &mut Peer,
            choices: usize,
            messages: &[M],
        ) -> Result<(), Error> {
            let copy = |message: &M| Zeroizing::new(message.as_ref().to_vec());
            let messages: Vec<_> = messages.iter().map(copy).collect();
            peer.run(move |peer| {
                let messages: Vec<_> = messages.iter().map(|it| it.as_slice()).collect();
                ot::one_of_n::send(peer, choices, &messages)
            })
            .await
        }

        /// The future of [`one_of_n::receive`](crate::ot::one_of_n::receive).
        ///
        /// # Errors
        /// [`Error`].
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
    ///
    /// # Errors
    /// [`Error`].
    pub async fn generate<T: Word>(peer: &mut Peer, n: usize) -> Result<Triples<T>, Error> {
        peer.run(move |peer| triples::generate(peer, n)).await
    }
}
