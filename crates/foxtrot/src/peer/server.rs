//! A server: sessions with all peers that come, side by side.

use std::{
    any::Any,
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use foxtrot_net::{
    listen::{self, Connections, Limits, Silent},
    tcp::{self, Socket},
};

use super::{Peer, Who};
use crate::Error;
#[cfg(feature = "tls")]
use crate::Fingerprint;

/// Bytes of a session's stack, of which a session touches what it needs.
const STACK: usize = 4 << 20;

/// Ended sessions that are kept until somebody asks for them.
const KEPT: usize = 1024;

/// Sessions that run on threads of their own. As an iterator, it waits for the next session to end.
///
/// Dropping it ends the listening, closes connections that have not begun a job, and waits up to five seconds for the
/// others. Sessions that take longer run on to their end; a program that ends also ends them.
#[derive(Debug)]
pub struct Server {
    connections: Connections<Ended>,
    address: SocketAddr,
}

/// Ends a [`Server`] from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(listen::Stopper);

/// A session that has ended, or a connection that became none.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ended {
    /// Name, key and address of the peer, as far as they are known.
    pub peer: String,
    /// The peer's key, if it has shown one that is accepted.
    #[cfg(feature = "tls")]
    pub fingerprint: Option<Fingerprint>,
    /// The handler's result, or why the connection was refused.
    pub result: Result<(), Error>,
}

impl Ended {
    pub(super) fn new(who: Who, result: Result<(), Error>) -> Self {
        Self {
            peer: who.to_string(),
            #[cfg(feature = "tls")]
            fingerprint: who.fingerprint,
            result,
        }
    }

    /// A connection that this system could not take.
    pub(super) fn here(error: Error) -> Self {
        let who = Who { address: Some("this system".into()), ..Who::default() };
        Self::new(who, Err(error))
    }
}

impl Server {
    pub(super) fn start(
        listener: tcp::Listener,
        timeout: Duration,
        sessions: usize,
        admit: impl Fn(Socket, Silent) -> Result<Peer, Error> + Send + Sync + 'static,
        session: impl Fn(Peer) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let address = listener.local_addr();
        let limits = Limits { admitted: sessions, stack: STACK, kept: KEPT, ..Limits::default() };
        let connections = listen::serve(listener, timeout, limits, move |socket, silent| {
            let mut who = Who { address: Some(socket.peer_address()), ..Who::default() };
            let result = admit(socket, silent).and_then(|peer| {
                who = peer.who.clone();
                // What the handler has left half done is its own.
                let done = catch_unwind(AssertUnwindSafe(|| session(peer)));
                done.unwrap_or_else(|panic| Err(Error::Panicked(words(&*panic))))
            });
            Ended::new(who, result)
        })?;
        Ok(Self { connections, address })
    }

    /// The address that the server listens on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The next session that has ended, if one has by then.
    ///
    /// ```
    /// use std::time::Duration;
    /// use foxtrot::{Config, rot};
    ///
    /// let listener = Config::insecure().bind("localhost:0")?;
    /// let mut server = listener.serve(|peer| rot::send(peer, 10).map(drop))?;
    /// // A program that has something else to do between two looks.
    /// assert!(server.next_within(Duration::from_millis(10)).is_none());
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    pub fn next_within(&mut self, wait: Duration) -> Option<Ended> {
        // A wait that no clock can tell the end of has none.
        self.ended_by(Instant::now().checked_add(wait))
    }

    /// Returns the number of ended sessions of which this server tells nothing more: it keeps a thousand until somebody asks.
    #[must_use]
    pub fn missed(&self) -> usize {
        self.connections.missed()
    }

    /// A handle that ends the server from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(self.connections.stopper())
    }

    fn ended_by(&mut self, until: Option<Instant>) -> Option<Ended> {
        let ended = self.connections.next_by(until);
        ended.map(|ended| ended.unwrap_or_else(|e| Ended::here(e.into())))
    }
}

impl Iterator for Server {
    type Item = Ended;

    /// `None` when the server was stopped and all sessions have ended.
    fn next(&mut self) -> Option<Ended> {
        self.ended_by(None)
    }
}

impl Stopper {
    /// Ends the listening and closes connections that have not begun a job. Sessions run on to their end.
    pub fn stop(&self) {
        self.0.stop();
    }
}

/// Returns the message of a panic.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without words").into()
}
