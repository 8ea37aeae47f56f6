//! The receiving side of a channel.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read},
    sync::atomic::Ordering,
};

use foxtrot_ot::engine::Spares;

use super::{
    HEADER_BYTES, Lane, MAX_FRAME, PerLane, Phase, QUEUE_BYTES, Reason, Shared, Step,
    buffer::Reader, cost, fits, lock,
};
use crate::{ChannelError, Error, FrameError, TlsError, deadline::Deadline};

/// Frames that came before somebody asked for them, and the means to read more.
pub(super) struct Inbox {
    /// Absent while somebody reads.
    reader: Option<Reader>,
    /// The header of the frame whose payload is to be read next.
    header: Option<Header>,
    lanes: PerLane<Queue>,
    /// The number of frames of the peer's closing that came.
    closing: usize,
}

/// Frames of a lane, and the bytes that count for them.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    frames: VecDeque<Vec<u8>>,
    pub(crate) held: usize,
}

impl Queue {
    pub(crate) fn push(&mut self, frame: Vec<u8>) {
        self.held += cost(frame.len());
        self.frames.push_back(frame);
    }

    pub(crate) fn pop(&mut self) -> Option<Vec<u8>> {
        let frame = self.frames.pop_front()?;
        self.held -= cost(frame.len());
        Some(frame)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns true if there is room for a frame of this length among at most `most` bytes.
    pub(crate) fn has_room(&self, most: usize, len: usize) -> bool {
        fits(most, self.held, len)
    }
}

#[derive(Clone, Copy)]
struct Header {
    lane: Lane,
    len: usize,
}

/// The length of the frame that a receiver waits for.
#[derive(Clone, Copy)]
pub(super) enum Want {
    Exactly(usize),
    /// A frame of at most this length, and on no other lane.
    AtMost(usize),
}

/// The next action of a receiver that waits.
enum Turn {
    Wait,
    ReadHeader(Reader),
    ReadPayload(Reader, Header),
}

impl Header {
    fn is_last_word(self, phase: Phase) -> bool {
        self.lane == Lane::HELLO && phase.is_last_word(self.len)
    }
}

impl Want {
    fn check(self, len: usize) -> Result<(), FrameError> {
        match self {
            Self::Exactly(expected) if len != expected => {
                Err(FrameError::Length { expected, got: len })
            }
            Self::AtMost(max) if len > max => Err(FrameError::TooLong { max, got: len }),
            _ => Ok(()),
        }
    }
}

impl Inbox {
    pub(super) fn new(reader: Reader) -> Self {
        Self { reader: Some(reader), header: None, lanes: PerLane::default(), closing: 0 }
    }

    /// Expects the frames of another session.
    pub(super) fn begin_again(&mut self) {
        self.closing = 0;
    }

    /// A lane of protocols with a frame that nobody has asked for.
    pub(super) fn any_held(&self) -> Option<Lane> {
        let next = self.header.map(|header| header.lane).filter(|lane| *lane != Lane::HELLO);
        let held = |(index, queue): (u8, &Queue)| {
            Lane::new(index).filter(|lane| *lane != Lane::HELLO && !queue.is_empty())
        };
        next.or_else(|| (0..).zip(self.lanes.iter()).find_map(held))
    }

    /// Refuses what the peer may not send after its closing, or ours.
    fn check_closing(&self, header: Header, phase: Phase) -> Result<(), FrameError> {
        let surplus = match header.lane {
            Lane::HELLO => phase.is_session() && self.closing == Step::COUNT,
            _ => phase == Phase::Closing || self.closing > 0,
        };
        if surplus { Err(FrameError::Surplus { lane: header.lane.index() }) } else { Ok(()) }
    }

