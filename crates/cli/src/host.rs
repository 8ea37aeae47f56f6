//! Listening, for one peer or for all that come. Strangers hold up nobody and end nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use foxtrot_net::{
    ChannelError, Error, HelloError, Reason, TlsError,
    hello::Hello,
    listen::{Silent, serve},
    tcp::{Listener, Socket},
};

use crate::{
    failure::Failure,
    link::Link,
    output::{Output, say},
    secure::Security,
};

/// What whoever comes is met with.
pub(crate) struct Host {
    pub(crate) security: Security,
    pub(crate) hello: Hello,
    pub(crate) timeout: Duration,
    pub(crate) output: Output,
}

/// A connection that became no session.
struct Refused {
    address: String,
    /// Whether it is a peer that wants something else than we do.
    disagrees: bool,
    failure: Failure,
}

/// A session that has ended.
struct Ended<T> {
    peer: String,
    result: Result<T, Failure>,
}

impl Host {
    /// The first peer that comes and wants what we want. One that wants something else ends the
    /// wait; whoever else comes is told off and forgotten.
    pub(crate) fn first_peer(self, address: &str) -> Result<Link, Failure> {
        let (timeout, output) = (self.timeout, self.output);
        let listener = self.listen(address)?;
        let address = listener.local_addr();
        let deadline = Instant::now() + timeout;
        let came = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&came);
        let connections = serve(listener, timeout, move |socket, silent| {
            count.fetch_add(1, Ordering::Relaxed);
            self.receive(socket, silent)
        })?;
        let mut hint = None;
        while let Some(ended) = connections.next_by(Some(deadline)) {
            match ended {
                Ok(Ok(link)) => return Ok(link),
                Ok(Err(refused)) if refused.disagrees => return Err(refused.failure),
                Ok(Err(refused)) => {
                    refused.log(output);
                    hint = refused.failure.into_hint();
                }
                Err(e) => output.note(&e.to_string()),
            }
        }
        let came = came.load(Ordering::Relaxed);
        let failure = nobody(&address.to_string(), timeout, came);
        // One alone may have been the peer. Of several, a stranger would have the last word.
        Err(match hint {
            Some(hint) if came == 1 => failure.hint(hint),
            _ if came == 0 => failure.hint("--timeout waits longer"),
            _ => failure,
        })
    }

    /// Answers all peers that come, side by side, and hands over what comes of each session with
    /// its number and peer. Ends only when the system does not let it listen, or `done` fails: also
    /// when nobody reads what it prints.
    pub(crate) fn all_peers<T: Send + 'static>(
        self,
        address: &str,
        answer: impl Fn(Link) -> Result<T, Failure> + Send + Sync + 'static,
        done: impl Fn(usize, &str, T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (timeout, output) = (self.timeout, self.output);
        let listener = self.listen(address)?;
        let connections = serve(listener, timeout, move |socket, silent| {
            let link = self.receive(socket, silent)?;
            Ok::<_, Refused>(Ended { peer: link.peer.clone(), result: answer(link) })
        })?;
        let mut sessions = 0;
        while let Some(ended) = connections.next_by(None) {
            match ended {
                Ok(Ok(Ended { peer, result })) => {
                    sessions += 1;
                    match result {
                        Ok(result) => {
                            done(sessions, &peer, result).map_err(Failure::of_one_of_many)?;
                        }
                        Err(e) => {
                            say(&format!("session {sessions} with {peer} failed: {}", e.message()));
                        }
                    }
                }
                Ok(Err(refused)) => refused.log(output),
                Err(e) => output.note(&e.to_string()),
            }
        }
        Err(Failure::run("the listener has ended"))
    }

    fn listen(&self, address: &str) -> Result<Listener, Failure> {
        let listener = Listener::bind(address)?;
        self.output.listening_on(listener.local_addr());
        if matches!(self.security, Security::None) && !listener.local_addr().ip().is_loopback() {
            self.output
                .note("others can reach this address, and --insecure does not keep them out");
        }
        self.output.detail(&self.security.words());
        Ok(listener)
    }

    fn receive(&self, socket: Socket, silent: Silent) -> Result<Link, Refused> {
        let address = socket.peer_address();
        let opened = self.security.accept(socket);
        let link = opened.and_then(|opened| Link::greet(opened, false, &self.hello));
        drop(silent);
        link.map_err(|e| Refused {
            address,
            disagrees: disagrees(&e),
            failure: self.security.explain(e),
        })
    }
}

impl Refused {
    fn log(&self, output: Output) {
        let Self { address, failure, .. } = self;
        output.note(&format!("refused a connection from {address}: {}", failure.message()));
    }
}

/// Whether waiting for somebody else would not help: the peer has said what it wants, or the fault
/// is ours.
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

fn nobody(address: &str, timeout: Duration, came: usize) -> Failure {
    let within = timeout.as_secs();
    Failure::run(match came {
        0 => format!("nobody connected to {address} within {within} s"),
        1 => format!("one stranger connected to {address} within {within} s, and no peer"),
        _ => format!("{came} strangers connected to {address} within {within} s, and no peer"),
    })
}
