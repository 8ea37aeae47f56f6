//! The bytes of a channel in WebSocket frames. A message has no meaning: what counts is the bytes of all binary messages,
//! one after another.

use core::time::Duration;
use std::{
    io::{self, Cursor, ErrorKind, IoSlice, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tungstenite::protocol::frame::{
    FrameHeader,
    coding::{Control, Data, OpCode},
};

use crate::{Channel, Error, channel::ReadHalf, deadline::Deadline, tcp::ReadTimeout};

/// Bytes that are read at a time.
const READ: usize = 64 << 10;

/// The most bytes of a message that is sent.
const MOST: usize = 256 << 10;

/// The longest payload of a control frame.
const MAX_CONTROL: u64 = 125;

/// The longest header of a frame.
const MAX_HEADER: usize = 14;

/// The end of the connection by which both halves and the channel's hook write.
struct Out {
    stream: Arc<TcpStream>,
    /// Held while a frame is written. True when the connection was closed.
    writes: Mutex<bool>,
    /// The answer to the peer's last ping, which the next frame follows.
    pong: Mutex<Option<Vec<u8>>>,
}

struct Reader {
    out: Arc<Out>,
    timeout: ReadTimeout,
    deadline: Deadline,
    /// Bytes that were read, from `at` on.
    buffer: Vec<u8>,
    at: usize,
    /// Bytes of the present frame's payload that have not been handed out, its mask, and how many were.
    left: u64,
    mask: [u8; 4],
    turned: usize,
    /// True within a message whose last frame has not come.
    is_open: bool,
    has_ended: bool,
}

struct Writer {
    out: Arc<Out>,
    frame: Vec<u8>,
}

/// A channel over a connection whose handshake is done. `rest` came behind the handshake.
pub(super) fn open(
    stream: Arc<TcpStream>,
    rest: Vec<u8>,
    timeout: Duration,
) -> Result<Channel, Error> {
    let (writes, pong) = Default::default();
    let out = Arc::new(Out { stream: Arc::clone(&stream), writes, pong });
    let reader = Reader {
        out: Arc::clone(&out),
        timeout: ReadTimeout::default(),
        deadline: Deadline::after(timeout),
        buffer: rest,
        at: 0,
        left: 0,
        mask: [0; 4],
        turned: 0,
        is_open: false,
        has_ended: false,
    };
    let writer = Writer { out: Arc::clone(&out), frame: Vec::new() };
    let hook = Box::new(move |how| {
        if how != Shutdown::Read {
            out.say_goodbye();
        }
        // That the peer has shut it already is no news here.
        let _ = stream.shutdown(how);
    });
    Channel::new(Box::new(reader), Box::new(writer), hook, timeout)
}

impl Out {
    /// Writes a frame whole, and a pong that is owed before it.
    fn write(&self, guard: &mut MutexGuard<'_, bool>, frame: &[u8]) -> io::Result<()> {
        let mut stream = &*self.stream;
        if **guard {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let pong = lock(&self.pong).take();
        if let Some(payload) = pong {
            stream.write_all(&control(Control::Pong, &payload))?;
        }
        stream.write_all(frame)
    }

    /// Owes a pong, and pays if nobody writes now.
    fn owe(&self, payload: Vec<u8>) -> io::Result<()> {
        *lock(&self.pong) = Some(payload);
        match self.writes.try_lock() {
            Ok(mut guard) => self.write(&mut guard, &[]),
            // The frame that is under way is paid behind.
            Err(_) => Ok(()),
        }
    }

    /// Tells the peer that nothing follows, unless a frame is stuck half way.
    fn say_goodbye(&self) {
        if let Ok(mut guard) = self.writes.try_lock() {
            let normal = 1000_u16.to_be_bytes();
            let _ = self.write(&mut guard, &control(Control::Close, &normal));
            *guard = true;
        }
    }
}

impl Reader {
    /// Reads more into the buffer; false at the end of the connection.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let have = self.buffer.len();
        self.buffer.resize(have + READ, 0);
        let read = self.timeout.read_by(&self.out.stream, self.deadline, &mut self.buffer[have..]);
        self.buffer.truncate(have + *read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }

    /// Reads headers and control frames until payload is to be read; false at the end.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            let mut cursor = Cursor::new(&self.buffer[self.at..]);
            let header = FrameHeader::parse(&mut cursor).map_err(|_| wrong("a malformed frame"))?;
            let len = usize::try_from(cursor.position()).unwrap_or(usize::MAX);
            let Some((header, payload)) = header else {
                if self.buffer.len() - self.at >= MAX_HEADER {
                    return Err(wrong("a malformed frame"));
                }
                match self.fill()? {
                    true => continue,
                    // Without a closing frame: the connection was lost.
                    false => return Err(ErrorKind::UnexpectedEof.into()),
                }
            };
            let FrameHeader { is_final, rsv1, rsv2, rsv3, opcode, mask } = header;
            let Some(mask) = mask.filter(|_| !(rsv1 || rsv2 || rsv3)) else {
                return Err(wrong("a frame without a mask, or of an extension"));
            };
            match opcode {
                OpCode::Data(kind) => {
                    if self.is_open != (kind == Data::Continue)
                        || !matches!(kind, Data::Continue | Data::Binary)
                    {
                        return Err(wrong("no binary message"));
                    }
                    self.at += len;
                    (self.is_open, self.left) = (!is_final, payload);
                    (self.mask, self.turned) = (mask, 0);
                    if payload > 0 {
                        return Ok(true);
                    }
                }
                OpCode::Control(kind) => {
                    if payload > MAX_CONTROL || !is_final {
                        return Err(wrong("a malformed control frame"));
                    }
                    let payload = usize::try_from(payload).unwrap_or_default();
                    if self.buffer.len() - self.at < len + payload {
                        if !self.fill()? {
                            return Err(ErrorKind::UnexpectedEof.into());
                        }
                        continue;
                    }
                    let start = self.at + len;
                    let mut bytes = self.buffer[start..start + payload].to_vec();
                    unmask(&mut bytes, mask, 0);
                    self.at = start + payload;
                    match kind {
                        Control::Close => return Ok(false),
                        Control::Ping => self.out.owe(bytes)?,
                        _ => {}
                    }
                }
            }
        }
    }
}

impl Read for Reader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() || self.has_ended {
            return Ok(0);
        }
        if self.left == 0 && !self.next_frame()? {
            self.has_ended = true;
            return Ok(0);
        }
        if self.at == self.buffer.len() && !self.fill()? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let here = &self.buffer[self.at..];
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let some = to.len().min(here.len()).min(left);
        to[..some].copy_from_slice(&here[..some]);
        unmask(&mut to[..some], self.mask, self.turned);
        self.at += some;
        self.left -= some as u64;
        self.turned = (self.turned + some) % 4;
        Ok(some)
    }
}

