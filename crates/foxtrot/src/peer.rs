//! The other party: how to reach it, and the connection to it.

mod agreed;
mod attempt;
mod config;
#[cfg(feature = "lanes")]
mod lanes;
mod listener;
mod local;
mod reach;
mod server;
mod stream;
mod tickets;
#[cfg(feature = "tokio")]
mod tokio;
mod who;

use std::{
    fmt,
    future::Future,
    io::{Read, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use foxtrot_net::{
    Channel, ChannelError, Connection, Counters, HelloError, Reason,
    daily::Daily,
    hello::{self, Agreement, Binding, Hello, ONLY_LOOKS, Table},
};
use foxtrot_ot::{Session, tasks::Executor};
use zeroize::Zeroizing;

use crate::Error;
pub use agreed::{Agreed, Answer};
pub use attempt::Attempt;
pub use config::Config;
pub use foxtrot_net::listen::Stopper;
pub use listener::Listener;
pub(crate) use local::Local;
use local::{Refusal, Told, told};
pub use server::{Ended, Server};
pub use stream::{ChannelBinding, Stream};
pub use tickets::Base;
pub(crate) use tickets::{Offer, Sessions, Tickets};
#[cfg(feature = "tokio")]
pub use tokio::{AsyncPeer, Duplex};
pub use who::Who;

#[cfg(feature = "policy")]
use crate::policy::Policy;
#[cfg(feature = "tls")]
use crate::{Fingerprint, Identity};

/// The time-out of a wait for the peer, unless a [`Config`] has another.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// The end of a connection that this side has. The two ends say different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that opened the connection.
    Initiator,
    /// The side that waited for it.
    Responder,
}

/// The progress of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of units done.
    pub done: usize,
    /// The number of all units.
    pub of: usize,
    /// The unit: `transfers`, `steps` or `triples`.
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
///
/// A job over the default connection, which blocks, returns its result. Over an asynchronous one, of `Config::over_async`, the same
/// call returns a future of it.
pub struct Peer<C: Connection = Arc<Channel>> {
    pub(crate) connection: C,
    pub(crate) local: Local,
}

/// A negotiation. Where its future is dropped before the end, the connection ends.
struct Negotiation<'a, C: Connection> {
    connection: &'a mut C,
    is_over: bool,
}

/// Settings of jobs, which a [`Config`] hands to its peers.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    application: Option<String>,
    /// Limits per day, which are counted as those of the gate.
    daily: Option<Arc<Daily>>,
    #[cfg(feature = "policy")]
    policy: Option<Arc<Policy>>,
    /// Threads beside the caller's own.
    pub(crate) executor: Option<Arc<dyn Executor>>,
    /// The place of base OTs that are kept for later sessions.
    tickets: Option<Tickets>,
}

/// A seed for test vectors.
pub(crate) type Seed = Zeroizing<[u8; 32]>;

