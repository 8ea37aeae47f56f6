//! Peers over tokio's sockets, whose jobs are futures.

use std::sync::Arc;

use foxtrot_net::{
    listen::{self, Open, Silent},
    tcp::Socket,
    tokio::{Lanes, Tokio},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle,
    sync::mpsc,
    task::{JoinError, spawn_blocking},
};

use super::{
    Attempt, Config, Ended, Listener, Peer, Side, Who,
    reach::{Met, Way, left},
    server::words,
};
use crate::Error;
#[cfg(feature = "tls")]
use crate::{Fingerprint, Identity};

/// A stream of bytes below a connection: a socket, with TLS or WebSocket over it.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// A connection over tokio's sockets to the other party. Its jobs are those of every [`Peer`], by the same calls: they are futures,
/// which wait on the socket itself. A `psi` job computes on tokio's blocking threads.
///
/// A future of a job that is dropped cancels the job, and the connection ends.
pub type AsyncPeer = Peer<Lanes<Box<dyn Duplex>>>;

/// Cancels what runs on another thread when a future is dropped.
struct OnDrop<F: Fn()>(F);

impl Met {
    /// The peer over tokio's sockets.
    ///
    /// # Panics
    /// Outside of a runtime of tokio.
    #[cfg(feature = "tokio")]
    pub(super) fn asynchronous(self) -> Result<AsyncPeer, Error> {
        let stream: Box<dyn Duplex> = match self.way {
            Way::Plain(socket) => Box::new(socket.stream()?),
            #[cfg(feature = "tls")]
            Way::Tls(secured) => Box::new(secured.stream()?),
            #[cfg(feature = "websocket")]
            Way::WebSocket(visitor) => Box::new(visitor.stream()?),
        };
        let mut connection = Lanes::new(stream).on(Arc::new(Tokio), self.timeout);
        if let Some(left) = left(self.ends) {
            connection.end_after(left);
        }
        Ok(Peer { connection, local: self.local })
    }
}

impl AsyncPeer {
    /// [`Peer::connect`] as a future.
    ///
    /// ```
    /// use foxtrot::{Identity, Peer, psi};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (ours, theirs) = (Identity::generate()?, Identity::generate()?);
    /// let (of_ours, of_theirs) = ([ours.fingerprint()], [theirs.fingerprint()]);
    /// # let port = std::net::TcpListener::bind("localhost:0")?.local_addr()?.port();
    /// # let address = &format!("localhost:{port}");
    /// let (listening, connecting) = tokio::join!(
    ///     Peer::listen_async(address, &ours, &of_theirs),
    ///     Peer::connect_async(address, &theirs, &of_ours),
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
    ///
    /// # Errors
    /// As [`Peer::connect`].
    #[cfg(feature = "tls")]
    pub async fn connect_async(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
    ) -> Result<Self, Error> {
        Config::tls(identity, peers)?.connect_async(address).await
    }

    /// [`Peer::listen`] as a future.
    ///
    /// # Errors
    /// As [`Peer::listen`].
    #[cfg(feature = "tls")]
    pub async fn listen_async(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
    ) -> Result<Self, Error> {
        Config::tls(identity, peers)?.bind(address)?.accept_async().await
    }
}

impl Config {
    /// [`connect`](Self::connect) as a future. Dropping it ends the attempt, but for a look-up of the name that is under way.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_async(&self, address: &str) -> Result<AsyncPeer, Error> {
        let (address, config) = (address.to_owned(), self.clone());
        let reach = move |attempt: &Attempt| config.reach(&address, attempt, Side::Initiator);
        on_a_thread(reach).await?.asynchronous()
    }
}

