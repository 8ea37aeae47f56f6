//! The other party: how to reach it, and the connection to it.

mod agreed;
mod attempt;
mod config;
#[cfg(feature = "lanes")]
mod lanes;
mod listener;
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
    time::{Duration, SystemTime},
};

#[cfg(feature = "policy")]
use foxtrot_net::hello::POLICY;
use foxtrot_net::{
    Channel, ChannelError, Connection, Counters, HelloError, Reason,
    daily::{Daily, Denied, MostPerDay},
    gate::{Full, Gate, Pass},
    hello::{self, Agreement, Binding, Hello, ONLY_LOOKS, Table},
    listen::Silent,
};
use foxtrot_ot::{Session, tasks::Executor};
use zeroize::Zeroizing;

use crate::Error;
pub use agreed::{Agreed, Answer};
pub use attempt::Attempt;
pub use config::Config;
pub use foxtrot_net::listen::Stopper;
pub use listener::Listener;
pub use server::{Ended, Server};
pub use stream::{ChannelBinding, Stream};
pub use tickets::Base;
pub(crate) use tickets::{Offer, Sessions, Tickets};
#[cfg(feature = "tokio")]
pub use tokio::{AsyncPeer, Duplex};
pub use who::Who;

#[cfg(feature = "policy")]
use crate::psi_terms::{FUNCTION, peer_learns};

#[cfg(feature = "policy")]
use crate::policy::{Forbidden, Policy};
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

/// This side's part of a connection: its limits, and what it knows of the peer.
pub(crate) struct Local {
    pub(crate) progress: Option<Tell>,
    /// The right to run jobs, once it is there; it counts the memory of the job.
    pub(crate) pass: Mutex<Option<Pass>>,
    /// For test vectors: the seed of all jobs.
    seed: Option<Seed>,
    side: Side,
    who: Who,
    bound: Bound,
    /// The source of the right to run jobs, and the peer under which it is counted.
    gate: Option<(Arc<Gate>, String)>,
    pub(crate) settings: Settings,
    /// Bits of the puzzle that a stranger solves.
    puzzle: u8,
    silent: Option<Silent>,
    /// The number of jobs that have begun.
    jobs: u64,
    is_cancelled: Arc<AtomicBool>,
    /// The first error of this side that ended the connection; the connection knows only that it ended.
    failed: Mutex<Option<Error>>,
}

/// A negotiation. Where its future is dropped before the end, the connection ends.
struct Negotiation<'a, C: Connection> {
    connection: &'a mut C,
    is_over: bool,
}

/// The reason why this side ends a negotiation.
struct Refusal<E> {
    told: Told,
    error: E,
}

/// The word to the peer about it.
enum Told {
    GivenUp(HelloError),
    /// The peer has done nothing wrong, and what it sends meanwhile is dropped.
    Refused(Reason),
}