/// The secured connection to which hellos are bound.
enum Bound {
    /// Nothing: the connection is not secured here.
    No,
    /// A stream that the caller opened: both programs were told their ends, and perhaps its exporter.
    Stream(Option<ChannelBinding>),
    /// Keys and exporter of a TLS session.
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "there is no TLS"))]
    Tls(Binding),
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
    /// ```
    /// use foxtrot::{Identity, Peer, rot};
    ///
    /// let (ours, theirs) = (Identity::generate()?, Identity::generate()?);
    /// let (of_ours, of_theirs) = (ours.fingerprint(), theirs.fingerprint());
    /// # let port = std::net::TcpListener::bind("localhost:0")?.local_addr()?.port();
    /// # let (address, to) = (format!("localhost:{port}"), format!("localhost:{port}"));
    /// let other = std::thread::spawn(move || {
    ///     let mut peer = Peer::connect(&to, &theirs, &[of_ours])?;
    ///     rot::receive(&mut peer, 10)
    /// });
    /// let mut peer = Peer::listen(&address, &ours, &[of_theirs])?;
    /// assert_eq!(rot::send(&mut peer, 10)?.len(), 10);
    /// assert_eq!(peer.fingerprint(), Some(&of_theirs));
    /// other.join().expect("no panic")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    /// here: the stream is already, or both ends are on one machine. A [`Stream`] tells more of it than a [`Side`].
    ///
    /// # Errors
    /// [`Error::Session`] if the system starts no thread.
    pub fn over(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        stream: impl Into<Stream>,
    ) -> Result<Self, Error> {
        Config::insecure().over(reader, writer, stream)
    }

    /// Both parties in one program: for tests and examples. Use them in two threads.
    ///
    /// # Panics
    /// If the system starts no thread.
    #[must_use]
    pub fn pair() -> (Self, Self) {
        Config::insecure().pair()
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
        let channel = Arc::downgrade(&self.connection);
        Canceller { channel, is_cancelled: Arc::clone(&self.local.is_cancelled) }
    }

    /// Ends the connection in order: the system or the stream has taken everything when it returns. Dropping a peer tries
    /// the same for a second at most, without telling of errors.
    ///
    /// ```
    /// use foxtrot::{Peer, Side, psi};
    ///
    /// let ((from_peer, to_us), (from_us, to_peer)) = (std::io::pipe()?, std::io::pipe()?);
    /// let mut theirs = Peer::over(from_us, to_us, Side::Responder)?;
    /// let other = std::thread::spawn(move || psi::receive(&mut theirs, &["bob"]));
    /// let mut ours = Peer::over(from_peer, to_peer, Side::Initiator)?;
    /// psi::send(&mut ours, &["bob"])?;
    /// // Before a program ends, say.
    /// ours.close()?;
    /// assert_eq!(other.join().expect("no panic")?, [0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Session`] if the last messages could not be sent.
    pub fn close(self) -> Result<(), Error> {
        let cancelled = || match self.local.is_cancelled.load(Ordering::SeqCst) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        };
        cancelled()?;
        // A canceller that is at work holds the channel.
        let closed = Arc::into_inner(self.connection).map(Channel::close);
        cancelled()?;
        closed.transpose()?;
        Ok(())
    }
}

