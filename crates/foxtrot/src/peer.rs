//! The other party: how to reach it, and the connection to it.

mod config;
mod server;

use std::{
    fmt,
    io::{Read, Write},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use foxtrot_net::{
    Channel, ChannelError, Counters, bridge,
    hello::{self, Binding, Hello},
    listen::Silent,
    memory,
};
use foxtrot_ot::Session;
use zeroize::Zeroizing;

use crate::{Error, Threads, job::Job};
pub use config::{Config, Listener};
pub use server::{Ended, Server};

#[cfg(feature = "tls")]
use crate::{Fingerprint, Identity};

/// The time-out of a wait for the peer, unless a [`Config`] has another.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// Which end of a connection this side is. The two ends say different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that opened the connection.
    Initiator,
    /// The side that waited for it.
    Responder,
}

/// How far a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many are done.
    pub done: usize,
    /// How many there are.
    pub of: usize,
    /// What is counted: `transfers`, `steps` or `triples`.
    pub unit: &'static str,
}

type Tell = Arc<dyn Fn(Progress) + Send + Sync>;

/// A connection to the other party, on which jobs run one after another.
///
/// The two programs call matching functions in the same order: one sends where the other receives, with the same sizes and
/// options. Each job begins with a negotiation; where the two sides want different things, both get an
/// [`Error`] that names both sides' values.
///
/// A job that ends with an error ends the connection; every later job returns that error. Jobs that fail before anything is
/// sent, with [`Error::Usage`], leave the connection as it is.
pub struct Peer {
    pub(crate) channel: Arc<Channel>,
    pub(crate) progress: Option<Tell>,
    /// For test vectors: the seed of the next job.
    pub(crate) seed: Option<Zeroizing<[u8; 32]>>,
    /// Whether a session has begun that has not ended.
    pub(crate) in_session: AtomicBool,
    side: Side,
    who: Who,
    binding: Option<Binding>,
    application: Option<String>,
    threads: Option<Threads>,
    /// Bits of the puzzle that a stranger solves.
    puzzle: u8,
    silent: Option<Silent>,
    is_renewed: bool,
    is_cancelled: Arc<AtomicBool>,
}

/// What is known of the other party.
#[derive(Clone, Debug, Default)]
pub(crate) struct Who {
    pub(crate) address: Option<String>,
    pub(crate) name: Option<String>,
    #[cfg(feature = "tls")]
    pub(crate) fingerprint: Option<Fingerprint>,
}

/// Ends the job of a [`Peer`] from another thread.
#[derive(Clone, Debug)]
pub struct Canceller {
    channel: Weak<Channel>,
    is_cancelled: Arc<AtomicBool>,
}

impl Peer {
    /// Connects to a peer that listens at `address` (a host and a port) and has one of these keys; the connection is TLS 1.3
    /// with a post-quantum key exchange. Tries for 30 seconds, so that the peer may start later.
    ///
    /// # Errors
    /// [`Error::Session`] if there is no peer, or one with another key.
    #[cfg(feature = "tls")]
    pub fn connect(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
    ) -> Result<Self, Error> {
        Config::tls(identity, peers)?.connect(address)
    }

    /// Listens at `address`, and waits for a peer that has one of these keys. Strangers are refused, and do not end the
    /// wait.
    ///
    /// # Errors
    /// [`Error::Session`] if the address cannot be listened on.
    #[cfg(feature = "tls")]
    pub fn listen(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
    ) -> Result<Self, Error> {
        Config::tls(identity, peers)?.bind(address)?.accept()
    }

    /// Talks to the peer over any reliable byte stream, say two pipes or a tunnel. Nothing is encrypted or authenticated
    /// here: the stream is already, or both ends are on one machine.
    ///
    /// # Errors
    /// [`Error::Session`] if the system starts no thread.
    pub fn over(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        side: Side,
    ) -> Result<Self, Error> {
        Config::insecure().over(reader, writer, side)
    }

    /// Both parties in one program: for tests and examples. Use them in two threads.
    ///
    /// # Panics
    /// If the system starts no thread.
    #[must_use]
    pub fn pair() -> (Self, Self) {
        let (initiator, responder) = memory::pair(TIMEOUT);
        let config = Config::insecure();
        (config.peer(initiator, Side::Initiator), config.peer(responder, Side::Responder))
    }

    pub(crate) fn new(channel: Channel, side: Side) -> Self {
        Self {
            channel: Arc::new(channel),
            progress: None,
            seed: None,
            in_session: AtomicBool::new(false),
            side,
            who: Who::default(),
            binding: None,
            application: None,
            threads: None,
            puzzle: 0,
            silent: None,
            is_renewed: false,
            is_cancelled: Arc::default(),
        }
    }

