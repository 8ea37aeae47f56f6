//! The failure of a run: the text to print, and the exit status.

use std::{fmt::Display, io, path::Path};

use foxtrot::Cause;
use foxtrot_net::{Error, HelloError, Reason};

pub(crate) const INTERRUPTED: u8 = 130;

pub(crate) const STATUSES: [(u8, &str); 5] = [
    (0, "Done."),
    (1, "The run failed: the network, a file, a wrong key, or the two sides disagree."),
    (2, "Wrong usage or wrong content of a local input file."),
    (3, "The peer misbehaved: it sent invalid bytes or failed a check."),
    (INTERRUPTED, "Interrupted."),
];

/// The hint where two sides do not meet.
pub(crate) const SIDES: &str = "one side passes --listen, the other --connect with its address";

/// The reason why there is no result.
#[derive(Debug)]
pub struct Failure {
    kind: FailureKind,
    message: String,
    pub(crate) hint: Option<String>,
    /// The reason that the peer is told, if it is one of its own.
    told: Option<Reason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureKind {
    /// The network, a file, a disagreement.
    Run,
    /// The peer ended the run.
    Gone,
    /// The command line or a local input file.
    Usage,
    /// The peer sent bytes that cannot be, or failed a check.
    Peer,
    /// The audit log could not be written.
    Unrecorded,
    /// The reader of our output has gone.
    BrokenPipe,
}

impl Failure {
    /// The network, a file or a disagreement is at fault.
    pub fn run(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Run, message: message.into(), hint: None, told: None }
    }

    /// The command line or a local input file is at fault.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Usage, ..Self::run(message) }
    }

    /// Adds what might help.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Adds the hint how a run of `triples` is continued, beside the existing hint, unless that says it.
    pub(crate) fn continued_by(self, hint: &str) -> Self {
        let hint = match &self.hint {
            Some(there) if there.contains("--resume") => there.clone(),
            Some(there) => format!("{there}; {hint}"),
            None => hint.into(),
        };
        self.hint(hint)
    }

    pub(crate) fn rename_options(self, names: &[(&str, &str)]) -> Self {
        let rename =
            |text| names.iter().fold(text, |text: String, (from, to)| text.replace(from, to));
        Self { hint: self.hint.map(rename), message: rename(self.message), ..self }
    }

    /// The peer sent what cannot be, or failed a check.
    pub(crate) fn peer(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Peer, ..Self::run(message) }
    }

    /// A line of the audit log could not be written.
    pub(crate) fn unrecorded(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Unrecorded, ..Self::run(message) }
    }

    pub(crate) fn is_unrecorded(&self) -> bool {
        self.kind == FailureKind::Unrecorded
    }

    /// Makes a missing reader a failure like others, for a process that has more to write later.
    pub(crate) fn of_one_of_many(self) -> Self {
        match self.kind {
            FailureKind::BrokenPipe => {
                Self::run("cannot write to standard output: nobody reads it any more")
            }
            _ => self,
        }
    }

    /// Returns true if the peer ended the run: the peer then knows the cause.
    #[must_use]
    pub fn is_the_peers_end(&self) -> bool {
        self.kind == FailureKind::Gone
    }

    /// The failure in one line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// A local file could not be read.
    #[must_use]
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
            _ => words(error),
        };
        Self::usage(format!("cannot read {}: {why}", path.display()))
    }

    /// A line of a local file is not as it has to be.
    pub(crate) fn at_line(path: &Path, line: u64, why: &str) -> Self {
        Self::usage(format!("{}, line {line}: {why}", path.display()))
    }

    /// An output file could not be written.
    #[must_use]
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        let failure = Self::run(format!("cannot write {}: {}", path.display(), words(error)));
        match error.kind() {
            io::ErrorKind::NotFound => failure.hint("create the directory first"),
            _ => failure,
        }
    }

    /// Standard output could not be written.
    #[must_use]
    pub fn stdout(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self { kind: FailureKind::BrokenPipe, ..Self::run("") },
            _ => Self::run(format!("cannot write to standard output: {}", words(error))),
        }
    }

    /// Returns whether nothing is said, as nobody reads our output any more.
    pub(crate) fn is_silent(&self) -> bool {
        self.kind == FailureKind::BrokenPipe
    }

    pub(crate) fn told(self, reason: Reason) -> Self {
        Self { told: Some(reason), ..self }
    }

    /// Tells a peer whose details led to the failure why the session ends.
    pub(crate) fn reason(&self) -> Reason {
        self.told.unwrap_or(match self.kind {
            FailureKind::Peer => Reason::Undecodable,
            FailureKind::Usage => Reason::OwnInput,
            _ => Reason::Other,
        })
    }

    pub(crate) fn status(&self) -> u8 {
        match self.kind {
            FailureKind::BrokenPipe => 0,
            FailureKind::Run | FailureKind::Gone | FailureKind::Unrecorded => 1,
            FailureKind::Usage => 2,
            FailureKind::Peer => 3,
        }
    }
}

impl From<foxtrot::Error> for Failure {
    fn from(error: foxtrot::Error) -> Self {
        let Cause { status, is_the_peers_end, hint, .. } = error.cause();
        let kind = match status {
            _ if is_the_peers_end => FailureKind::Gone,
            2 => FailureKind::Usage,
            3 => FailureKind::Peer,
            _ => FailureKind::Run,
        };
        let hint = hint.map(|it| it.spelled(flag));
        Self { kind, hint, ..Self::run(error.to_string()) }
    }
}

/// The end of a session of which the peer is told by this reason.
impl From<(Reason, foxtrot::Error)> for Failure {
    fn from((reason, error): (Reason, foxtrot::Error)) -> Self {
        Self::from(error).told(reason)
    }
}

/// An option of the library as a flag: `--max-peer-keys`.
pub(crate) fn flag(option: &str) -> String {
    match option {
        "n" => "-n".into(),
        _ => format!("--{}", option.replace('_', "-")),
    }
}

/// An error that can be part of a session's error.
trait Part: Into<Error> {}

impl Part for Error {}
impl Part for foxtrot_ot::Error {}
impl Part for HelloError {}

impl<E: Part> From<E> for Failure {
    fn from(error: E) -> Self {
        foxtrot::Error::Session(error.into()).into()
    }
}

impl From<foxtrot_ot::Usage> for Failure {
    fn from(error: foxtrot_ot::Usage) -> Self {
        foxtrot::Error::from(error).into()
    }
}

/// The system's words in lower case, without the number behind them.
pub(crate) fn words(error: &(impl Display + ?Sized)) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use foxtrot_net::{ChannelError, FrameError};

    use super::*;

    fn hint(error: Error) -> String {
        Failure::from(error).continued_by("--resume continues it").hint.unwrap()
    }

    #[test]
    fn a_failed_run_of_triples_says_once_how_it_is_continued() {
        assert_eq!(hint(ChannelError::ClosedReceiving.into()), "--resume continues it");
        let faulty = hint(FrameError::Lane { got: 9 }.into());
        assert!(faulty.ends_with("; no output was written; --resume continues it"), "{faulty}");
        let wrong = hint(FrameError::WrongTriples { batch: 1 }.into());
        assert_eq!(wrong.matches("--resume").count(), 1, "{wrong}");
    }
}
