//! Errors by blame.

use std::{error, fmt, sync::Arc};

use foxtrot_net::gate::Full;
use foxtrot_ot::Usage;

/// Anything that ends a job.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A session ended early, or did not begin. [`net::Error`](crate::net::Error) says why.
    Session(foxtrot_net::Error),
    /// The caller asked for something that cannot be; nothing was sent.
    Usage(Usage),
    /// The limits of this side admit no such session, of which the peer was told.
    Full(Full),
    /// The policy of this side forbids the job.
    #[cfg(feature = "policy")]
    Forbidden(crate::policy::Forbidden),
    /// The limits of the day could not be written down, so nobody is admitted. The text says why.
    Limits(String),
    /// The caller's sink failed with this error.
    Sink(Arc<dyn error::Error + Send + Sync>),
    /// [`Canceller::cancel`](crate::Canceller::cancel) was called.
    Cancelled,
    /// No memory is left for the result.
    OutOfMemory {
        /// Bytes that were asked for.
        bytes: usize,
    },
    /// The system does not start threads.
    Threads(String),
    /// The configuration does not fit the call; nothing was sent.
    Config(&'static str),
    /// The two sides want other columns: [`psi::Options::send_keys_with`](crate::psi::Options::send_keys_with). The text names them.
    #[cfg(feature = "psi")]
    Columns(String),
    /// The peer sent fields of columns that are not text.
    #[cfg(feature = "psi")]
    NotText,
    /// Base OTs of an earlier session cannot be taken up, with the reason.
    Ticket(String),
    /// The run of triples that was to go on was made under other terms, or between other keys.
    OtherRun,
    /// A handler of a [`Server`](crate::Server) panicked, with these words.
    Panicked(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(e) => e.fmt(f),
            Self::Usage(e) => e.fmt(f),
            Self::Full(e) => e.fmt(f),
            #[cfg(feature = "policy")]
            Self::Forbidden(e) => e.fmt(f),
            #[cfg(feature = "psi")]
            Self::Columns(why) => f.write_str(why),
            #[cfg(feature = "psi")]
            Self::NotText => f.write_str("the peer sent fields of columns that are not text"),
            Self::Limits(why) => f.write_str(why),
            Self::Sink(e) => write!(f, "the caller's sink failed: {e}"),
            Self::Cancelled => f.write_str("cancelled by the caller"),
            Self::OutOfMemory { bytes } => write!(f, "no memory for {bytes} bytes of results"),
            Self::Threads(why) => write!(f, "cannot start threads: {why}"),
            Self::Config(why) => write!(f, "the configuration does not fit: {why}"),
            Self::Ticket(why) => f.write_str(why),
            Self::OtherRun => f.write_str(
                "the interrupted run was made under other terms, with another key or peer, or by an earlier version",
            ),
            Self::Panicked(words) => write!(f, "the session's handler panicked: {words}"),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Session(e) => Some(e),
            Self::Usage(e) => Some(e),
            Self::Sink(e) => Some(&**e),
            _ => None,
        }
    }
}

impl From<foxtrot_net::Error> for Error {
    fn from(e: foxtrot_net::Error) -> Self {
        Self::Session(e)
    }
}

impl From<Usage> for Error {
    fn from(e: Usage) -> Self {
        Self::Usage(e)
    }
}

impl From<foxtrot_ot::Error> for Error {
    fn from(e: foxtrot_ot::Error) -> Self {
        match e {
            foxtrot_ot::Error::Usage(e) => Self::Usage(e),
            e => Self::Session(e.into()),
        }
    }
}
