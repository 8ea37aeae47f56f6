//! Channels over a serial line to a device, under a pre-shared key (`docs/wire/line.md`, section 22).

use core::time::Duration;
use std::{
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    sync::{Arc, Mutex, TryLockError},
    time::Instant,
};

use foxtrot_ot::engine::batches::WINDOW;
use foxtrot_ot::line::{
    self, ANSWER_LEN, Broken, HEAD_LEN, Initiator, Key, MAGIC, OPENING_LEN, OVERHEAD, Opener,
    Responder, Sealer,
};

use crate::{
    Channel, ChannelError, Error, bridge,
    channel::{ReadHalf, buffer},
    deadline::{self, lock},
    hello::fresh_nonce,
};

/// The time after which an opening that nobody has answered is repeated: the device may have started later.
const AGAIN: Duration = Duration::from_secs(2);

/// The longest wait at the end for the device's last record.
const LAST: Duration = Duration::from_secs(1);

/// A channel to a device that has the same key.
#[derive(Debug)]
pub struct Secured {
    /// The channel.
    pub channel: Channel,
    /// Bytes that bind the hello to the line, for [`Hello::bound_by`](crate::hello::Hello::bound_by).
    pub exporter: [u8; 32],
}

/// Opens a channel to the device at the other end, which has `wait` to appear. The line need not be reliable: what it loses
/// or changes ends the session. `closer` is as for [`bridge::open`].
///
/// # Errors
/// [`ChannelError::NothingReceived`] if nobody answers; [`ChannelError::Io`] if the other end has another key, or
/// something fails.
pub fn connect(
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
    closer: impl Fn(Shutdown) + Send + Sync + 'static,
    key: Key,
    wait: Duration,
    timeout: Duration,
) -> Result<Secured, Error> {
    let (initiator, opening) = Initiator::open(key, fresh_nonce()?);
    let end = deadline::after(wait);
    open(reader, writer, closer, [wait, timeout], |reader, writer| {
        let answer = loop {
            writer.write_all(&opening)?;
            writer.flush()?;
            let again = deadline::after(AGAIN).min(end);
            match after_magic::<ANSWER_LEN>(reader, again, timeout) {
                Err(e) if e.kind() == ErrorKind::TimedOut && deadline::remaining(end).is_some() => {
                }
                answer => break answer?,
            }
        };
        let (line, confirmation) = initiator.confirm(&answer).map_err(broken)?;
        writer.write_all(&confirmation)?;
        writer.flush()?;
        Ok(line)
    })
}

/// Opens a channel as the device's end does, for a device that has an operating system, and for tests.
///
/// # Errors
/// As of [`connect`].
pub fn accept(
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
    closer: impl Fn(Shutdown) + Send + Sync + 'static,
    key: Key,
    wait: Duration,
    timeout: Duration,
) -> Result<Secured, Error> {
    let nonce = fresh_nonce()?;
    let end = deadline::after(wait);
    open(reader, writer, closer, [wait, timeout], |reader, writer| {
        let opening = after_magic::<OPENING_LEN>(reader, end, timeout)?;
        let (responder, answer) = Responder::answer(key, &opening, nonce).map_err(broken)?;
        writer.write_all(&answer)?;
        writer.flush()?;
        let mut confirmation = [0; line::CONFIRMATION_LEN];
        reader.deadline = deadline::after(timeout);
        reader.read_exact(&mut confirmation)?;
        responder.finish(&confirmation).map_err(broken)
    })
}

/// Opens a channel when both ends have shaken hands.
fn open<W: Write + Send + 'static>(
    reader: impl Read + Send + 'static,
    mut writer: W,
    closer: impl Fn(Shutdown) + Send + Sync + 'static,
    [wait, timeout]: [Duration; 2],
    shake_hands: impl FnOnce(&mut buffer::Reader, &mut W) -> io::Result<line::Line>,
) -> Result<Secured, Error> {
    let (inner, hook) = bridge::pump(reader, closer, timeout)?;
    let mut inner = buffer::Reader::new(Box::new(inner));
    let line = shake_hands(&mut inner, &mut writer).map_err(|e| {
        let late = ChannelError::NothingReceived(wait);
        ChannelError::of(&e, late, ChannelError::ClosedReceiving, "secure the line")
    })?;
    let exporter = line.exporter;
    let (sealer, opener) = line.into_halves();
    let reader =
        Reader { inner, opener, record: Vec::new(), next: 0, ended: false, is_broken: false };
    let reader = Arc::new(Mutex::new(reader));
    let at_end = Arc::clone(&reader);
    let hook = Box::new(move |how| {
        if how == Shutdown::Both {
            wait_for_the_last_record(&at_end);
        }
        hook(how);
    });
    let writer = Box::new(Writer { inner: writer, sealer });
    let channel = Channel::new(Box::new(Shared(reader)), writer, hook, timeout)?;
    // No read is cut short, as it would lose the beginning of a record.
    channel.set_window(WINDOW);
    Ok(Secured { channel, exporter })
}

