//! The TLS state between a socket and a channel's two halves.

use core::time::Duration;
use std::{
    io::{self, ErrorKind, IoSlice, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex},
    time::Instant,
};

use rustls::{AlertDescription, CertificateError, Connection};

use super::verify::NotExpected;
use crate::{
    Channel, ChannelError, Error, TlsError,
    channel::ReadHalf,
    deadline::{self, lock},
    tcp::{ReadTimeout, Socket},
};

/// Bytes that a reader takes from its socket at a time: at first, and when more comes.
pub(super) const FIRST_READ: usize = 16 << 10;
pub(super) const MOST_READ: usize = 128 << 10;

/// Plain bytes that become records at a time.
pub(super) const MOST_WRITTEN: usize = 256 << 10;

/// The time for which a side that refuses the other waits for it to take the alert.
const LINGER: Duration = Duration::from_secs(1);

/// Runs the handshake within the timeout.
pub(super) fn handshake(mut connection: Connection, socket: &Socket) -> Result<Connection, Error> {
    let deadline = deadline::after(socket.handshake);
    let timeout = ReadTimeout::default();
    let mut stream = TimedStream { socket: &socket.stream, timeout, deadline };
    while connection.is_handshaking() {
        if let Err(e) = connection.complete_io(&mut stream) {
            let error = error_of(&e, socket.handshake);
            if matches!(error, Error::Tls(_)) {
                linger(&mut connection, stream.socket);
            }
            return Err(error);
        }
    }
    Ok(connection)
}

/// Sends the alert, and waits until the peer has taken it: closing a socket with unread bytes would
/// take it back.
fn linger(connection: &mut Connection, mut socket: &TcpStream) {
    let deadline = deadline::after(LINGER);
    let _ = connection.write_tls(&mut socket);
    let _ = socket.shutdown(Shutdown::Write);
    let (mut rest, mut timeout) = ([0; 4096], ReadTimeout::default());
    while timeout.read_by(socket, deadline, &mut rest).is_ok_and(|read| read > 0) {}
}

/// The channel over a connection after its handshake.
pub(super) fn channel(connection: Connection, socket: Socket) -> Result<Channel, Error> {
    let timeout = socket.timeout;
    let (reader, writer) = halves(connection, socket);
    let shared = Arc::clone(&writer.shared);
    let hook = Box::new(move |how| shared.shut_down(how));
    Channel::new(Box::new(reader), Box::new(writer), hook, timeout)
}

/// The two halves of a connection that a channel reads from and writes to.
pub(super) fn halves(
    mut connection: Connection,
    Socket { stream, timeout, .. }: Socket,
) -> (Reader, Writer) {
    connection.set_buffer_limit(Some(MOST_WRITTEN));
    // The handshake had another one. Only a time of zero is refused.
    let _ = stream.set_write_timeout(Some(timeout));
    let shared = Arc::new(Shared {
        connection: Mutex::new(connection),
        sending: Mutex::new(()),
        socket: stream,
    });
    let reader = Reader {
        shared: Arc::clone(&shared),
        timeout: ReadTimeout::default(),
        raw: Vec::new(),
        pending: 0..0,
    };
    (reader, Writer { shared, records: Vec::new() })
}

/// Our error for an I/O error, which may wrap one of rustls.
fn error_of(error: &io::Error, timeout: Duration) -> Error {
    if let Some(tls) = wrapped(error) {
        return match tls {
            rustls::Error::InvalidMessage(_) => TlsError::NotTls,
            _ => tls_error(tls),
        }
        .into();
    }
    let late = ChannelError::NothingReceived(timeout);
    ChannelError::of(error, late, ChannelError::ClosedReceiving, "agree on keys with the peer")
        .into()
}

/// The I/O error of a stream for one that may wrap one of rustls.
pub(super) fn in_our_words(error: io::Error) -> io::Error {
    match wrapped(&error) {
        Some(tls) => io::Error::other(tls_error(tls)),
        None => error,
    }
}

