//! Frames that came before somebody asked for them, and what may come next. Blocking and asynchronous drivers share it.

use std::collections::VecDeque;

use super::{HEADER_BYTES, Lane, MAX_FRAME, PerLane, QUEUE_BYTES, Reason, Step, cost, fits};
use crate::{ChannelError, Error, FrameError, HelloError};

/// Received frames, by lane.
#[derive(Debug)]
pub(crate) struct Inbox {
    /// The header of the frame whose payload comes next.
    header: Option<Header>,
    lanes: PerLane<Queue>,
    /// The number of frames of the peer's closing that came.
    closing: usize,
    pub(crate) phase: Phase,
    /// True if a frame on the hello's lane waits also while there is no session.
    holds_hellos: bool,
    /// Lanes from this number on are not in use.
    pub(crate) in_use: u8,
    /// The most bytes that a lane holds back before they are asked for, if that is less than [`QUEUE_BYTES`].
    pub(crate) most: usize,
}

/// Frames of a lane, and the bytes that count for them.
#[derive(Debug, Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    held: usize,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) lane: Lane,
    pub(crate) len: usize,
}

/// The frames that may come on the hello's lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The peer's first hello.
    Hello,
    /// The hello of another session, or the last word of the one before.
    Renewed,
    /// Details, which are longer than a byte, or the peer's last word.
    Details,
    /// The peer's last word, or its closing.
    Session,
    /// The peer's last word, or its closing; and nothing on other lanes.
    Closing,
}

/// The length of the frame that a receiver waits for.
#[derive(Clone, Copy)]
pub(crate) enum Want {
    Exactly(usize),
    /// A frame of at most this length, and on no other lane.
    AtMost(usize),
}

/// The next step of a receiver.
pub(crate) enum Next {
    /// A frame of one of its lanes is here.
    Here(Lane, Vec<u8>),
    /// A header is to be read, for [`Inbox::begin`].
    Header,
    /// A payload is to be read, for [`Inbox::put`].
    Payload(Header),
    /// Nothing is to be read: the frame that comes has no room before another receiver takes it, or makes room for it.
    Wait,
}

impl Phase {
    /// Returns true if the hellos are over.
    pub(crate) fn is_session(self) -> bool {
        matches!(self, Self::Session | Self::Closing)
    }

