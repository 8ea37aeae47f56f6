//! One port for many machines: a gateway joins a connection from outside with one from inside that names the same route, and
//! copies bytes between them. `docs/wire/shards.md`, section 27.4.
//!
//! The gateway holds no keys: TLS begins behind it, between the two machines. A stranger who knows the name of a
//! route can disturb it, and no more.
//!
//! ```
//! use std::{thread, time::Duration};
//! use foxtrot_net::{Lane, gateway::{End, Gateway, Limits}, tcp};
//!
//! let gateway = Gateway::open("localhost:0", "localhost:0", Limits::default(), |_| ())?;
//! let (outside, inside) = (gateway.outside().to_string(), gateway.inside().to_string());
//! let wait = Duration::from_secs(10);
//! let worker = thread::spawn(move || {
//!     let channel = tcp::connect(&inside, wait)?.route(End::Inside, "shard:3", wait)?.open()?;
//!     channel.send(Lane::PROTOCOL, b"ready".to_vec())?;
//!     channel.close()
//! });
//! let channel = tcp::connect(&outside, wait)?.route(End::Outside, "shard:3", wait)?.open()?;
//! assert_eq!(channel.recv(Lane::PROTOCOL, 5)?, b"ready");
//! channel.close()?;
//! worker.join().expect("no panic")?;
//! # Ok::<(), foxtrot_net::Error>(())
//! ```

mod routes;
#[cfg(test)]
mod tests;

use core::{net::SocketAddr, time::Duration};
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

pub use crate::error::NotJoined;
use crate::{
    ChannelError, Error,
    deadline::{self, lock},
    listen::{self, Connections, Silent},
    tcp::{Listener, Socket},
};
use routes::{Met, Routes, Waiting};

/// The beginning of the line that names a route.
const HEAD: &str = "FOXTROT ROUTE 1 ";
/// The answer, when the other end is there.
const OK: &[u8] = b"OK\n";
/// The answers of a gateway that does not join a connection, each of which ends it.
const REFUSALS: [(&[u8], NotJoined); 3] =
    [(b"BUSY\n", NotJoined::Busy), (b"LATE\n", NotJoined::Late), (b"TAKEN\n", NotJoined::Taken)];
/// The most bytes of an answer.
const MOST_ANSWER: usize = 8;
/// The most bytes of a name.
pub const MOST_NAME: usize = 128;
/// Bytes that are copied at once.
const AT_ONCE: usize = 1 << 17;
/// The longest time in which a route is named.
const SPEAK: Duration = Duration::from_secs(10);

/// The end of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The other company's.
    Outside,
    /// A machine of the gateway's own company.
    Inside,
}

/// The bounds of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections of each end that wait for the other end; one more is told to try again.
    pub waiting: usize,
    /// Connections from one source outside that wait: an IPv4 address, or an IPv6 network. One more is told to try again.
    pub of_one_source: usize,
    /// Routes that are joined at once; one more is refused.
    pub joined: usize,
    /// The longest time for which a connection waits for the other end, or for one to take its bytes.
    pub wait: Duration,
}

/// An event at a gateway.
#[derive(Clone, Debug)]
pub enum Event {
    /// Both ends of a route, and where the outer one comes from.
    Joined(String, String),
    /// A route has ended, and how many bytes went in and out.
    Ended(String, [u64; 2]),
    /// A connection named no route, or there is no place for it; and where it comes from.
    Refused(String, &'static str),
}

/// A gateway that is open until it is dropped.
#[derive(Debug)]
pub struct Gateway {
    addresses: [SocketAddr; 2],
    _listening: [Connections<()>; 2],
}

struct Table {
    limits: Limits,
    routes: Mutex<Routes>,
    tell: Box<dyn Fn(Event) + Send + Sync>,
}

impl Limits {
    /// The bounds of a gateway for so many routes. One source outside may have a quarter of the waiting connections.
    #[must_use]
    pub fn of(routes: usize, wait: Duration) -> Self {
        Self { waiting: routes, of_one_source: routes.div_ceil(4), joined: routes, wait }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(1024, Duration::from_secs(600))
    }
}

impl Gateway {
    /// Listens at both addresses, a host and a port each, and tells what happens.
    ///
    /// # Errors
    /// [`ChannelError::Io`].
    pub fn open(
        outside: &str,
        inside: &str,
        limits: Limits,
        tell: impl Fn(Event) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let table = Arc::new(Table { limits, routes: Mutex::default(), tell: Box::new(tell) });
        let [outside, inside] = [Listener::bind(outside)?, Listener::bind(inside)?];
        let addresses = [outside.local_addr(), inside.local_addr()];
        let serve = |listener, end| {
            let table = Arc::clone(&table);
            let admitted = limits.joined.saturating_add(limits.waiting);
            let bounds = listen::Limits { admitted, kept: 0, ..listen::Limits::default() };
            listen::serve(listener, limits.wait, bounds, move |socket, silent| {
                table.take(end, socket, silent);
            })
        };
        let listening = [serve(outside, End::Outside)?, serve(inside, End::Inside)?];
        Ok(Self { addresses, _listening: listening })
    }

