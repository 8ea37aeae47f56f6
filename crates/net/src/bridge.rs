//! Channels over anything that reads and writes: two pipes, a serial line, a tunnel.
//!
//! Reads and writes of such a stream may block for ever. The channel's own thread does the writes and another thread the
//! reads, so that every call of the channel still ends within its timeout.

use core::time::Duration;
use std::{
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    thread,
};

use crate::{Channel, ChannelError, Error, channel::Hook, memory};

/// Bytes that are copied at a time.
const COPIED: usize = 64 << 10;

/// Opens a channel over the halves of a byte stream that is reliable, ordered and, unless both ends are on one machine,
/// already secret and authenticated: nothing is encrypted here.
///
/// When the channel ends, the writer is flushed and dropped before [`Channel::close`] returns, so that the peer reads an
/// end. `closer` is called as a channel's [`Hook`] is: for `Read` and `Both` it should end a read
/// that is under way, for `Write` it may end a direction that no drop ends. Of a `TcpStream` and its clone,
/// `move |how| drop(socket.shutdown(how))` does both. Where nothing ends a read, its thread and the reader stay until
/// the peer ends the stream.
///
/// # Errors
/// [`ChannelError::Io`] if the system does not give a thread.
pub fn open(
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
    closer: impl Fn(Shutdown) + Send + Sync + 'static,
    timeout: Duration,
) -> Result<Channel, Error> {
    let (near, hook) = pump(reader, closer, timeout)?;
    Channel::new(Box::new(near), Box::new(writer), hook, timeout)
}

/// Reads in a thread of its own; returns what reads of it with a deadline, and what ends both.
pub(crate) fn pump(
    mut reader: impl Read + Send + 'static,
    closer: impl Fn(Shutdown) + Send + Sync + 'static,
    timeout: Duration,
) -> Result<(memory::Reader, Hook), Error> {
    let (near, mut far) = memory::one_way(timeout);
    let end_reads = near.hook();
    let hook = Box::new(move |how| {
        end_reads(how);
        closer(how);
    });
    let copying = move || copy(&mut reader, &mut far);
    let started = thread::Builder::new().name("foxtrot-bridge".into()).spawn(copying);
    started.map_err(|e| ChannelError::io("start a thread", &e))?;
    Ok((near, hook))
}

/// Copies until an end or an error of either, and passes on at once what has come.
fn copy(from: &mut impl Read, to: &mut memory::Writer) -> io::Result<()> {
    let mut buffer = vec![0; COPIED];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            match to.write(rest) {
                Ok(written) => rest = &rest[written..],
                // The channel reads when it is asked for a message.
                Err(e) if e.kind() == ErrorKind::TimedOut => {}
                Err(e) => return Err(e),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::pipe,
        net::{TcpListener, TcpStream},
        sync::{Arc, Mutex, mpsc},
        thread,
        time::Duration,
    };

    use super::*;
    use crate::Lane;

    const LONG: Duration = Duration::from_secs(60);

    fn two() -> (Channel, Channel) {
        let ((from_there, to_here), (from_here, to_there)) = (pipe().unwrap(), pipe().unwrap());
        let open = |reader, writer| open(reader, writer, drop, LONG).unwrap();
        (open(from_there, to_there), open(from_here, to_here))
    }

    #[test]
    fn messages_cross_two_pipes_both_ways_at_once() {
        let (here, there) = two();
        let message = |byte: u8| vec![byte; 3 << 20];
        let peer = thread::spawn(move || {
            there.send(Lane::PROTOCOL, message(1)).unwrap();
            let got = there.recv(Lane::PROTOCOL, 3 << 20).unwrap();
            there.close().unwrap();
            got
        });
        here.send(Lane::PROTOCOL, message(2)).unwrap();
        assert!(here.recv(Lane::PROTOCOL, 3 << 20).unwrap() == message(1));
        assert!(peer.join().unwrap() == message(2));
        here.close().unwrap();
    }

    #[test]
    fn a_peer_that_is_gone_is_an_end_and_a_silent_one_a_timeout() {
        let (here, there) = two();
        drop(there);
        assert_eq!(here.recv(Lane::PROTOCOL, 1), Err(ChannelError::ClosedReceiving.into()));
        let (silent, _kept) = pipe().unwrap();
        let short = Duration::from_millis(50);
        let here = open(silent, io::sink(), drop, short).unwrap();
        assert_eq!(here.recv(Lane::PROTOCOL, 1), Err(ChannelError::NothingReceived(short).into()));
    }

    /// Takes bytes slowly, and fails behind so many.
    struct Slow(Arc<Mutex<Vec<u8>>>, usize);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            thread::sleep(Duration::from_millis(200));
            let mut all = self.0.lock().unwrap();
            if all.len() >= self.1 {
                return Err(io::Error::other("the line is down"));
            }
            all.extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn close_returns_when_the_writer_has_all_bytes_and_tells_its_error() {
        let ((never, _kept), all) = (pipe().unwrap(), Arc::default());
        let here = open(never, Slow(Arc::clone(&all), usize::MAX), drop, LONG).unwrap();
        here.send(Lane::PROTOCOL, vec![7; 3]).unwrap();
        here.close().unwrap();
        assert_eq!(*all.lock().unwrap(), [3, 0, 0, 0, 1, 7, 7, 7]);
        let (never, _kept) = pipe().unwrap();
        let here = open(never, Slow(all, 8), drop, LONG).unwrap();
        here.send(Lane::PROTOCOL, vec![7; 3]).unwrap();
        let error = here.close().unwrap_err();
        assert!(error.to_string().contains("the line is down"), "{error}");
    }

    #[test]
    fn a_closer_ends_the_reads_of_both_sides() {
        struct Ends<R>(R, mpsc::Sender<()>);
        impl<R: Read> Read for Ends<R> {
            fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
                self.0.read(bytes)
            }
        }
        impl<R> Drop for Ends<R> {
            fn drop(&mut self) {
                let _ = self.1.send(());
            }
        }
        let listener = TcpListener::bind("localhost:0").unwrap();
        let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (there, _) = listener.accept().unwrap();
        let (tell, ended) = mpsc::channel();
        let [here, there] = [here, there].map(|socket| {
            let [reader, ends] = [&socket, &socket].map(|it| it.try_clone().unwrap());
            let closer = move |how| drop(ends.shutdown(how));
            open(Ends(reader, tell.clone()), socket, closer, LONG).unwrap()
        });
        here.send(Lane::PROTOCOL, vec![1]).unwrap();
        assert_eq!(there.recv(Lane::PROTOCOL, 1).unwrap(), [1]);
        here.close().unwrap();
        ended.recv_timeout(LONG).unwrap();
        assert_eq!(there.recv(Lane::PROTOCOL, 1), Err(ChannelError::ClosedReceiving.into()));
        ended.recv_timeout(LONG).unwrap();
    }
}
