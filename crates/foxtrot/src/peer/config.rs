//! Keys, limits and time-outs of connections.

use std::{fmt, path::Path, sync::Arc, time::Duration};

use foxtrot_net::{daily::Daily, gate::Most, listen::Limits};

use super::{Settings, TIMEOUT, Tickets};
use crate::{
    Threads,
    options::{MAX_SESSIONS, MAX_SESSIONS_PER_PEER},
};

#[cfg(feature = "lanes")]
use foxtrot_net::tokio::Runtime;
#[cfg(feature = "tls")]
use {
    crate::{Error, Fingerprint, Identity},
    foxtrot_net::tls::Tls,
};

/// Limits unless the caller says otherwise. A session touches of its stack what it needs.
const LIMITS: Limits = Limits { silent: 256, admitted: 64, stack: 4 << 20, kept: 1024 };

/// The settings of connections: keys, time-outs, threads, limits.
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
    pub(super) security: Security,
    pub(super) timeout: Duration,
    pub(super) wait: Option<Duration>,
    pub(super) jobs: Settings,
    pub(super) session_timeout: Option<Duration>,
    pub(super) most: Most,
    pub(super) limits: Limits,
    pub(super) on_nobody: Option<Arc<dyn Fn() + Send + Sync>>,
    pub(super) route: Option<String>,
    #[cfg(feature = "lanes")]
    pub(super) runtime: Option<Arc<dyn Runtime>>,
}

