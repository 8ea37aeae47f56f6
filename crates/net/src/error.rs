//! Errors by who is to blame.

mod not_joined;
mod reason;
mod tls;

use core::time::Duration;
use std::io;

use crate::{
    role::Role,
    words::{Words, printable, reason, texts},
};
pub use not_joined::NotJoined;
pub use reason::Reason;
pub use tls::TlsError;

/// Anything that can end a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A protocol ended the session; the error says who is to blame.
    Protocol(foxtrot_ot::Error),
    /// The items do not fit their tables, nobody's fault and all but impossible; or they repeat. Another
    /// session would do.
    Unlucky,
    /// The peer sent a frame that the protocol does not allow: the peer's fault.
    Frame(FrameError),
    /// The two programs do not agree on a session: nobody's fault in particular.
    Hello(HelloError),
    /// The connection could not be secured.
    Tls(TlsError),
    /// The connection failed.
    Channel(ChannelError),
}

/// A fault of the peer's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// Another length than that of the message to come.
    Length {
        /// The length of that message in bytes.
        expected: usize,
        /// The length announced.
        got: usize,
    },
    /// Longer than allowed.
    TooLong {
        /// The most that is allowed, in bytes.
        max: usize,
        /// The length announced.
        got: usize,
    },
    /// The lane is not in use.
    Lane {
        /// The lane's number.
        got: u8,
    },
    /// More than the protocol has.
    Surplus {
        /// The number of the lane that it came on.
        lane: u8,
    },
    /// The peer has said that it is done, and owes a message.
    Missing {
        /// The number of the lane on which it is due.
        lane: u8,
    },
    /// Another step of the end than is due.
    Step {
        /// The step that came.
        got: u8,
    },
    /// The triple of a batch of triples that was opened is wrong, and so is perhaps all of the batch: memory or the
    /// connection changed something, or a program is faulty.
    WrongTriples {
        /// The batch's number.
        batch: u64,
    },
    /// A side has not received what the other sent: the connection changed it, or a program is faulty.
    Transcript,
}

/// The reason why there is no session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HelloError {
    /// The peer's first bytes do not begin like a hello.
    NotAHello,
    /// The peer's hello begins like a hello of our version and goes on otherwise.
    Malformed,
    /// The peer speaks another version.
    Version {
        /// The peer's version.
        peer: u16,
        /// Ours.
        ours: u16,
    },
    /// Both sides have the same role.
    SameRole(Role),
    /// Both sides take themselves for the same end of the connection.
    SameSide {
        /// `initiator` or `responder`.
        side: &'static str,
    },
    /// The peer's nonce is ours.
    Reflection,
    /// The key that the peer names is not that of its TLS session, or only one side has one.
    Fingerprint,
    /// The terms differ.
    Terms(Vec<Difference>),
    /// The peer's details are no details.
    MalformedDetails,
    /// The peer's details are not an answer to our hello.
    Confirmation,
    /// The peer has not done the work that we asked for.
    Unsolved,
    /// The peer offers what cannot be.
    Offer {
        /// The offer's key, or what it is.
        key: &'static str,
        /// Its value, if it is there. As it came: see [`printable`].
        value: Option<String>,
    },
    /// Our set has more keys than the peer accepts.
    TooManyKeys {
        /// The number of keys in our set.
        ours: u64,
        /// The most that the peer accepts.
        most: u64,
    },
    /// The peer's set has more keys than we accept, which we had told it.
    TooManyPeerKeys {
        /// The number of keys in the peer's set.
        theirs: u64,
        /// The most that we accept.
        most: u64,
    },
    /// Our set has fewer keys than the peer accepts.
    TooFewKeys {
        /// The number of keys in our set.
        ours: u64,
        /// The fewest that the peer accepts.
        least: u64,
    },
    /// The peer's set has fewer keys than we accept, which we had told it.
    TooFewPeerKeys {
        /// The number of keys in the peer's set.
        theirs: u64,
        /// The fewest that we accept.
        least: u64,
    },
    /// This side refused the peer, which is told why.
    Refused(Reason),
    /// Our own hello does not fit.
    TooLong {
        /// The part that does not fit.
        what: &'static str,
        /// The most that fits, in bytes.
        max: usize,
    },
    /// The operating system gave no randomness for the nonce.
    Randomness(String),
}

