//! Keys, limits and time-outs of connections.

use std::{
    fmt,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use foxtrot_net::{
    Channel, ChannelError, Connection, Error as NetError,
    daily::Daily,
    gate::{Gate, Most},
    gateway::{End, NotJoined},
    listen::{Limits, Silent},
    memory,
    tcp::{self, Socket},
};

use super::{
    Attempt, Bound, Ended, Local, Peer, Server, Settings, Side, TIMEOUT, Tickets, Who, server,
};
use crate::{Error, Threads};

#[cfg(feature = "tls")]
use {
    crate::{Fingerprint, Identity},
    foxtrot_net::tls::Tls,
};

/// Bits of work that a listener without keys asks of a stranger before the stranger costs anything.
const WORK: u8 = 16;

/// Pauses between attempts at a gateway that has no place: the first, and the longest.
const GATEWAY_PAUSE: Duration = Duration::from_millis(20);
const GATEWAY_PAUSE_MOST: Duration = Duration::from_secs(1);

/// A gate for one session.
const ONE: Most = Most { sessions: 1, of_one_peer: 1, memory: u64::MAX };

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
    security: Security,
    pub(super) timeout: Duration,
    wait: Option<Duration>,
    jobs: Settings,
    session_timeout: Option<Duration>,
    most: Most,
    limits: Limits,
    on_nobody: Option<Arc<dyn Fn() + Send + Sync>>,
    route: Option<String>,
}