fn wrapped(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Our error for one of rustls, by the side that has to act on it.
pub(super) fn tls_error(error: &rustls::Error) -> TlsError {
    use AlertDescription as Alert;
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(other)) => {
            match other.0.downcast_ref::<NotExpected>() {
                Some(NotExpected(peer)) => TlsError::NotExpected { peer: peer.to_string() },
                None => TlsError::Failed(error.to_string()),
            }
        }
        rustls::Error::AlertReceived(
            Alert::CertificateUnknown
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::UnknownCA
            | Alert::AccessDenied,
        ) => TlsError::NotAccepted,
        _ => TlsError::Failed(error.to_string()),
    }
}

/// A socket whose reads and writes end at one deadline.
struct TimedStream<'a> {
    socket: &'a TcpStream,
    timeout: ReadTimeout,
    deadline: Instant,
}

impl Read for TimedStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.timeout.read_by(self.socket, self.deadline, buffer)
    }
}

impl Write for TimedStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = deadline::remaining(self.deadline).ok_or(ErrorKind::TimedOut)?;
        self.socket.set_write_timeout(Some(left))?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Shared {
    /// Held for computing only, never while a socket is waited for.
    connection: Mutex<Connection>,
    /// Held while records are made and written, so that they keep their order.
    sending: Mutex<()>,
    socket: TcpStream,
}

impl Shared {
    /// Lets `fill` give the connection something to send, and sends it; the records go through `records`.
    fn send<T>(
        &self,
        records: &mut Vec<u8>,
        fill: impl FnOnce(&mut Connection) -> io::Result<T>,
    ) -> io::Result<T> {
        let _in_order = lock(&self.sending);
        records.clear();
        let filled = {
            let mut connection = lock(&self.connection);
            let filled = fill(&mut connection)?;
            while connection.wants_write() {
                connection.write_tls(records)?;
            }
            filled
        };
        (&self.socket).write_all(records)?;
        Ok(filled)
    }

    fn shut_down(&self, how: Shutdown) {
        if how == Shutdown::Write {
            // The peer may be gone already.
            let _ = self.send(&mut Vec::new(), |connection| {
                connection.send_close_notify();
                Ok(())
            });
        }
        let _ = self.socket.shutdown(how);
    }
}

pub(super) struct Writer {
    shared: Arc<Shared>,
    /// Records, before they go to the socket.
    records: Vec<u8>,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let Self { shared, records } = self;
        // Once the reader has found what ends the connection, a write fails with that too, and its
        // error may be the first that the channel sees.
        let sent = shared.send(records, |connection| connection.writer().write_vectored(slices));
        sent.map_err(in_our_words)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) struct Reader {
    shared: Arc<Shared>,
    timeout: ReadTimeout,
    /// Bytes from the socket; those in `pending` have not been given to the connection.
    raw: Vec<u8>,
    pending: core::ops::Range<usize>,
}

impl ReadHalf for Reader {
    fn read_by(&mut self, deadline: Instant, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let plain = lock(&self.shared.connection).reader().read(buffer);
            match plain {
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.receive(deadline)?,
                done => return done,
            }
        }
    }
}

impl Reader {
    /// Gives the connection more of the peer's bytes.
    fn receive(&mut self, deadline: Instant) -> io::Result<()> {
        let mut ended = false;
        if self.pending.is_empty() {
            if self.pending.end == self.raw.len() && self.raw.len() < MOST_READ {
                // The last read filled it: more comes than it takes.
                self.raw = vec![0; (2 * self.raw.len()).max(FIRST_READ)];
            }
            let (shared, raw) = (&self.shared, &mut self.raw);
            let read = self.timeout.read_by(&shared.socket, deadline, raw)?;
            self.pending = 0..read;
            ended = read == 0;
        }
        let processed = {
            let mut connection = lock(&self.shared.connection);
            if ended {
                connection.read_tls(&mut io::empty())?;
            }
            let mut bytes = &self.raw[self.pending.clone()];
            let taken = if bytes.is_empty() { 0 } else { connection.read_tls(&mut bytes)? };
            self.pending.start += taken;
            // What this wants sent, an alert or the answer to a key update, goes out with our next
            // records: sending here would wait for the writer.
            connection.process_new_packets().map(drop)
        };
        processed.map_err(|e| io::Error::other(tls_error(&e)))
    }
}