#[derive(Clone)]
pub(super) enum Security {
    Insecure,
    #[cfg(feature = "tls")]
    Tls {
        tls: Arc<Tls>,
        names: Vec<(Fingerprint, String)>,
    },
    /// Browsers, which a token authenticates.
    #[cfg(feature = "websocket")]
    WebSocket(Arc<foxtrot_net::websocket::Site>),
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
            jobs: Settings::default(),
            session_timeout: None,
            most: Most {
                sessions: MAX_SESSIONS.size(),
                of_one_peer: MAX_SESSIONS_PER_PEER.size(),
                memory: u64::MAX,
            },
            limits: LIMITS,
            on_nobody: None,
            route: None,
            #[cfg(feature = "lanes")]
            runtime: None,
        }
    }

    /// Listens for browsers: sessions come over WebSocket, from pages of the site's origins, and are bound to its tokens.
    /// This side does not encrypt the connection: the browser's TLS ends at a proxy, or browser and command are on one machine.
    #[cfg(feature = "websocket")]
    #[must_use]
    pub fn websocket(site: foxtrot_net::websocket::Site) -> Self {
        Self { security: Security::WebSocket(Arc::new(site)), ..Self::insecure() }
    }

    /// Gives the key of a peer a name, which [`Peer::name`](crate::Peer::name) returns. It does not admit the key: [`Config::tls`] does.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn name(mut self, fingerprint: Fingerprint, name: &str) -> Self {
        if let Security::Tls { names, .. } = &mut self.security {
            names.push((fingerprint, name.to_owned()));
        }
        self
    }

    /// Sets the longest single wait for the peer, also for its next job; 30 seconds by default.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the time to try to connect, or to wait for the first peer; by default 30 seconds for a connection, and
    /// without end for a listener.
    ///
    /// ```
    /// use std::time::Duration;
    /// use foxtrot::{Blame, Config};
    ///
    /// let config = Config::insecure().wait(Duration::from_millis(10));
    /// let error = config.bind("localhost:0")?.accept().expect_err("nobody comes");
    /// assert_eq!(error.blame(), Blame::Connection);
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait: Some(wait), ..self }
    }

    /// Sets the longest time of a connection, all its jobs together; without end by default. A server with such a limit is not
    /// held up by peers that send a little in every [`timeout`](Self::timeout).
    ///
    /// ```
    /// use std::time::Duration;
    /// use foxtrot::{Blame, Config, psi};
    ///
    /// let day = Duration::from_secs(24 * 60 * 60);
    /// let config = Config::insecure().timeout(day).session_timeout(Duration::from_millis(50));
    /// let mut server = config.bind("localhost:0")?.serve(|peer| psi::send(peer, &["bob"]))?;
    /// let silent = std::net::TcpStream::connect(server.local_addr());
    /// let error = server.next().and_then(|ended| ended.result.err()).expect("nothing was said");
    /// assert_eq!(error.blame(), Blame::Connection);
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    #[must_use]
    pub fn session_timeout(self, limit: Duration) -> Self {
        Self { session_timeout: Some(limit), ..self }
    }

    /// The name of the application and of its version, which both sides have to give alike: so two programs that use Foxtrot
    /// for different things do not talk past each other.
    ///
    /// ```
    /// use foxtrot::{Blame, Config, Side, rot};
    ///
    /// let ((from_peer, to_us), (from_us, to_peer)) = (std::io::pipe()?, std::io::pipe()?);
    /// let mut bank = Config::insecure().application("bank/1").over(from_us, to_us, Side::Responder)?;
    /// let other = std::thread::spawn(move || rot::send(&mut bank, 10).map(drop));
    /// let mut shop = Config::insecure().application("shop/1").over(from_peer, to_peer, Side::Initiator)?;
    /// let error = rot::receive(&mut shop, 10).expect_err("they differ");
    /// assert_eq!(error.blame(), Blame::Agreement);
    /// # assert!(other.join().expect("no panic").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn application(mut self, application: &str) -> Self {
        self.jobs.application = Some(application.to_owned());
        self
    }

    /// Runs jobs on these threads beside the caller's own.
    #[must_use]
    pub fn threads(mut self, threads: &Threads) -> Self {
        self.jobs.executor = Some(Arc::new(threads.clone()));
        self
    }

    /// Sets the number of sessions that a [`Server`](crate::Server) runs at once; 64 by default. A peer beyond them is told that the server is busy. A
    /// session counts from the peer's first job, when it has proved that it is there, to the handler's end.
    #[must_use]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.most.sessions = sessions.max(1);
        self
    }

    /// Sets the number of sessions that a [`Server`](crate::Server) runs at once with one peer, which is a key or, without keys, an IP address (of IPv6
    /// the network, /64); 8 by default.
    #[must_use]
    pub fn max_sessions_per_peer(mut self, sessions: usize) -> Self {
        self.most.of_one_peer = sessions.max(1);
        self
    }

    /// The most bytes of memory that jobs take, of all sessions of a [`Server`](crate::Server) together; without limit by default. Every job counts
    /// what it may take whatever its peer does: what it computes with, what waits on the way, payloads and results. Items and
    /// messages that the caller holds are not counted. A job that would take more is refused before it begins, with
    /// [`Error::Full`], and the peer is told so. The memory of a job from a caller's own hello is for the caller to say.
    ///
    /// ```
    /// use foxtrot::{Config, psi};
    ///
    /// let config = Config::insecure().max_sessions(100).max_sessions_per_peer(1).max_memory(1 << 30);
    /// let mut server = config.bind("localhost:0")?.serve(|peer| {
    ///     psi::send(peer, &["bob"])?;
    ///     psi::send(peer, &["cid"])
    /// })?;
    /// let address = server.local_addr().to_string();
    /// let mut peer = Config::insecure().connect(&address)?;
    /// psi::receive(&mut peer, &["bob"])?;
    /// let mut again = Config::insecure().connect(&address)?;
    /// let error = psi::receive(&mut again, &["bob"]).expect_err("a session of this peer is open");
    /// assert!(error.to_string().contains("busy"));
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.most.memory = bytes;
        self
    }

    /// Counts what each peer has learnt of this side today, and admits no more than these limits do: the jobs in which it learns
    /// something (it receives, or both sides learn the result), and the items that it can test in them, by
    /// [`psi::Options::most_tested`](crate::psi::Options::most_tested) of the protocol that runs. With peers that are trusted to follow the protocol, and for items of a
    /// sender whose peer also learns, these are the items that the peer declares.
    ///
    /// A peer is a key, a token or the name that a [`Stream`](crate::Stream) gives. Peers without one have one count together: an
    /// address is no identity.
    /// Machines that meet one peer, say for shards, count apart if each has a `Daily` of its own.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use foxtrot::{Config, Daily, MostPerDay, psi};
    ///
    /// # let folder = std::env::temp_dir().join(format!("foxtrot-per-day-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let file = folder.join("limits");
    /// // The counts survive a restart of the program.
    /// let daily = Daily::open(MostPerDay { runs: Some(10), keys: Some(300) }, &file)?;
    /// let config = Config::insecure().per_day(Arc::new(daily));
    /// let server = config.bind("localhost:0")?.serve(|peer| psi::send(peer, &["bob"]))?;
    /// let address = server.local_addr().to_string();
    /// let ask = |items: &[&str]| psi::receive(&mut Config::insecure().connect(&address)?, items);
    /// // A receiver that declares two items, and cheats, can test 135.
    /// assert_eq!(ask(&["ann", "bob"])?, [1]);
    /// assert_eq!(ask(&["cid", "dan"])?, []);
    /// let error = ask(&["eve"]).expect_err("30 items are left for today");
    /// assert!(error.to_string().contains("limits for today"), "{error}");
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn per_day(mut self, daily: Arc<Daily>) -> Self {
        self.jobs.daily = Some(daily);
        self
    }

    /// Refuses every job that the policy forbids. The peer needs a policy with the same rules. A policy with limits per day needs
    /// [`per_day`](Self::per_day) with a file, at a side of which the peer learns something.
    #[cfg(feature = "policy")]
    #[must_use]
    pub fn policy(mut self, policy: &crate::policy::Policy) -> Self {
        self.jobs.policy = Some(Arc::new(policy.clone()));
        self
    }

    /// Sets how many connections may be open that have begun no job, the stack of a session's thread, and how many ended
    /// sessions a [`Server`](crate::Server) keeps until somebody asks. How many are admitted, [`max_sessions`](Self::max_sessions) says.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Gives asynchronous connections over streams of the caller a clock, by which time-outs hold, and threads that compute. Without
    /// it, waits do not end by themselves, and jobs compute where they are awaited. Connections over sockets have those of tokio.
    #[cfg(feature = "lanes")]
    #[must_use]
    pub fn runtime(self, runtime: Arc<dyn Runtime>) -> Self {
        Self { runtime: Some(runtime), ..self }
    }

    /// Has `tell` called once in each call of [`connect`](Self::connect) that finds no peer yet and goes on trying.
    #[must_use]
    pub fn on_nobody(self, tell: impl Fn() + Send + Sync + 'static) -> Self {
        Self { on_nobody: Some(Arc::new(tell)), ..self }
    }

    /// Keeps the base OTs of `psi` in this directory, for the next session with the same peer, which also keeps them. The directory is
    /// made if it is missing. This saves most bytes of a small set, and costs some security: a sender's secret Δ stays
    /// on disk between sessions, so read `docs/protocols/resumed-base.md` first. Any session that fails ends what is kept. A file that
    /// cannot be read is [`Error::Ticket`]; one that cannot be written at the end is as good as none.
    ///
    /// ```
    /// use foxtrot::{Config, Identity, psi};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir().join(format!("foxtrot-doc-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let (ours, theirs) = (Identity::generate()?, Identity::generate()?);
    /// let config = Config::tls(&ours, &[theirs.fingerprint()])?.resume_base(&folder.join("ours"));
    /// let listener = config.bind("localhost:0")?;
    /// let address = listener.local_addr().to_string();
    /// let config = Config::tls(&theirs, &[ours.fingerprint()])?.resume_base(&folder.join("theirs"));
    /// let sender = std::thread::spawn(move || psi::send(&mut listener.accept()?, &["ann", "bob"]));
    /// let mut peer = config.connect(&address)?;
    /// assert_eq!(psi::receive(&mut peer, &["bob"])?, [0]);
    /// sender.join().expect("no panic")?;
    /// assert_eq!(std::fs::read_dir(folder.join("ours"))?.count(), 1);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn resume_base(mut self, folder: &Path) -> Self {
        self.jobs.tickets = Some(Tickets::at(folder));
        self
    }

    /// Meets the peer on this route of a [gateway](foxtrot_net::gateway): [`connect`](Self::connect) goes to the gateway's outer port, and the
    /// peer, which calls [`connect_behind`](Self::connect_behind), to the inner one. A name has up to 128 ASCII letters, digits and `._:-`.
    /// Both try again within [`wait`](Self::wait) while the gateway has no place for them.
    ///
    /// ```
    /// use foxtrot::{Config, net::gateway::{Gateway, Limits}, rot};
    ///
    /// let gateway = Gateway::open("localhost:0", "localhost:0", Limits::default(), |_| ())?;
    /// let (outside, inside) = (gateway.outside().to_string(), gateway.inside().to_string());
    /// let config = Config::insecure().route("march-list");
    /// let ours = config.clone();
    /// let other = std::thread::spawn(move || rot::send(&mut config.connect_behind(&inside)?, 10));
    /// assert_eq!(rot::receive(&mut ours.connect(&outside)?, 10)?.1.len(), 10);
    /// other.join().expect("no panic")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn route(self, name: &str) -> Self {
        Self { route: Some(name.to_owned()), ..self }
    }

    pub(super) fn is_insecure(&self) -> bool {
        matches!(self.security, Security::Insecure)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let security = match self.security {
            Security::Insecure => "insecure",
            #[cfg(feature = "tls")]
            Security::Tls { .. } => "TLS",
            #[cfg(feature = "websocket")]
            Security::WebSocket(_) => "WebSocket",
        };
        f.debug_struct("Config")
            .field("security", &security)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
