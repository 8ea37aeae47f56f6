//! The last word of a side that gives up (`docs/wire/README.md`, section 2).

use foxtrot_ot::{Error as Protocol, Misbehaved};

use super::{ChannelError, Error, FrameError, HelloError};
use crate::words::texts;

/// The reason why a side gave up after the first hellos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The side could not decode a message of the other.
    Undecodable = 1,
    /// A check of what the other sent failed.
    CheckFailed = 2,
    /// The side waited for the other in vain.
    Timeout = 3,
    /// Something failed on its own side.
    Other = 4,
    /// The side has as many sessions as it may have.
    Busy = 5,
    /// Its set has more keys than the other accepts.
    TooManyKeys = 6,
    /// The session would take more memory than it has for one.
    TooLarge = 7,
    /// Its set has fewer keys than the other accepts.
    TooFewKeys = 8,
    /// The limits of the day admit no more of the peer.
    UsedUp = 9,
    /// A policy of the side forbids the run.
    Forbidden = 10,
    /// The side has no set of the name that was asked for.
    NoSuchSet = 11,
    /// The side cannot use its own input or settings.
    OwnInput = 12,
}

impl Reason {
    /// Bytes of its frame.
    pub(crate) const LEN: usize = 1;

    /// The reason that the peer is told; none where it knows already, or must not know.
    pub(crate) fn of(error: &Error) -> Option<Self> {
        match error {
            // Whether it happens depends on the choices.
            Error::Protocol(Protocol::Misbehaved(Misbehaved::MessageAuthentication)) => None,
            Error::Protocol(Protocol::Misbehaved(_))
            | Error::Frame(FrameError::Transcript | FrameError::WrongTriples { .. }) => {
                Some(Self::CheckFailed)
            }
            Error::Protocol(Protocol::Decode(_)) | Error::Frame(_) => Some(Self::Undecodable),
            Error::Protocol(Protocol::Usage(_)) => Some(Self::OwnInput),
            Error::Protocol(_) | Error::Unlucky | Error::Channel(ChannelError::Abandoned) => {
                Some(Self::Other)
            }
            Error::Channel(
                ChannelError::NothingReceived(_)
                | ChannelError::NothingTaken(_)
                | ChannelError::TooSlow(_),
            ) => Some(Self::Timeout),
            Error::Hello(e) => Self::of_hello(e),
            _ => None,
        }
    }

    fn of_hello(error: &HelloError) -> Option<Self> {
        match error {
            HelloError::Refused(reason) => Some(*reason),
            HelloError::TooManyKeys { .. } => Some(Self::TooManyKeys),
            HelloError::TooFewKeys { .. } => Some(Self::TooFewKeys),
            HelloError::MalformedDetails
            | HelloError::Offer { .. }
            | HelloError::TooManyPeerKeys { .. }
            | HelloError::TooFewPeerKeys { .. } => Some(Self::Undecodable),
            HelloError::Confirmation | HelloError::Unsolved => Some(Self::CheckFailed),
            _ => None,
        }
    }

    /// Returns true if the side did not begin, rather than gave up.
    pub(crate) fn is_refusal(self) -> bool {
        use Reason::{Busy, Forbidden, NoSuchSet, TooLarge, UsedUp};
        matches!(self, Busy | TooLarge | UsedUp | Forbidden | NoSuchSet)
    }

    /// A later version may have more of them.
    pub(crate) fn from_byte(byte: u8) -> Self {
        match byte {
            1 => Self::Undecodable,
            2 => Self::CheckFailed,
            3 => Self::Timeout,
            5 => Self::Busy,
            6 => Self::TooManyKeys,
            7 => Self::TooLarge,
            8 => Self::TooFewKeys,
            9 => Self::UsedUp,
            10 => Self::Forbidden,
            11 => Self::NoSuchSet,
            12 => Self::OwnInput,
            _ => Self::Other,
        }
    }
}

texts! { Reason:
    Self::Undecodable => "it could not decode our message";
    Self::CheckFailed => "our message failed its check";
    Self::Timeout => "it waited too long for us";
    Self::Other => "something failed on its side";
    Self::Busy => "it is busy and answers no more sessions at once";
    Self::TooManyKeys => "its set has more keys than we accept";
    Self::TooLarge => "it has too little memory for a session of this size";
    Self::TooFewKeys => "its set has fewer keys than we accept";
    Self::UsedUp => "its limits for today admit no more of us";
    Self::Forbidden => "its policy forbids this run";
    Self::NoSuchSet => "it has no set of the name that we asked for";
    Self::OwnInput => "it cannot use its own input or settings";
}