#[derive(Clone)]
enum Security {
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

/// A port on which peers are awaited.
pub struct Listener {
    config: Config,
    socket: tcp::Listener,
    on_refused: Option<Box<dyn FnMut(Ended) + Send>>,
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
            most: Most { sessions: 64, of_one_peer: 8, memory: u64::MAX },
            limits: server::LIMITS,
            on_nobody: None,
            route: None,
        }
    }

    /// Listens for browsers: sessions come over WebSocket, from pages of the site's origins, and are bound to its tokens.
    /// This side does not encrypt the connection: the browser's TLS ends at a proxy, or browser and command are on one machine.
    #[cfg(feature = "websocket")]
    #[must_use]
    pub fn websocket(site: foxtrot_net::websocket::Site) -> Self {
        Self { security: Security::WebSocket(Arc::new(site)), ..Self::insecure() }
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

    /// Sets the number of sessions that a [`Server`] runs at once; 64 by default. A peer beyond them is told that the server is busy. A
    /// session counts from the peer's first job, when it has proved that it is there, to the handler's end.
    #[must_use]
    pub fn sessions(mut self, sessions: usize) -> Self {
        self.most.sessions = sessions.max(1);
        self
    }

    /// Sets the number of sessions that a [`Server`] runs at once with one peer, which is a key or, without keys, an IP address (of IPv6
    /// the network, /64); 8 by default.
    #[must_use]
    pub fn sessions_per_peer(mut self, sessions: usize) -> Self {
        self.most.of_one_peer = sessions.max(1);
        self
    }

    /// The most bytes of memory that jobs take, of all sessions of a [`Server`] together; without limit by default. Every job counts
    /// what it may take whatever its peer does: what it computes with, what waits on the way, payloads and results. Items and
    /// messages that the caller holds are not counted. A job that would take more is refused before it begins, with
    /// [`Error::Full`], and the peer is told so. The memory of a job from a caller's own hello is for the caller to say.
    ///
    /// ```
    /// use foxtrot::{Config, psi};
    ///
    /// let config = Config::insecure().sessions(100).sessions_per_peer(1).max_memory(1 << 30);
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
    /// sessions a [`Server`] keeps until somebody asks. How many are admitted, [`sessions`](Self::sessions) says.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
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

    /// Connects to a gateway's inner port, and waits there for the peer on the [`route`](Self::route), as one that listens does.
    ///
    /// # Errors
    /// [`Error::Config`] without a route; [`Error::Session`].
    pub fn connect_behind(&self, address: &str) -> Result<Peer, Error> {
        self.connect_behind_while(address, &Attempt::default())
    }

    /// [`connect_behind`](Self::connect_behind), unless another thread ends the attempt.
    ///
    /// # Errors
    /// [`Error::Config`] without a route; [`Error::Session`]: also for an attempt that was ended.
    pub fn connect_behind_while(&self, address: &str, attempt: &Attempt) -> Result<Peer, Error> {
        match self.route {
            Some(_) => self.reach(address, attempt, Side::Responder),
            None => Err(Error::Config("a gateway needs the name of a route")),
        }
    }

    /// Connects to a peer that listens at `address`, a host and a port.
    ///
    /// # Errors
    /// [`Error::Session`].
    pub fn connect(&self, address: &str) -> Result<Peer, Error> {
        self.connect_while(address, &Attempt::default())
    }

    /// [`connect`](Self::connect), unless another thread ends the attempt.
    ///
    /// # Errors
    /// [`Error::Session`]: also for an attempt that was ended.
    pub fn connect_while(&self, address: &str, attempt: &Attempt) -> Result<Peer, Error> {
        self.reach(address, attempt, Side::Initiator)
    }

    /// Tries again as long as a gateway has no place, for then the peer may wait there already.
    fn reach(&self, address: &str, attempt: &Attempt, side: Side) -> Result<Peer, Error> {
        let (began, wait) = (Instant::now(), self.wait.unwrap_or(TIMEOUT));
        let (mut left, mut pause) = (wait, GATEWAY_PAUSE);
        loop {
            match self.reach_within(left, address, attempt, side) {
                Err(Error::Session(e)) if is_full(&e) && attempt.is_wanted() && pause < left => {
                    thread::sleep(pause);
                    left = wait.saturating_sub(began.elapsed());
                    pause = (2 * pause).min(GATEWAY_PAUSE_MOST);
                }
                reached => return reached,
            }
        }
    }

    fn reach_within(
        &self,
        wait: Duration,
        address: &str,
        attempt: &Attempt,
        side: Side,
    ) -> Result<Peer, Error> {
        let is_wanted = || attempt.is_wanted();
        let on_nobody = || self.on_nobody.iter().for_each(|tell| tell());
        let socket = tcp::connect_while(address, wait, self.timeout, on_nobody, is_wanted)?;
        attempt.ends_by(socket.closer()?);
        let socket = match (&self.route, side) {
            (None, _) => Ok(socket),
            (Some(name), Side::Initiator) => socket.route(End::Outside, name, wait),
            (Some(name), Side::Responder) => socket.route(End::Inside, name, wait),
        };
        let peer = socket.and_then(|socket| self.open(socket, side));
        attempt.has_ended();
        Ok(peer?)
    }

    /// Takes the port at `address`, a host and a port; port 0 lets the system choose.
    ///
    /// # Errors
    /// [`Error::Session`].
    pub fn bind(&self, address: &str) -> Result<Listener, Error> {
        let socket = tcp::Listener::bind(address)?;
        Ok(Listener { socket, config: self.clone(), on_refused: None })
    }

    pub(super) fn is_insecure(&self) -> bool {
        matches!(self.security, Security::Insecure)
    }

    /// Both parties in one program, as of [`Peer::pair`].
    #[must_use]
    pub fn pair(&self) -> (Peer, Peer) {
        let (initiator, responder) = memory::pair(self.timeout);
        (self.peer(initiator, Side::Initiator), self.peer(responder, Side::Responder))
    }

    /// Talks to the peer over a channel of `foxtrot-net`, which nothing secures here.
    #[must_use]
    pub fn peer(&self, channel: Channel, side: Side) -> Peer {
        self.over_connection(self.limited(channel), side, Who::default(), Bound::No)
    }

    /// A channel that ends after the longest time of a session.
    pub(super) fn limited(&self, channel: Channel) -> Arc<Channel> {
        self.session_timeout.iter().for_each(|limit| channel.end_after(*limit));
        Arc::new(channel)
    }

    /// The peer at the other end of a connection.
    pub(super) fn over_connection<C: Connection>(
        &self,
        connection: C,
        side: Side,
        who: Who,
        bound: Bound,
    ) -> Peer<C> {
        // The only session behind its gate.
        let gate = Gate::new(Most { memory: self.most.memory, ..ONE });
        let local = Local {
            progress: None,
            pass: Mutex::new(gate.admit("", 0).ok()),
            seed: None,
            side,
            who,
            bound,
            gate: None,
            settings: self.jobs.clone(),
            puzzle: 0,
            silent: None,
            jobs: 0,
            is_cancelled: Arc::default(),
            failed: Mutex::default(),
        };
        Peer { connection, local }
    }

    /// Secures a connection, if there are keys for it.
    fn open(&self, socket: Socket, side: Side) -> Result<Peer, NetError> {
        let (who, began) = (Who::of(&socket), Instant::now());
        let socket = socket.shake_hands_within(self.session_timeout.unwrap_or(Duration::MAX));
        let peer = |channel: Channel, who, bound| {
            if let Some(limit) = self.session_timeout {
                channel.end_after(limit.saturating_sub(began.elapsed()));
            }
            self.over_connection(Arc::new(channel), side, who, bound)
        };
        match &self.security {
            Security::Insecure => Ok(peer(socket.open()?, who, Bound::No)),
            #[cfg(feature = "tls")]
            Security::Tls { tls, names } => {
                let secured = match side {
                    Side::Initiator => tls.connect(socket)?,
                    Side::Responder => tls.accept(socket)?,
                };
                let name = names.iter().find(|(key, _)| *key == secured.peer);
                let name = name.map(|(_, name)| name.clone());
                let who = Who { name, fingerprint: Some(secured.peer), ..who };
                let bound = Bound::Tls(secured.binding);
                Ok(peer(secured.channel()?, who, bound))
            }
            #[cfg(feature = "websocket")]
            Security::WebSocket(site) => {
                let visitor = site.answer(socket)?.ok_or(ChannelError::Served)?;
                let who = Who { name: visitor.name.clone(), has_token: true, ..who };
                let bound = Bound::Stream(Some(super::ChannelBinding(visitor.binding)));
                Ok(peer(visitor.channel()?, who, bound))
            }
        }
    }

    /// Secures a connection that somebody opened. A stranger has not been admitted before its first job has begun; before a
    /// gate it has to work, unless it has a key, by which it has proved more.
    pub(super) fn admit(
        &self,
        socket: Socket,
        silent: Silent,
        gate: Option<&Arc<Gate>>,
    ) -> Result<Peer, Error> {
        let mut peer = self.open(socket, Side::Responder)?;
        let local = &mut peer.local;
        local.silent = Some(silent);
        if let Some(gate) = gate {
            local.puzzle = if self.is_insecure() { WORK } else { 0 };
            let counted_as = local.who.counted_as();
            (local.gate, local.pass) = (Some((Arc::clone(gate), counted_as)), Mutex::default());
        }
        Ok(peer)
    }
}

