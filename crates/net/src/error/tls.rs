//! Reasons why a connection could not be secured.

use std::io;

use crate::words::texts;

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

texts! { TlsError:
    Self::NotExpected { peer } => "the peer's key {peer} is not one of the expected";
    Self::NotAccepted => "the peer does not accept this identity";
    Self::NotTls => "the peer does not speak TLS";
    Self::NoKey => "the peer did not show a key";
    Self::Failed(why) => "no secure connection: {why}";
    Self::Setup(why) => "TLS cannot be set up: {why}";
}

impl core::error::Error for TlsError {}
