//! Errors of runs that make triples.

use core::fmt;

use foxtrot_ot::{Usage, engine::Abandoned};

/// The reason why a run made no further triples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The peer's fault, or the caller's.
    Protocol(foxtrot_ot::Error),
    /// The triple of a batch of triples that was opened is wrong, and so is perhaps all of the batch: memory or the
    /// connection changed something, or a program is faulty.
    WrongTriples {
        /// The batch's number.
        batch: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(error) => error.fmt(f),
            Self::WrongTriples { batch } => {
                foxtrot_ot::Error::WrongTriples { batch: *batch }.fmt(f)
            }
        }
    }
}

impl core::error::Error for Error {}

foxtrot_ot::causes!(
    Error: foxtrot_ot::Error => Protocol, Usage => Protocol, Abandoned => Protocol,
);

impl From<Error> for foxtrot_ot::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Protocol(error) => error,
            Error::WrongTriples { batch } => Self::WrongTriples { batch },
        }
    }
}
