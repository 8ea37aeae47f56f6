//! The answers of a gateway that does not join a connection.

use core::time::Duration;

use crate::words::{Words, texts};

/// The reason why a gateway did not join a connection with its other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotJoined {
    /// The gateway has no place for one more that waits.
    Busy,
    /// The connection has waited as long as the gateway lets it.
    Late,
    /// Another connection of the same end has named the route.
    Taken,
    /// The other end did not come within this time of ours.
    Nobody(Duration),
    /// The gateway closed the connection without a word.
    Closed,
    /// The other program is no gateway.
    NoGateway,
}

texts! { NotJoined:
    Self::Busy => "too many connections wait at the gateway; try again later";
    Self::Late => "the peer did not come while the gateway let us wait; start both sides again";
    Self::Taken => "another connection took our place at the gateway; give each run a route of its own";
    Self::Nobody(wait) => "the peer did not come within {}", Words(*wait);
    Self::Closed => "the gateway closed the connection; check that it runs, and that this is the port for our side";
    Self::NoGateway => "what listens there is not a gateway; check the address";
}