    /// The address for the other company.
    #[must_use]
    pub fn outside(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// The address for machines of this company.
    #[must_use]
    pub fn inside(&self) -> SocketAddr {
        self.addresses[1]
    }
}

impl Table {
    /// Takes a connection: joins it with its other end, or has it wait.
    fn take(&self, end: End, socket: Socket, silent: Silent) {
        let source = socket.source();
        let refuse = |why| (self.tell)(Event::Refused(source.clone(), why));
        let Some(name) = read_name(&socket.stream, end) else {
            return refuse("it names no route");
        };
        drop(silent);
        let ours = Waiting { socket: socket.stream, source: source.clone(), since: Instant::now() };
        let met = lock(&self.routes).meet(end, &name, ours, self.limits);
        let (outside, inside) = match met {
            Met::Joined(outside, inside) => (outside, inside),
            Met::Waits => return,
            Met::Full(ours, why) => {
                ours.answer(NotJoined::Busy);
                return refuse(why);
            }
        };
        (self.tell)(Event::Joined(name.clone(), outside.source.clone()));
        let moved = join(&outside.socket, &inside.socket);
        lock(&self.routes).joined -= 1;
        (self.tell)(Event::Ended(name, moved));
    }
}

impl End {
    fn other(self) -> Self {
        match self {
            Self::Outside => Self::Inside,
            Self::Inside => Self::Outside,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Outside => "outside",
            Self::Inside => "inside",
        }
    }
}

impl Socket {
    /// Names the route at a gateway, and waits until the other end is there.
    ///
    /// # Errors
    /// [`ChannelError::NotJoined`]; [`ChannelError::Io`]: also for a name that cannot be.
    pub fn route(self, end: End, name: &str, wait: Duration) -> Result<Self, Error> {
        let not_joined = |why| ChannelError::NotJoined { route: name.to_owned(), why };
        let run = || {
            if !is_name(name) {
                return Err(io::Error::from(ErrorKind::InvalidInput));
            }
            (&self.stream).write_all(format!("{HEAD}{} {name}\n", end.word()).as_bytes())?;
            read_line(&self.stream, MOST_ANSWER, wait)
        };
        match run() {
            Ok(answer) if answer == OK => Ok(self),
            Ok(answer) => {
                let refusal = REFUSALS.iter().find(|(line, _)| *line == answer);
                Err(not_joined(refusal.map_or(NotJoined::NoGateway, |(_, why)| *why)).into())
            }
            Err(e) => {
                let [late, gone] = [NotJoined::Nobody(wait), NotJoined::Closed].map(not_joined);
                let action = format!("meet the peer on route {name}");
                Err(ChannelError::of(&e, late, gone, &action).into())
            }
        }
    }
}

/// Returns true for the name of a route.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    (1..=MOST_NAME).contains(&name.len()) && name.bytes().all(plain)
}

/// The route that a connection names, if it does so in time and says no more.
fn read_name(stream: &TcpStream, end: End) -> Option<String> {
    const MOST: usize = HEAD.len() + "outside ".len() + MOST_NAME + 1;
    let line = read_line(stream, MOST, SPEAK).ok()?;
    let line = str::from_utf8(&line).ok()?.strip_suffix('\n')?;
    let name = line.strip_prefix(HEAD)?.strip_prefix(end.word())?.strip_prefix(' ')?;
    is_name(name).then(|| name.to_owned())
}

/// Reads up to the end of a line, or so many bytes.
fn read_line(mut stream: &TcpStream, most: usize, wait: Duration) -> io::Result<Vec<u8>> {
    let (deadline, mut line) = (deadline::after(wait), Vec::new());
    while line.last() != Some(&b'\n') && line.len() < most {
        let left = deadline::remaining(deadline).ok_or(ErrorKind::TimedOut)?;
        stream.set_read_timeout(Some(left))?;
        // Byte by byte: what follows is not ours.
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => line.extend_from_slice(&byte),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    stream.set_read_timeout(None)?;
    Ok(line)
}

/// Copies both ways until both have ended. Returns the bytes that went in and out.
fn join(outside: &TcpStream, inside: &TcpStream) -> [u64; 2] {
    let copy = |mut from: &TcpStream, mut to: &TcpStream| {
        let (mut copied, mut buffer) = (0, vec![0; AT_ONCE]);
        let ended = loop {
            match from.read(&mut buffer) {
                Ok(0) => break Ok(()),
                Ok(read) => match to.write_all(&buffer[..read]) {
                    Ok(()) => copied += read as u64,
                    Err(e) => break Err(e),
                },
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => break Err(e),
            }
        };
        if ended.is_err() {
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        }
        let _ = to.shutdown(Shutdown::Write);
        copied
    };
    let greet = |mut stream: &TcpStream| stream.write_all(OK);
    if greet(outside).and_then(|()| greet(inside)).is_err() {
        let _ = (outside.shutdown(Shutdown::Both), inside.shutdown(Shutdown::Both));
        return [0; 2];
    }
    thread::scope(|scope| {
        let out = thread::Builder::new()
            .name("foxtrot-gateway".into())
            .spawn_scoped(scope, || copy(inside, outside));
        let Ok(out) = out else {
            let _ = (outside.shutdown(Shutdown::Both), inside.shutdown(Shutdown::Both));
            return [0; 2];
        };
        let into = copy(outside, inside);
        [into, out.join().unwrap_or_default()]
    })
}
