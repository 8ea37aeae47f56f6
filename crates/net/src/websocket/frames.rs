//! The bytes of a channel in WebSocket frames. A message has no meaning: what counts is the bytes of all binary messages,
//! one after another.

use core::time::Duration;
use std::{
    io::{self, Cursor, ErrorKind, IoSlice, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex, MutexGuard},
    time::Instant,
};

use tungstenite::protocol::frame::{
    FrameHeader,
    coding::{Control, Data, OpCode},
};

use crate::{Channel, ChannelError, Error, channel::ReadHalf, deadline::lock, tcp::ReadTimeout};

/// Bytes that are read at a time.
const READ: usize = 64 << 10;

/// The most bytes of a message that is sent.
pub(super) const MOST: usize = 256 << 10;

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

/// The frames of a peer, and what they carry: a decoder that reads nothing by itself.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Bytes that were read, from `at` on.
    buffer: Vec<u8>,
    at: usize,
    /// Bytes of the present frame's payload that have not been handed out, its mask, and how many were.
    left: u64,
    mask: [u8; 4],
    turned: usize,
    /// True within a message whose last frame has not come.
    is_open: bool,
    /// True when some payload was handed out.
    pub(super) has_spoken: bool,
}

/// The next part of a peer's frames.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Payload, of this many bytes.
    Payload(usize),
    /// Nothing before more bytes were read.
    More,
    /// A ping, with its content.
    Ping(Vec<u8>),
    /// The peer's closing frame.
    Closed,
}

struct Reader {
    out: Arc<Out>,
    timeout: ReadTimeout,
    frames: Frames,
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
        frames: Frames::behind(rest),
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

impl Frames {
    /// The frames that begin with bytes that were read already.
    pub(super) fn behind(rest: Vec<u8>) -> Self {
        Self { buffer: rest, ..Self::default() }
    }

    /// The place for more bytes, which [`filled`](Self::filled) takes.
    pub(super) fn room(&mut self) -> &mut [u8] {
        self.buffer.drain(..self.at);
        self.at = 0;
        let have = self.buffer.len();
        self.buffer.resize(have + READ, 0);
        &mut self.buffer[have..]
    }

    /// Takes the first bytes of the place, and no others.
    pub(super) fn filled(&mut self, read: usize) {
        self.buffer.truncate(self.buffer.len() - READ + read);
    }

    /// Hands out payload, which is at most as long as there is room, or says what comes in its place.
    pub(super) fn next(&mut self, to: &mut [u8]) -> io::Result<Next> {
        while self.left == 0 {
            if let Some(next) = self.next_frame()? {
                return Ok(next);
            }
        }
        let here = &self.buffer[self.at..];
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let some = to.len().min(here.len()).min(left);
        if some == 0 {
            return Ok(Next::More);
        }
        to[..some].copy_from_slice(&here[..some]);
        unmask(&mut to[..some], self.mask, self.turned);
        self.at += some;
        self.left -= some as u64;
        self.turned = (self.turned + some) % 4;
        self.has_spoken = true;
        Ok(Next::Payload(some))
    }

    /// Reads the header of a frame, and the whole of one without payload for us.
    fn next_frame(&mut self) -> io::Result<Option<Next>> {
        let mut cursor = Cursor::new(&self.buffer[self.at..]);
        let header = FrameHeader::parse(&mut cursor).map_err(|_| wrong("a malformed frame"))?;
        let len = usize::try_from(cursor.position()).unwrap_or(usize::MAX);
        let Some((header, payload)) = header else {
            return match self.buffer.len() - self.at >= MAX_HEADER {
                true => Err(wrong("a malformed frame")),
                false => Ok(Some(Next::More)),
            };
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
                Ok(None)
            }
            OpCode::Control(kind) => {
                if payload > MAX_CONTROL || !is_final {
                    return Err(wrong("a malformed control frame"));
                }
                let start = self.at + len;
                let end = start + usize::try_from(payload).unwrap_or_default();
                let Some(bytes) = self.buffer.get(start..end) else {
                    return Ok(Some(Next::More));
                };
                let mut bytes = bytes.to_vec();
                unmask(&mut bytes, mask, 0);
                self.at = end;
                Ok(match kind {
                    Control::Close => Some(Next::Closed),
                    Control::Ping => Some(Next::Ping(bytes)),
                    _ => None,
                })
            }
        }
    }
}

impl Reader {
    /// Reads more into the buffer; false at the end of the connection.
    fn fill(&mut self, deadline: Instant) -> io::Result<bool> {
        let room = self.frames.room();
        let read = self.timeout.read_by(&self.out.stream, deadline, room);
        self.frames.filled(*read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }
}

impl ReadHalf for Reader {
    fn read_by(&mut self, deadline: Instant, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() || self.has_ended {
            return Ok(0);
        }
        loop {
            match self.frames.next(to)? {
                Next::Payload(some) => return Ok(some),
                Next::Ping(bytes) => self.out.owe(bytes)?,
                Next::Closed => {
                    self.has_ended = true;
                    return match self.frames.has_spoken {
                        true => Ok(0),
                        false => Err(io::Error::other(ChannelError::Served)),
                    };
                }
                Next::More if self.fill(deadline)? => {}
                // Without a closing frame: the connection was lost.
                Next::More => return Err(ErrorKind::UnexpectedEof.into()),
            }
        }
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
        header(OpCode::Data(Data::Binary), len, &mut self.frame);
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

/// Puts the header of a frame behind others.
pub(super) fn header(opcode: OpCode, len: usize, to: &mut Vec<u8>) {
    // Into memory, which does not fail.
    let _ = FrameHeader { opcode, ..FrameHeader::default() }.format(len as u64, to);
}

/// A control frame with a payload of at most 125 bytes.
pub(super) fn control(kind: Control, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(MAX_HEADER + payload.len());
    header(OpCode::Control(kind), payload.len(), &mut frame);
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

/// Reads frames that come in these pieces: all payload, the pings, and true if a closing frame was there.
///
/// # Errors
/// As of a connection.
#[cfg(any(test, feature = "fuzzing"))]
#[cfg_attr(not(feature = "fuzzing"), expect(unreachable_pub, reason = "public for fuzzing"))]
pub fn read_all<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<u8>, Vec<Vec<u8>>, io::Result<bool>) {
    let (mut frames, mut all, mut pings) = (Frames::default(), Vec::new(), Vec::new());
    let mut pieces = pieces.into_iter().flat_map(|piece| piece.chunks(READ));
    let mut to = [0; 1000];
    loop {
        match frames.next(&mut to) {
            Ok(Next::Payload(some)) => all.extend_from_slice(&to[..some]),
            Ok(Next::Ping(bytes)) => pings.push(bytes),
            Ok(Next::Closed) => return (all, pings, Ok(true)),
            Ok(Next::More) => {
                let Some(piece) = pieces.next() else { return (all, pings, Ok(false)) };
                frames.room()[..piece.len()].copy_from_slice(piece);
                frames.filled(piece.len());
            }
            Err(e) => return (all, pings, Err(e)),
        }
    }
}
