//! Listening, for one peer or for all that come. Strangers hold up nobody and end nothing.

mod bounds;
mod refusals;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use foxtrot_net::{
    ChannelError, Error, HelloError, Reason, TlsError,
    gate::{Gate, Most},
    hello::{self, Greeted, Hello, Table},
    listen::{Limits, Silent, serve},
    tcp::{Listener, Socket},
};

use crate::{
    args::MostSessions,
    failure::{Failure, SIDES},
    link::Link,
    memory,
    output::{Output, say},
    report::bytes,
    secure::Security,
};
use refusals::Refusals;

/// Time without a peer after which a listener says what may be wrong.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes that a connection takes before it is admitted: of memory less than 64 KiB, but of address space two stacks.
const WAITING: u64 = 3 << 19;

/// A peer without a key computes about 2^WORK hashes before it is admitted.
const WORK: u8 = 16;

/// The settings for every peer that connects.
pub(crate) struct Host {
    pub(crate) security: Security,
    pub(crate) hello: Hello,
    pub(crate) timeout: Duration,
    pub(crate) output: Output,
}

/// A server's work for each peer.
pub(crate) trait Service: Send + Sync + 'static {
    /// The agreement of both sides.
    type Agreed;
    /// The result of a session.
    type Done: Send + 'static;

    /// Finds out whether the peer's details suit.
    fn agree(&self, details: &Table) -> Result<Self::Agreed, Failure>;

    /// Bytes of memory of the smallest session.
    fn least_memory(&self) -> u64;

    /// The most bytes of memory that the session takes.
    fn memory(&self, agreed: &Self::Agreed) -> u64;

    /// Runs the session.
    fn answer(&self, link: Link, agreed: Self::Agreed) -> Result<Self::Done, Failure>;
}

/// The origin of a connection.
#[derive(Clone)]
struct Met {
    address: String,
    /// The key by which refusals are counted.
    source: String,
}

/// A connection that became no session.
struct Refused {
    met: Met,
    /// True for a peer that wants something else than we do.
    disagrees: bool,
    failure: Box<Failure>,
}

/// A session that has ended.
struct Ended<T> {
    peer: String,
    counted_as: String,
    result: Result<T, Failure>,
}

/// Says how the wait goes on, where that takes long or strangers come.
struct Log {
    output: Output,
    refused: Refusals,
    failed: Refusals,
}

