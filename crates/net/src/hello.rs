//! The hello: two programs find out whether they mean the same, prove to each other that they are there now, tell
//! what only an admitted peer may know, and derive their session id.
//!
//! [`exchange`] does all of it. [`exchange_by`] is for programs that decide in between: a server whom it serves, when it has heard
//! the initiator's proof, and before it tells the initiator what its own set is like.

mod codec;
mod details;
pub(crate) mod meeting;

#[cfg(test)]
mod tests;

use core::{convert::Infallible, fmt};
use std::collections::BTreeMap;

use foxtrot_ot::{Direction, Session, Sid};

pub use crate::role::Role;
use crate::{Channel, Error, HelloError, connection::Connection};
pub use codec::{Heard, decimal, hexadecimal, number, of_hexadecimal};
use meeting::Opening;

/// The wire version that this crate speaks.
pub const VERSION: u16 = 1;

/// The most bytes that a hello has, and the most that details have.
pub const MAX_BYTES: usize = 4096;

/// The term that says what a session is for. Sides that want different jobs are told of nothing else.
pub const JOB: &str = "job";
/// The detail that tells how many keys a set has, and the offer that tells how many the peer's may have.
pub const KEYS: &str = "keys";
/// See [`KEYS`].
pub const MOST_KEYS: &str = "most-keys";
/// See [`Hello::at_least`].
pub const LEAST_KEYS: &str = "least-keys";

/// The detail that names the base OTs which a side has kept: the id of their ticket, or `none`.
pub const BASE_TICKET: &str = "base-ticket";

/// The detail of an initiator that wants nothing but the responder's confirmation: both have the same token, and no
/// session follows.
pub const ONLY_LOOKS: &str = "only-looks";

/// The offer that asks the peer for work, in bits, and the most that may be asked for.
pub const PUZZLE: &str = "puzzle";
/// The offer that tells which end of a connection a side takes itself for.
pub const SIDE: &str = "side";

/// The term of what `psi` computes, unless it is an intersection.
pub const FUNCTION: &str = "function";
/// The term of the number of shards of `psi` on many machines.
pub const SHARDS: &str = "shards";
/// The term of the policy that both sides enforce.
pub const POLICY: &str = "policy";
/// The offer of the hash of each rule of the policy, a line each: a name, a space, 16 hexadecimal digits.
pub const POLICY_RULES: &str = "policy-rules";
/// The first words of a [`Difference`](crate::Difference) in one rule of the policies.
pub const POLICY_RULE: &str = "policy rule";

/// See [`PUZZLE`].
pub const MOST_PUZZLE_BITS: u8 = 24;

/// Strings by strings.
pub type Table = BTreeMap<String, String>;

/// The first message of one side, which describes it.
#[derive(Clone, Debug)]
pub struct Hello {
    role: Role,
    terms: Table,
    offers: Table,
    details: Table,
    /// The numbers of keys in our set, one for each way to compare.
    keys: Vec<u64>,
    /// The rules of our policy, as far as the peer may compare them one by one.
    rules: Vec<Rule>,
    /// Bits of the puzzle that the peer has to solve.
    puzzle: u8,
    nonce: Option<[u8; 32]>,
    binding: Option<Binding>,
    /// The exporter of a connection whose keys somebody else has checked.
    exporter: Option<[u8; 32]>,
}

/// A rule of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name, without spaces.
    pub name: String,
    /// The values, for our own messages.
    pub words: String,
    /// The hash of name and values: 16 hexadecimal digits.
    pub hash: String,
}

/// The binding of a hello to the secure connection that carries it. Keys are named by the SHA-256 of
/// their SubjectPublicKeyInfo.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// Our key.
    pub ours: [u8; 32],
    /// The peer's key.
    pub peer: [u8; 32],
    /// The exporter of the TLS session (RFC 8446, section 7.5).
    pub exporter: [u8; 32],
}

