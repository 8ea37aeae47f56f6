//! The error of all protocols.

use core::fmt;

use foxtrot_ot::{Decode, Misbehaved, Usage};

/// The reason why there is no intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The peer's fault, or the caller's.
    Protocol(foxtrot_ot::Error),
    /// A failure by nobody's fault, with probability 2⁻³⁸ at most, unless items repeat: a bucket is
    /// too full, or the rows of the receiver's items depend on each other. The session is over.
    Unlucky,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(error) => error.fmt(f),
            Self::Unlucky => foxtrot_ot::Error::Unlucky.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

foxtrot_ot::causes!(
    Error: foxtrot_ot::Error => Protocol, Usage => Protocol, Decode => Protocol, Misbehaved => Protocol,
);

impl From<Error> for foxtrot_ot::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Protocol(error) => error,
            Error::Unlucky => Self::Unlucky,
        }
    }
}
