//! Causes of the end of a session, the same at every door: who can do something about it, the exit status of a program, and what
//! might help.

use std::{fmt, io};

use foxtrot_net::{
    ChannelError, Difference, Error as NetError, FrameError, HelloError, Reason, TlsError,
    gateway::NotJoined,
    hello::{FUNCTION, JOB, POLICY_RULE},
};

use crate::Error;

/// The party that can do something about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The calling program: it asked for something that cannot be, cancelled, or has no memory.
    Caller,
    /// The two programs contradict each other in the protocol: the peer departed from it, or says that this side did.
    /// Either program is faulty, or cheats, or the connection changes bytes. Do not retry: an attempt may reveal
    /// something, and a peer that cheats makes attempts fail.
    Peer,
    /// The two programs want different things: compare their calls and options.
    Agreement,
    /// The connection or its keys: try again, or look at network and fingerprints.
    Connection,
    /// Chance: try again.
    Nobody,
}

/// The consequences of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause {
    /// The party that can do something about it.
    pub blame: Blame,
    /// The exit status of a program that ends with it: 1 for a failed run, 2 for wrong usage, 3 if the peer misbehaved.
    pub status: u8,
    /// True if the peer ended the session: it knows why.
    pub is_the_peers_end: bool,
    /// Advice for this side.
    pub hint: Option<Hint>,
}

/// Advice that names options in braces, as `{max_peer_keys}`: every door spells them its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint(String);

impl Hint {
    /// The advice, with each option as `spell` writes it.
    ///
    /// ```
    /// use foxtrot::{Peer, psi};
    ///
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let few = psi::Options::new().max_peer_keys(1);
    /// let sender = std::thread::spawn(move || few.send(&mut theirs, &["bob"]));
    /// let error = psi::receive(&mut ours, &["ann", "bob"]).expect_err("they are two");
    /// let hint = error.cause().hint.expect("there is one");
    /// let spelled = hint.spelled(|option| format!("--{}", option.replace('_', "-")));
    /// assert_eq!(spelled, "ask the peer to raise --max-peer-keys, or use a smaller set");
    /// # let _ = sender.join();
    /// ```
    #[must_use]
    pub fn spelled(&self, spell: impl Fn(&str) -> String) -> String {
        let mut parts = self.0.split('{');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| match part.split_once('}') {
            Some((option, rest)) => text + &spell(option) + rest,
            None => text + part,
        })
    }
}

/// The advice with the names of the library's options.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(|option| format!("`{option}`")))
    }
}

impl Error {
    /// The consequences of the error.
    #[must_use]
    pub fn cause(&self) -> Cause {
        use HelloError::{Fingerprint, Reflection};
        let blame = self.blame();
        let is_the_peers_end = matches!(
            self,
            Self::Session(NetError::Channel(
                ChannelError::GivenUp(_)
                    | ChannelError::ClosedReceiving
                    | ChannelError::ClosedSending
            ))
        );
        let status = match self {
            Self::Usage(_)
            | Self::OtherRun
            | Self::Session(NetError::Protocol(foxtrot_ot::Error::Usage(_))) => 2,
            // It may be another peer that was reached.
            Self::Session(NetError::Hello(Fingerprint | Reflection)) => 1,
            // The peer knows what it found.
            _ if blame == Blame::Peer && !is_the_peers_end => 3,
            _ => 1,
        };
        let hint = match self {
            Self::Session(error) => hint_of(error),
            Self::OtherRun => {
                Some("use the same options and identities, or start a new run on both sides".into())
            }
            _ => None,
        };
        Cause { blame, status, is_the_peers_end, hint: hint.map(Hint) }
    }