/// This side refuses the session for that reason.
const fn told(reason: Reason) -> Told {
    Told::GivenUp(HelloError::Refused(reason))
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
                match told {
                    Told::GivenUp(why) => drop(connection.give_up(why)),
                    Told::Refused(reason) => connection.refuse(reason).await,
                }
                return Err(error);
            }
            Err(e) => {
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

impl<E: From<Error>> From<(Told, Error)> for Refusal<E> {
    fn from((told, error): (Told, Error)) -> Self {
        Self { told, error: error.into() }
    }
}

impl Local {
    /// Looks for base OTs that were kept of an earlier session with this peer under the same terms. Returns also which files
    /// were erased in place of that.
    fn offer(&self, hello: &Hello) -> Result<(Option<Offer>, Vec<String>), Error> {
        let Some(tickets) = &self.settings.tickets else { return Ok(Default::default()) };
        let Some(sessions) = Sessions::of(hello)? else { return Ok(Default::default()) };
        if !matches!(self.bound, Bound::Tls(_)) {
            return Err(Error::Config("base OTs are kept for peers with keys only"));
        }
        let (offer, erased) = tickets.offer(sessions)?;
        Ok((Some(offer), erased))
    }

    /// Fails, before anything is sent, if the policy forbids what the hello says, this peer or this day. Returns the policy's
    /// limits per day, if it has some for the peer of such a job. With the error comes what the peer is told.
    #[cfg(feature = "policy")]
    fn keep_policy(&self, hello: &Hello) -> Result<Option<MostPerDay>, (Option<Reason>, Error)> {
        let Some(policy) = &self.settings.policy else { return Ok(None) };
        policy.check_hello(hello).map_err(|why| (None, Error::Forbidden(why)))?;
        let allowed = policy.check_day(SystemTime::now());
        #[cfg(feature = "tls")]
        let allowed =
            allowed.and(policy.check_key(hello.role().other(), self.who.fingerprint.as_ref()));
        let forbid = |why| (Some(Reason::OwnInput), self.fail(Error::Forbidden(why)));
        allowed.map_err(forbid)?;
        let Some(most) = policy.most_per_day().filter(|_| peer_learns(hello)) else {
            return Ok(None);
        };
        match &self.settings.daily {
            Some(daily) if daily.has_file() => Ok(Some(most)),
            _ => Err((
                None,
                Error::Config(
                    "the policy has limits per day, and no file keeps their counts; `Config::per_day` takes one",
                ),
            )),
        }
    }

    #[cfg(not(feature = "policy"))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "there are no policies")]
    fn keep_policy(&self, _hello: &Hello) -> Result<Option<MostPerDay>, (Option<Reason>, Error)> {
        Ok(None)
    }

    /// Fails if the policy forbids what the peer's details say.
    #[cfg_attr(
        not(feature = "policy"),
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            clippy::unused_self,
            reason = "there are no policies"
        )
    )]
    fn check_details<E: From<Error>>(
        &self,
        hello: &Hello,
        details: &Table,
    ) -> Result<(), Refusal<E>> {
        #[cfg(feature = "policy")]
        if let Some(policy) = &self.settings.policy {
            let checked =
                policy.check_details(hello.term_of(FUNCTION), hello.role().other(), details);
            checked.map_err(|why| self.forbid(why))?;
        }
        Ok(())
    }

    /// Fails if the policy forbids the details that this side would tell.
    #[cfg_attr(
        not(feature = "policy"),
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            clippy::unused_self,
            reason = "there are no policies"
        )
    )]
    fn check_answer<E: From<Error>>(&self, answer: &Hello) -> Result<(), Refusal<E>> {
        #[cfg(feature = "policy")]
        if let Some(policy) = &self.settings.policy {
            policy.check_hello(answer).map_err(|why| self.forbid(why))?;
        }
        Ok(())
    }

    /// The policy forbids the job, of which the peer is told.
    #[cfg(feature = "policy")]
    fn forbid<E: From<Error>>(&self, why: Forbidden) -> Refusal<E> {
        (told(Reason::Forbidden), self.fail(Error::Forbidden(why))).into()
    }

    /// The hello of a job with what this connection adds to it.
    fn describe(&self, hello: Hello, seed: Option<&[u8; 32]>) -> Hello {
        let hello = match &self.settings.application {
            Some(application) => hello.term("application", application),
            None => hello,
        };
        #[cfg(feature = "policy")]
        let hello = match &self.settings.policy {
            Some(policy) => {
                let hello = hello.term(POLICY, policy.id());
                // Hashes of a few words can be guessed: strangers do not see them.
                match self.bound {
                    Bound::Tls(_) => hello.rules(policy.rules_by_name()),
                    _ => hello,
                }
            }
            None => hello,
        };
        let hello = match &self.bound {
            Bound::No => hello,
            Bound::Stream(exporter) => {
                let hello = hello.side(self.side == Side::Initiator);
                match exporter {
                    Some(ChannelBinding(exporter)) => hello.bound_by(*exporter),
                    None => hello,
                }
            }
            Bound::Tls(binding) => hello.bound_to(*binding),
        };
        let hello = if self.puzzle > 0 { hello.puzzle(self.puzzle) } else { hello };
        match seed {
            Some(seed) => hello.with_nonce(nonce_of(seed, self.side)),
            None => hello,
        }
    }

    /// Admits a job that takes so many bytes, and in which the peer can test so many keys, by the limits of this side, and by
    /// these of its policy per day.
    fn admit(
        &self,
        memory: u64,
        keys: Option<u64>,
        also: Option<MostPerDay>,
    ) -> Result<(), (Told, Error)> {
        self.pass_gate(memory).map_err(|full| self.refuse(full))?;
        let (daily, keys) = match (&self.settings.daily, keys) {
            (Some(daily), Some(keys)) => (daily, keys),
            (_, None) if also.is_some() => {
                let why = "the policy has limits per day, and the job counts no keys";
                return Err((told(Reason::Other), self.fail(Error::Config(why))));
            }
            _ => return Ok(()),
        };
        let also = also.unwrap_or_default();
        let counted = daily.take(&self.who.learns_as(), keys, also, SystemTime::now());
        counted.map_err(|denied| match denied {
            Denied::Full(full) => self.refuse(full),
            Denied::File(why) => (told(Reason::Other), self.fail(Error::Limits(why))),
        })
    }

    fn refuse(&self, full: Full) -> (Told, Error) {
        (Told::Refused(full.reason()), self.fail(Error::Full(full)))
    }

    fn pass_gate(&self, bytes: u64) -> Result<(), Full> {
        let pass = &mut *lock(&self.pass);
        match (&mut *pass, &self.gate) {
            (Some(pass), _) => pass.takes(bytes)?,
            (None, Some((gate, counted_as))) => *pass = Some(gate.admit(counted_as, bytes)?),
            (None, None) => {}
        }
        Ok(())
    }

    /// The error of the job: that it was cancelled, if it was, or the error of this side that ended the connection.
    pub(crate) fn explain(&self, error: foxtrot_net::Error) -> Error {
        match self.is_cancelled.load(Ordering::SeqCst) {
            true => Error::Cancelled,
            false => lock(&self.failed).clone().unwrap_or(Error::Session(error)),
        }
    }

    /// Keeps an error of this side that ends the connection: later jobs return it.
    pub(crate) fn fail(&self, error: Error) -> Error {
        lock(&self.failed).get_or_insert(error).clone()
    }

    /// Tells the caller how many of all are done, whenever some more are.
    pub(crate) fn counter(
        &self,
        of: usize,
        unit: &'static str,
    ) -> impl FnMut(usize) + Send + use<> {
        let (tell, mut done) = (self.teller(unit), 0);
        move |more| {
            done += more;
            tell(done, of);
        }
    }

    /// Tells the caller how many of how many are done.
    pub(crate) fn teller(&self, unit: &'static str) -> impl Fn(usize, usize) + Send + Sync + use<> {
        let tell = self.progress.clone();
        move |done, of| {
            if let Some(tell) = &tell {
                tell(Progress { done, of, unit });
            }
        }
    }

    /// The number of threads that compute for this side.
    pub(crate) fn threads(&self) -> usize {
        self.settings.executor.as_ref().map_or(1, |it| it.threads())
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

/// A nonce for vectors: of both sides different, also with one seed.
fn nonce_of(seed: &[u8; 32], side: Side) -> [u8; 32] {
    let session = Session::new(foxtrot_ot::Sid::from_bytes(*seed));
    session.oracle("foxtrot v1 vectors").query(0, u8::from(side == Side::Responder)).finish()
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
