//! Errors by the party to blame: [`Decode`] and [`Misbehaved`] are the peer's fault, [`Usage`] is ours.

use core::fmt;

use crate::protocol::Incompatible;

/// Anything that can end a protocol before its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The peer's bytes are not an encoding of the message that was expected.
    Decode(Decode),
    /// The peer's message is well formed and fails a check.
    Misbehaved(Misbehaved),
    /// This program called the protocol wrongly.
    Usage(Usage),
    /// Items of a set do not fit their tables, by nobody's fault and all but impossible; or they repeat. Another session
    /// would do.
    Unlucky,
    /// The triple of a batch of triples that was opened is wrong, and so is perhaps all of the batch: memory or the connection
    /// changed something, or a program is faulty.
    WrongTriples {
        /// The batch's number.
        batch: u64,
    },
}

/// The reason why bytes are not a message. Depends on public data only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decode {
    /// The message has another length than the protocol fixes.
    Length {
        /// The message's name in `docs/wire.md`.
        message: &'static str,
        /// Its length in bytes.
        expected: usize,
        /// The length that arrived.
        got: usize,
    },
    /// A packed coefficient is not below the modulus.
    Coefficient {
        /// The message's name in `docs/wire.md`.
        message: &'static str,
        /// Index of the instance in the batch.
        instance: usize,
    },
    /// Bytes are not the encoding of an element of the group.
    Point {
        /// The message's name in `docs/wire.md`.
        message: &'static str,
        /// Index of the instance in the batch.
        instance: usize,
    },
    /// Bits that stand for nothing are set.
    SpareBits {
        /// The message's name in `docs/wire.md`.
        message: &'static str,
    },
}

/// The check that the peer failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misbehaved {
    /// The receiver's opening does not match its commitment.
    CommitmentMismatch,
    /// The messages of an extension's receiver do not fit together. Deliberately without more:
    /// which check failed, and where, would tell bits of Δ.
    ConsistencyCheck,
    /// An instance of the sender's challenge, or several, is not made as the protocol says.
    /// Deliberately without its position.
    Challenge,
    /// The receiver's response does not answer the challenge.
    Response,
    /// A chosen message, or several, does not decrypt under its key. Deliberately without its
    /// position: see `convert`.
    MessageAuthentication,
    /// The tags of a set intersection do not ascend. Whose they are has no part in it: nothing of
    /// the receiver's set is compared before.
    Tags,
    /// The payload of a match of a set intersection, or of several, does not belong to its item. Deliberately without its
    /// position.
    Payload,
    /// The claims of a receiver of a set intersection are too many, do not ascend, or are of no item here.
    Claims,
}

/// A wrong call of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Usage {
    /// More instances than one batch, or transfers than one frame, holds.
    BatchTooLarge {
        /// The instances asked for.
        n: usize,
        /// The most that a batch holds.
        max: usize,
    },
    /// The protocol draws its choices itself, or needs them given.
    Choice {
        /// The protocol's name.
        protocol: &'static str,
        /// The choices that the protocol takes, in words.
        takes: &'static str,
    },
    /// The length agreed upon for chosen messages is longer than any may be.
    MessageLength {
        /// The length in bytes.
        len: usize,
        /// The most that a message has.
        max: usize,
    },
    /// A chosen message is longer than the length agreed upon.
    MessageTooLong {
        /// Index of the transfer, counted over all frames.
        transfer: u64,
        /// Its length in bytes.
        len: usize,
        /// The agreed length.
        max: usize,
    },
    /// Two lists that belong together have different lengths.
    CountMismatch {
        /// The things that were counted.
        what: &'static str,
        /// The number expected.
        expected: usize,
        /// The number given.
        got: usize,
    },
    /// The choices are more than the code's words, the extension is for one of two, or there is nothing to choose from.
    Choices {
        /// The number of messages to choose from.
        choices: usize,
    },
    /// The operation takes a linear code.
    NotLinear,
    /// A choice is none of 0, 1, … N − 1.
    NoSuchChoice {
        /// N.
        choices: u64,
    },
    /// No field has 2^k elements for this k.
    FieldSize {
        /// The k asked for.
        k: usize,
    },
    /// An error has ended the session before.
    SessionEnded,
    /// The caller has given up the run.
    Abandoned,
    /// One set of base OTs has served as many batches as its checks allow.
    TooManyBatches {
        /// The most there may be.
        max: u64,
    },
    /// The base OT cannot carry the extension, or the two together not the job.
    Incompatible(Incompatible),
    /// The batch is not one of this state's.
    ForeignBatch,
    /// An item is in its set twice.
    RepeatedItem,
    /// A number of an item is larger than agreed.
    NumberTooLarge {
        /// The largest number agreed on.
        largest: u64,
    },
    /// The sum of so many numbers could be 2^64 or more.
    SumTooLarge {
        /// The largest number.
        largest: u64,
        /// The most common items.
        items: u64,
    },
}