    /// Returns the party that can do something about the error.
    ///
    /// ```
    /// use foxtrot::{Blame, Peer, rot};
    ///
    /// // One side wants 10, the other 20.
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let peer = std::thread::spawn(move || rot::send(&mut theirs, 20));
    /// let error = rot::receive(&mut ours, 10).expect_err("they differ");
    /// assert_eq!(error.blame(), Blame::Agreement);
    /// assert!(error.to_string().contains("20"), "{error}");
    /// # let _ = peer.join();
    /// ```
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Session(NetError::Protocol(foxtrot_ot::Error::Usage(_))) => Blame::Caller,
            Self::Session(NetError::Protocol(_) | NetError::Frame(_)) => Blame::Peer,
            Self::Session(NetError::Unlucky) => Blame::Nobody,
            Self::Session(NetError::Hello(e)) => match e {
                HelloError::Terms(_)
                | HelloError::SameRole(_)
                | HelloError::SameSide { .. }
                | HelloError::Version { .. }
                | HelloError::TooManyKeys { .. }
                | HelloError::TooFewKeys { .. }
                | HelloError::Refused(_) => Blame::Agreement,
                HelloError::Randomness(_) | HelloError::TooLong { .. } => Blame::Caller,
                HelloError::NotAHello => Blame::Connection,
                _ => Blame::Peer,
            },
            Self::Session(NetError::Tls(TlsError::Setup(_))) => Blame::Caller,
            Self::Session(NetError::Channel(ChannelError::Abandoned)) => Blame::Caller,
            Self::Session(NetError::Channel(ChannelError::GivenUp(reason))) => match reason {
                Reason::TooManyKeys
                | Reason::TooFewKeys
                | Reason::TooLarge
                | Reason::UsedUp
                | Reason::Forbidden
                | Reason::NoSuchSet
                | Reason::OwnInput => Blame::Agreement,
                Reason::CheckFailed | Reason::Undecodable => Blame::Peer,
                _ => Blame::Connection,
            },
            Self::Session(_) => Blame::Connection,
            Self::Full(_) => Blame::Agreement,
            #[cfg(feature = "policy")]
            Self::Forbidden(_) => Blame::Agreement,
            #[cfg(feature = "psi")]
            Self::Columns(_) => Blame::Agreement,
            #[cfg(feature = "psi")]
            Self::NotText => Blame::Peer,
            Self::Usage(_)
            | Self::Sink(_)
            | Self::Cancelled
            | Self::OutOfMemory { .. }
            | Self::Threads(_)
            | Self::Config(_)
            | Self::Ticket(_)
            | Self::OtherRun
            | Self::Panicked(_)
            | Self::Limits(_) => Blame::Caller,
        }
    }
}

fn hint_of(error: &NetError) -> Option<String> {
    let hint = match error {
        NetError::Protocol(foxtrot_ot::Error::Usage(_)) => return None,
        NetError::Frame(FrameError::WrongTriples { .. }) => {
            "earlier batches are kept; {resume} on both sides repeats the failed batch"
        }
        NetError::Frame(FrameError::Transcript) => {
            "no output was written; the connection or the peer is faulty; without {insecure} TLS protects the data"
        }
        NetError::Protocol(_) | NetError::Frame(_) => {
            "the peer is faulty or cheats; no output was written"
        }
        NetError::Unlucky => "run it again",
        NetError::Channel(ChannelError::Io {
            kind: io::ErrorKind::ConnectionRefused | io::ErrorKind::TimedOut,
            ..
        }) => {
            "one side passes {listen}, the other {connect} with its address; check the address, the port and the \
             firewall, or raise {wait}"
        }
        NetError::Channel(ChannelError::NotJoined { why, .. }) => match why {
            NotJoined::Busy | NotJoined::Nobody(_) => {
                "start both sides with the same {route} and ticket, and raise {wait}"
            }
            NotJoined::Closed | NotJoined::NoGateway => {
                "{connect} takes the {listen} address of `foxtrot psi gateway`, {behind} its {inside} address"
            }
            _ => return None,
        },
        NetError::Channel(ChannelError::GivenUp(reason)) => match reason {
            Reason::Busy => "try again later",
            Reason::TooLarge => "ask the peer to raise {max_memory}, or use a smaller set",
            Reason::TooManyKeys => "raise {max_peer_keys} to accept the set",
            Reason::TooFewKeys => "lower {min_peer_keys} to accept the set",
            Reason::UsedUp => {
                "try again tomorrow (UTC), or ask the peer to raise its limits per day"
            }
            Reason::NoSuchSet => "ask the peer which names of sets it has, and pass one with {set}",
            Reason::OwnInput => "ask the peer what its program says",
            _ => return None,
        },
        NetError::Hello(HelloError::TooManyKeys { .. }) => {
            "ask the peer to raise {max_peer_keys}, or use a smaller set"
        }
        NetError::Hello(HelloError::TooFewKeys { .. }) => {
            "use a larger set, or ask the peer to lower {min_peer_keys}"
        }
        NetError::Tls(TlsError::NotExpected { .. }) => {
            "compare it with `foxtrot keygen --show` at the peer; if it is right, pass it with {peer}"
        }
        NetError::Tls(TlsError::NotTls) | NetError::Hello(HelloError::NotAHello) => {
            "pass {insecure} on both sides or on neither"
        }
        NetError::Hello(HelloError::SameRole(_)) => "one side runs `send`, the other `receive`",
        NetError::Hello(HelloError::Terms(differences)) => return hint_of_terms(differences),
        _ => return None,
    };
    Some(hint.into())
}

