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

use core::{net::SocketAddr, time::Duration};
use std::{
    collections::HashMap,
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

use crate::{
    ChannelError, Error,
    deadline::{self, lock},
    listen::{self, Connections, Silent},
    tcp::{Listener, Socket},
};

/// The beginning of the line that names a route.
const HEAD: &str = "FOXTROT ROUTE 1 ";
/// The answer, when the other end is there.
const OK: &[u8; 3] = b"OK\n";
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
    /// Connections of each end that wait for the other end; one more pushes out the oldest.
    pub waiting: usize,
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

#[derive(Default)]
struct Routes {
    /// Connections that wait, by end and name.
    waiting: [HashMap<String, Waiting>; 2],
    joined: usize,
}

struct Waiting {
    socket: TcpStream,
    source: String,
    since: Instant,
}

impl Default for Limits {
    fn default() -> Self {
        Self { waiting: 1024, joined: 1024, wait: Duration::from_secs(600) }
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
        let mut routes = lock(&self.routes);
        routes.forget(self.limits);
        let theirs = routes.waiting[end.other() as usize].remove(&name);
        let Some(theirs) = theirs.filter(|theirs| is_there(&theirs.socket)) else {
            // A machine that was started again takes its former connection's place.
            routes.waiting[end as usize].insert(name, ours);
            return;
        };
        if routes.joined >= self.limits.joined {
            return refuse("there are too many routes");
        }
        routes.joined += 1;
        drop(routes);
        let (outside, inside) = match end {
            End::Outside => (ours, theirs),
            End::Inside => (theirs, ours),
        };
        (self.tell)(Event::Joined(name.clone(), outside.source.clone()));
        let moved = join(&outside.socket, &inside.socket);
        lock(&self.routes).joined -= 1;
        (self.tell)(Event::Ended(name, moved));
    }
}

impl Routes {
    /// Forgets who has waited too long, and of too many the oldest.
    fn forget(&mut self, limits: Limits) {
        for waiting in &mut self.waiting {
            waiting.retain(|_, it| it.since.elapsed() < limits.wait);
            while waiting.len() >= limits.waiting.max(1) {
                let oldest = waiting.iter().min_by_key(|(_, it)| it.since).map(|(name, _)| name);
                let Some(oldest) = oldest.cloned() else { break };
                waiting.remove(&oldest);
            }
        }
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
    /// [`ChannelError::Io`]: also for a name that cannot be.
    pub fn route(self, end: End, name: &str, wait: Duration) -> Result<Self, Error> {
        let run = || {
            if !is_name(name) {
                return Err(io::Error::from(ErrorKind::InvalidInput));
            }
            let mut stream = &self.stream;
            stream.write_all(format!("{HEAD}{} {name}\n", end.word()).as_bytes())?;
            stream.set_read_timeout(Some(wait.max(Duration::from_millis(1))))?;
            let mut answer = [0; OK.len()];
            stream.read_exact(&mut answer)?;
            stream.set_read_timeout(None)?;
            match &answer == OK {
                true => Ok(()),
                false => Err(ErrorKind::InvalidData.into()),
            }
        };
        let action = || format!("meet the peer on route {name}");
        match run() {
            Ok(()) => Ok(self),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(ChannelError::io_within(action(), Some(wait), &e).into())
            }
            Err(e) => Err(ChannelError::io(action(), &e).into()),
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
    let deadline = deadline::after(SPEAK);
    let (mut line, mut stream) = (Vec::new(), stream);
    while line.last() != Some(&b'\n') {
        stream.set_read_timeout(Some(deadline::remaining(deadline)?)).ok()?;
        // Byte by byte: what follows is not ours.
        let mut byte = [0];
        if line.len() == MOST || stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        line.extend_from_slice(&byte);
    }
    stream.set_read_timeout(None).ok()?;
    let line = str::from_utf8(&line).ok()?.strip_suffix('\n')?;
    let name = line.strip_prefix(HEAD)?.strip_prefix(end.word())?.strip_prefix(' ')?;
    is_name(name).then(|| name.to_owned())
}

/// Returns true if a connection that waits has not gone.
fn is_there(stream: &TcpStream) -> bool {
    let look = || {
        stream.set_nonblocking(true)?;
        let seen = stream.peek(&mut [0]);
        stream.set_nonblocking(false)?;
        seen
    };
    // Nothing was said since, and nothing was due.
    look().is_err_and(|e| e.kind() == ErrorKind::WouldBlock)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp;

    const WAIT: Duration = Duration::from_secs(20);

    fn gateway(limits: Limits) -> (Gateway, [String; 2]) {
        let gateway = Gateway::open("127.0.0.1:0", "127.0.0.1:0", limits, |_| ()).unwrap();
        let addresses = [gateway.outside().to_string(), gateway.inside().to_string()];
        (gateway, addresses)
    }

    fn meet(address: &str, end: End, name: &str, wait: Duration) -> Result<Socket, Error> {
        tcp::connect(address, WAIT)?.route(end, name, wait)
    }

    #[test]
    fn bytes_go_both_ways_and_ends_are_passed_on() {
        let (_gateway, [outside, inside]) = gateway(Limits::default());
        let other = thread::spawn(move || {
            let mut socket = meet(&inside, End::Inside, "a", WAIT).unwrap();
            let mut all = Vec::new();
            socket.stream.read_to_end(&mut all).unwrap();
            all.reverse();
            socket.stream.write_all(&all).unwrap();
        });
        let mut socket = meet(&outside, End::Outside, "a", WAIT).unwrap();
        let sent: Vec<u8> = (0..200_000_u32).map(|i| i.to_le_bytes()[1]).collect();
        socket.stream.write_all(&sent).unwrap();
        socket.stream.shutdown(Shutdown::Write).unwrap();
        let mut all = Vec::new();
        socket.stream.read_to_end(&mut all).unwrap();
        all.reverse();
        assert!(all == sent);
        other.join().unwrap();
    }

    #[test]
    fn only_both_ends_of_one_route_meet() {
        let (_gateway, [outside, inside]) = gateway(Limits::default());
        let short = Duration::from_millis(300);
        // Another name, the same end twice, and an inner end at the outer door.
        let waiting = thread::spawn({
            let inside = inside.clone();
            move || meet(&inside, End::Inside, "a", Duration::from_secs(2)).map(drop)
        });
        assert!(meet(&outside, End::Outside, "b", short).is_err());
        assert!(meet(&inside, End::Inside, "c", short).is_err());
        assert!(meet(&outside, End::Inside, "a", short).is_err());
        waiting.join().unwrap().unwrap_err();
    }

    #[test]
    fn a_machine_that_is_started_again_takes_its_former_place() {
        let (_gateway, [outside, inside]) = gateway(Limits::default());
        drop(meet(&inside, End::Inside, "a", Duration::from_millis(100)).unwrap_err());
        let second = thread::spawn(move || meet(&inside, End::Inside, "a", WAIT).unwrap());
        let mut socket = meet(&outside, End::Outside, "a", WAIT).unwrap();
        socket.stream.write_all(b"x").unwrap();
        let mut byte = [0];
        second.join().unwrap().stream.read_exact(&mut byte).unwrap();
        assert_eq!(byte, *b"x");
    }

    #[test]
    fn strangers_are_refused_and_push_out_only_strangers() {
        let (_gateway, [outside, inside]) = gateway(Limits { waiting: 4, ..Limits::default() });
        let worker = thread::spawn(move || meet(&inside, End::Inside, "ours", WAIT).map(drop));
        for wrong in [
            "GET / HTTP/1.1\r\n\r\n",
            "FOXTROT ROUTE 1 outside \n",
            "FOXTROT ROUTE 1 outside a b\n",
        ] {
            let mut stranger = TcpStream::connect(&outside).unwrap();
            stranger.write_all(wrong.as_bytes()).unwrap();
            assert!(matches!(stranger.read(&mut [0]), Ok(0) | Err(_)));
        }
        let mut crowd = Vec::new();
        for i in 0..12 {
            let mut stranger = TcpStream::connect(&outside).unwrap();
            stranger.write_all(format!("{HEAD}outside guess{i}\n").as_bytes()).unwrap();
            crowd.push(stranger);
        }
        let mut endless = TcpStream::connect(&outside).unwrap();
        // It is cut off.
        while endless.write_all(&[b'x'; 512]).is_ok() {}
        meet(&outside, End::Outside, "ours", WAIT).unwrap();
        worker.join().unwrap().unwrap();
    }

    #[test]
    fn names_of_routes_are_plain() {
        assert!(is_name("march-list:3:0:00ff") && is_name(&"a".repeat(MOST_NAME)));
        for wrong in ["", "a b", "a\n", "ä", &"a".repeat(MOST_NAME + 1)] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}
