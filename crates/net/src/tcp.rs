//! Channels over TCP.

#[cfg(test)]
mod tests;

use core::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    time::Duration,
};
use std::{
    io::{self, ErrorKind, IoSlice, Read, Write},
    net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs},
    sync::Arc,
    thread,
    time::Instant,
};

use crate::{
    Channel, ChannelError, Error,
    channel::ReadHalf,
    deadline::{self, LONGEST},
};

/// Pause between two looks whether a peer has connected.
const ACCEPT_PAUSE: Duration = Duration::from_millis(5);

/// A time that is not worth dividing: the socket's timeout is all of it.
const SHORT: Duration = Duration::from_millis(20);

/// Pause between two attempts to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(50);

/// The longest time of an attempt: hosts that do not answer may do so later.
const ATTEMPT: Duration = Duration::from_secs(5);

/// A connected socket, on which nothing has been said.
#[derive(Debug)]
pub struct Socket {
    pub(crate) stream: TcpStream,
    pub(crate) timeout: Duration,
    /// The longest time of a handshake.
    pub(crate) handshake: Duration,
}

/// Waits for peers to connect.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    local: SocketAddr,
}

impl Listener {
    /// Listens on `address`, a host name or IP address and a port, say `localhost:7000` or
    /// `[::]:7000`; port 0 lets the system choose.
    ///
    /// # Errors
    /// [`ChannelError::Io`].
    pub fn bind(address: &str) -> Result<Self, Error> {
        let listen = || {
            let socket = TcpListener::bind(address)?;
            // Accepting has no timeout of its own.
            socket.set_nonblocking(true)?;
            Ok(Self { local: socket.local_addr()?, socket })
        };
        listen().map_err(|e| ChannelError::io(format!("listen on {address}"), &e).into())
    }

    /// Returns the address on which the listener listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The next connection; the timeout is for this wait, and for every wait on the connection.
    ///
    /// # Errors
    /// [`ChannelError::NobodyConnected`], [`ChannelError::Io`].
    pub fn accept(&self, timeout: Duration) -> Result<Socket, Error> {
        self.poll(timeout, timeout)?.ok_or_else(|| {
            let address = self.local.to_string();
            ChannelError::NobodyConnected { address, within: timeout }.into()
        })
    }

    /// The next connection, if there is one within the wait; the timeout is for every wait on it.
    pub(crate) fn poll(&self, wait: Duration, timeout: Duration) -> Result<Option<Socket>, Error> {
        let deadline = deadline::after(wait);
        loop {
            match self.socket.accept() {
                Ok((stream, _)) => return Socket::new(stream, timeout).map(Some),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    match deadline::remaining(deadline) {
                        Some(left) => thread::sleep(left.min(ACCEPT_PAUSE)),
                        None => return Ok(None),
                    }
                }
                // Of a peer that has gone again, or of a signal.
                Err(e)
                    if matches!(
                        e.kind(),
                        ErrorKind::ConnectionAborted | ErrorKind::Interrupted
                    ) => {}
                Err(e) => {
                    let action = format!("accept connections on {}", self.local);
                    return Err(ChannelError::io(action, &e).into());
                }
            }
        }
    }
}

/// Connects to `address`, a host name or IP address and a port. While the connection is refused it
/// tries again until the timeout, so that the peer may start later; the timeout is also for every
/// wait on the channel. Looking up the name takes as long as the system lets it.
///
/// # Errors
/// [`ChannelError::Io`].
pub fn connect(address: &str, timeout: Duration) -> Result<Socket, Error> {
    connect_while(address, timeout, timeout, || (), || true)
}

/// [`connect`] with a time of its own, `wait`, in which the peer may start; the timeout is for every wait on the
/// channel only. Calls `refused` once, when the first attempt finds nobody who listens. It goes on for as long as `wanted`
/// says so, which is asked between attempts, a few seconds apart at most.
///
/// # Errors
/// [`ChannelError::Io`]; [`ChannelError::Abandoned`] when it is not wanted any more.
pub fn connect_while(
    address: &str,
    wait: Duration,
    timeout: Duration,
    refused: impl FnOnce(),
    wanted: impl Fn() -> bool,
) -> Result<Socket, Error> {
    let deadline = deadline::after(wait);
    let mut refused = Some(refused);
    let failed = |within, error: &io::Error| {
        Error::Channel(ChannelError::io_within(format!("connect to {address}"), within, error))
    };
    let all: Vec<_> = address.to_socket_addrs().map_err(|e| failed(None, &e))?.collect();
    loop {
        if !wanted() {
            return Err(ChannelError::Abandoned.into());
        }
        let left = deadline::remaining(deadline).unwrap_or_default();
        let attempt = deadline::after(ATTEMPT.min(left));
        let error = match connect_to_one(&all, attempt) {
            Ok(stream) => return Socket::new(stream, timeout),
            Err(e) => e,
        };
        match (error.kind(), deadline::remaining(deadline)) {
            (ErrorKind::TimedOut, Some(_)) => {}
            (ErrorKind::ConnectionRefused, Some(left)) if left > CONNECT_PAUSE => {
                if let Some(refused) = refused.take() {
                    refused();
                }
                thread::sleep(CONNECT_PAUSE);
                // A busy machine wakes us late. Another attempt would have no time, and no better reason.
                if deadline::remaining(deadline).is_none() {
                    return Err(failed(Some(wait), &error));
                }
            }
            (ErrorKind::ConnectionRefused | ErrorKind::TimedOut, _) => {
                return Err(failed(Some(wait), &error));
            }
            _ => return Err(failed(None, &error)),
        }
    }
}

