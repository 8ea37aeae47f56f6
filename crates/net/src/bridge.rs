//! Channels over anything that reads and writes: two pipes, a serial line, a tunnel.
//!
//! Reads and writes of such a stream may block for ever. Two threads of the channel's own do them, so that every call of
//! the channel still ends within its timeout.

use core::time::Duration;
use std::{
    io::{self, ErrorKind, Read, Write},
    thread,
};

use crate::{Channel, ChannelError, Error, channel::ReadHalf, deadline::LONGEST, memory};

/// Bytes that are copied at a time.
const COPIED: usize = 64 << 10;

/// Opens a channel over the halves of a byte stream that is reliable, ordered and, unless both ends are on one machine,
/// already secret and authenticated: nothing is encrypted here.
///
/// When the channel ends, the writer is flushed and dropped, so that the peer reads an end; the reader is dropped when its
/// next read returns.
///
/// # Errors
/// [`ChannelError::Io`] if the system does not give a thread.
pub fn open(
    mut reader: impl Read + Send + 'static,
    mut writer: impl Write + Send + 'static,
    timeout: Duration,
) -> Result<Channel, Error> {
    let (near, far) = memory::streams(timeout);
    let memory::Stream { reader: mut outgoing, writer: mut incoming } = far;
    start("foxtrot-bridge-in", move || {
        // The end of either side ends the other: the writer's drop is the end of the stream.
        let _ = copy(&mut reader, &mut incoming);
    })?;
    start("foxtrot-bridge-out", move || {
        outgoing.set_deadline(std::time::Instant::now() + LONGEST);
        let _ = copy(&mut outgoing, &mut writer);
    })?;
    near.open(timeout)
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let started = thread::Builder::new().name(name.into()).spawn(work);
    started.map(drop).map_err(|e| ChannelError::io("start a thread", &e).into())
}

/// Copies until an end or an error, and passes on at once what has come.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; COPIED];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return to.flush(),
            Ok(read) => read,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            match to.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => rest = &rest[written..],
                // Nobody takes it for now; the channel knows by itself when that has been too long.
                Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::TimedOut) => {}
                Err(e) => return Err(e),
            }
        }
        to.flush()?;
    }
}

#[cfg(test)]
mod tests {
    use std::{io::pipe, thread, time::Duration};

    use super::*;
    use crate::Lane;

    const LONG: Duration = Duration::from_secs(60);

    fn two() -> (Channel, Channel) {
        let ((from_there, to_here), (from_here, to_there)) = (pipe().unwrap(), pipe().unwrap());
        (open(from_there, to_there, LONG).unwrap(), open(from_here, to_here, LONG).unwrap())
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
        let here = open(silent, io::sink(), short).unwrap();
        assert_eq!(here.recv(Lane::PROTOCOL, 1), Err(ChannelError::NothingReceived(short).into()));
    }
}
