//! Ports on which peers are awaited.

use std::{fmt, net::SocketAddr, sync::Arc, time::Instant};

use foxtrot_net::{ChannelError, Error as NetError, gate::Gate, listen::Limits, tcp};

use super::{Attempt, Config, Ended, Peer, Server, reach::Met};
use crate::Error;

/// A port on which peers are awaited.
pub struct Listener {
    pub(super) config: Config,
    pub(super) socket: tcp::Listener,
    pub(super) on_refused: Option<Box<dyn FnMut(Ended) + Send>>,
}

impl Config {
    /// Takes the port at `address`, a host and a port; port 0 lets the system choose.
    ///
    /// # Errors
    /// [`Error::Session`].
    pub fn bind(&self, address: &str) -> Result<Listener, Error> {
        let socket = tcp::Listener::bind(address)?;
        Ok(Listener { socket, config: self.clone(), on_refused: None })
    }
}

impl Listener {
    /// The address that it listens on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.socket.local_addr()
    }

    /// Has `tell` called for each connection that [`accept`](Self::accept) refuses: of a peer with a wrong key, say.
    ///
    /// ```
    /// use std::{sync::mpsc, thread, time::Duration};
    /// use foxtrot::{Config, Identity, Peer};
    ///
    /// let (ours, friend, stranger) = (Identity::generate()?, Identity::generate()?, Identity::generate()?);
    /// let config = Config::tls(&ours, &[friend.fingerprint()])?.wait(Duration::from_secs(2));
    /// let (tell, refused) = mpsc::channel();
    /// let listener = config.bind("localhost:0")?.on_refused(move |ended| drop(tell.send(ended)));
    /// let (address, key) = (listener.local_addr().to_string(), ours.fingerprint());
    /// let other = thread::spawn(move || Peer::connect(&address, &stranger, &[key]).map(drop));
    /// assert!(listener.accept().is_err());
    /// let ended = refused.recv()?;
    /// println!("refused {}: {}", ended.peer, ended.result.unwrap_err());
    /// # let _ = other.join();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_refused(self, tell: impl FnMut(Ended) + Send + 'static) -> Self {
        Self { on_refused: Some(Box::new(tell)), ..self }
    }

    /// Waits for the first peer that may connect, and closes the port. Without keys the first connection is the peer.
    ///
    /// # Errors
    /// [`Error::Session`]: that nobody came in time.
    pub fn accept(self) -> Result<Peer, Error> {
        self.accept_while(&Attempt::default())
    }

    /// [`accept`](Self::accept), unless another thread ends the attempt.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn accept_while(self, attempt: &Attempt) -> Result<Peer, Error> {
        self.meet_while(attempt)?.blocking()
    }

    /// The connection of the first peer that may connect.
    pub(super) fn meet_while(mut self, attempt: &Attempt) -> Result<Met, Error> {
        let (address, wait) = (self.local_addr().to_string(), self.config.wait);
        let mut on_refused = self.on_refused.take().unwrap_or_else(|| Box::new(drop));
        // A wait that no clock can tell the end of has none.
        let until = wait.and_then(|wait| Instant::now().checked_add(wait));
        let mut server = self.meet_each(|mut met| {
            met.is_awaited();
            Ok::<_, Error>(met)
        })?;
        let stopper = server.stopper();
        attempt.ends_by(move || stopper.stop());
        let met = loop {
            match server.ended_by(until).map(Ended::succeeded) {
                Some(Ok(met)) => break Ok(met),
                Some(Err(refused)) => on_refused(*refused),
                None if attempt.is_wanted() => {
                    let within = wait.unwrap_or_default();
                    break Err(ChannelError::NobodyConnected { address, within });
                }
                None => break Err(ChannelError::Abandoned),
            }
        };
        attempt.has_ended();
        Ok(met.map_err(NetError::from)?)
    }

    /// Tries `meet` with all peers that come, side by side, for a caller who takes the first that suits, as
    /// [`accept`](Self::accept) does. Dropping the server closes connections to the others, and the port.
    ///
    /// ```
    /// use std::thread;
    /// use foxtrot::{Config, Ended, Error, Peer, job::{Hello, Role}};
    ///
    /// fn meet(mut peer: Peer, role: Role) -> Result<(Peer, foxtrot::job::Agreed), Error> {
    ///     let (agreed, ()) = peer.negotiate::<_, Error>(Hello::new(role), |_| Ok(((), 0)))?;
    ///     Ok((peer, agreed))
    /// }
    ///
    /// let listener = Config::insecure().bind("localhost:0")?;
    /// let address = listener.local_addr().to_string();
    /// let mut server = listener.accept_each(|peer| meet(peer, Role::Sender))?;
    /// let wrong = Config::insecure().connect(&address)?;
    /// assert!(meet(wrong, Role::Sender).is_err());
    /// let other = thread::spawn(move || {
    ///     let (mut peer, agreed) = meet(Config::insecure().connect(&address)?, Role::Receiver)?;
    ///     peer.job(agreed).finish()
    /// });
    /// let (mut peer, agreed) = server.find_map(|ended| ended.result.ok()).expect("somebody suits");
    /// peer.job(agreed).finish()?;
    /// other.join().expect("no panic")?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Session`] if the system starts no thread.
    pub fn accept_each<T: Send + 'static, E: From<Error> + Send + 'static>(
        self,
        meet: impl Fn(Peer) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<Server<T, E>, Error> {
        self.meet_each(move |met| meet(met.blocking()?))
    }

    fn meet_each<T: Send + 'static, E: From<Error> + Send + 'static>(
        self,
        meet: impl Fn(Met) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<Server<T, E>, Error> {
        let Self { config, socket, .. } = self;
        // The only peer of this port is not pushed out by others, and its work would keep out nobody.
        let limits = Limits { admitted: 1, kept: usize::MAX, ..config.limits };
        Server::start(socket, config, limits, None, meet)
    }

    /// Answers all peers that come, side by side: `session` gets each of them, on a thread of its own.
    ///
    /// ```
    /// # #[cfg(feature = "psi")] {
    /// use foxtrot::{Config, psi};
    ///
    /// let listener = Config::insecure().max_sessions(8).bind("localhost:0")?;
    /// let mut server = listener.serve(|peer| psi::send(peer, &["bob", "cid"]))?;
    ///
    /// let address = server.local_addr().to_string();
    /// let mut peer = Config::insecure().connect(&address)?;
    /// assert_eq!(psi::receive(&mut peer, &["ann", "bob"])?, [1]);
    ///
    /// // The server is an iterator over sessions that have ended; after a stop it has an end.
    /// assert!(server.next().is_some_and(|ended| ended.result.is_ok()));
    /// server.stopper().stop();
    /// assert!(server.next().is_none());
    /// # }
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Session`] if the system starts no thread.
    pub fn serve(
        self,
        session: impl Fn(&mut Peer) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Result<Server, Error> {
        self.serve_each(move |mut peer| session(&mut peer))
    }

    /// [`serve`](Self::serve) with peers that the handler owns, and results of its own.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub fn serve_each<T: Send + 'static, E: From<Error> + Send + 'static>(
        self,
        session: impl Fn(Peer) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<Server<T, E>, Error> {
        let (config, socket, limits, gate) = self.into_server();
        Server::start(socket, config, limits, Some(gate), move |met| session(met.blocking()?))
    }

    /// The parts of a server for all peers that come.
    pub(super) fn into_server(self) -> (Config, tcp::Listener, Limits, Arc<Gate>) {
        let Self { config, socket, .. } = self;
        let limits = Limits { admitted: config.most.sessions, ..config.limits };
        let gate = Gate::new(config.most);
        (config, socket, limits, gate)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("config", &self.config)
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}
