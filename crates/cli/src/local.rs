//! Both parties in this process, on a thread each.

use std::{thread, time::Duration};

use foxtrot_net::memory;

use crate::{failure::Failure, secure::Opened};

/// Runs both parties and returns both results; the sender is the side that opens the connection.
pub(crate) fn both<S: Send, R>(
    timeout: Duration,
    send: impl FnOnce(Opened) -> Result<S, Failure> + Send,
    receive: impl FnOnce(Opened) -> Result<R, Failure>,
) -> Result<(S, R), Failure> {
    let (here, there) = memory::pair(timeout);
    thread::scope(|scope| {
        let sender = scope.spawn(|| send(Opened::in_memory(there)));
        let received = receive(Opened::in_memory(here));
        let sent = sender.join().unwrap_or_else(|_| Err(Failure::run("the sender panicked")));
        match (sent, received) {
            (Err(sent), Err(received)) if sent.is_the_peers_end() => Err(received),
            (sent, received) => Ok((sent?, received?)),
        }
    })
}
