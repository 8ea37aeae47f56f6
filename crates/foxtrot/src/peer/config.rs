//! Keys, limits and time-outs of connections.

use std::{fmt, net::SocketAddr, time::Duration};

use foxtrot_net::{
    Channel, Error as NetError,
    listen::{self, Limits, Silent},
    tcp::{self, Socket},
};

use super::{Peer, Server, Side, TIMEOUT, Who};
use crate::{Error, Threads};

#[cfg(feature = "tls")]
use {
    crate::{Fingerprint, Identity},
    foxtrot_net::tls::Tls,
    std::sync::Arc,
};

/// Bits of work that a listener without keys asks of a stranger before the stranger costs anything.
const WORK: u8 = 16;

/// How connections are made: keys, time-outs, threads, limits.
///
/// ```
/// use std::{thread, time::Duration};
/// use foxtrot::{Config, Identity, psi};
///
/// let (ours, theirs) = (Identity::generate()?, Identity::generate()?);
/// let listener = Config::tls(&ours, &[theirs.fingerprint()])?
///     .name(theirs.fingerprint(), "acme")
///     .timeout(Duration::from_secs(60))
///     .bind("localhost:0")?;
/// let address = listener.local_addr().to_string();
/// let fingerprint = ours.fingerprint();
/// let sender = thread::spawn(move || {
///     let mut peer = Config::tls(&theirs, &[fingerprint])?.connect(&address)?;
///     psi::send(&mut peer, &["ann", "bob"])
/// });
/// let mut peer = listener.accept()?;
/// assert_eq!(peer.name(), Some("acme"));
/// assert_eq!(psi::receive(&mut peer, &["bob", "eve"])?, [0]);
/// sender.join().expect("no panic")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Config {
    security: Security,
    timeout: Duration,
    wait: Option<Duration>,
    application: Option<String>,
    threads: Option<Threads>,
    sessions: usize,
}

#[derive(Clone)]
enum Security {
    Insecure,
    #[cfg(feature = "tls")]
    Tls {
        tls: Arc<Tls>,
        names: Vec<(Fingerprint, String)>,
    },
}

/// A port on which peers are awaited.
#[derive(Debug)]
pub struct Listener {
    config: Config,
    socket: tcp::Listener,
}

impl Config {
    /// TLS 1.3 with our identity, for peers with one of these keys.
    ///
    /// # Errors
    /// [`Error::Session`] for a key that TLS does not take.
    #[cfg(feature = "tls")]
    pub fn tls(identity: &Identity, peers: &[Fingerprint]) -> Result<Self, Error> {
        let tls = Arc::new(Tls::new(identity, peers)?);
        Ok(Self { security: Security::Tls { tls, names: Vec::new() }, ..Self::insecure() })
    }

    /// No keys: everybody on the way can read and change everything. For one machine, or below a tunnel.
    #[must_use]
    pub fn insecure() -> Self {
        Self {
            security: Security::Insecure,
            timeout: TIMEOUT,
            wait: None,
            application: None,
            threads: None,
            sessions: 64,
        }
    }

