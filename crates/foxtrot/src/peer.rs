//! The other party: how to reach it, and the connection to it.

mod attempt;
mod config;
mod server;
mod stream;
mod tickets;
mod who;

use std::{
    fmt,
    io::{Read, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

#[cfg(feature = "policy")]
use foxtrot_net::jobs::{self, FUNCTION, POLICY};
use foxtrot_net::{
    Channel, ChannelError, Counters, HelloError, Reason,
    daily::{Daily, Denied, MostPerDay},
    gate::{Full, Gate, Pass},
    hello::{self, Agreement, Binding, Hello, ONLY_LOOKS, Table},
    listen::Silent,
};
use foxtrot_ot::{Session, tasks::Executor};
use zeroize::Zeroizing;

use crate::{
    Error,
    job::{Agreed, Answer},
};
pub use attempt::Attempt;
pub use config::{Config, Listener};
pub use foxtrot_net::listen::Stopper;
pub use server::{Ended, Server};
pub use stream::{ChannelBinding, Stream};
pub use tickets::Base;
pub(crate) use tickets::{Offer, Sessions, Tickets};
use who::Who;

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
pub struct Peer {
    pub(crate) channel: Arc<Channel>,
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
    /// The first error of this side that ended the connection; the channel knows only that it ended.
    failed: Mutex<Option<Error>>,
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

    /// Returns the end of the connection that this side has.
    #[must_use]
    pub fn side(&self) -> Side {
        self.side
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

    /// Runs the next jobs on these threads beside the caller's own, in place of those of the [`Config`].
    pub fn use_executor(&mut self, executor: Arc<dyn Executor>) {
        self.settings.executor = Some(executor);
    }

    /// The hash of all that went over the connection in the last job, if both sides have compared it.
    #[must_use]
    pub fn transcript(&self) -> Option<[u8; 32]> {
        self.channel.transcript()
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
        self.channel.counters()
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
        let cancelled = || match self.is_cancelled.load(Ordering::SeqCst) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        };
        cancelled()?;
        // A canceller that is at work holds the channel.
        let closed = Arc::into_inner(self.channel).map(Channel::close);
        cancelled()?;
        closed.transpose()?;
        Ok(())
    }

    /// Takes the randomness of the next jobs from `seed` and the job's number on this connection: for test vectors. Two runs
    /// with one seed reveal all secrets.
    #[cfg(feature = "vectors")]
    pub fn seed_for_vectors(&mut self, seed: [u8; 32]) {
        self.seed = Some(Zeroizing::new(seed));
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
    ) -> Result<(Agreed, T), E> {
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
    ) -> Result<(Agreed, T), E> {
        self.negotiate_recorded(hello, agree, |_, _| Ok(()))
    }

    /// [`negotiate_by`](Self::negotiate_by) with a second call, for a log that is written before the peer learns anything of
    /// this side's set: `record` returns before any detail of the hello is told. A responder then knows what both sides agree
    /// on, and what `agree` said; an initiator, which tells first, does not.
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
        record: impl FnOnce(&Self, Option<(&Agreement, &T)>) -> Result<(), E>,
    ) -> Result<(Agreed, T), E> {
        let also = self.keep_policy(&hello)?;
        if self.jobs > 0 {
            self.channel.begin_again();
        }
        let seed = self.seed.as_deref().map(|seed| seed_of_job(seed, self.jobs));
        self.jobs += 1;
        let hello = self.describe(hello, seed.as_deref());
        let (offer, erased) = self.offer(&hello)?;
        let with_offer = |hello| offer.iter().fold(hello, |hello, offer| offer.describe(hello));
        let hello = with_offer(hello);
        let agree = |details: &Table| {
            let (said, answer) = agree(details)?;
            Ok((said, Answer { hello: answer.hello.map(with_offer), ..answer }))
        };
        let (agreement, said) = self.exchange(&hello, also, agree, record)?;
        let kept = offer.map(|offer| offer.agree(&agreement)).transpose();
        let kept = kept.map_err(|e| E::from(self.give_up(e)))?.flatten();
        // A stranger works once.
        (self.silent, self.puzzle) = (None, 0);
        Ok((Agreed { agreement, seed, kept, erased }, said))
    }

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

    fn exchange<T, E: From<Error>>(
        &self,
        hello: &Hello,
        also: Option<MostPerDay>,
        agree: impl FnOnce(&Table) -> Result<(T, Answer), (Reason, E)>,
        record: impl FnOnce(&Self, Option<(&Agreement, &T)>) -> Result<(), E>,
    ) -> Result<(Agreement, T), E> {
        // A hello that cannot be says more than what the channel found first.
        let failed = |e: foxtrot_net::Error| {
            self.channel.give_up(e.clone());
            self.explain(e)
        };
        let initiator = self.side == Side::Initiator;
        let agree = |details: &Table, offers: &Table| -> Result<(Option<T>, Option<Hello>), E> {
            // It has the token, and learns nothing else. Nothing is admitted, so nothing counts.
            if !initiator && details.contains_key(ONLY_LOOKS) {
                return Ok((None, Some(hello.clone().without_details())));
            }
            #[cfg(feature = "policy")]
            if let Some(policy) = &self.settings.policy {
                let checked =
                    policy.check_details(hello.term_of(FUNCTION), hello.role().other(), details);
                checked.map_err(|why| self.forbid(why))?;
            }
            let (said, mut answer) = agree(details).map_err(|(reason, e)| {
                self.channel.give_up(HelloError::Refused(reason));
                e
            })?;
            // An initiator has told its own.
            let hello = answer.hello.take_if(|_| !initiator);
            if let Some(hello) = &hello {
                #[cfg(feature = "policy")]
                if let Some(policy) = &self.settings.policy {
                    policy.check_hello(hello).map_err(|why| self.forbid(why))?;
                }
                hello.check_offers(offers).map_err(|e| failed(e.into()))?;
            }
            self.admit(&answer, also)?;
            Ok((Some(said), hello))
        };
        let record = |met: Option<(&Agreement, &Option<T>)>| {
            let met = match met {
                Some((_, None)) => return Ok(()),
                Some((agreement, Some(said))) => Some((agreement, said)),
                None => None,
            };
            record(self, met).inspect_err(|_| {
                self.channel.give_up(HelloError::Refused(Reason::Other));
            })
        };
        let agreed = hello::exchange_recorded(&self.channel, initiator, hello, agree, record);
        match agreed.map_err(failed)?? {
            (agreement, Some(said)) => Ok((agreement, said)),
            (_, None) => Err(self.give_up(ChannelError::Served).into()),
        }
    }

    /// Fails, before anything is sent, if the policy forbids what the hello says, this peer or this day. Returns the policy's
    /// limits per day, if it has some for the peer of such a job.
    #[cfg(feature = "policy")]
    fn keep_policy(&self, hello: &Hello) -> Result<Option<MostPerDay>, Error> {
        let Some(policy) = &self.settings.policy else { return Ok(None) };
        policy.check_hello(hello).map_err(Error::Forbidden)?;
        let allowed = policy.check_day(SystemTime::now());
        let allowed = allowed.and(policy.check_key(hello.role().other(), self.fingerprint()));
        allowed.map_err(|why| self.forbid(why))?;
        let Some(most) = policy.most_per_day().filter(|_| jobs::peer_learns(hello)) else {
            return Ok(None);
        };
        match &self.settings.daily {
            Some(daily) if daily.has_file() => Ok(Some(most)),
            _ => Err(Error::Config(
                "the policy has limits per day, and no file keeps their counts; `Config::per_day` takes one",
            )),
        }
    }

    #[cfg(not(feature = "policy"))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "there are no policies")]
    fn keep_policy(&self, _hello: &Hello) -> Result<Option<MostPerDay>, Error> {
        Ok(None)
    }

    /// Ends the connection because of the policy, of which the peer is told.
    #[cfg(feature = "policy")]
    fn forbid(&self, why: Forbidden) -> Error {
        self.channel.give_up(HelloError::Refused(Reason::Forbidden));
        self.fail(Error::Forbidden(why))
    }

    /// Ends the connection because of an error that the caller found, and tells the peer why, as far as it may know. Returns
    /// the error, or the one that came first.
    pub fn give_up(&self, error: impl Into<foxtrot_net::Error>) -> Error {
        self.explain(self.channel.give_up(error))
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

    /// Admits the job by the limits of this side, and by these of its policy per day.
    fn admit(&self, answer: &Answer, also: Option<MostPerDay>) -> Result<(), Error> {
        self.pass_gate(answer.memory).map_err(|full| self.refuse(full))?;
        let (daily, keys) = match (&self.settings.daily, answer.keys) {
            (Some(daily), Some(keys)) => (daily, keys),
            (_, None) if also.is_some() => {
                self.channel.give_up(HelloError::Refused(Reason::Other));
                let why = "the policy has limits per day, and the job counts no keys";
                return Err(self.fail(Error::Config(why)));
            }
            _ => return Ok(()),
        };
        let also = also.unwrap_or_default();
        let counted = daily.take(&self.who.learns_as(), keys, also, SystemTime::now());
        counted.map_err(|denied| match denied {
            Denied::Full(full) => self.refuse(full),
            Denied::File(why) => {
                self.channel.give_up(HelloError::Refused(Reason::Other));
                self.fail(Error::Limits(why))
            }
        })
    }

    fn refuse(&self, full: Full) -> Error {
        self.channel.refuse(full.reason());
        self.fail(Error::Full(full))
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
}

impl Canceller {
    /// Ends the job, and the connection.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
        if let Some(channel) = self.channel.upgrade() {
            channel.give_up(ChannelError::Abandoned);
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
impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.who.fmt(f)
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("side", &self.side)
            .field("who", &self.who)
            .finish_non_exhaustive()
    }
}
