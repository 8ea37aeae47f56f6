//! A server: sessions with all peers that come, side by side.

use std::{
    any::Any,
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use foxtrot_net::{
    gate::Gate,
    listen::{self, Connections, Limits, Stopper},
    tcp,
};

use super::{Config, Who, reach::Met};
use crate::Error;
#[cfg(feature = "tls")]
use crate::Fingerprint;

/// Sessions that run on threads of their own. As an iterator, it waits for the next session to end.
///
/// Dropping it ends the listening, closes connections that have not begun a job, and waits up to five seconds for the
/// others. Sessions that take longer run on to their end; a program that ends also ends them.
#[derive(Debug)]
pub struct Server<T = (), E = Error> {
    /// Nothing for a connection over which a browser got a file.
    connections: Connections<Option<Ended<T, E>>>,
    address: SocketAddr,
}

/// A session that has ended, or a connection that became none.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ended<T = (), E = Error> {
    /// Name, key and address of the peer, as far as they are known.
    pub peer: String,
    /// The name that the [`Config`] gives the peer's key or token.
    pub name: Option<String>,
    /// The peer's address; `None` if the system took no connection.
    pub address: Option<String>,
    /// The peer's IP address, of IPv6 the network, /64: by it sessions of peers without keys are counted.
    pub source: String,
    /// The peer's key, if it has shown one that is accepted.
    #[cfg(feature = "tls")]
    pub fingerprint: Option<Fingerprint>,
    /// The handler's result, or why the connection was refused.
    pub result: Result<T, E>,
}

impl<T, E> Ended<T, E> {
    pub(super) fn new(who: Who, result: Result<T, E>) -> Self {
        Self {
            peer: who.to_string(),
            name: who.name,
            source: who.source,
            address: who.address,
            #[cfg(feature = "tls")]
            fingerprint: who.fingerprint,
            result,
        }
    }

    /// A connection that this system could not take.
    pub(super) fn here(error: E) -> Self {
        let (peer, source) = ("this system".into(), "this system".into());
        Self { peer, source, ..Self::new(Who::default(), Err(error)) }
    }

    /// The result of a session that succeeded; else the same end without one.
    pub(super) fn succeeded(self) -> Result<T, Box<Ended<(), E>>> {
        let error = match self.result {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        Err(Box::new(Ended {
            peer: self.peer,
            name: self.name,
            address: self.address,
            source: self.source,
            #[cfg(feature = "tls")]
            fingerprint: self.fingerprint,
            result: Err(error),
        }))
    }
}

impl<T: Send + 'static, E: From<Error> + Send + 'static> Server<T, E> {
    pub(super) fn start(
        listener: tcp::Listener,
        config: Config,
        limits: Limits,
        gate: Option<Arc<Gate>>,
        session: impl Fn(Met) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let (address, timeout) = (listener.local_addr(), config.timeout);
        let connections = listen::serve(listener, timeout, limits, move |socket, silent| {
            let mut who = Who::of(&socket);
            let result = match config.admit(socket, silent, gate.as_ref()) {
                Ok(None) => return None,
                Err(e) => Err(e.into()),
                Ok(Some(met)) => {
                    who = met.who().clone();
                    // What the handler has left half done is its own.
                    let done = catch_unwind(AssertUnwindSafe(|| session(met)));
                    done.unwrap_or_else(|panic| Err(Error::Panicked(words(&*panic)).into()))
                }
            };
            Some(Ended::new(who, result))
        })?;
        Ok(Self { connections, address })
    }
}

impl<T, E: From<Error>> Server<T, E> {
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
    pub fn next_within(&mut self, wait: Duration) -> Option<Ended<T, E>> {
        // A wait that no clock can tell the end of has none.
        self.ended_by(Instant::now().checked_add(wait))
    }

    /// Returns the number of connections so far, also of strangers and of peers whose sessions have not ended.
    #[must_use]
    pub fn came(&self) -> usize {
        self.connections.came()
    }

    /// Returns the number of ended sessions of which this server tells nothing more: it keeps a thousand until somebody asks.
    #[must_use]
    pub fn missed(&self) -> usize {
        self.connections.missed()
    }

    /// A handle that ends the server from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.connections.stopper()
    }

    /// The next session that has ended, if one has by that time; without one it waits until the server was stopped.
    pub fn ended_by(&mut self, until: Option<Instant>) -> Option<Ended<T, E>> {
        loop {
            match self.connections.next_by(until)? {
                Ok(Some(ended)) => return Some(ended),
                Ok(None) => {}
                Err(e) => return Some(Ended::here(Error::from(e).into())),
            }
        }
    }
}

impl<T, E: From<Error>> Iterator for Server<T, E> {
    type Item = Ended<T, E>;

    /// `None` when the server was stopped and all sessions have ended.
    fn next(&mut self) -> Option<Ended<T, E>> {
        self.ended_by(None)
    }
}

/// Returns the message of a panic.
pub(super) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without words").into()
}