impl Host {
    /// The first peer that comes and wants what we want. One that wants something else ends the
    /// wait; any other is told off and forgotten. Without a bound it waits until interrupted.
    pub(crate) fn first_peer(self, address: &str, wait: Option<Duration>) -> Result<Link, Failure> {
        let (timeout, output) = (self.timeout, self.output);
        let listener = self.listen(address)?;
        let address = listener.local_addr();
        output.note(&match wait {
            None => "waiting for the peer to connect; Ctrl-C stops".to_owned(),
            Some(wait) => format!("waiting {} s for the peer to connect", wait.as_secs()),
        });
        let began = Instant::now();
        let (end, mut patience) = (wait.map(|wait| began + wait), Some(began + PATIENCE));
        let came = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&came);
        let limits = Limits { admitted: 1, ..Limits::default() };
        let connections = serve(listener, timeout, limits, move |socket, silent| {
            count.fetch_add(1, Ordering::Relaxed);
            let link = self.receive(socket);
            drop(silent);
            link
        })?;
        let (mut log, mut hint) = (Log::new(output), None);
        let bar = output.waiting();
        loop {
            let until = [end, patience, log.due()].into_iter().flatten().min();
            match connections.next_by(until) {
                Some(Ok(Ok(link))) => return Ok(link),
                Some(Ok(Err(refused))) if refused.disagrees => return Err(*refused.failure),
                Some(Ok(Err(refused))) => {
                    bar.suspend(|| log.refused(&refused));
                    hint = refused.failure.into_hint();
                }
                Some(Err(e)) => bar.suspend(|| log.not_taken(&e)),
                None if until.is_none_or(|until| Instant::now() < until) => {
                    return Err(Failure::run("the listener has ended"));
                }
                None => {}
            }
            // Also where strangers come all the time.
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                break;
            }
            bar.suspend(|| log.summarise(now));
            if patience.is_some_and(|patience| now >= patience) {
                patience = None;
                let came = came.load(Ordering::Relaxed);
                bar.suspend(|| log.still_waiting(came, hint.as_deref()));
            }
        }
        bar.finish_and_clear();
        let came = came.load(Ordering::Relaxed);
        let within = began.elapsed().as_secs();
        let failure = Failure::run(nobody(&address.to_string(), within, came));
        Err(match hint {
            // One alone may have been the peer. Of several, a stranger would have the last word.
            Some(hint) if came == 1 => failure.hint(hint),
            _ if came == 0 => failure.hint(format!("{SIDES}; --wait waits longer")),
            _ => failure,
        })
    }

    /// Answers all peers that come, side by side, and hands over what comes of each session with
    /// its number and peer. Ends only when the system does not let it listen, or `done` fails: also
    /// when nobody reads what it prints.
    pub(crate) fn all_peers<S: Service>(
        self,
        address: &str,
        most: &MostSessions,
        service: S,
        done: impl Fn(usize, &str, S::Done) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (timeout, output) = (self.timeout, self.output);
        // Whether it can serve at all is known before it says that it listens.
        let (limits, most) = limits(most, service.least_memory())?;
        let listener = self.listen(address)?;
        output.detail(&bounds::words(most));
        let gate = Gate::new(most);
        let host = self.asking_for_work();
        let connections = serve(listener, timeout, limits, move |socket, silent| {
            host.session(socket, silent, &gate, &service)
        })?;
        let (mut log, mut sessions) = (Log::new(output), 0);
        loop {
            let until = log.due();
            match connections.next_by(until) {
                Some(Ok(Ok(Ended { peer, counted_as, result }))) => {
                    sessions += 1;
                    match result {
                        Ok(result) => {
                            done(sessions, &peer, result).map_err(Failure::of_one_of_many)?;
                        }
                        Err(e) => log.failed(sessions, &peer, &counted_as, &e),
                    }
                }
                Some(Ok(Err(refused))) => log.refused(&refused),
                Some(Err(e)) => log.not_taken(&e),
                None if until.is_none_or(|until| Instant::now() < until) => {
                    return Err(Failure::run("the listener has ended"));
                }
                None => {}
            }
            log.summarise(Instant::now());
        }
    }

    /// A peer without a key proves by work that it is not one of thousands. With a key it has proved more.
    fn asking_for_work(self) -> Self {
        match self.security {
            Security::Pinned { .. } => self,
            Security::None => Self { hello: self.hello.puzzle(WORK), ..self },
        }
    }

    /// Admits a connection, and answers it. Nothing that takes memory or time comes before the admission, and nothing
    /// that tells of our data.
    fn session<S: Service>(
        &self,
        socket: Socket,
        silent: Silent,
        gate: &Arc<Gate>,
        service: &S,
    ) -> Result<Ended<S::Done>, Refused> {
        let met = Met::of(&socket);
        let failed = |e| self.failed(&met, e);
        let opened = self.security.accept(socket).map_err(failed)?;
        let hello = opened.bind(&self.hello);
        let confirmed = hello::greet(&opened.channel, false, &hello).and_then(Greeted::confirm);
        let confirmed = confirmed.map_err(failed)?;
        let nothing = Table::new();
        let agreed = match service.agree(confirmed.peer_details().unwrap_or(&nothing)) {
            Ok(agreed) => agreed,
            Err(failure) => {
                drop(confirmed.refuse(failure.reason()));
                return Err(met.refused(failure));
            }
        };
        let counted_as = opened.counted_as.clone();
        let _pass = match gate.admit(&counted_as, WAITING + service.memory(&agreed)) {
            Ok(pass) => pass,
            Err(full) => {
                drop(confirmed);
                opened.channel.refuse(full.reason());
                return Err(met.refused(Failure::run(bounds::why(&full))));
            }
        };
        let agreement = confirmed.finish().map_err(failed)?;
        drop(silent);
        let link = Link::new(opened, agreement);
        let peer = link.peer.clone();
        let result = service.answer(link, agreed);
        Ok(Ended { peer, counted_as, result })
    }

    fn listen(&self, address: &str) -> Result<Listener, Failure> {
        let listener = Listener::bind(address)?;
        self.output.listening_on(listener.local_addr());
        if matches!(self.security, Security::None) && !listener.local_addr().ip().is_loopback() {
            self.output.note(
                "warning: other machines can connect to this address without a key (--insecure)",
            );
        }
        self.output.detail(&self.security.words());
        Ok(listener)
    }

    fn receive(&self, socket: Socket) -> Result<Link, Refused> {
        let met = Met::of(&socket);
        let opened = self.security.accept(socket);
        let link = opened.and_then(|opened| Link::greet(opened, false, &self.hello));
        link.map_err(|e| self.failed(&met, e))
    }

    fn failed(&self, met: &Met, error: Error) -> Refused {
        Refused { disagrees: disagrees(&error), ..met.refused(self.security.explain(error)) }
    }
}