    /// Gives the key of a peer a name, which [`Peer::name`] returns. It does not admit the key: [`Config::tls`] does.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn name(mut self, fingerprint: Fingerprint, name: &str) -> Self {
        if let Security::Tls { names, .. } = &mut self.security {
            names.push((fingerprint, name.to_owned()));
        }
        self
    }

    /// How long a single wait for the peer may last; 30 seconds by default.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// How long to try to connect, or to wait for the first peer; by default 30 seconds for a connection, and without end for
    /// a listener.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait: Some(wait), ..self }
    }

    /// The name of the application and of its version, which both sides have to give alike: so two programs that use Foxtrot
    /// for different things do not talk past each other.
    #[must_use]
    pub fn application(self, application: &str) -> Self {
        Self { application: Some(application.to_owned()), ..self }
    }

    /// Has jobs compute on these threads beside the caller's own.
    #[must_use]
    pub fn threads(self, threads: &Threads) -> Self {
        Self { threads: Some(threads.clone()), ..self }
    }

    /// How many sessions a [`Server`] runs at once; 64 by default.
    #[must_use]
    pub fn sessions(self, sessions: usize) -> Self {
        Self { sessions: sessions.max(1), ..self }
    }

    /// Connects to a peer that listens at `address`, a host and a port.
    ///
    /// # Errors
    /// [`Error::Session`].
    pub fn connect(&self, address: &str) -> Result<Peer, Error> {
        let wait = self.wait.unwrap_or(TIMEOUT);
        let socket = tcp::connect_within(address, wait, self.timeout, || ())?;
        Ok(self.open(socket, Side::Initiator)?)
    }

    /// Takes the port at `address`, a host and a port; port 0 lets the system choose.
    ///
    /// # Errors
    /// [`Error::Session`].
    pub fn bind(&self, address: &str) -> Result<Listener, Error> {
        Ok(Listener { socket: tcp::Listener::bind(address)?, config: self.clone() })
    }

    pub(super) fn timeout_of_waits(&self) -> Duration {
        self.timeout
    }

    pub(super) fn peer(&self, channel: Channel, side: Side) -> Peer {
        let (application, threads) = (self.application.clone(), self.threads.clone());
        Peer { application, threads, ..Peer::new(channel, side) }
    }

    /// Secures a connection, if there are keys for it.
    fn open(&self, socket: Socket, side: Side) -> Result<Peer, NetError> {
        let address = Some(socket.peer_address());
        match &self.security {
            Security::Insecure => {
                let who = Who { address, ..Who::default() };
                Ok(Peer { who, ..self.peer(socket.open()?, side) })
            }
            #[cfg(feature = "tls")]
            Security::Tls { tls, names } => {
                let secured = match side {
                    Side::Initiator => tls.connect(socket)?,
                    Side::Responder => tls.accept(socket)?,
                };
                let name = names.iter().find(|(key, _)| *key == secured.peer);
                let name = name.map(|(_, name)| name.clone());
                let who = Who { address, name, fingerprint: Some(secured.peer) };
                let binding = Some(secured.binding);
                Ok(Peer { who, binding, ..self.peer(secured.channel, side) })
            }
        }
    }

    /// Secures a connection that somebody opened, who may be a stranger.
    fn admit(&self, socket: Socket, silent: Silent) -> Result<Peer, Error> {
        let mut peer = self.open(socket, Side::Responder)?;
        match self.security {
            // It is known until the first negotiation only that somebody has connected.
            Security::Insecure => {
                peer.puzzle = WORK;
                peer.silent = Some(silent);
            }
            #[cfg(feature = "tls")]
            Security::Tls { .. } => drop(silent),
        }
        Ok(peer)
    }
}

impl Listener {
    /// The address that it listens on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.socket.local_addr()
    }

    /// Waits for the first peer that may connect, and closes the port. Without keys the first connection is the peer.
    ///
    /// # Errors
    /// [`Error::Session`]: that nobody came in time.
    pub fn accept(self) -> Result<Peer, Error> {
        let Self { config, socket } = self;
        let (address, timeout) = (socket.local_addr().to_string(), config.timeout);
        let wait = config.wait;
        let until = wait.map(|wait| std::time::Instant::now() + wait);
        let limits = Limits { admitted: 1, ..Limits::default() };
        let connections = listen::serve(socket, timeout, limits, move |socket, silent| {
            let mut peer = config.admit(socket, silent)?;
            // The only peer of this port is not pushed out by others, and its work would keep out nobody.
            (peer.silent, peer.puzzle) = (None, 0);
            Ok::<_, Error>(peer)
        })?;
        loop {
            match connections.next_by(until) {
                Some(Ok(Ok(peer))) => return Ok(peer),
                // A stranger, or a connection that the system could not take.
                Some(_) => {}
                None => {
                    let within = wait.unwrap_or_default();
                    return Err(NetError::from(foxtrot_net::ChannelError::NobodyConnected {
                        address,
                        within,
                    })
                    .into());
                }
            }
        }
    }

    /// Answers all peers that come, side by side: `session` gets each of them, on a thread of its own.
    ///
    /// ```
    /// # #[cfg(feature = "psi")] {
    /// use foxtrot::{Config, psi};
    ///
    /// let listener = Config::insecure().sessions(8).bind("localhost:0")?;
    /// let mut server = listener.serve(|peer| psi::send(peer, &["bob", "cid"]))?;
    ///
    /// let address = server.local_addr().to_string();
    /// let mut peer = Config::insecure().connect(&address)?;
    /// assert_eq!(psi::receive(&mut peer, &["ann", "bob"])?, [1]);
    ///
    /// // The server is an iterator over sessions that have ended.
    /// assert!(server.next().is_some_and(|ended| ended.result.is_ok()));
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
        let Self { config, socket } = self;
        let (timeout, sessions) = (config.timeout, config.sessions);
        let admit = move |socket, silent| config.admit(socket, silent);
        Server::start(socket, timeout, sessions, admit, session)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let security = match self.security {
            Security::Insecure => "insecure",
            #[cfg(feature = "tls")]
            Security::Tls { .. } => "TLS",
        };
        f.debug_struct("Config")
            .field("security", &security)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
