//! Listening, for one peer or for all that come. Strangers hold up nobody and end nothing.

mod bounds;
mod refusals;

use std::time::{Duration, Instant};

use foxtrot::{
    Config, Ended, Error, Listener,
    job::{Answer, Hello, Table},
    net::{self, ChannelError, HelloError, Limits, Reason, TlsError},
};
use foxtrot_net::gate::Most;

use crate::{
    args::MostSessions,
    failure::{Failure, SIDES},
    link::{Counted, Link},
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

pub(crate) struct Host<'a> {
    pub(crate) address: &'a str,
    pub(crate) security: Security,
    pub(crate) hello: Hello,
    pub(crate) counted: Counted,
    pub(crate) output: Output,
}

/// Why a connection became no session; nothing for a browser that only looked what this side wants.
struct Refused(Option<Failure>);

/// Says how the wait goes on, where that takes long or strangers come.
struct Log {
    output: Output,
    refused: Refusals,
    failed: Refusals,
}

impl Host<'_> {
    /// The first peer that comes and wants what we want. One that wants something else ends the
    /// wait; any other is told off and forgotten. Without a bound it waits until interrupted.
    pub(crate) fn first_peer(self, wait: Option<Duration>) -> Result<Link, Failure> {
        let Self { address, security, hello, counted, output } = self;
        let listener = listen(&security, &security.config, address, output)?;
        let address = listener.local_addr();
        output.note(&match wait {
            None => "waiting for the peer to connect; Ctrl-C stops".to_owned(),
            Some(wait) => format!("waiting {} s for the peer to connect", wait.as_secs()),
        });
        let began = Instant::now();
        let (end, mut patience) = (wait.map(|wait| began + wait), Some(began + PATIENCE));
        let mut server =
            listener.accept_each(move |peer| Link::greet(peer, hello.clone(), &counted))?;
        let (mut log, mut hint) = (Log::new(output), None);
        let bar = output.waiting();
        loop {
            let until = [end, patience, log.due()].into_iter().flatten().min();
            match server.ended_by(until) {
                Some(Ended { result: Ok(link), .. }) => return Ok(link),
                Some(Ended { result: Err(e), .. }) if disagrees(&e) => {
                    return Err(security.explain(e));
                }
                Some(Ended { result: Err(e), .. }) if only_looked(&e) => {}
                Some(Ended { result: Err(e), address, source, .. }) => {
                    let failure = security.explain(e);
                    bar.suspend(|| log.refused(address.as_deref(), &source, &failure));
                    if address.is_some() {
                        hint = failure.hint;
                    }
                }
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
                bar.suspend(|| log.still_waiting(server.came(), hint.as_deref()));
            }
        }
        bar.finish_and_clear();
        let (came, within) = (server.came(), began.elapsed().as_secs());
        let failure = Failure::run(nobody(&address.to_string(), within, came));
        Err(match hint {
            // One alone may have been the peer. Of several, a stranger would have the last word.
            Some(hint) if came == 1 => failure.hint(hint),
            _ if came == 0 => failure.hint(format!("{SIDES}; --wait waits longer")),
            _ => failure,
        })
    }

    /// Answers all peers that come, side by side. `agree` finds out whether a peer's details suit and what follows if they
    /// do, `answer` runs the session, of which the smallest takes `least_memory` bytes, and `done` gets what comes of it with
    /// its number and peer. Ends only when the system does not let it listen, or `done` fails: also when nobody reads what it
    /// prints.
    pub(crate) fn all_peers<A, D: Send + 'static>(
        self,
        most: &MostSessions,
        least_memory: u64,
        agree: impl Fn(&Table) -> Result<(A, Answer), Failure> + Send + Sync + 'static,
        answer: impl Fn(Link, A) -> Result<D, Failure> + Send + Sync + 'static,
        done: impl Fn(usize, &str, D) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self { address, security, hello, output, .. } = self;
        // Whether it can serve at all is known before it says that it listens.
        let (silent, most) = limits(most, least_memory)?;
        let config = security.config.clone();
        let config = config.limits(Limits { silent, ..Limits::default() }).max_memory(most.memory);
        let config = config.sessions(most.sessions).sessions_per_peer(most.of_one_peer);
        let listener = listen(&security, &config, address, output)?;
        let Most { sessions, of_one_peer, memory } = most;
        output.detail(&format!(
            "at most {sessions} sessions at once, {of_one_peer} of one peer, in {} of memory",
            bytes(memory)
        ));
        let mut server = listener.serve_each(move |mut peer| {
            let (agreed, ours) = peer.negotiate_by(hello.clone(), |details| {
                let (ours, answer) = agree(details).map_err(|e| (e.reason(), Refused(Some(e))))?;
                Ok((ours, Answer { memory: WAITING + answer.memory, ..answer }))
            })?;
            Ok::<_, Refused>(answer(Link { peer, agreed }, ours))
        })?;
        let (mut log, mut sessions) = (Log::new(output), 0);
        loop {
            let until = log.due();
            match server.ended_by(until) {
                Some(Ended { result: Ok(result), peer, fingerprint, source, .. }) => {
                    sessions += 1;
                    match result {
                        Ok(result) => {
                            done(sessions, &peer, result).map_err(Failure::of_one_of_many)?;
                        }
                        Err(e) => {
                            let counted_as = fingerprint.map_or(source, |key| key.to_string());
                            log.failed(sessions, &peer, &counted_as, &e);
                        }
                    }
                }
                Some(Ended { result: Err(Refused(None)), .. }) => {}
                Some(Ended { result: Err(Refused(Some(e))), address, source, .. }) => {
                    log.refused(address.as_deref(), &source, &e);
                }
                None if until.is_none_or(|until| Instant::now() < until) => {
                    return Err(Failure::run("the listener has ended"));
                }
                None => {}
            }
            log.summarise(Instant::now());
        }
    }
}

