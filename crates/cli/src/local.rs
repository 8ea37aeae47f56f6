//! Both parties in this process, on a thread each.

use std::{thread, time::Duration};

use foxtrot::{Config, Peer};

use crate::failure::Failure;

/// Runs both parties and returns both results; the sender is the side that opens the connection.
pub(crate) fn both<S: Send, R>(
    timeout: Duration,
    send: impl FnOnce(Peer) -> Result<S, Failure> + Send,
    receive: impl FnOnce(Peer) -> Result<R, Failure>,
) -> Result<(S, R), Failure> {
    let (initiator, responder) = Config::insecure().timeout(timeout).pair();
    thread::scope(|scope| {
        let sender = scope.spawn(|| send(initiator));
        let received = receive(responder);
        let sent = sender.join().unwrap_or_else(|_| Err(Failure::run("the sender panicked")));
        match (sent, received) {
            (Err(sent), Err(received)) if sent.is_the_peers_end() => Err(received),
            (sent, received) => Ok((sent?, received?)),
        }
    })
}