    /// The peer's address, if the connection has one.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.who.address.as_deref()
    }

    /// The name that the [`Config`] gives the peer's key.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.who.name.as_deref()
    }

    /// The peer's key, if the connection is secured by one.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn fingerprint(&self) -> Option<&Fingerprint> {
        self.who.fingerprint.as_ref()
    }

    /// Which end of the connection this side is.
    #[must_use]
    pub fn side(&self) -> Side {
        self.side
    }

    /// Has `tell` called while a job runs, from the job's thread, whenever some more is done.
    pub fn on_progress(&mut self, tell: impl Fn(Progress) + Send + Sync + 'static) {
        self.progress = Some(Arc::new(tell));
    }

    /// A handle that ends the job from another thread: at the latest when the next message comes or goes. The connection
    /// ends with it.
    ///
    /// ```
    /// use foxtrot::{Error, Peer, rot};
    ///
    /// let (mut ours, theirs) = Peer::pair();
    /// let canceller = ours.canceller();
    /// let job = std::thread::spawn(move || rot::send(&mut ours, 1_000_000));
    /// canceller.cancel();
    /// assert!(matches!(job.join().expect("no panic"), Err(Error::Cancelled)));
    /// # drop(theirs);
    /// ```
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        let channel = Arc::downgrade(&self.channel);
        Canceller { channel, is_cancelled: Arc::clone(&self.is_cancelled) }
    }

    /// Bytes and messages that have gone each way since the last negotiation.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.channel.counters()
    }

    /// Ends the connection in order. Dropping a peer does it as well, without telling of errors.
    ///
    /// # Errors
    /// [`Error::Session`] if the last messages could not be sent.
    pub fn close(self) -> Result<(), Error> {
        match Arc::into_inner(self.channel) {
            Some(channel) => Ok(channel.close()?),
            None => Ok(()),
        }
    }

    /// Takes the randomness of the next jobs from `seed`: for test vectors. Two runs with one seed reveal all secrets.
    #[cfg(feature = "vectors")]
    pub fn seed_for_vectors(&mut self, seed: [u8; 32]) {
        self.seed = Some(Zeroizing::new(seed));
    }

    /// Negotiates a job.
    pub(crate) fn begin(&mut self, hello: Hello, unit: &'static str) -> Result<Job<'_>, Error> {
        if self.in_session.swap(true, Ordering::Relaxed) {
            // A panic of a sink, say, has left a session behind.
            let error = self.channel.give_up(ChannelError::Abandoned);
            return Err(self.explain(error));
        }
        if self.is_renewed {
            self.channel.begin_again();
        }
        self.is_renewed = true;
        let mut hello = match &self.application {
            Some(application) => hello.term("application", application),
            None => hello,
        };
        if let Some(binding) = self.binding {
            hello = hello.bound_to(binding);
        }
        if self.puzzle > 0 {
            hello = hello.puzzle(self.puzzle);
        }
        if let Some(seed) = &self.seed {
            hello = hello.with_nonce(nonce_of(seed, self.side));
        }
        let agreement = hello::exchange(&self.channel, self.side == Side::Initiator, &hello);
        // Later jobs fail for the same reason.
        let agreement = agreement.map_err(|e| self.explain(self.channel.give_up(e)))?;
        // A stranger works once.
        (self.silent, self.puzzle) = (None, 0);
        let session = Session::new(agreement.sid);
        let session = match &self.threads {
            Some(threads) => session.with_executor(Arc::new(threads.clone())),
            None => session,
        };
        Ok(Job { peer: self, agreement, session, unit })
    }

    /// The error of the job: that it was cancelled, if it was.
    pub(crate) fn explain(&self, error: foxtrot_net::Error) -> Error {
        match self.is_cancelled.load(Ordering::Relaxed) {
            true => Error::Cancelled,
            false => Error::Session(error),
        }
    }
}

impl Canceller {
    /// Ends the job, and the connection.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if let Some(channel) = self.channel.upgrade() {
            channel.give_up(ChannelError::Abandoned);
        }
    }
}

impl Config {
    /// Talks to the peer over any reliable byte stream: see [`Peer::over`].
    ///
    /// # Errors
    /// [`Error::Session`] if the system starts no thread.
    pub fn over(
        &self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        side: Side,
    ) -> Result<Peer, Error> {
        Ok(self.peer(bridge::open(reader, writer, self.timeout_of_waits())?, side))
    }
}

/// A nonce for vectors: of both sides different, also with one seed.
fn nonce_of(seed: &[u8; 32], side: Side) -> [u8; 32] {
    let session = Session::new(foxtrot_ot::Sid::from_bytes(*seed));
    session.oracle("foxtrot v1 vectors").query(0, u8::from(side == Side::Responder)).finish()
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("side", &self.side)
            .field("who", &self.who)
            .finish_non_exhaustive()
    }
}