impl<C: Connection> Peer<C> {
    /// The peer's address, if the connection has one.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.local.who.address.as_deref()
    }

    /// The name that the [`Config`] gives the peer's key.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.local.who.name.as_deref()
    }

    /// All that is known about the peer.
    #[must_use]
    pub fn who(&self) -> &Who {
        &self.local.who
    }

    /// The peer's key, if the connection is secured by one.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn fingerprint(&self) -> Option<&Fingerprint> {
        self.local.who.fingerprint.as_ref()
    }

    /// Returns the end of the connection that this side has.
    #[must_use]
    pub fn side(&self) -> Side {
        self.local.side
    }

    /// Calls `tell` while a job runs, from the job's thread, whenever some more is done.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use foxtrot::{Peer, rot};
    ///
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let (tell, told) = mpsc::channel();
    /// ours.on_progress(move |progress| drop(tell.send(progress)));
    /// let other = std::thread::spawn(move || rot::receive(&mut theirs, 1000));
    /// rot::send(&mut ours, 1000)?;
    /// other.join().expect("no panic")?;
    /// let last = told.try_iter().last().expect("it was told");
    /// assert_eq!((last.done, last.of, last.unit), (1000, 1000, "transfers"));
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    pub fn on_progress(&mut self, tell: impl Fn(Progress) + Send + Sync + 'static) {
        self.local.progress = Some(Arc::new(tell));
    }

    /// Runs the next jobs on these threads beside the caller's own, in place of those of the [`Config`].
    pub fn use_executor(&mut self, executor: Arc<dyn Executor>) {
        self.local.settings.executor = Some(executor);
    }

    /// The hash of all that went over the connection in the last job, if both sides have compared it.
    #[must_use]
    pub fn transcript(&self) -> Option<[u8; 32]> {
        self.connection.transcript()
    }

    /// Bytes and messages that have gone each way since the last negotiation.
    ///
    /// ```
    /// use foxtrot::{Peer, rot};
    ///
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let other = std::thread::spawn(move || rot::receive(&mut theirs, 1000));
    /// rot::send(&mut ours, 1000)?;
    /// other.join().expect("no panic")?;
    /// let counters = ours.counters();
    /// assert!(counters.sent > 0 && counters.received > 0 && counters.flows > 0);
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.connection.counters()
    }

    /// Takes the randomness of the next jobs from `seed` and the job's number on this connection: for test vectors. Two runs
    /// with one seed reveal all secrets.
    #[cfg(feature = "vectors")]
    pub fn seed_for_vectors(&mut self, seed: [u8; 32]) {
        self.local.seed = Some(Zeroizing::new(seed));
    }

    /// Negotiates a job by a hello of the caller's own. `agree` sees the peer's details. It says what follows from them, and
    /// how many bytes of memory the job takes at most, or why it refuses. Then the limits of this side admit the job. A
    /// responder does all that before it tells any detail of its own. A negotiation that fails ends the connection.
    ///
    /// # Errors
    /// [`Error::Session`] if the two sides want different things; [`Error::Full`]; errors of `agree`, whose reason the peer
    /// is told.
    pub fn negotiate<T, E: From<Error>>(
        &mut self,
        hello: Hello,
        agree: impl FnOnce(&Table) -> Result<(T, u64), (Reason, E)>,
    ) -> C::Outcome<impl Future<Output = Result<(Agreed, T), E>>> {
        self.negotiate_by(hello, |details| {
            let (said, memory) = agree(details)?;
            Ok((said, Answer { memory, ..Answer::default() }))
        })
    }

    /// [`negotiate`](Self::negotiate) with more that follows from the peer's details: keys that count against the peer's limits of
    /// the day, and other details of ours.
    ///
    /// # Errors
    /// As [`negotiate`](Self::negotiate).
    pub fn negotiate_by<T, E: From<Error>>(
        &mut self,
        hello: Hello,
        agree: impl FnOnce(&Table) -> Result<(T, Answer), (Reason, E)>,
    ) -> C::Outcome<impl Future<Output = Result<(Agreed, T), E>>> {
        C::outcome(self.agree(hello, agree, |_, _| Ok(())))
    }

    /// [`negotiate_by`](Self::negotiate_by) with a second call, for a log that is written before the peer learns anything of
    /// this side's set: `record` returns before any detail of the hello is told, and also before the peer hears that the set
    /// is larger or smaller than it accepts. A responder then knows what both sides agree on, and what `agree` said; an
    /// initiator, which tells first, does not.
    ///
    /// ```
    /// use foxtrot::{Error, Peer, job::{Answer, Hello, Role}};
    ///
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let other = std::thread::spawn(move || {
    ///     theirs.negotiate::<_, Error>(Hello::new(Role::Receiver), |_| Ok(((), 0))).map(drop)
    /// });
    /// let hello = Hello::new(Role::Sender).keys(1000, 1000);
    /// let agree = |_: &_| Ok(((), Answer::default()));
    /// let refused = ours.negotiate_recorded(hello, agree, |_, _| Err(Error::Config("the log is full")));
    /// assert!(refused.is_err());
    /// // The peer has learnt that the session does not begin, and no detail.
    /// assert!(other.join().expect("no panic").is_err());
    /// ```
    ///
    /// # Errors
    /// As [`negotiate`](Self::negotiate); errors of `record`, of which the peer is told that something failed here.
    pub fn negotiate_recorded<T, E: From<Error>>(
        &mut self,
        hello: Hello,
        agree: impl FnOnce(&Table) -> Result<(T, Answer), (Reason, E)>,
        record: impl FnOnce(&Who, Option<(&Agreement, &T)>) -> Result<(), E>,
    ) -> C::Outcome<impl Future<Output = Result<(Agreed, T), E>>> {
        C::outcome(self.agree(hello, agree, record))
    }

    /// The future of [`negotiate_recorded`](Self::negotiate_recorded).
    pub(crate) async fn agree<T, E: From<Error>>(
        &mut self,
        hello: Hello,
        agree: impl FnOnce(&Table) -> Result<(T, Answer), (Reason, E)>,
        record: impl FnOnce(&Who, Option<(&Agreement, &T)>) -> Result<(), E>,
    ) -> Result<(Agreed, T), E> {
        let Self { connection, local } = self;
        let also = match local.keep_policy(&hello) {
            Ok(also) => also,
            Err((reason, e)) => {
                reason.map(|reason| connection.give_up(HelloError::Refused(reason)));
                return Err(e.into());
            }
        };
        if local.jobs > 0 {
            connection.begin_again();
        }
        let seed = local.seed.as_deref().map(|seed| seed_of_job(seed, local.jobs));
        local.jobs += 1;
        let hello = local.describe(hello, seed.as_deref());
        let (offer, erased) = match local.offer(&hello) {
            Ok(offer) => offer,
            Err(e) => {
                connection.give_up(HelloError::Refused(Reason::OwnInput));
                return Err(local.fail(e).into());
            }
        };
        let with_offer = |hello| offer.iter().fold(hello, |hello, offer| offer.describe(hello));
        let hello = with_offer(hello);
        let (initiator, there) = (local.side == Side::Initiator, &*local);
        let agree = |details: &Table, _: &Table| {
            // It has the token, and learns nothing else. Nothing is admitted, so nothing counts.
            if !initiator && details.contains_key(ONLY_LOOKS) {
                return Ok((None, Some(hello.clone().without_details())));
            }
            there.check_details(&hello, details)?;
            let refused = |(reason, error)| Refusal { told: told(reason), error };
            let (said, Answer { hello: answer, memory, keys }) = agree(details).map_err(refused)?;
            // An initiator has told its own.
            let answer = answer.filter(|_| !initiator).map(with_offer);
            if let Some(answer) = &answer {
                there.check_answer(answer)?;
            }
            there.admit(memory, keys, also).map_err(Refusal::from)?;
            Ok((Some(said), answer))
        };
        let record = |met: Option<(&Agreement, &Option<T>)>| {
            let met = match met {
                Some((_, None)) => return Ok(()),
                Some((agreement, Some(said))) => Some((agreement, said)),
                None => None,
            };
            let refused = |error| Refusal { told: told(Reason::Other), error };
            record(&there.who, met).map_err(refused)
        };
        let agreed = {
            let mut unless_dropped = Negotiation { connection, is_over: false };
            let connection = &mut *unless_dropped.connection;
            // On the heap: a server has many that wait for their peers.
            let agreed =
                Box::pin(hello::exchange_by(connection, initiator, &hello, agree, record)).await;
            unless_dropped.is_over = true;
            agreed
        };
        let (agreement, said) = match agreed {
            Ok(Ok((agreement, Some(said)))) => (agreement, said),
            Ok(Ok((_, None))) => return Err(self.give_up(ChannelError::Served).into()),
            Ok(Err(Refusal { told, error })) => {
                local.release();
                match told {
                    Told::GivenUp(why) => drop(connection.give_up(why)),
                    Told::Refused(reason) => connection.refuse(reason).await,
                }
                return Err(error);
            }
            Err(e) => {
                local.release();
                // A hello that cannot be says more than what the connection found first.
                connection.give_up(e.clone());
                return Err(local.explain(e).into());
            }
        };
        let kept = offer.map(|offer| offer.agree(&agreement)).transpose();
        let kept = kept.map_err(|e| E::from(self.give_up(e)))?.flatten();
        // A stranger works once.
        (self.local.silent, self.local.puzzle) = (None, 0);
        Ok((Agreed { agreement, seed, kept, erased }, said))
    }

    /// Ends the connection because of an error that the caller found, and tells the peer why, as far as it may know. Returns
    /// the error, or the one that came first.
    pub fn give_up(&mut self, error: impl Into<foxtrot_net::Error>) -> Error {
        let error = self.connection.give_up(error);
        self.local.explain(error)
    }
}

impl<C: Connection> Drop for Negotiation<'_, C> {
    fn drop(&mut self) {
        if !self.is_over {
            self.connection.give_up(ChannelError::Abandoned);
        }
    }
}

impl Canceller {
    /// Ends the job, and the connection.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
        if let Some(channel) = self.channel.upgrade() {
            Channel::give_up(&channel, ChannelError::Abandoned);
        }
    }
}

/// The seed of the job with that number.
fn seed_of_job(seed: &[u8; 32], job: u64) -> Seed {
    let session = Session::new(foxtrot_ot::Sid::from_bytes(*seed));
    Zeroizing::new(session.oracle("foxtrot v1 vectors of a job").query(job, 0).finish())
}

/// Locks a mutex, also after a thread that held it has panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Name, key and address of the peer, as far as they are known.
impl<C: Connection> fmt::Display for Peer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.local.who.fmt(f)
    }
}

impl<C: Connection> fmt::Debug for Peer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("side", &self.local.side)
            .field("who", &self.local.who)
            .finish_non_exhaustive()
    }
}
