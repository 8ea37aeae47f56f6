//! A server: sessions with all peers that come, side by side.

use std::{
    net::SocketAddr,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use foxtrot_net::{
    ChannelError,
    listen::{self, Connections, Limits, Silent},
    tcp::{self, Socket},
};

use super::Peer;
use crate::Error;

/// Bytes of a session's stack, of which a session touches what it needs.
const STACK: usize = 4 << 20;

/// Sessions that run on threads of their own until the server is dropped. As an iterator, it waits for the next session to
/// end.
#[derive(Debug)]
pub struct Server {
    connections: Connections<Ended>,
    address: SocketAddr,
}

/// A session that has ended, or a connection that became none.
#[derive(Debug)]
pub struct Ended {
    /// Name, key or address of the peer, as far as it is known.
    pub peer: String,
    /// The handler's result, or why the connection was refused.
    pub result: Result<(), Error>,
}

/// How many sessions may still begin.
struct Gate {
    free: Mutex<usize>,
    ended: Condvar,
}

/// The right to run a session.
struct Pass<'a>(&'a Gate);

impl Server {
    pub(super) fn start(
        listener: tcp::Listener,
        timeout: Duration,
        sessions: usize,
        admit: impl Fn(Socket, Silent) -> Result<Peer, Error> + Send + Sync + 'static,
        session: impl Fn(&mut Peer) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let address = listener.local_addr();
        let limits = Limits { admitted: sessions, stack: STACK, ..Limits::default() };
        let gate = Arc::new(Gate { free: Mutex::new(sessions), ended: Condvar::new() });
        let connections = listen::serve(listener, timeout, limits, move |socket, silent| {
            let address = socket.peer_address();
            match admit(socket, silent) {
                Err(e) => Ended { peer: address, result: Err(e) },
                Ok(mut peer) => {
                    let who = peer.name().map_or(address, str::to_owned);
                    let result = match gate.wait(timeout) {
                        Some(_pass) => session(&mut peer),
                        None => Err(Error::Session(ChannelError::NothingReceived(timeout).into())),
                    };
                    Ended { peer: who, result }
                }
            }
        })?;
        Ok(Self { connections, address })
    }

    /// The address that the server listens on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The next session that has ended, if one has by then.
    pub fn next_within(&mut self, wait: Duration) -> Option<Ended> {
        self.ended_by(Some(Instant::now() + wait))
    }

    fn ended_by(&mut self, until: Option<Instant>) -> Option<Ended> {
        self.connections.next_by(until).map(|ended| {
            ended.unwrap_or_else(|e| Ended { peer: "this system".into(), result: Err(e.into()) })
        })
    }
}

impl Iterator for Server {
    type Item = Ended;

    fn next(&mut self) -> Option<Ended> {
        self.ended_by(None)
    }
}

impl Gate {
    /// Waits until a session may begin.
    fn wait(&self, timeout: Duration) -> Option<Pass<'_>> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut free, _) = self
            .ended
            .wait_timeout_while(free, timeout, |free| *free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(Pass(self))
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.ended.notify_one();
    }
}
