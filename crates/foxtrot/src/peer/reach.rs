//! Reaching a peer over a socket, up to the end of the handshake.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use foxtrot_net::{
    Channel, ChannelError, Connection, Error as NetError,
    gate::{Gate, Most},
    gateway::{End, NotJoined},
    listen::Silent,
    memory,
    tcp::{self, Socket},
};

use super::{Attempt, Bound, Config, Local, Peer, Side, TIMEOUT, Who, config::Security};
use crate::Error;

/// Pauses between attempts at a gateway that has no place: the first, and the longest.
const GATEWAY_PAUSE: Duration = Duration::from_millis(20);
const GATEWAY_PAUSE_MOST: Duration = Duration::from_secs(1);

/// A gate for one session.
const ONE: Most = Most { sessions: 1, of_one_peer: 1, memory: u64::MAX };

/// Bits of work that a listener without keys asks of a stranger before the stranger costs anything.
const WORK: u8 = 16;

/// A connection after its handshake, on which no job has begun: it becomes a blocking peer or an asynchronous one.
pub(crate) struct Met {
    pub(super) way: Way,
    pub(super) local: Local,
    #[cfg(feature = "tokio")]
    pub(super) timeout: Duration,
    /// The end of the connection, if it has a longest time.
    pub(super) ends: Option<Instant>,
}

/// The security of a connection.
pub(super) enum Way {
    Plain(Socket),
    #[cfg(feature = "tls")]
    Tls(Box<foxtrot_net::tls::Secured>),
    #[cfg(feature = "websocket")]
    WebSocket(foxtrot_net::websocket::Visitor),
}

impl Met {
    /// Known facts about the peer.
    pub(super) fn who(&self) -> &Who {
        &self.local.who
    }

    /// Takes a connection that is the only one of its port as admitted.
    pub(super) fn is_awaited(&mut self) {
        self.local.silent = None;
    }

    /// The peer over a connection that blocks.
    pub(super) fn blocking(self) -> Result<Peer, Error> {
        let channel = match self.way {
            Way::Plain(socket) => socket.open(),
            #[cfg(feature = "tls")]
            Way::Tls(secured) => secured.channel(),
            #[cfg(feature = "websocket")]
            Way::WebSocket(visitor) => visitor.channel(),
        }?;
        if let Some(left) = left(self.ends) {
            channel.end_after(left);
        }
        Ok(Peer { connection: Arc::new(channel), local: self.local })
    }
}

/// The time until then.
pub(super) fn left(end: Option<Instant>) -> Option<Duration> {
    end.map(|end| end.saturating_duration_since(Instant::now()))
}

impl Config {
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
            Some(_) => self.reach(address, attempt, Side::Responder)?.blocking(),
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
        self.reach(address, attempt, Side::Initiator)?.blocking()
    }

    /// Tries again as long as a gateway has no place, for then the peer may wait there already.
    pub(super) fn reach(&self, address: &str, attempt: &Attempt, side: Side) -> Result<Met, Error> {
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
    ) -> Result<Met, Error> {
        let is_wanted = || attempt.is_wanted();
        let on_nobody = || self.on_nobody.iter().for_each(|tell| tell());
        let socket = tcp::connect_while(address, wait, self.timeout, on_nobody, is_wanted)?;
        attempt.ends_by(socket.closer()?);
        let socket = match (&self.route, side) {
            (None, _) => Ok(socket),
            (Some(name), Side::Initiator) => socket.route(End::Outside, name, wait),
            (Some(name), Side::Responder) => socket.route(End::Inside, name, wait),
        };
        let met = socket.and_then(|socket| self.open(socket, side));
        attempt.has_ended();
        Ok(met?)
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
        Peer { connection, local: self.local(side, who, bound) }
    }

    /// This side's part of a connection.
    fn local(&self, side: Side, who: Who, bound: Bound) -> Local {
        // The only session behind its gate.
        let gate = Gate::new(Most { memory: self.most.memory, ..ONE });
        Local {
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
        }
    }

    /// Secures a connection, if there are keys for it.
    fn open(&self, socket: Socket, side: Side) -> Result<Met, NetError> {
        let (who, began) = (Who::of(&socket), Instant::now());
        let socket = socket.shake_hands_within(self.session_timeout.unwrap_or(Duration::MAX));
        let (way, who, bound) = match &self.security {
            Security::Insecure => (Way::Plain(socket), who, Bound::No),
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
                (Way::Tls(Box::new(secured)), who, bound)
            }
            #[cfg(feature = "websocket")]
            Security::WebSocket(site) => {
                let visitor = site.answer(socket)?.ok_or(ChannelError::Served)?;
                let who = Who { name: visitor.name.clone(), has_token: true, ..who };
                let bound = Bound::Stream(Some(super::ChannelBinding(visitor.binding)));
                (Way::WebSocket(visitor), who, bound)
            }
        };
        let ends = self.session_timeout.and_then(|limit| began.checked_add(limit));
        Ok(Met {
            way,
            local: self.local(side, who, bound),
            #[cfg(feature = "tokio")]
            timeout: self.timeout,
            ends,
        })
    }

    /// Secures a connection that somebody opened; there is none over which a browser got a file. A stranger has not been
    /// admitted before its first job has begun; before a gate it has to work, unless it has a key, by which it has proved more.
    pub(super) fn admit(
        &self,
        socket: Socket,
        silent: Silent,
        gate: Option<&Arc<Gate>>,
    ) -> Result<Option<Met>, Error> {
        let mut met = match self.open(socket, Side::Responder) {
            Err(NetError::Channel(ChannelError::Served)) => return Ok(None),
            met => met?,
        };
        let local = &mut met.local;
        local.silent = Some(silent);
        if let Some(gate) = gate {
            local.puzzle = if self.is_insecure() { WORK } else { 0 };
            let counted_as = local.who.counted_as();
            (local.gate, local.pass) = (Some((Arc::clone(gate), counted_as)), Mutex::default());
        }
        Ok(Some(met))
    }
}

/// Returns true for the word of a gateway that has no place now.
fn is_full(error: &NetError) -> bool {
    matches!(error, NetError::Channel(ChannelError::NotJoined { why: NotJoined::Busy, .. }))
}