fn listen(
    security: &Security,
    config: &Config,
    address: &str,
    output: Output,
) -> Result<Listener, Failure> {
    let listener = config.bind(address)?;
    output.listening_on(listener.local_addr());
    if let Some(invitation) = &security.invitation {
        say(&invitation.words(listener.local_addr()));
    } else if security.ours.is_none() && !listener.local_addr().ip().is_loopback() {
        output
            .note("warning: other machines can connect to this address without a key (--insecure)");
    }
    if security.invitation.is_some() && !listener.local_addr().ip().is_loopback() {
        output.note(
            "warning: nothing is encrypted here; let a proxy with TLS stand before this address",
        );
    }
    output.detail(&security.words());
    Ok(listener)
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self(match error {
            Error::Full(full) => Some(Failure::run(bounds::why(&full))),
            e if only_looked(&e) => None,
            e => Some(e.into()),
        })
    }
}

/// Computes how many connections and how much memory a server may take.
///
/// # Errors
/// The user's or the system's bound of memory admits no session, of which the smallest takes `least` bytes.
fn limits(most: &MostSessions, least: u64) -> Result<(usize, Most), Failure> {
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
    Ok((silent, Most { sessions, of_one_peer, memory: of_sessions }))
}

impl Log {
    fn new(output: Output) -> Self {
        let [refused, failed] = ["refused connections", "failed sessions"].map(Refusals::new);
        Self { output, refused, failed }
    }

    /// A connection that became no session. Without an address, the system did not give us the connection.
    fn refused(&mut self, address: Option<&str>, source: &str, failure: &Failure) {
        let source = if address.is_some() { source } else { "this system" };
        if self.refused.count(source, Instant::now()) || self.output.verbose {
            let from = address.map(|it| format!("refused a connection from {it}: "));
            self.output.note(&(from.unwrap_or_default() + failure.message()));
        }
    }

    fn failed(&mut self, number: usize, peer: &str, counted_as: &str, failure: &Failure) {
        if self.failed.count(counted_as, Instant::now()) || self.output.verbose {
            say(&format!("session {number} with {peer} failed: {}", failure.message()));
        }
    }

    fn due(&self) -> Option<Instant> {
        [self.refused.due(), self.failed.due()].into_iter().flatten().min()
    }

    fn summarise(&mut self, now: Instant) {
        // With --verbose everything has been told.
        let (refused, failed) = (self.refused.summaries(now), self.failed.summaries(now));
        if !self.output.verbose {
            refused.iter().for_each(|line| self.output.note(line));
            failed.iter().for_each(|line| say(line));
        }
    }

    fn still_waiting(&self, came: usize, hint: Option<&str>) {
        let seconds = PATIENCE.as_secs();
        self.output.note(&match (came, hint) {
            (0, _) => format!("no peer connected for {seconds} s: {SIDES}"),
            (1, Some(hint)) => format!("no peer connected; 1 other connection was refused: {hint}"),
            _ => return,
        });
    }
}

/// Returns true for a browser that has heard what this side wants, and has left.
fn only_looked(error: &Error) -> bool {
    matches!(error, Error::Session(net::Error::Channel(ChannelError::Served)))
}

/// Returns true if waiting for another peer would not help: the peer has said what it wants, or the
/// fault is ours.
fn disagrees(error: &Error) -> bool {
    use HelloError::{
        Confirmation, Malformed, MalformedDetails, NotAHello, Reflection, Refused, Unsolved,
    };
    use Reason::{Forbidden, NoSuchSet, TooFewKeys, TooManyKeys};
    match error {
        Error::Forbidden(_) => true,
        Error::Session(net::Error::Hello(e)) => !matches!(
            e,
            NotAHello
                | Malformed
                | Reflection
                | Refused(_)
                | Confirmation
                | MalformedDetails
                | Unsolved
        ),
        Error::Session(net::Error::Channel(ChannelError::GivenUp(reason))) => {
            matches!(reason, TooManyKeys | TooFewKeys | Forbidden | NoSuchSet)
        }
        Error::Session(net::Error::Tls(e)) => matches!(e, TlsError::Setup(_)),
        _ => false,
    }
}

fn nobody(address: &str, within: u64, came: usize) -> String {
    let others = match came {
        0 => String::new(),
        1 => "; 1 other connection was refused".into(),
        _ => format!("; {came} other connections were refused"),
    };
    format!("no peer connected to {address} within {within} s{others}")
}