/// Checks the number of things that belong together, such as the typed states and messages of a batch.
///
/// # Errors
/// [`Usage::CountMismatch`].
pub fn expect_count(what: &'static str, expected: usize, got: usize) -> Result<(), Usage> {
    if got == expected { Ok(()) } else { Err(Usage::CountMismatch { what, expected, got }) }
}

/// Checks the number of things in a batch.
///
/// # Errors
/// [`Usage::BatchTooLarge`].
pub(crate) fn expect_at_most(max: usize, n: usize) -> Result<(), Usage> {
    if n > max { Err(Usage::BatchTooLarge { n, max }) } else { Ok(()) }
}

/// Checks the length of a message of the peer, which is 0 where there should be none.
///
/// # Errors
/// [`Decode::Length`].
pub fn expect_len(message: &'static str, bytes: &[u8], expected: usize) -> Result<(), Decode> {
    let got = bytes.len();
    if got == expected { Ok(()) } else { Err(Decode::Length { message, expected, got }) }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(e) => e.fmt(f),
            Self::Misbehaved(e) => e.fmt(f),
            Self::Usage(e) => e.fmt(f),
            Self::Unlucky => f.write_str("the items do not fit their tables, or they repeat"),
            Self::WrongTriples { batch } => write!(
                f,
                "the triples of batch {batch} are wrong: a program, the connection or a memory is faulty, on either side"
            ),
        }
    }
}

impl fmt::Display for Decode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { message, expected, got } => {
                write!(f, "the peer's {message} has {got} bytes instead of {expected}")
            }
            Self::Coefficient { message, instance } => {
                write!(
                    f,
                    "a coefficient of the peer's {message} is out of range (instance {instance})"
                )
            }
            Self::Point { message, instance } => {
                write!(f, "the peer's {message} has an invalid point (instance {instance})")
            }
            Self::SpareBits { message } => {
                write!(f, "the peer's {message} has spare bits set")
            }
        }
    }
}

impl fmt::Display for Misbehaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommitmentMismatch => "the peer's opening does not match its commitment",
            Self::ConsistencyCheck => "the peer's part of the extension is not consistent",
            Self::Challenge => "the peer's challenge is not made as the protocol says",
            Self::Response => "the peer's response does not answer the challenge",
            Self::Tags => "the peer's tags repeat or are out of order",
            Self::Payload => "a payload from the peer does not belong to its item",
            Self::Claims => "the peer claims matches that it does not have",
            Self::MessageAuthentication => "a message from the peer does not decrypt under its key",
        })
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BatchTooLarge { n, max } => {
                write!(f, "{n} transfers at once are more than the maximum of {max}")
            }
            Self::Choice { protocol, takes } => write!(f, "{protocol} takes {takes}"),
            Self::MessageLength { len, max } => {
                write!(f, "messages of {len} bytes are longer than the maximum of {max}")
            }
            Self::MessageTooLong { transfer, len, max } => {
                write!(
                    f,
                    "a message of transfer {transfer} has {len} bytes, more than the agreed {max}"
                )
            }
            Self::CountMismatch { what, expected, got } => {
                write!(f, "{got} {what} given where {expected} are needed")
            }
            Self::Choices { choices } => {
                write!(f, "these protocols do not transfer 1 of {choices}")
            }
            Self::NotLinear => f.write_str("the code is not linear"),
            Self::NoSuchChoice { choices } => write!(f, "a choice is not below {choices}"),
            Self::FieldSize { k } => write!(f, "k = {k} is not between 1 and 8"),
            Self::ForeignBatch => f.write_str("a batch of another extension"),
            Self::RepeatedItem => f.write_str("an item is in its set twice"),
            Self::NumberTooLarge { largest } => {
                write!(f, "a number is larger than the agreed {largest}")
            }
            Self::SumTooLarge { largest, items } => {
                write!(f, "the sum of {items} numbers up to {largest} may be 2^64 or more")
            }
            Self::SessionEnded => f.write_str("an error has ended the session before"),
            Self::Abandoned => f.write_str("the caller has given up the run"),
            Self::TooManyBatches { max } => {
                write!(f, "one set of base OTs serves no more than {max} batches")
            }
            Self::Incompatible(why) => write!(f, "the base OT does not fit: {why}"),
        }
    }
}

impl core::error::Error for Error {}
impl core::error::Error for Decode {}
impl core::error::Error for Misbehaved {}
impl core::error::Error for Usage {}

/// Writes `From` for the causes of an error, which its variants hold.
#[doc(hidden)]
#[macro_export]
macro_rules! causes {
    ($error:ident: $($cause:ty => $variant:ident),* $(,)?) => {$(
        impl From<$cause> for $error {
            fn from(cause: $cause) -> Self {
                Self::$variant(cause.into())
            }
        }
    )*};
}

causes!(Error: Decode => Decode, Misbehaved => Misbehaved, Usage => Usage);