impl Met {
    fn of(socket: &Socket) -> Self {
        Self { address: socket.peer_address(), source: socket.source() }
    }

    fn refused(&self, failure: Failure) -> Refused {
        Refused { met: self.clone(), disagrees: false, failure: Box::new(failure) }
    }
}

/// Computes how many connections and how much memory a server may take.
///
/// # Errors
/// The user's or the system's bound of memory admits no session, of which the smallest takes `least` bytes.
fn limits(most: &MostSessions, least: u64) -> Result<(Limits, Most), Failure> {
    let memory = most.memory.unwrap_or_else(|| memory::left() / 2);
    let most_silent = Limits::default().silent;
    // A quarter is for connections that wait, and a third as much as for sessions.
    let waiting_in = |memory: u64| {
        let silent = usize::try_from(memory / WAITING).unwrap_or(usize::MAX);
        silent.clamp(most_silent / 16, most_silent)
    };
    let silent = waiting_in(memory / 4);
    let of_sessions = memory.saturating_sub(silent as u64 * WAITING);
    let session = WAITING + least;
    if of_sessions < session {
        let needed = session + (waiting_in(session / 3) as u64 + 1) * WAITING;
        let why = format!("{} of memory are not enough for a session", bytes(memory));
        let failure = match most.memory {
            Some(_) => Failure::usage(why),
            None => Failure::run(format!("{why}: half of what the system leaves")),
        };
        let needed = needed.div_ceil(1 << 20);
        return Err(failure.hint(format!("use at least --max-memory {needed}M")));
    }
    let (sessions, of_one_peer) = (most.all, most.of_one_peer);
    let limits = Limits { silent, admitted: sessions, ..Limits::default() };
    Ok((limits, Most { sessions, of_one_peer, memory: of_sessions }))
}

impl Log {
    fn new(output: Output) -> Self {
        let [refused, failed] = ["refused connections", "failed sessions"].map(Refusals::new);
        Self { output, refused, failed }
    }

    fn refused(&mut self, refused: &Refused) {
        let Refused { met: Met { address, source }, failure, .. } = refused;
        if self.refused.count(source, Instant::now()) || self.output.is_verbose() {
            let why = failure.message();
            self.output.note(&format!("refused a connection from {address}: {why}"));
        }
    }

    fn failed(&mut self, number: usize, peer: &str, counted_as: &str, failure: &Failure) {
        if self.failed.count(counted_as, Instant::now()) || self.output.is_verbose() {
            say(&format!("session {number} with {peer} failed: {}", failure.message()));
        }
    }

    fn not_taken(&mut self, error: &Error) {
        if self.refused.count("this system", Instant::now()) || self.output.is_verbose() {
            self.output.note(&error.to_string());
        }
    }

    /// Returns the time of the next summary.
    fn due(&self) -> Option<Instant> {
        [self.refused.due(), self.failed.due()].into_iter().flatten().min()
    }

    fn summarise(&mut self, now: Instant) {
        // With --verbose everything has been told.
        let (refused, failed) = (self.refused.summaries(now), self.failed.summaries(now));
        if !self.output.is_verbose() {
            refused.iter().for_each(|line| self.output.note(line));
            failed.iter().for_each(|line| say(line));
        }
    }

    /// Says after a while what may be wrong.
    fn still_waiting(&self, came: usize, hint: Option<&str>) {
        let seconds = PATIENCE.as_secs();
        self.output.note(&match (came, hint) {
            (0, _) => format!("no peer connected for {seconds} s: {SIDES}"),
            (1, Some(hint)) => format!("no peer connected; 1 other connection was refused: {hint}"),
            _ => return,
        });
    }
}

/// Returns true if waiting for another peer would not help: the peer has said what it wants, or the
/// fault is ours.
fn disagrees(error: &Error) -> bool {
    use HelloError::{
        Confirmation, Malformed, MalformedDetails, NotAHello, Reflection, Refused, Unsolved,
    };
    match error {
        Error::Hello(NotAHello | Malformed | Reflection | Refused(_)) => false,
        Error::Hello(Confirmation | MalformedDetails | Unsolved) => false,
        Error::Hello(_) | Error::Channel(ChannelError::GivenUp(Reason::TooManyKeys)) => true,
        Error::Tls(e) => matches!(e, TlsError::Setup(_)),
        _ => false,
    }
}

fn nobody(address: &str, within: u64, came: usize) -> String {
    match came {
        0 => format!("no peer connected to {address} within {within} s"),
        1 => format!(
            "no peer connected to {address} within {within} s; 1 other connection was refused"
        ),
        _ => format!(
            "no peer connected to {address} within {within} s; {came} other connections were refused"
        ),
    }
}