/// The result of the hellos and details of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agreement {
    /// The session's id.
    pub sid: Sid,
    /// Our role.
    pub role: Role,
    /// True if we opened the connection.
    pub we_are_initiator: bool,
    /// The terms of both sides, which are the same.
    pub terms: Table,
    /// The fingerprints of the connection's keys, ours first.
    pub fingerprints: Option<[[u8; 32]; 2]>,
    /// The offers in the peer's hello. The strings are as they came: see [`printable`](crate::printable).
    pub peer_offers: Table,
    /// The details that the peer told when it had compared the hellos. The strings are as they came.
    pub peer_details: Table,
}

impl Hello {
    /// Makes a hello without terms and offers.
    #[must_use]
    pub fn new(role: Role) -> Self {
        let (terms, offers, details) = Default::default();
        let (keys, rules, nonce, binding, exporter) = Default::default();
        Self { role, terms, offers, details, keys, rules, puzzle: 0, nonce, binding, exporter }
    }

    /// Makes a hello that agrees with the peer's, for its other role.
    #[must_use]
    pub fn answering(peer: &Heard) -> Self {
        Self { terms: peer.terms.clone(), ..Self::new(peer.role.other()) }
    }

    /// Adds a term, which has to be the same on both sides: a key of at most 255 bytes and a value
    /// of at most 65535.
    #[must_use]
    pub fn term(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.terms.insert(key.to_owned(), value.to_string());
        self
    }

    /// Adds an offer, which everybody who connects gets to know; limits as for [`Hello::term`].
    #[must_use]
    pub fn offer(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.offers.insert(key.to_owned(), value.to_string());
        self
    }

    /// Adds a detail, which a peer gets to know only when the hellos agree; limits as for [`Hello::term`].
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.details.insert(key.to_owned(), value.to_string());
        self
    }

    /// Tells how many keys our set has as a detail, and how many the peer's may have as an offer. A peer that accepts
    /// fewer than ours does not get to know how many they are.
    #[must_use]
    pub fn keys(mut self, ours: u64, most: u64) -> Self {
        self.keys = vec![ours];
        self.detail(KEYS, ours).offer(MOST_KEYS, most)
    }

    /// Tells how many keys our set has where rows are also compared by other keys, as the detail `keys-2` and so on, behind
    /// [`keys`](Self::keys).
    #[must_use]
    pub fn also_keys(mut self, ours: u64) -> Self {
        let name = numbered(KEYS, self.keys.len());
        self.keys.push(ours);
        self.detail(&name, ours)
    }

    /// Takes back how many keys our set has: a responder that has several sets says so in another hello, by
    /// [`exchange_by`].
    #[must_use]
    pub fn without_keys(mut self) -> Self {
        for number in 0..self.keys.len() {
            self.details.remove(&numbered(KEYS, number));
        }
        self.keys.clear();
        self
    }

    /// Takes back all details.
    #[must_use]
    pub fn without_details(self) -> Self {
        Self { details: Table::new(), ..self.without_keys() }
    }

    /// Asks as an offer for no fewer keys than this. A peer that has fewer does not tell how many they are.
    #[must_use]
    pub fn at_least(self, least: u64) -> Self {
        if least == 0 { self } else { self.offer(LEAST_KEYS, least) }
    }

    /// Tells the hash of each rule of our policy as an offer, so that two sides whose policies differ both name the rule. The
    /// hash of a few words can be guessed: this is for a hello that only a known peer gets to see.
    #[must_use]
    pub fn rules(mut self, rules: Vec<Rule>) -> Self {
        let lines: Vec<_> =
            rules.iter().map(|Rule { name, hash, .. }| format!("{name} {hash}")).collect();
        self.rules = rules;
        self.offer(POLICY_RULES, lines.join("\n"))
    }

    /// Asks the peer for about 2^bits hashes before this side, which has to be the responder, tells its details; at
    /// most [`MOST_PUZZLE_BITS`], and 0 asks for nothing.
    #[must_use]
    pub fn puzzle(mut self, bits: u8) -> Self {
        self.puzzle = bits.min(MOST_PUZZLE_BITS);
        let bits = self.puzzle;
        self.offer(PUZZLE, bits)
    }

    /// Names the keys of the connection, and binds the session id to it.
    #[must_use]
    pub fn bound_to(mut self, binding: Binding) -> Self {
        self.binding = Some(binding);
        self
    }

    /// Binds the session id to a secure connection that somebody else has made: both sides give the same 32 bytes, which
    /// no other connection has.
    #[must_use]
    pub fn bound_by(mut self, exporter: [u8; 32]) -> Self {
        self.exporter = Some(exporter);
        self
    }

    /// Tells the peer which end of the connection we are, where two programs were given their ends by hand.
    #[must_use]
    pub fn side(self, initiator: bool) -> Self {
        self.offer(SIDE, side(initiator))
    }

    /// Fixes the nonce, for reproducible tests; otherwise [`exchange`] draws it. A nonce that
    /// occurs twice may repeat a session id, and then nothing is secure.
    #[must_use]
    pub fn with_nonce(mut self, nonce: [u8; 32]) -> Self {
        self.nonce = Some(nonce);
        self
    }

    /// The role of this side.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The value of a term.
    #[must_use]
    pub fn term_of(&self, key: &str) -> Option<&str> {
        self.terms.get(key).map(String::as_str)
    }

    /// The details.
    #[must_use]
    pub fn details(&self) -> &Table {
        &self.details
    }

    /// [`Agreement::terms_digest`] of a session with these terms.
    #[must_use]
    pub fn terms_digest(&self, without: &[&str]) -> [u8; 32] {
        terms_digest(&self.terms, self.role, self.fingerprints(), without)
    }

    /// The fingerprints of the connection's keys, ours first.
    fn fingerprints(&self) -> Option<[[u8; 32]; 2]> {
        self.binding.as_ref().map(|binding| [binding.ours, binding.peer])
    }
}

