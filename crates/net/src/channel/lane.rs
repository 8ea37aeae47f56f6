//! Lanes: independent sequences of messages over one connection.

/// One of the channel's sequences of messages. Threads that each keep to a lane of their own do
/// not disturb each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(u8);

impl Lane {
    /// The number of lanes of a channel.
    pub const COUNT: u8 = 8;

    /// Lane 0.
    pub const HELLO: Self = Self(0);

    /// Lane 1.
    pub const PROTOCOL: Self = Self(1);

    /// The lane of that number; `None` from [`Lane::COUNT`] on.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if index < Self::COUNT { Some(Self(index)) } else { None }
    }

    /// The lane so many places behind this one.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub(crate) fn offset(self, by: u8) -> Self {
        self.0
            .checked_add(by)
            .and_then(Self::new)
            .expect("a protocol has as many streams as there are lanes")
    }

    /// The lanes of protocols.
    pub(super) fn of_protocols() -> impl Iterator<Item = Self> {
        (Self::PROTOCOL.0..Self::COUNT).map(Self)
    }

    /// Its number, as in a frame.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    pub(super) fn place(self) -> usize {
        self.0.into()
    }
}

/// Something that every lane has, at its [`place`](Lane::place).
pub(super) type PerLane<T> = [T; Lane::COUNT as usize];