/// The terms of the jobs' own crates.
const NORMALIZE: &str = "normalize";
const OR_NORMALIZE: &str = "or-normalize";
const METHOD: &str = "method";
const RUN: &str = "run";

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
    let Difference { key, here, peer } = difference;
    let hint = match key.as_str() {
        JOB => "run the same command on both sides: `foxtrot psi`, `ot`, `rot` or `triples`",
        // The peer alone can have no say in what a job that lacks them advises.
        NORMALIZE | RUN if here.is_none() => return None,
        NORMALIZE => return Some(normalize_hint(difference)),
        OR_NORMALIZE => "pass as many {or_key} on both sides, and the same normalisers for each",
        RUN => "continue the same run with {resume} on both sides, or remove DIR.partial on both",
        METHOD if lifts_differ(difference) => "pass {lift} on both sides or on neither",
        FUNCTION => "choose the same on both sides: {with} and {share}, or {both} twice",
        "adversary" => "pass {semi_honest} on both sides or on neither",
        "assumption" => {
            let (here, peer) = (here.as_deref()?, peer.as_deref()?);
            return Some(match ["symmetric", "lpn"].contains(&peer) {
                true => {
                    format!("pass {{assumption}} {peer} here, or {{assumption}} {here} at the peer")
                }
                false => "pass the same {assumption} on both sides".into(),
            });
        }
        "format" => "pass {hex} on both sides or on neither",
        "policy" if here.is_some() && peer.is_some() => {
            "pass a {policy} with the same rules on both sides; over TLS both name the rule that differs"
        }
        "policy" => "pass a {policy} with the same rules on both sides",
        rule if rule.starts_with(POLICY_RULE) => {
            "agree on one value of the rule, and pass a {policy} with the same rules on both sides"
        }
        "count" => "use the same number on both sides: {n}, or the lines of the input files",
        option @ ("base" | "extension" | "one-of" | "method" | "min-count" | "largest"
        | "width" | "duplicates" | "bits" | "sigma") => {
            return Some(format!("pass the same {{{}}} on both sides", option.replace('-', "_")));
        }
        _ => return None,
    };
    Some(hint.into())
}

fn normalize_hint(difference: &Difference) -> String {
    let Difference { here, peer, .. } = difference;
    if let (Some(here), Some(peer)) = (here, peer)
        && let Some(hint) = versions_hint(here, peer)
    {
        return hint;
    }
    let [here, peer] =
        [here, peer].map(|terms| terms.as_ref().map_or(0, |it| it.split(';').count()));
    match here == peer {
        true => "pass the same {normalize} on both sides".into(),
        false => {
            format!("use the same number of key columns: this side has {here}, the peer {peer}")
        }
    }
}

/// The hint for normalisers that differ in their versions alone: an older release does not have the newer ones.
fn versions_hint(here: &str, peer: &str) -> Option<String> {
    let is_term = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/:+,;".contains(c);
    let steps = |terms: &str| -> Option<Vec<(String, u32)>> {
        let step = |step: &str| {
            let (name, rest) = step.split_once('/')?;
            Some((name.to_owned(), rest.split(':').next()?.parse().ok()?))
        };
        terms.split([',', ';']).map(step).collect()
    };
    let names = |steps: &[(String, u32)]| steps.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
    let [ours, theirs] = [steps(here)?, steps(peer)?];
    let older = |a: &[(String, u32)], b: &[(String, u32)]| a.iter().zip(b).all(|(a, b)| a.1 <= b.1);
    if names(&ours) != names(&theirs) || ours == theirs || !peer.chars().all(is_term) {
        return None;
    }
    let pass = |terms: &str| {
        let each: Vec<_> = terms.split(';').map(|part| format!("{{normalize}} {part}")).collect();
        each.join(" and ")
    };
    match (older(&theirs, &ours), older(&ours, &theirs)) {
        (true, _) => Some(format!("the peer has an older version: pass {} here", pass(peer))),
        (_, true) => {
            Some(format!("this side has an older version: pass {} at the peer", pass(here)))
        }
        _ => None,
    }
}