impl Agreement {
    /// The direction of a protocol in which the parties play the roles of the hello.
    #[must_use]
    pub fn direction(&self) -> Direction {
        if self.we_are_initiator == (self.role == Role::Sender) {
            Direction::InitiatorSends
        } else {
            Direction::ResponderSends
        }
    }

    /// The digest of the terms and of both keys by roles: `docs/wire/README.md`, section 3.1. It is the same on both sides. Whatever
    /// outlives the session is bound to it. Terms with the names in `without` are left out.
    #[must_use]
    pub fn terms_digest(&self, without: &[&str]) -> [u8; 32] {
        terms_digest(&self.terms, self.role, self.fingerprints, without)
    }
}

fn terms_digest(
    terms: &Table,
    role: Role,
    fingerprints: Option<[[u8; 32]; 2]>,
    without: &[&str],
) -> [u8; 32] {
    let fingerprints = fingerprints.as_ref();
    let [ours, peers] = fingerprints.map_or([&[][..]; 2], |both| both.each_ref().map(|it| &it[..]));
    let [sender, receiver] = if role == Role::Sender { [ours, peers] } else { [peers, ours] };
    let nobodys = Session::new(Sid::from_bytes([0; 32]));
    let query = nobodys.oracle("foxtrot v1 terms").query(0, 0).field(sender).field(receiver);
    let bound = terms.iter().filter(|(key, _)| !without.contains(&key.as_str()));
    let query = bound
        .fold(query, |query, (key, value)| query.field(key.as_bytes()).field(value.as_bytes()));
    query.finish()
}

/// Agrees on a session over a blocking channel. `initiator` is the side that opened the connection. The channel's counters
/// start after it.
///
/// # Errors
/// [`Error::Hello`] if the two sides do not agree, on both of them; [`Error::Frame`], [`Error::Channel`].
pub fn exchange(channel: &Channel, initiator: bool, hello: &Hello) -> Result<Agreement, Error> {
    let nothing = |_: &Table, _: &Table| Ok::<_, Infallible>(((), None));
    let mut channel = channel;
    let agreed = exchange_by(&mut channel, initiator, hello, nothing, |_| Ok(()));
    match <&Channel as Connection>::outcome(agreed)? {
        Ok((agreement, ())) => Ok(agreement),
        Err(never) => match never {},
    }
}

