//! Both parties in this process, on a thread each.

use std::{thread, time::Duration};

use foxtrot::{Config, job::Hello};

use crate::{failure::Failure, link::Link};

/// Runs both parties, whose hellos these are, and returns both results; the sender opens the connection.
pub(crate) fn both<S: Send, R>(
    timeout: Duration,
    [ours, theirs]: [Hello; 2],
    send: impl FnOnce(Link) -> Result<S, Failure> + Send,
    receive: impl FnOnce(Link) -> Result<R, Failure>,
) -> Result<(S, R), Failure> {
    let (initiator, responder) = Config::insecure().timeout(timeout).pair();
    thread::scope(|scope| {
        let sender = scope.spawn(|| send(Link::greet(initiator, ours)?));
        let received = Link::greet(responder, theirs);
        let received = received.map_err(Failure::from).and_then(receive);
        let sent = sender.join().unwrap_or_else(|_| Err(Failure::run("the sender panicked")));
        match (sent, received) {
            (Err(sent), Err(received)) if sent.is_the_peers_end() => Err(received),
            (sent, received) => Ok((sent?, received?)),
        }
    })
}
