//! Listening, for one peer or for all that come. Strangers hold up nobody and end nothing.

mod bounds;
mod log;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use foxtrot::{
    Config, Ended, Error, Fingerprint, Listener,
    job::{Answer, Hello, Table},
    net::{self, ChannelError, HelloError, Limits, Reason, TlsError},
};
use foxtrot_net::gate::Most;

use crate::{
    args::MostSessions,
    audit,
    failure::{Failure, SIDES},
    link::{Counted, Link, Unmet},
    memory,
    output::{Output, say},
    record::{Begins, Entry},
    report::bytes,
    secure::Security,
};
use log::Log;

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
    /// The log of sessions and of refused peers.
    pub(crate) audit: Option<Arc<audit::Log>>,
}

/// Why a connection became no session; nothing for a browser that only looked what this side wants.
struct Refused(Option<Failure>);

impl Host<'_> {
    /// The first peer that comes and wants what we want. One that wants something else ends the
    /// wait; any other is told off and forgotten. Without a bound it waits until interrupted.
    pub(crate) fn first_peer(
        self,
        wait: Option<Duration>,
        begins: &Begins,
    ) -> Result<Link, Failure> {
        let Self { address, security, hello, counted, output, audit } = self;
        let listener = listen(&security, &security.config, address, output)?;
        let address = listener.local_addr();
        output.note(&match wait {
            None => "waiting for the peer to connect; Ctrl-C stops".to_owned(),
            Some(wait) => format!("waiting {} s for the peer to connect", wait.as_secs()),
        });
        let began = Instant::now();
        let (end, mut patience) = (wait.map(|wait| began + wait), Some(began + PATIENCE));
        let begins = begins.clone();
        let greet = move |peer| {
            let write = |peer: &_, met: Option<&_>| begins.with(peer, met);
            Link::begin(peer, hello.clone(), &counted, write)
        };
        let mut server = listener.accept_each(greet)?;
        let (mut log, mut hint) = (Log::new(output, audit), None);
        let bar = output.waiting();
        loop {
            let until = [end, patience, log.due()].into_iter().flatten().min();
            match server.ended_by(until) {
                Some(Ended { result: Ok(link), .. }) => return Ok(link),
                Some(Ended { result: Err(Unmet::Apart(e)), .. }) if only_looked(&e) => {}
                Some(Ended { result: Err(unmet), address, source, name, fingerprint, .. }) => {
                    let (failure, is_over) = match unmet {
                        Unmet::Here(e) => (e, true),
                        Unmet::Apart(e) => {
                            let is_over = disagrees(&e);
                            (security.explain(e), is_over)
                        }
                    };
                    let from = from(&fingerprint, &name, &address, &source);
                    if is_over {
                        // The outcome of the run says why, and this line who it was.
                        log.audit(&from, &failure);
                        return Err(failure);
                    }
                    bar.suspend(|| log.refused(&from, &failure));
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
    /// do; `begin` makes the entry of the session, whose beginning is written down before the peer learns anything of our
    /// set; `answer` runs the session, of which the smallest takes `least_memory` bytes, and `done` gets what comes of it with
    /// its number and peer. Ends only when the system does not let it listen, or `done` fails: also when nobody reads what it
    /// prints.
    pub(crate) fn all_peers<A, D: Send + 'static>(
        self,
        most: &MostSessions,
        least_memory: u64,
        agree: impl Fn(&Table) -> Result<(A, Answer), Failure> + Send + Sync + 'static,
        begin: impl Fn(&A) -> Result<Entry, Failure> + Send + Sync + 'static,
        answer: impl Fn(Link, A, &mut Entry) -> Result<D, Failure> + Send + Sync + 'static,
        done: impl Fn(usize, &str, D) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self { address, security, hello, output, audit, .. } = self;
        // Whether it can serve at all is known before it says that it listens.
        let (silent, most) = limits(most, least_memory)?;
        let config = security.config.clone();
        let config = config.limits(Limits { silent, ..Limits::default() }).max_memory(most.memory);
        let config = config.max_sessions(most.sessions).max_sessions_per_peer(most.of_one_peer);
        let listener = listen(&security, &config, address, output)?;
        let Most { sessions, of_one_peer, memory } = most;
        output.detail(&format!(
            "at most {sessions} sessions at once, {of_one_peer} of one peer, in {} of memory",
            bytes(memory)
        ));
        let audited = audit.clone();
        let mut server = listener.serve_each(move |mut peer| {
            let mut entry = None;
            let agree = |details: &Table| {
                // Before the run counts against the peer's limits of the day.
                let ready = audited.as_ref().map_or(Ok(()), |log| log.ready());
                let agreed = ready.and_then(|()| agree(details));
                let (ours, answer) = agreed.map_err(|e| (e.reason(), Refused(Some(e))))?;
                Ok((ours, Answer { memory: WAITING + answer.memory, ..answer }))
            };
            let met = peer.negotiate_recorded(hello.clone(), agree, |peer, met| {
                let begun = met.map_or(Ok(None), |(agreed, ours)| {
                    let mut entry = begin(ours)?;
                    entry.met(peer, agreed);
                    entry.begun().map(|()| Some(entry))
                });
                entry = begun.map_err(|e| Refused(Some(e)))?;
                Ok(())
            });
            match (met, entry) {
                (Ok((agreed, ours)), Some(mut entry)) => {
                    let result = answer(Link::new(peer, agreed), ours, &mut entry);
                    Ok(entry.finish(result))
                }
                // It ended while it was told of our set.
                (Err(Refused(Some(e))), Some(entry)) => Ok(entry.finish(Err(e))),
                (Err(e), _) => Err(e),
                (Ok(_), None) => Err(Refused(Some(Failure::run("the session has no entry")))),
            }
        })?;
        let (mut log, mut sessions) = (Log::new(output, audit), 0);
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
                Some(Ended {
                    result: Err(Refused(Some(e))),
                    address,
                    source,
                    name,
                    fingerprint,
                    ..
                }) => log.refused(&from(&fingerprint, &name, &address, &source), &e),
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
    let memory = most.max_memory.unwrap_or_else(|| memory::left() / 2);
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
        let failure = match most.max_memory {
            Some(_) => Failure::usage(why),
            None => Failure::run(format!("{why}: half of what the system leaves")),
        };
        let needed = needed.div_ceil(1 << 20);
        return Err(failure.hint(format!("use at least --max-memory {needed}M")));
    }
    let (sessions, of_one_peer) = (most.max_sessions, most.max_sessions_per_peer);
    Ok((silent, Most { sessions, of_one_peer, memory: of_sessions }))
}

/// A peer that was refused, for the log.
fn from<'a>(
    fingerprint: &Option<Fingerprint>,
    name: &'a Option<String>,
    address: &'a Option<String>,
    source: &'a str,
) -> audit::From<'a> {
    let (fingerprint, name) = (fingerprint.map(|key| key.to_string()), name.as_deref());
    audit::From { fingerprint, name, address: address.as_deref(), source }
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
