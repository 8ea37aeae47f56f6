//! The failure of a run: the text to print, and the exit status.

use std::{fmt::Display, io, path::Path};

use foxtrot::{
    Blame,
    psi::{
        Assumption,
        terms::{NORMALIZE, OR_NORMALIZE},
    },
    triples::terms::{METHOD, RUN},
};
use foxtrot_net::{
    ChannelError, Difference, Error, FrameError, HelloError, Reason, TlsError,
    gateway::NotJoined,
    hello::{FUNCTION, JOB, POLICY_RULE},
};

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
    kind: Kind,
    message: String,
    pub(crate) hint: Option<String>,
    /// The reason that the peer is told, if it is one of its own.
    told: Option<Reason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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
        Self { kind: Kind::Run, message: message.into(), hint: None, told: None }
    }

    /// The command line or a local input file is at fault.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, ..Self::run(message) }
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
        Self { kind: Kind::Peer, ..Self::run(message) }
    }

    /// A line of the audit log could not be written.
    pub(crate) fn unrecorded(message: impl Into<String>) -> Self {
        Self { kind: Kind::Unrecorded, ..Self::run(message) }
    }

    pub(crate) fn is_unrecorded(&self) -> bool {
        self.kind == Kind::Unrecorded
    }

    /// Makes a missing reader a failure like others, for a process that has more to write later.
    pub(crate) fn of_one_of_many(self) -> Self {
        match self.kind {
            Kind::BrokenPipe => {
                Self::run("cannot write to standard output: nobody reads it any more")
            }
            _ => self,
        }
    }

    /// Returns true if the peer ended the run: the peer then knows the cause.
    #[must_use]
    pub fn is_the_peers_end(&self) -> bool {
        self.kind == Kind::Gone
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
            io::ErrorKind::BrokenPipe => Self { kind: Kind::BrokenPipe, ..Self::run("") },
            _ => Self::run(format!("cannot write to standard output: {}", words(error))),
        }
    }

    /// Returns whether nothing is said, as nobody reads our output any more.
    pub(crate) fn is_silent(&self) -> bool {
        self.kind == Kind::BrokenPipe
    }

    pub(crate) fn told(self, reason: Reason) -> Self {
        Self { told: Some(reason), ..self }
    }

    /// Tells a peer whose details led to the failure why the session ends.
    pub(crate) fn reason(&self) -> Reason {
        let usual = if self.kind == Kind::Peer { Reason::Undecodable } else { Reason::Other };
        self.told.unwrap_or(usual)
    }

    pub(crate) fn status(&self) -> u8 {
        match self.kind {
            Kind::BrokenPipe => 0,
            Kind::Run | Kind::Gone | Kind::Unrecorded => 1,
            Kind::Usage => 2,
            Kind::Peer => 3,
        }
    }
}

