//! Errors by blame, as a struct of C.
#![forbid(unsafe_code)]

use std::ffi::c_char;

use foxtrot::{Blame, KeyError};

use crate::types::{Error, MESSAGE_SIZE, Status};

/// A call that did not do what it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    message: String,
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn caller(why: impl Into<String>) -> Self {
        Self { status: Status::Caller, message: why.into() }
    }

    pub(crate) fn panicked() -> Self {
        let message = "the library panicked, which is a fault of it; free the handle".to_owned();
        Self { status: Status::Panicked, message }
    }

    /// The struct of C, with as much of the message as it holds.
    pub(crate) fn to_c(&self) -> Error {
        let mut message = [0; MESSAGE_SIZE];
        let mut len = self.message.len().min(MESSAGE_SIZE - 1);
        while !self.message.is_char_boundary(len) {
            len -= 1;
        }
        for (to, byte) in message.iter_mut().zip(self.message.bytes().take(len)) {
            // The same byte, in C's own type.
            *to = c_char::from_ne_bytes([byte]);
        }
        Error { status: self.status, message }
    }
}

impl From<foxtrot::Error> for Failure {
    fn from(error: foxtrot::Error) -> Self {
        let status = match (&error, error.blame()) {
            (foxtrot::Error::Cancelled, _) => Status::Cancelled,
            (foxtrot::Error::Panicked(_), _) => Status::Panicked,
            (_, Blame::Caller) => Status::Caller,
            (_, Blame::Agreement) => Status::Agreement,
            (_, Blame::Connection) => Status::Connection,
            (_, Blame::Peer) => Status::Peer,
            (_, Blame::Nobody) => Status::Nobody,
        };
        let message = match error.cause().hint {
            Some(hint) => format!("{error}; {}", hint.spelled(str::to_owned)),
            None => error.to_string(),
        };
        Self { status, message }
    }
}

impl From<foxtrot::Usage> for Failure {
    fn from(error: foxtrot::Usage) -> Self {
        foxtrot::Error::from(error).into()
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self::caller(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_ends_within_the_struct_at_a_whole_character() {
        let error = Failure::caller("é".repeat(MESSAGE_SIZE)).to_c();
        let len = error.message.iter().position(|&byte| byte == 0).unwrap_or(0);
        assert_eq!(len, MESSAGE_SIZE - 2);
        let bytes: Vec<_> = error.message[..len].iter().map(|it| it.to_ne_bytes()[0]).collect();
        assert!(str::from_utf8(&bytes).is_ok());
    }
}
