//! The roles of the two sides.

use crate::words::texts;

/// The role of one side in the session as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Byte 0.
    Sender,
    /// Byte 1.
    Receiver,
}

impl Role {
    /// The other side's.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

texts! { Role:
    Self::Sender => "sender";
    Self::Receiver => "receiver";
}