/// A term on which the two sides differ. The peer's strings are as they came: see [`printable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The term's key.
    pub key: String,
    /// Its value on our side, if there is one.
    pub here: Option<String>,
    /// Its value at the peer.
    pub peer: Option<String>,
}

/// A failure of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChannelError {
    /// Closed by the peer while we waited for a message.
    ClosedReceiving,
    /// Closed by the peer while it was to take a message of ours.
    ClosedSending,
    /// The peer said that it gives up.
    GivenUp(Reason),
    /// Something failed on this side that is not the channel's business, say a file; for
    /// [`Channel::give_up`](crate::Channel::give_up).
    Abandoned,
    /// No message arrived in time.
    NothingReceived(Duration),
    /// The peer did not take our messages in time.
    NothingTaken(Duration),
    /// The connection has lasted as long as it may.
    TooSlow(Duration),
    /// Our message is longer than a frame may be.
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The most that a frame holds.
        max: usize,
    },
    /// Any other failure of the operating system or the network.
    Io {
        /// The action that failed, for example `connect to localhost:7000`.
        action: String,
        /// The time within which we tried, if we tried more than once.
        within: Option<Duration>,
        /// Its kind.
        kind: io::ErrorKind,
        /// The system's words for it.
        reason: String,
    },
    /// A gateway did not join the route with its other end.
    NotJoined {
        /// The name of the route.
        route: String,
        /// The reason.
        why: NotJoined,
    },
    /// No peer connected in time.
    NobodyConnected {
        /// The address where we listened.
        address: String,
        /// The time for which we listened.
        within: Duration,
    },
    /// A browser wanted something that is not for it, for this reason.
    Refused(String),
    /// A browser got a file of a page, or heard what this side wants, and wanted nothing else.
    Served,
}

impl ChannelError {
    /// The error of an I/O error: `late` for the end of a wait, `gone` for that of the connection, or the action that failed.
    pub(crate) fn of(error: &io::Error, late: Self, gone: Self, action: &str) -> Self {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::TimedOut | Kind::WouldBlock => late,
            Kind::UnexpectedEof
            | Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::NotConnected
            | Kind::BrokenPipe => gone,
            _ => Self::io(action, error),
        }
    }

    pub(crate) fn io(action: impl Into<String>, error: &io::Error) -> Self {
        Self::io_within(action, None, error)
    }

    pub(crate) fn io_within(
        action: impl Into<String>,
        within: Option<Duration>,
        error: &io::Error,
    ) -> Self {
        Self::Io { action: action.into(), within, kind: error.kind(), reason: reason(error) }
    }
}

texts! { Error:
    Self::Protocol(e) => "{e}";
    Self::Unlucky => "{}", foxtrot_ot::Error::Unlucky;
    Self::Frame(e) => "{e}";
    Self::Hello(e) => "{e}";
    Self::Tls(e) => "{e}";
    Self::Channel(e) => "{e}";
}

texts! { FrameError:
    Self::Length { expected, got } => "the peer sent a message of {got} bytes instead of {expected}";
    Self::TooLong { max, got } =>
        "the peer sent a message of {got} bytes where {max} are the most allowed";
    Self::Lane { got } => "the peer sent a message on lane {got}, not in use";
    Self::Surplus { lane } => "the peer sent a message on lane {lane}, where none is due";
    Self::Missing { lane } =>
        "the peer says that it is done, and its message on lane {lane} is missing";
    Self::Step { got } => "the peer sent step {got} of the end out of turn";
    Self::WrongTriples { batch } =>
        "the triples of batch {batch} are wrong: a program, the connection or a memory is faulty, on either side";
    Self::Transcript =>
        "the two sides have not received what the other sent: the connection changed data on the way";
}