impl Listener {
    /// [`accept`](Self::accept) as a future. Dropping it ends the wait and closes the port.
    ///
    /// ```
    /// use foxtrot::{Config, rot};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), foxtrot::Error> {
    /// let config = Config::insecure();
    /// let listener = config.bind("localhost:0")?;
    /// let address = listener.local_addr().to_string();
    /// let (accepted, connected) = tokio::join!(listener.accept_async(), config.connect_async(&address));
    /// let (mut sender, mut receiver) = (accepted?, connected?);
    /// let options = rot::Options::new().semi_honest();
    /// let (sent, received) =
    ///     tokio::join!(options.send(&mut sender, 100), options.receive(&mut receiver, 100));
    /// assert_eq!(sent?.len(), received?.1.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub async fn accept_async(self) -> Result<AsyncPeer, Error> {
        on_a_thread(move |attempt| self.meet_while(attempt)).await?.asynchronous()
    }

    /// Answers all peers that come, side by side, until the future is dropped: [`serve`](Self::serve) with an async function, a task
    /// for each peer. `ended` is told of sessions that have ended, and of peers that were refused.
    ///
    /// A thread takes connections, and each has one of its own up to the end of its handshake. Dropping the future ends the
    /// listening; sessions run on to their end, which [`Config::session_timeout`] bounds.
    ///
    /// ```
    /// use foxtrot::{Config, psi};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), foxtrot::Error> {
    /// let config = Config::insecure();
    /// let listener = config.bind("localhost:0")?;
    /// let address = listener.local_addr().to_string();
    /// let server = tokio::spawn(listener.serve_async(
    ///     |mut peer| async move { psi::send(&mut peer, &["bob", "cid"]).await },
    ///     |ended| println!("{}: {:?}", ended.peer, ended.result),
    /// ));
    ///
    /// let mut peer = config.connect_async(&address).await?;
    /// assert_eq!(psi::receive(&mut peer, &["ann", "bob"]).await?, [1]);
    /// server.abort();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Session`] if the system starts no thread.
    pub async fn serve_async<F>(
        self,
        session: impl Fn(AsyncPeer) -> F + Send + Sync + 'static,
        mut ended: impl FnMut(Ended),
    ) -> Result<(), Error>
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let (config, socket, limits, gate) = self.into_server();
        let (timeout, runtime) = (config.timeout, Handle::current());
        // As many wait as there may be connections: each is open until its end was told.
        let (tell, mut told) = mpsc::unbounded_channel::<(Ended, Option<Open>)>();
        let (session, of_listener) = (Arc::new(session), tell.clone());
        let handle = move |socket: Socket, silent: Silent, open: Open| {
            let who = Who::of(&socket);
            let tell = tell.clone();
            let (who, peer) = match config.admit(socket, silent, Some(&gate)) {
                Ok(None) => return,
                Err(e) => (who, Err(e)),
                Ok(Some(met)) => {
                    let _entered = runtime.enter();
                    (met.who().clone(), met.asynchronous())
                }
            };
            let session = Arc::clone(&session);
            runtime.spawn(async move {
                let result = match peer {
                    Err(e) => Err(e),
                    Ok(peer) => {
                        let done = tokio::spawn(async move { session(peer).await }).await;
                        done.unwrap_or_else(|e| Err(not_done(e)))
                    }
                };
                // Nobody listens after the server was dropped.
                let _ = tell.send((Ended::new(who, result), Some(open)));
            });
        };
        let failed = move |e| drop(of_listener.send((Ended::here(Error::from(e)), None)));
        let stopper = listen::serve_by(socket, timeout, limits, handle, failed)?;
        let _on_drop = OnDrop(|| stopper.stop());
        while let Some((end, _open)) = told.recv().await {
            ended(end);
        }
        Ok(())
    }
}

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Tries to reach a peer on a thread that may block, until the future is dropped.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce(&Attempt) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let attempt = Attempt::default();
    let for_drop = attempt.clone();
    let _on_drop = OnDrop(move || for_drop.cancel());
    match spawn_blocking(move || work(&attempt)).await {
        Err(e) if e.is_panic() => std::panic::resume_unwind(e.into_panic()),
        done => done.unwrap_or_else(|e| Err(not_done(e))),
    }
}

/// The error of a task that has no result: it panicked, or the runtime ends.
fn not_done(error: JoinError) -> Error {
    match error.try_into_panic() {
        Ok(panic) => Error::Panicked(words(&*panic)),
        Err(_) => Error::Cancelled,
    }
}