impl ReadHalf for Reader {
    fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Deadline::at(deadline);
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let all: usize = slices.iter().map(|slice| slice.len()).sum();
        let len = all.min(MOST);
        if len == 0 {
            return Ok(0);
        }
        self.frame.clear();
        let opcode = OpCode::Data(Data::Binary);
        let header = FrameHeader { opcode, ..FrameHeader::default() };
        header.format(len as u64, &mut self.frame).map_err(io::Error::other)?;
        let mut left = len;
        for slice in slices {
            let some = left.min(slice.len());
            self.frame.extend_from_slice(&slice[..some]);
            left -= some;
        }
        self.out.write(&mut lock(&self.out.writes), &self.frame)?;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A control frame with a payload of at most 125 bytes.
fn control(kind: Control, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(MAX_HEADER + payload.len());
    let header = FrameHeader { opcode: OpCode::Control(kind), ..FrameHeader::default() };
    // Into memory, which does not fail.
    let _ = header.format(payload.len() as u64, &mut frame);
    frame.extend_from_slice(payload);
    frame
}

/// Removes the mask of bytes of which the first is the one with this number.
fn unmask(bytes: &mut [u8], mask: [u8; 4], first: usize) {
    let mask: [u8; 4] = core::array::from_fn(|i| mask[(first + i) % 4]);
    let (words, rest) = bytes.as_chunks_mut::<4>();
    words.iter_mut().for_each(|word| word.iter_mut().zip(mask).for_each(|(byte, m)| *byte ^= m));
    rest.iter_mut().zip(mask).for_each(|(byte, m)| *byte ^= m);
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