/// A stream to the first of the addresses that takes it; else the most hopeful error.
fn connect_to_one(all: &[SocketAddr], deadline: Instant) -> io::Result<TcpStream> {
    let mut error = io::Error::from(ErrorKind::TimedOut);
    for (i, one) in all.iter().enumerate() {
        let Some(left) = deadline::remaining(deadline) else { break };
        // None of them may use up the time of those behind it.
        let share = left / u32::try_from(all.len() - i).unwrap_or(u32::MAX);
        match TcpStream::connect_timeout(one, share.max(Duration::from_millis(1))) {
            // Nobody listens, and the system connected the socket's port to itself.
            Ok(stream) if stream.local_addr().is_ok_and(|local| local == *one) => {
                error = ErrorKind::ConnectionRefused.into();
            }
            Ok(stream) => return Ok(stream),
            Err(_) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(e) => error = e,
        }
    }
    Err(error)
}

impl Socket {
    fn new(stream: TcpStream, timeout: Duration) -> Result<Self, Error> {
        let timeout = timeout.clamp(Duration::from_millis(1), LONGEST);
        let configure = || {
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
            stream.set_write_timeout(Some(timeout))
        };
        configure().map_err(|e| ChannelError::io("set up the connection", &e))?;
        Ok(Self { stream, timeout, handshake: timeout })
    }

    /// Ends a handshake that takes longer than this.
    #[must_use]
    pub fn shake_hands_within(self, limit: Duration) -> Self {
        Self { handshake: self.handshake.min(limit), ..self }
    }

    /// The address of the other end, in words if the system does not know it any more.
    #[must_use]
    pub fn peer_address(&self) -> String {
        self.stream.peer_addr().map_or("an unknown address".into(), |address| address.to_string())
    }

    /// Returns the source of the connection: an IPv4 address, or an IPv6 network, for each host has 2⁶⁴ addresses there.
    #[must_use]
    pub fn source(&self) -> String {
        match self.stream.peer_addr().map(|address| address.ip().to_canonical()) {
            Ok(IpAddr::V4(ip)) => ip.to_string(),
            Ok(IpAddr::V6(ip)) => format!("{}/64", Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
            Err(_) => "an unknown address".into(),
        }
    }

    /// A second handle, by which another thread can end what is under way on the connection.
    ///
    /// # Errors
    /// [`ChannelError::Io`].
    pub fn closer(&self) -> Result<impl Fn() + Send + use<>, Error> {
        let stream = self.stream.try_clone();
        let stream = stream.map_err(|e| ChannelError::io("set up the connection", &e))?;
        Ok(move || drop(stream.shutdown(Shutdown::Both)))
    }

    /// A channel over the bare socket: neither secret nor authenticated.
    ///
    /// # Errors
    /// [`ChannelError::Io`].
    pub fn open(self) -> Result<Channel, Error> {
        self.open_through(|writer| writer)
    }

    /// The bare socket as one of tokio's runtime.
    ///
    /// # Errors
    /// [`ChannelError::Io`].
    ///
    /// # Panics
    /// Outside of a runtime of tokio that has its I/O enabled.
    #[cfg(feature = "tokio-net")]
    pub fn stream(self) -> Result<tokio::net::TcpStream, Error> {
        let register = || {
            self.stream.set_nonblocking(true)?;
            tokio::net::TcpStream::from_std(self.stream)
        };
        register().map_err(|e| ChannelError::io("set up the connection", &e).into())
    }

    /// Opens a channel whose output passes through a writer of one's own, in the channel's
    /// thread: to measure it, for example.
    ///
    /// # Errors
    /// [`ChannelError::Io`].
    pub fn open_through(
        self,
        through: impl FnOnce(Box<dyn Write + Send>) -> Box<dyn Write + Send>,
    ) -> Result<Channel, Error> {
        let socket = Arc::new(self.stream);
        let reader = Reader { socket: Arc::clone(&socket), timeout: ReadTimeout::default() };
        let writer = Writer(Arc::clone(&socket));
        // That the peer has shut it already is no news here.
        let hook = Box::new(move |how| drop(socket.shutdown(how)));
        Channel::new(Box::new(reader), through(Box::new(writer)), hook, self.timeout)
    }
}

/// The timeout of a socket's reads, so that one read after another does not set it again. It is the longest one while the
/// socket has none that is known.
#[derive(Debug)]
pub(crate) struct ReadTimeout(Duration);

impl Default for ReadTimeout {
    fn default() -> Self {
        Self(Duration::MAX)
    }
}

impl ReadTimeout {
    /// Reads until the deadline.
    pub(crate) fn read_by(
        &mut self,
        mut socket: &TcpStream,
        deadline: Instant,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        loop {
            let left = deadline::remaining(deadline).ok_or(ErrorKind::TimedOut)?;
            if self.0 > left {
                // Some less than all, which is enough for the next read also; if not, it is set again.
                let set = if left < SHORT { left } else { left / 4 * 3 };
                socket.set_read_timeout(Some(set))?;
                self.0 = set;
            }
            match socket.read(buffer) {
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    *self = Self::default();
                }
                done => return done,
            }
        }
    }
}

struct Reader {
    socket: Arc<TcpStream>,
    timeout: ReadTimeout,
}

struct Writer(Arc<TcpStream>);

impl ReadHalf for Reader {
    fn read_by(&mut self, deadline: Instant, buffer: &mut [u8]) -> io::Result<usize> {
        self.timeout.read_by(&self.socket, deadline, buffer)
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self.0).write_vectored(slices)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