impl From<foxtrot::Error> for Failure {
    fn from(error: foxtrot::Error) -> Self {
        use HelloError::{Fingerprint, Reflection};
        use foxtrot::Error::{Session, Usage};
        let kind = match &error {
            Usage(_) | Session(Error::Protocol(foxtrot_ot::Error::Usage(_))) => Kind::Usage,
            Session(Error::Channel(
                ChannelError::GivenUp(_)
                | ChannelError::ClosedReceiving
                | ChannelError::ClosedSending,
            )) => Kind::Gone,
            // It may be another peer that was reached.
            Session(Error::Hello(Fingerprint | Reflection)) => Kind::Run,
            error if error.blame() == Blame::Peer => Kind::Peer,
            _ => Kind::Run,
        };
        let message = error.to_string();
        let hint = if let Session(error) = &error { hint_of(error) } else { None };
        Self { kind, hint, ..Self::run(message) }
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

fn hint_of(error: &Error) -> Option<String> {
    let hint = match error {
        Error::Protocol(foxtrot_ot::Error::Usage(_)) => return None,
        Error::Frame(FrameError::WrongTriples { .. }) => {
            "earlier batches are kept; --resume on both sides repeats the failed batch"
        }
        Error::Frame(FrameError::Transcript) => {
            "no output was written; the connection or the peer is faulty; without --insecure TLS protects \
             the data"
        }
        Error::Protocol(_) | Error::Frame(_) => {
            "the peer is faulty or cheats; no output was written"
        }
        Error::Unlucky => "run it again",
        Error::Channel(ChannelError::Io {
            kind: io::ErrorKind::ConnectionRefused | io::ErrorKind::TimedOut,
            ..
        }) => {
            let check = "check the address, the port and the firewall, or raise --wait";
            return Some(format!("{SIDES}; {check}"));
        }
        Error::Channel(ChannelError::NotJoined { why, .. }) => match why {
            NotJoined::Busy | NotJoined::Nobody(_) => {
                "start both sides with the same --route and ticket, and raise --wait"
            }
            NotJoined::Closed | NotJoined::NoGateway => {
                "--connect takes the --listen address of `foxtrot psi gateway`, --behind its --inside address"
            }
            _ => return None,
        },
        Error::Channel(ChannelError::GivenUp(reason)) => match reason {
            Reason::Busy => "try again later",
            Reason::TooLarge => "ask the peer to raise --max-memory, or use a smaller set",
            Reason::TooManyKeys => "raise --max-peer to accept the set",
            Reason::TooFewKeys => "lower --min-size to accept the set",
            Reason::UsedUp => {
                "try again tomorrow (UTC), or ask the peer to raise its limits per day"
            }
            Reason::NoSuchSet => "ask the peer which names of sets it has, and pass one with --set",
            _ => return None,
        },
        Error::Hello(HelloError::TooManyKeys { .. }) => {
            "ask the peer to raise --max-peer, or use a smaller set"
        }
        Error::Hello(HelloError::TooFewKeys { .. }) => {
            "use a larger set, or ask the peer to lower --min-size"
        }
        Error::Tls(TlsError::NotExpected { .. }) => {
            "compare it with `foxtrot keygen --show` at the peer; if it is right, pass it with --peer"
        }
        Error::Tls(TlsError::NotTls) | Error::Hello(HelloError::NotAHello) => {
            "pass --insecure on both sides or on neither"
        }
        Error::Hello(HelloError::SameRole(_)) => "one side runs `send`, the other `receive`",
        Error::Hello(HelloError::Terms(differences)) => return hint_of_terms(differences),
        _ => return None,
    };
    Some(hint.into())
}

/// The hint for the difference that tells most.
fn hint_of_terms(differences: &[Difference]) -> Option<String> {
    // Keys and functions differ also in terms of their own.
    let rank = |it: &&Difference| match it.key.as_str() {
        NORMALIZE | OR_NORMALIZE | RUN => 1,
        METHOD if lifts_differ(it) => 1,
        FUNCTION => 2,
        _ => 3,
    };
    let mut all: Vec<_> = differences.iter().collect();
    all.sort_by_key(rank);
    all.into_iter().find_map(term_hint)
}

fn term_hint(difference: &Difference) -> Option<String> {
    let hint = match difference.key.as_str() {
        JOB => "run the same command on both sides: `foxtrot psi`, `ot`, `rot` or `triples`",
        // The peer alone can have no say in what a job that lacks them advises.
        NORMALIZE | RUN if difference.here.is_none() => return None,
        NORMALIZE => return Some(normalize_hint(difference)),
        OR_NORMALIZE => "pass as many --or-key on both sides, and the same normalisers for each",
        RUN => "continue the same run with --resume on both sides, or remove DIR.partial on both",
        METHOD if lifts_differ(difference) => "pass --lift on both sides or on neither",
        FUNCTION => "choose the same on both sides: --with and --share, or --both twice",
        "adversary" => "pass --semi-honest on both sides or on neither",
        "assumption" => return assumption_hint(difference),
        "format" => "pass --hex on both sides or on neither",
        "policy" if difference.here.is_some() && difference.peer.is_some() => {
            "pass a --policy with the same rules on both sides; over TLS both name the rule that differs"
        }
        "policy" => "pass a --policy with the same rules on both sides",
        rule if rule.starts_with(POLICY_RULE) => {
            "agree on one value of the rule, and pass a --policy with the same rules on both sides"
        }
        "count" => "use the same number on both sides: -n, or the lines of the input files",
        option @ ("base" | "extension" | "one-of" | "method" | "min-count" | "largest"
        | "width" | "duplicates" | "bits" | "sigma") => {
            return Some(format!("pass the same --{option} on both sides"));
        }
        _ => return None,
    };
    Some(hint.into())
}

fn normalize_hint(Difference { here, peer, .. }: &Difference) -> String {
    let [here, peer] =
        [here, peer].map(|terms| terms.as_ref().map_or(0, |it| it.split(';').count()));
    match here == peer {
        true => "pass the same --normalize on both sides".into(),
        false => {
            format!("use the same number of key columns: this side has {here}, the peer {peer}")
        }
    }
}

fn lifts_differ(Difference { here, peer, .. }: &Difference) -> bool {
    let methods = [here.as_deref(), peer.as_deref()];
    ["rlwe", "rlwe-lift"].iter().all(|method| methods.contains(&Some(method)))
}

/// The hint of which side changes what, so that both rest on the same.
fn assumption_hint(Difference { here, peer, .. }: &Difference) -> Option<String> {
    let (here, peer) = (here.as_deref()?, peer.as_deref()?);
    Some(match Assumption::ALL.iter().any(|it| it.name() == peer) {
        true => format!("pass --assumption {peer} here, or --assumption {here} at the peer"),
        false => "pass the same --assumption on both sides".into(),
    })
}

/// The system's words in lower case, without the number behind them.
pub(crate) fn words(error: &(impl Display + ?Sized)) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(error: Error) -> String {
        Failure::from(error).continued_by("--resume continues it").hint.unwrap()
    }

    #[test]
    fn an_address_that_does_not_answer_has_the_hint_of_one_that_refuses() {
        let hint = |kind| {
            let (action, reason) = ("connect to a:1".into(), "no".into());
            let error = ChannelError::Io { action, within: None, kind, reason };
            Failure::from(Error::Channel(error)).hint
        };
        let refused = hint(io::ErrorKind::ConnectionRefused).unwrap();
        assert!(refused.contains("the port and the firewall"), "{refused}");
        assert_eq!(hint(io::ErrorKind::TimedOut), Some(refused));
        assert_eq!(hint(io::ErrorKind::AddrInUse), None);
    }

    #[test]
    fn the_exit_status_says_who_is_to_blame() {
        use HelloError::*;
        let offer = Offer { key: "keys", value: None };
        let (theirs, ours) = (9, 9);
        for error in [
            Malformed,
            MalformedDetails,
            Confirmation,
            Unsolved,
            offer,
            TooManyPeerKeys { theirs, most: 1 },
            TooFewPeerKeys { theirs, least: 10 },
        ] {
            assert_eq!(Failure::from(error.clone()).status(), 3, "{error:?}");
        }
        for error in [
            NotAHello,
            Version { peer: 1, ours: 2 },
            SameRole(foxtrot_net::hello::Role::Sender),
            SameSide { side: "initiator" },
            Reflection,
            Fingerprint,
            Terms(Vec::new()),
            TooManyKeys { ours, most: 1 },
            TooFewKeys { ours, least: 10 },
            Refused(Reason::Busy),
            TooLong { what: "the hello", max: 1 },
            Randomness("none".into()),
        ] {
            assert_eq!(Failure::from(error.clone()).status(), 1, "{error:?}");
        }
        let usage = foxtrot_ot::Usage::BatchTooLarge { n: 2, max: 1 };
        let status = |error: Error| Failure::from(error).status();
        assert_eq!(Failure::from(usage).status(), 2);
        assert_eq!(status(Error::Protocol(usage.into())), 2);
        assert_eq!(status(Error::Protocol(foxtrot_ot::Misbehaved::Challenge.into())), 3);
        assert_eq!(status(FrameError::Lane { got: 9 }.into()), 3);
        assert_eq!(status(Error::Unlucky), 1);
        assert_eq!(status(TlsError::NotTls.into()), 1);
        for reason in [Reason::Undecodable, Reason::CheckFailed, Reason::Busy, Reason::TooLarge] {
            let gone = Failure::from(Error::Channel(ChannelError::GivenUp(reason)));
            assert!(gone.is_the_peers_end() && gone.status() == 1, "{reason:?}");
        }
        let gone = Failure::from(Error::Channel(ChannelError::ClosedSending));
        assert!(gone.is_the_peers_end() && gone.status() == 1);
    }

    #[test]
    fn a_term_that_only_the_peer_has_advises_nothing_about_our_files() {
        let alone = |key: &str| Difference { key: key.into(), here: None, peer: Some("1".into()) };
        assert_eq!(hint_of_terms(&[alone(RUN), alone(NORMALIZE)]), None);
        assert!(hint_of_terms(&[alone(OR_NORMALIZE)]).is_some());
    }

    #[test]
    fn lifting_on_one_side_only_gets_a_hint_with_the_option() {
        let of = |here: &str, peer: Option<&str>| {
            let (here, peer) = (Some(here.into()), peer.map(Into::into));
            hint_of_terms(&[Difference { key: METHOD.into(), here, peer }])
        };
        let lift = "pass --lift on both sides or on neither";
        assert_eq!(of("rlwe", Some("rlwe-lift")).as_deref(), Some(lift));
        assert_eq!(of("rlwe-lift", Some("rlwe")).as_deref(), Some(lift));
        let method = "pass the same --method on both sides";
        assert_eq!(of("gilboa", Some("rlwe-lift")).as_deref(), Some(method));
        assert_eq!(of("rlwe", None).as_deref(), Some(method));
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