    /// The last word to the peer about this error, if it may have one now. A side that has not said hello in this session
    /// says only that it refuses, and in place of the first hello only that it cannot use its own input.
    pub(crate) fn last_word(self, error: &Error) -> Option<Reason> {
        let reason = Reason::of(error)?;
        let is_refusal = matches!(error, Error::Hello(HelloError::Refused(_)));
        let is_heard = match self {
            Self::Hello => is_refusal && reason == Reason::OwnInput,
            Self::Renewed => is_refusal,
            Self::Details | Self::Session | Self::Closing => true,
        };
        is_heard.then_some(reason)
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
    /// The value of `most` before a protocol has said how much it has on its way.
    pub(crate) const UNBOUNDED: usize = usize::MAX;

    pub(crate) fn new(holds_hellos: bool) -> Self {
        Self {
            header: None,
            lanes: PerLane::default(),
            closing: 0,
            phase: Phase::Hello,
            holds_hellos,
            in_use: Lane::COUNT,
            most: Self::UNBOUNDED,
        }
    }

    /// Expects the frames of another session.
    pub(crate) fn begin_again(&mut self) {
        (self.phase, self.closing) = (Phase::Renewed, 0);
        (self.in_use, self.most) = (Lane::COUNT, Self::UNBOUNDED);
    }

    /// Accepts only the peer's closing from now on.
    pub(crate) fn receive_no_more(&mut self) -> Result<(), FrameError> {
        self.phase = Phase::Closing;
        let next = self.header.map(|header| header.lane).filter(|lane| *lane != Lane::HELLO);
        match next.or_else(|| {
            Lane::of_protocols().find(|lane| !self.lanes[lane.place()].frames.is_empty())
        }) {
            Some(lane) => Err(FrameError::Surplus { lane: lane.index() }),
            None => Ok(()),
        }
    }

    /// The next step of a receiver that waits for one of these messages; with none, it reads ahead. Refuses a frame that breaks
    /// the protocol as soon as its header is here.
    pub(crate) fn next(&mut self, wanted: &[(Lane, Want)]) -> Result<Next, FrameError> {
        for (lane, want) in wanted {
            let queue = &mut self.lanes[lane.place()];
            if let Some(frame) = queue.frames.pop_front() {
                queue.held -= cost(frame.len());
                want.check(frame.len())?;
                return Ok(Next::Here(*lane, frame));
            }
        }
        if let [(lane, _), ..] = wanted
            && *lane != Lane::HELLO
            && self.closing > 0
        {
            return Err(FrameError::Missing { lane: lane.index() });
        }
        let Some(header) = self.header else { return Ok(Next::Header) };
        let Header { lane, len } = header;
        let want = wanted.iter().find(|(it, _)| *it == lane).map(|(_, want)| want);
        let may_wait = lane != Lane::HELLO || self.phase.is_session() || self.holds_hellos;
        if lane.index() >= self.in_use || !may_wait && want.is_none() {
            // While this side waits for nothing, it may be of the next protocol.
            return match wanted {
                [] => Ok(Next::Wait),
                _ => Err(FrameError::Lane { got: lane.index() }),
            };
        }
        self.check_closing(lane)?;
        if self.is_last_word(header) {
            Want::Exactly(Reason::LEN).check(len)?;
        } else if let Some(want) = want {
            want.check(len)?;
        } else if matches!(wanted, [(_, Want::AtMost(_))]) && lane != Lane::HELLO {
            return Err(FrameError::Lane { got: lane.index() });
        } else if !fits(self.most.min(QUEUE_BYTES), self.lanes[lane.place()].held, len) {
            return Ok(Next::Wait);
        }
        Ok(Next::Payload(header))
    }

    pub(crate) fn begin(&mut self, bytes: [u8; HEADER_BYTES]) -> Result<(), FrameError> {
        let [a, b, c, d, lane] = bytes;
        let len = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        let lane = Lane::new(lane).ok_or(FrameError::Lane { got: lane })?;
        if len > MAX_FRAME {
            return Err(FrameError::TooLong { max: MAX_FRAME, got: len });
        }
        self.header = Some(Header { lane, len });
        Ok(())
    }

    /// Takes the payload of that frame, which may be the peer's last word.
    pub(crate) fn put(&mut self, header: Header, frame: Vec<u8>) -> Result<(), Error> {
        self.header = None;
        if self.is_last_word(header) {
            let reason = frame.first().copied().unwrap_or_default();
            return Err(ChannelError::GivenUp(Reason::from_byte(reason)).into());
        }
        // A side that has no hello to send.
        if self.phase == Phase::Hello
            && header.lane == Lane::HELLO
            && frame == [Reason::OwnInput as u8]
        {
            return Err(ChannelError::GivenUp(Reason::OwnInput).into());
        }
        self.closing += usize::from(self.phase.is_session() && header.lane == Lane::HELLO);
        let queue = &mut self.lanes[header.lane.place()];
        queue.held += cost(frame.len());
        queue.frames.push_back(frame);
        Ok(())
    }

    fn is_last_word(&self, Header { lane, len }: Header) -> bool {
        lane == Lane::HELLO
            && match self.phase {
                Phase::Hello => false,
                Phase::Renewed | Phase::Details => len == Reason::LEN,
                Phase::Session | Phase::Closing => len != Step::LEN,
            }
    }

    /// Refuses what the peer may not send after its closing, or ours.
    fn check_closing(&self, lane: Lane) -> Result<(), FrameError> {
        let surplus = match lane {
            Lane::HELLO => self.phase.is_session() && self.closing == Step::COUNT,
            _ => self.phase == Phase::Closing || self.closing > 0,
        };
        if surplus { Err(FrameError::Surplus { lane: lane.index() }) } else { Ok(()) }
    }

    /// Bytes that all lanes hold back.
    #[cfg(all(test, feature = "tokio"))]
    pub(crate) fn held(&self) -> usize {
        self.lanes.iter().map(|queue| queue.held).sum()
    }
}
