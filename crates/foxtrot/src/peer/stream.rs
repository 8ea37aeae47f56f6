//! Streams that the caller opened.

use std::{
    fmt,
    io::{Read, Write},
    net::Shutdown,
};

use foxtrot_net::{bridge, channel::Hook, line};

use super::{Bound, Config, Peer, Side, Who};
use crate::Error;

/// The facts about a byte stream that a caller opened: which end it has, and perhaps how it is secured and ended.
///
/// ```
/// use std::{net::{TcpListener, TcpStream}, thread};
/// use foxtrot::{ChannelBinding, Peer, Side, Stream, rot};
///
/// // A stream that some other library has secured, which gives both ends the same exporter (RFC 8446, section 7.5).
/// fn over(socket: TcpStream, exporter: [u8; 32], side: Side) -> Result<Peer, Box<dyn std::error::Error>> {
///     let (reader, ends) = (socket.try_clone()?, socket.try_clone()?);
///     let stream = Stream::new(side)
///         .bound(ChannelBinding::from_exporter(exporter))
///         .name("acme")
///         .closer(move |how| drop(ends.shutdown(how)));
///     Ok(Peer::over(reader, socket, stream)?)
/// }
///
/// let listener = TcpListener::bind("localhost:0")?;
/// let address = listener.local_addr()?;
/// let other = thread::spawn(move || {
///     let mut peer = over(TcpStream::connect(address).unwrap(), [7; 32], Side::Initiator).unwrap();
///     rot::receive(&mut peer, 10).map(drop)
/// });
/// let mut peer = over(listener.accept()?.0, [7; 32], Side::Responder)?;
/// assert_eq!(peer.name(), Some("acme"));
/// assert_eq!(rot::send(&mut peer, 10)?.len(), 10);
/// other.join().expect("no panic")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stream {
    pub(super) side: Side,
    pub(super) binding: Option<ChannelBinding>,
    pub(super) name: Option<String>,
    closer: Option<Hook>,
}

/// A value that only the two ends of one secured connection have: its exporter (RFC 8446, section 7.5; RFC 9266).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChannelBinding(pub(super) [u8; 32]);

impl ChannelBinding {
    /// 32 bytes of the connection's exporter, with a label that nothing else uses.
    #[must_use]
    pub const fn from_exporter(exporter: [u8; 32]) -> Self {
        Self(exporter)
    }
}

impl Stream {
    /// A stream of which this program has that end. A [`Side`] alone does as well.
    #[must_use]
    pub fn new(side: Side) -> Self {
        Self { side, binding: None, name: None, closer: None }
    }

    /// Binds every session to the secured connection below: a party that stands between two connections, and carries messages
    /// from one to the other, makes the first job fail.
    #[must_use]
    pub fn bound(self, binding: ChannelBinding) -> Self {
        Self { binding: Some(binding), ..self }
    }

    /// The name of the peer that the caller has authenticated, for [`Peer::name`].
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// Ends the stream from outside of its halves, as [`TcpStream::shutdown`](std::net::TcpStream::shutdown) does. Without
    /// it the reader and the writer with their threads may stay until the peer ends the stream; two clones of a socket
    /// need it on one side at least. It is called several times. It must not block, panic or call the peer.
    #[must_use]
    pub fn closer(self, closer: impl Fn(Shutdown) + Send + Sync + 'static) -> Self {
        Self { closer: Some(Box::new(closer)), ..self }
    }
}

impl From<Side> for Stream {
    fn from(side: Side) -> Self {
        Self::new(side)
    }
}

impl Config {
    /// Talks to the peer over any reliable byte stream: see [`Peer::over`].
    ///
    /// # Errors
    /// [`Error::Config`] for a configuration with keys: a stream that the caller opened is not secured here, so
    /// [`Config::insecure`] is for it. [`Error::Session`] if the system starts no thread.
    pub fn over(
        &self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        stream: impl Into<Stream>,
    ) -> Result<Peer, Error> {
        if !self.is_insecure() {
            return Err(Error::Config("keys secure sockets only, and no stream of the caller"));
        }
        let Stream { side, binding, name, closer } = stream.into();
        let closer = closer.unwrap_or_else(|| Box::new(drop));
        let channel = self.limited(bridge::open(reader, writer, closer, self.timeout)?);
        let who = Who { name, ..Who::default() };
        Ok(self.over_connection(channel, side, who, Bound::Stream(binding)))
    }

    /// Talks to a device at the other end of a serial line, which a pre-shared key secures and which has this name.
    #[must_use]
    pub fn over_line(&self, line: line::Secured, device: &str) -> Peer {
        let line::Secured { channel, exporter } = line;
        let who = Who { name: Some(device.to_owned()), ..Who::default() };
        let bound = Bound::Stream(Some(ChannelBinding(exporter)));
        self.over_connection(self.limited(channel), Side::Initiator, who, bound)
    }
}

foxtrot_ot::erase::redacted! { ChannelBinding; }

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("side", &self.side)
            .field("binding", &self.binding)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
