//! Reasons why a connection could not be secured.

use core::fmt;
use std::io;

/// The reason why a connection could not be secured. Fingerprints are written as their text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsError {
    /// The peer's key is none of those that we expect.
    NotExpected {
        /// Its fingerprint.
        peer: String,
    },
    /// Our key is none of those that the peer expects.
    NotAccepted,
    /// The peer's bytes are not TLS.
    NotTls,
    /// The peer gave no key.
    NoKey,
    /// The handshake failed otherwise, in the words of the TLS library.
    Failed(String),
    /// This side cannot do TLS, in the words of the TLS library.
    Setup(String),
}

impl TlsError {
    /// The TLS error that the halves of a channel wrapped in an I/O error.
    pub(crate) fn within(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().cloned()
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotExpected { peer } => {
                write!(f, "the peer's key {peer} is not one of the expected")
            }
            Self::NotAccepted => f.write_str("the peer does not accept this identity"),
            Self::NotTls => f.write_str("the peer does not speak TLS"),
            Self::NoKey => f.write_str("the peer did not show a key"),
            Self::Failed(why) => write!(f, "no secure connection: {why}"),
            Self::Setup(why) => write!(f, "TLS cannot be set up: {why}"),
        }
    }
}

impl core::error::Error for TlsError {}