    /// The turn of somebody who waits for one of these messages; a lane holds back at most so many bytes.
    fn turn(
        &mut self,
        wanted: &[(Lane, Want)],
        phase: Phase,
        most: usize,
    ) -> Result<Turn, FrameError> {
        if let Some(header) = self.header {
            self.check_closing(header, phase)?;
            if header.is_last_word(phase) {
                Want::Exactly(Reason::LEN).check(header.len)?;
            } else if let Some((_, want)) = wanted.iter().find(|(lane, _)| *lane == header.lane) {
                want.check(header.len)?;
            } else if matches!(wanted, [(_, Want::AtMost(_))]) && header.lane != Lane::HELLO {
                return Err(FrameError::Lane { got: header.lane.index() });
            } else if !self.lanes[header.lane].has_room(most, header.len) {
                // Its receiver takes the frame, or makes room for it.
                return Ok(Turn::Wait);
            }
        }
        Ok(match (self.reader.take(), self.header) {
            (None, _) => Turn::Wait,
            (Some(reader), None) => Turn::ReadHeader(reader),
            (Some(reader), Some(header)) => Turn::ReadPayload(reader, header),
        })
    }
}

impl Shared {
    pub(super) fn recv(
        &self,
        lane: Lane,
        want: Want,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Error> {
        let (_, frame) = self
            .recv_first(&[(lane, want)], deadline, None)?
            .ok_or(ChannelError::NothingReceived(self.timeout))?;
        Ok(frame)
    }

    /// The first of these messages that comes; `None` if by then there is none of them, and no frame is coming.
    pub(super) fn recv_first(
        &self,
        wanted: &[(Lane, Want)],
        deadline: Deadline,
        patience: Option<Deadline>,
    ) -> Result<Option<(Lane, Vec<u8>)>, Error> {
        let mut state = self.lock();
        loop {
            state.check()?;
            let here = wanted.iter().find_map(|(lane, want)| {
                state.inbox.lanes[*lane].pop().map(|frame| (*lane, *want, frame))
            });
            if let Some((lane, want, frame)) = here {
                if let Err(e) = want.check(frame.len()) {
                    return Err(self.fail(&mut state, e));
                }
                if lane != Lane::HELLO || !state.phase.is_session() {
                    state.meter.received(frame.len());
                }
                // There may be room now for the frame that the others wait behind.
                self.inbound.notify_all();
                return Ok(Some((lane, frame)));
            }
            let missing = wanted.first().filter(|(lane, _)| *lane != Lane::HELLO);
            if let Some((lane, _)) = missing
                && state.inbox.closing > 0
            {
                let missing = FrameError::Missing { lane: lane.index() };
                return Err(self.fail(&mut state, missing));
            }
            let (phase, most) =
                (state.phase, self.inbound_bytes.load(Ordering::SeqCst).min(QUEUE_BYTES));
            let turn = match state.inbox.turn(wanted, phase, most) {
                Ok(turn) => turn,
                Err(e) => return Err(self.fail(&mut state, e)),
            };
            let done = match turn {
                Turn::Wait if patience.is_some_and(|until| until.remaining().is_none()) => {
                    return Ok(None);
                }
                Turn::Wait => {
                    let (guard, done) = patience.unwrap_or(deadline).wait(&self.inbound, state);
                    state = guard;
                    // That patience is over is seen above.
                    if patience.is_some() { Ok(()) } else { done.map_err(|e| self.read_error(&e)) }
                }
                Turn::ReadHeader(mut reader) => {
                    drop(state);
                    let comes = patience.map_or(Ok(true), |until| reader.is_ready(until.instant()));
                    let header = match comes {
                        Ok(true) => Some(self.read_header(&mut reader, deadline)),
                        Ok(false) => None,
                        Err(e) => Some(Err(self.read_error(&e))),
                    };
                    state = self.lock();
                    state.inbox.reader = Some(reader);
                    let Some(header) = header else {
                        self.inbound.notify_all();
                        return Ok(None);
                    };
                    header.map(|header| state.inbox.header = Some(header))
                }
                Turn::ReadPayload(mut reader, header) => {
                    drop(state);
                    reader.half().set_deadline(deadline.instant());
                    let awaited = wanted.iter().any(|(lane, want)| {
                        *lane == header.lane && matches!(want, Want::Exactly(_))
                    });
                    let (frame, read) = match awaited && header.len <= Spares::LONGEST {
                        true => self.read_awaited(&mut reader, header.len),
                        false => {
                            let mut frame = Vec::new();
                            let read = read_payload(&mut reader, header.len, &mut frame);
                            (frame, read)
                        }
                    };
                    if let (Ok(()), Some(heard)) = (&read, &mut *lock(&self.heard)) {
                        heard.frame(header.lane, &frame);
                    }
                    state = self.lock();
                    state.inbox.reader = Some(reader);
                    state.inbox.header = None;
                    match read {
                        Ok(()) if header.is_last_word(phase) => {
                            let reason = frame.first().copied().unwrap_or_default();
                            Err(ChannelError::GivenUp(Reason::from_byte(reason)).into())
                        }
                        Ok(()) => {
                            state.inbox.closing +=
                                usize::from(phase.is_session() && header.lane == Lane::HELLO);
                            state.inbox.lanes[header.lane].push(frame);
                            Ok(())
                        }
                        Err(e) => Err(self.read_error(&e)),
                    }
                }
            };
            if let Err(e) = done {
                return Err(self.fail(&mut state, e));
            }
            self.inbound.notify_all();
        }
    }

    /// Reads until the peer ends, or the deadline. Nobody reads after that.
    pub(super) fn drop_what_comes(&self, deadline: Deadline) {
        let reader = self.lock().inbox.reader.take();
        let Some(mut reader) = reader else { return };
        reader.half().set_deadline(deadline.instant());
        let mut bytes = [0; 4096];
        while reader.half().read(&mut bytes).is_ok_and(|read| read > 0) {}
    }

    /// A payload of a length that a receiver has named: it goes into a buffer at once.
    fn read_awaited(&self, reader: &mut Reader, len: usize) -> (Vec<u8>, io::Result<()>) {
        let mut frame = if len < 1 << 12 { Vec::new() } else { self.spares.take() };
        frame.resize(len, 0);
        let read = reader.read_exact(&mut frame);
        (frame, read)
    }

    fn read_header(&self, reader: &mut Reader, deadline: Deadline) -> Result<Header, Error> {
        let mut bytes = [0; HEADER_BYTES];
        reader.half().set_deadline(deadline.instant());
        reader.read_exact(&mut bytes).map_err(|e| self.read_error(&e))?;
        let [a, b, c, d, lane] = bytes;
        let len = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        let in_use = |lane: &Lane| lane.index() < self.lanes.load(Ordering::SeqCst);
        let lane = Lane::new(lane).filter(in_use).ok_or(FrameError::Lane { got: lane })?;
        if len > MAX_FRAME {
            return Err(FrameError::TooLong { max: MAX_FRAME, got: len }.into());
        }
        Ok(Header { lane, len })
    }

    fn read_error(&self, error: &io::Error) -> Error {
        if let Some(tls) = TlsError::within(error) {
            return tls.into();
        }
        // The reader below has said it in our words.
        let ours = error.get_ref().and_then(|it| it.downcast_ref::<ChannelError>());
        if let Some(ours) = ours {
            return ours.clone().into();
        }
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => {
                ChannelError::NothingReceived(self.timeout)
            }
            ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::NotConnected
            | ErrorKind::BrokenPipe => ChannelError::ClosedReceiving,
            _ => ChannelError::io("receive from the peer", error),
        }
        .into()
    }
}

/// Memory grows with what has arrived, not with what was announced.
pub(super) fn read_payload(
    reader: &mut impl Read,
    len: usize,
    payload: &mut Vec<u8>,
) -> io::Result<()> {
    match reader.take(len as u64).read_to_end(payload)? {
        read if read == len => Ok(()),
        _ => Err(ErrorKind::UnexpectedEof.into()),
    }
}