/// Keeps the line open until the other end has said its last word, and so has all of ours: an emulator drops what it has
/// not handed to its machine when the line ends.
fn wait_for_the_last_record(reader: &Mutex<Reader>) {
    let mut reader = match reader.try_lock() {
        Ok(reader) => reader,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // Somebody waits for a message, who is to be ended.
        Err(TryLockError::WouldBlock) => return,
    };
    reader.inner.deadline = deadline::after(LAST);
    while !reader.ended && !reader.is_broken {
        // An error breaks the reader.
        let _ = reader.fill();
    }
}

/// The bytes from the magic on. Bytes before it are of an earlier session, or of a console.
fn after_magic<const L: usize>(
    reader: &mut buffer::Reader,
    begin_by: Instant,
    timeout: Duration,
) -> io::Result<[u8; L]> {
    let mut all = [0; L];
    let window = &mut all[..MAGIC.len()];
    while *window != MAGIC {
        window.rotate_left(1);
        reader.deadline = begin_by;
        reader.read_exact(&mut window[MAGIC.len() - 1..])?;
    }
    reader.deadline = deadline::after(timeout);
    reader.read_exact(&mut all[MAGIC.len()..])?;
    Ok(all)
}

fn broken(why: Broken) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// Opens records, whose texts are the bytes that it reads.
struct Reader {
    inner: buffer::Reader,
    opener: Opener,
    record: Vec<u8>,
    /// The first byte of the record's text that has not been taken.
    next: usize,
    ended: bool,
    /// An error has come, after which there are no more records.
    is_broken: bool,
}

/// A reader that the end of the channel reads from also.
struct Shared(Arc<Mutex<Reader>>);

/// Seals what it writes.
struct Writer<W: Write> {
    inner: W,
    sealer: Sealer,
}

impl Reader {
    /// Reads the next record and opens it.
    fn fill(&mut self) -> io::Result<()> {
        let filled = self.read_record();
        self.is_broken = filled.is_err();
        filled
    }

    fn read_record(&mut self) -> io::Result<()> {
        let mut head = [0; HEAD_LEN];
        self.inner.read_exact(&mut head)?;
        let len = Opener::record_len(head).map_err(broken)?;
        self.record.clear();
        self.record.extend(head);
        self.record.resize(len, 0);
        self.inner.read_exact(&mut self.record[HEAD_LEN..])?;
        let text_len = self.opener.open(&mut self.record).map_err(broken)?.len();
        self.record.truncate(HEAD_LEN + text_len);
        (self.next, self.ended) = (HEAD_LEN, text_len == 0);
        Ok(())
    }
}

impl ReadHalf for Shared {
    fn read_by(&mut self, deadline: Instant, bytes: &mut [u8]) -> io::Result<usize> {
        let mut reader = lock(&self.0);
        reader.inner.deadline = deadline;
        if reader.next >= reader.record.len() && !reader.ended {
            reader.fill()?;
        }
        let read = (&reader.record[reader.next.min(reader.record.len())..]).read(bytes)?;
        reader.next += read;
        Ok(read)
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let text = &bytes[..bytes.len().min(line::MOST)];
        let mut record = [0; line::MOST + OVERHEAD];
        let len = self.sealer.seal(text, &mut record);
        // Whole or not at all: a record that was written in part ends the line.
        self.inner.write_all(&record[..len])?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        let mut record = [0; OVERHEAD];
        let len = self.sealer.seal(&[], &mut record);
        // Nobody is left to be told.
        let _ = self.inner.write_all(&record[..len]).and_then(|()| self.inner.flush());
    }
}

#[cfg(test)]
mod tests;