/// Returns true for the word of a gateway that has no place now.
fn is_full(error: &NetError) -> bool {
    matches!(error, NetError::Channel(ChannelError::NotJoined { why: NotJoined::Busy, .. }))
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
    pub fn accept_while(mut self, attempt: &Attempt) -> Result<Peer, Error> {
        let (address, wait) = (self.local_addr().to_string(), self.config.wait);
        let mut on_refused = self.on_refused.take().unwrap_or_else(|| Box::new(drop));
        // A wait that no clock can tell the end of has none.
        let until = wait.and_then(|wait| Instant::now().checked_add(wait));
        let mut server = self.accept_each(|mut peer| {
            peer.local.silent = None;
            Ok::<_, Error>(peer)
        })?;
        let stopper = server.stopper();
        attempt.ends_by(move || stopper.stop());
        let peer = loop {
            match server.ended_by(until).map(Ended::succeeded) {
                Some(Ok(peer)) => break Ok(peer),
                Some(Err(refused)) => on_refused(*refused),
                None if attempt.is_wanted() => {
                    let within = wait.unwrap_or_default();
                    break Err(ChannelError::NobodyConnected { address, within });
                }
                None => break Err(ChannelError::Abandoned),
            }
        };
        attempt.has_ended();
        Ok(peer.map_err(NetError::from)?)
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
    /// let listener = Config::insecure().sessions(8).bind("localhost:0")?;
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
        let Self { config, socket, .. } = self;
        let limits = Limits { admitted: config.most.sessions, ..config.limits };
        let gate = Some(Gate::new(config.most));
        Server::start(socket, config, limits, gate, session)
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