fn lifts_differ(Difference { here, peer, .. }: &Difference) -> bool {
    let methods = [here.as_deref(), peer.as_deref()];
    ["rlwe", "rlwe-lift"].iter().all(|method| methods.contains(&Some(method)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(error: NetError) -> Option<String> {
        Error::from(error).cause().hint.map(|it| it.to_string())
    }

    #[test]
    fn an_address_that_does_not_answer_has_the_hint_of_one_that_refuses() {
        let of = |kind| {
            let (action, reason) = ("connect to a:1".into(), "no".into());
            hint(ChannelError::Io { action, within: None, kind, reason }.into())
        };
        let refused = of(io::ErrorKind::ConnectionRefused).unwrap();
        assert!(refused.contains("the port and the firewall"), "{refused}");
        assert_eq!(of(io::ErrorKind::TimedOut), Some(refused));
        assert_eq!(of(io::ErrorKind::AddrInUse), None);
    }

    #[test]
    fn normalisers_of_another_version_have_the_remedy_that_names_it() {
        let of = |here: &str, peer: &str| {
            let [here, peer] = [here, peer].map(|it| Some(it.to_owned()));
            normalize_hint(&Difference { key: NORMALIZE.into(), here, peer })
        };
        for (here, peer, expected) in [
            ("email/2", "email/1", "the peer has an older version: pass {normalize} email/1 here"),
            (
                "email/2;phone/2",
                "email/1;phone/1:+49",
                "the peer has an older version: pass {normalize} email/1 and {normalize} phone/1:+49 here",
            ),
            (
                "email/1",
                "email/2",
                "this side has an older version: pass {normalize} email/1 at the peer",
            ),
            ("email/2;phone/1:+49", "email/1;phone/2", "pass the same {normalize} on both sides"),
            ("phone/1:+49", "phone/1:+44", "pass the same {normalize} on both sides"),
            ("email/2", "trim/1", "pass the same {normalize} on both sides"),
            ("email/2", "email/1:\u{1b}", "pass the same {normalize} on both sides"),
            ("email/2", "", "pass the same {normalize} on both sides"),
        ] {
            assert_eq!(of(here, peer), expected);
        }
    }

    #[test]
    fn the_status_says_who_is_to_blame() {
        use HelloError::*;
        let status = |error: NetError| Error::from(error).cause().status;
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
            assert_eq!(status(error.clone().into()), 3, "{error:?}");
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
            assert_eq!(status(error.clone().into()), 1, "{error:?}");
        }
        let usage = foxtrot_ot::Usage::BatchTooLarge { n: 2, max: 1 };
        assert_eq!(Error::from(usage).cause().status, 2);
        assert_eq!(status(NetError::Protocol(usage.into())), 2);
        assert_eq!(status(NetError::Protocol(foxtrot_ot::Misbehaved::Challenge.into())), 3);
        assert_eq!(status(FrameError::Lane { got: 9 }.into()), 3);
        assert_eq!(status(NetError::Unlucky), 1);
        assert_eq!(status(TlsError::NotTls.into()), 1);
        for reason in [Reason::Undecodable, Reason::CheckFailed, Reason::Busy, Reason::TooLarge] {
            let cause = Error::from(NetError::from(ChannelError::GivenUp(reason))).cause();
            assert!(cause.is_the_peers_end && cause.status == 1, "{reason:?}");
        }
        let cause = Error::from(NetError::from(ChannelError::ClosedSending)).cause();
        assert!(cause.is_the_peers_end && cause.status == 1);
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
        let lift = "pass {lift} on both sides or on neither";
        assert_eq!(of("rlwe", Some("rlwe-lift")).as_deref(), Some(lift));
        assert_eq!(of("rlwe-lift", Some("rlwe")).as_deref(), Some(lift));
        let method = "pass the same {method} on both sides";
        assert_eq!(of("gilboa", Some("rlwe-lift")).as_deref(), Some(method));
        assert_eq!(of("rlwe", None).as_deref(), Some(method));
    }
}