/// Agrees on a session over any connection, with two calls in between.
///
/// `agree` sees the peer's details and offers, and says what follows from them: perhaps a hello whose details a responder tells
/// in place of its own, while terms and offers stay as they were said. `record` returns before this side tells any of its
/// details, and also before it tells that its set has more or fewer keys than the peer accepts, which the peer could ask for
/// until it knows the size. A responder then knows what both sides agree on, and what `agree` said; an initiator, which tells
/// first, does not. A call that refuses leaves it to the caller to tell the peer why, by [`Connection::give_up`] or
/// [`Connection::refuse`].
///
/// # Errors
/// As [`exchange`]; the inner error is that of `agree` or `record`.
pub async fn exchange_by<C: Connection, T, E>(
    connection: &mut C,
    initiator: bool,
    hello: &Hello,
    agree: impl FnOnce(&Table, &Table) -> Result<(T, Option<Hello>), E>,
    record: impl FnOnce(Option<(&Agreement, &T)>) -> Result<(), E>,
) -> Result<Result<(Agreement, T), E>, Error> {
    let opening = Opening::new(initiator, hello)?;
    connection.say(opening.message.clone()).await?;
    let theirs = connection.hear(MAX_BYTES).await.map_err(not_a_hello)?;
    let compared = opening.hear(&theirs)?;
    connection.greeted();
    let mut record = Some(record);
    let first = if initiator {
        if let Some(Err(e)) = record.take().map(|record| record(None)) {
            return Ok(Err(e));
        }
        let ours = compared.tell(hello).map_err(|e| connection.give_up(e))?;
        connection.say(ours.clone()).await?;
        Some(ours)
    } else {
        // The responder reads first: bytes that nobody reads would take back what is said of a refusal.
        None
    };
    let theirs = connection.hear(MAX_BYTES).await?;
    let details = compared.hear(hello, &theirs).map_err(|e| connection.give_up(e))?;
    let (said, answer) = match agree(&details, &compared.offers) {
        Ok(agreed) => agreed,
        Err(e) => return Ok(Err(e)),
    };
    let told = answer.as_ref().unwrap_or(hello);
    let ours = match first {
        Some(ours) => ours,
        None => compared.make(told).map_err(|e| connection.give_up(e))?,
    };
    let agreement = compared.agree(hello.role, [&ours, &theirs], details);
    if let Some(record) = record {
        if let Err(e) = record(Some((&agreement, &said))) {
            return Ok(Err(e));
        }
        told.check_offers(&agreement.peer_offers).map_err(|e| connection.give_up(e))?;
        connection.say(ours).await?;
    }
    connection.agreed(agreement.sid, initiator);
    Ok(Ok((agreement, said)))
}

/// The error of a wait for the peer's hello. A wrong frame comes from a program of another kind, rather than from a peer that
/// cheats.
pub(crate) fn not_a_hello(error: Error) -> Error {
    match error {
        Error::Frame(_) => HelloError::NotAHello.into(),
        e => e,
    }
}

/// The name of an entry for one of several ways to compare, from 0: `keys`, `keys-2`.
#[must_use]
pub fn numbered(key: &str, number: usize) -> String {
    if number == 0 { key.into() } else { format!("{key}-{}", number + 1) }
}

fn side(initiator: bool) -> &'static str {
    if initiator { "initiator" } else { "responder" }
}

/// The value for [`Hello::bound_by`] where both sides have a token in place of a connection's exporter: a side without it
/// cannot confirm the hello.
#[must_use]
pub fn token_binding(token: &str) -> [u8; 32] {
    let nobodys = Session::new(Sid::from_bytes([0; 32]));
    nobodys.oracle("foxtrot v1 websocket token").query(0, 0).field(token.as_bytes()).finish()
}

pub(crate) fn fresh_nonce() -> Result<[u8; 32], HelloError> {
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce).map_err(|e| HelloError::Randomness(e.to_string()))?;
    Ok(nonce)
}

foxtrot_ot::erase::redacted! {
    Binding;
}