texts! { HelloError:
    Self::NotAHello => "the peer did not answer with a Foxtrot hello";
    Self::Malformed => "the peer's hello is not well formed";
    Self::Version { peer, ours } =>
        "the peer speaks wire version {peer}, this program speaks {ours}";
    Self::SameRole(role) => "both sides want to be the {role}";
    Self::SameSide { side } =>
        "both sides are the {side} of the connection: one has to be the other end";
    Self::Reflection => "the peer sent our own hello back";
    Self::Fingerprint => "the peer names another key than that of this connection";
    Self::Terms(differences) => "the two sides disagree: {}", listed(differences);
    Self::MalformedDetails => "what the peer sent after its hello is not well formed";
    Self::Confirmation =>
        "the peer did not answer our hello: it repeats a recording, or the hello was changed on the way";
    Self::Unsolved => "the peer did not do the work that we asked for";
    Self::Offer { key, value } => "the peer offers {} as {key}", shown(value, "nothing");
    Self::TooManyKeys { ours, most } => "our set has {ours} keys, and the peer accepts {most}";
    Self::TooManyPeerKeys { theirs, most } =>
        "the peer has {theirs} keys; this side accepts at most {most}";
    Self::TooFewKeys { ours, least } =>
        "our set has {ours} keys, and the peer accepts no fewer than {least}";
    Self::TooFewPeerKeys { theirs, least } =>
        "the peer has {theirs} keys; this side accepts no fewer than {least}";
    Self::Refused(Reason::Busy) => "we have as many sessions as we may have";
    Self::Refused(Reason::TooLarge) => "the session would take more memory than it may";
    Self::Refused(Reason::NoSuchSet) => "the peer asks for a set that is not here";
    Self::Refused(_) => "this side refused the peer";
    Self::TooLong { what, max } => "our {what} is longer than {max} bytes";
    Self::Randomness(reason) => "no randomness from the system: {reason}";
}

texts! { Difference:
    Self { key, here, peer } => "{} is {} here and {} at the peer",
        printable(key), shown(here, "not given"), shown(peer, "not given");
}

texts! { ChannelError:
    Self::ClosedReceiving => "the peer closed the connection while we waited for its message";
    Self::ClosedSending => "the peer closed the connection before it took our message";
    Self::GivenUp(reason) if reason.is_refusal() => "the peer refuses the session: {reason}";
    Self::GivenUp(reason) => "the peer gave up: {reason}";
    Self::Abandoned => "this side gave up";
    Self::NothingReceived(timeout) => "no message from the peer within {}", Words(*timeout);
    Self::NothingTaken(timeout) => "the peer did not take our message within {}", Words(*timeout);
    Self::TooSlow(limit) => "the connection was not done within {}", Words(*limit);
    Self::TooLong { len, max } => "a message of {len} bytes is longer than the maximum of {max}";
    Self::Io { action, within: None, reason, .. } => "cannot {action}: {reason}";
    Self::Io { action, within: Some(time), reason, .. } =>
        "cannot {action} within {}: {reason}", Words(*time);
    Self::NotJoined { route, why } => "cannot meet the peer on route {route}: {why}";
    Self::NobodyConnected { address, within } =>
        "nobody connected to {address} within {}", Words(*within);
    Self::Refused(why) => "a browser asked for {why}";
    Self::Served => "a browser only looked";
}

/// The first eight differences, and how many more there are: a peer can send hundreds.
fn listed(differences: &[Difference]) -> String {
    const MOST: usize = 8;
    let shown: Vec<_> = differences.iter().take(MOST).map(Difference::to_string).collect();
    let shown = shown.join("; ");
    match differences.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

/// A value of a hello, or what stands for none.
fn shown(value: &Option<String>, none: &str) -> String {
    value.as_deref().map_or_else(|| none.to_owned(), printable)
}

impl core::error::Error for Error {}
impl core::error::Error for FrameError {}
impl core::error::Error for HelloError {}
impl core::error::Error for ChannelError {}

foxtrot_ot::causes!(
    Error: foxtrot_ot::Usage => Protocol, FrameError => Frame,
    TlsError => Tls, HelloError => Hello, ChannelError => Channel,
);

impl From<foxtrot_ot::Error> for Error {
    fn from(error: foxtrot_ot::Error) -> Self {
        match error {
            foxtrot_ot::Error::Unlucky => Self::Unlucky,
            foxtrot_ot::Error::WrongTriples { batch } => FrameError::WrongTriples { batch }.into(),
            error => Self::Protocol(error),
        }
    }
}
