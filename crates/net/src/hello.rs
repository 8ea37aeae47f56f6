//! The hello: two programs find out whether they mean the same, prove to each other that they are there now, tell
//! what only an admitted peer may know, and derive their session id.
//!
//! [`exchange`] does all of it. A server that has to decide in between whom it serves takes the steps one by one:
//! [`greet`] compares the first hellos, [`Greeted::confirm`] has heard the initiator's proof, and only
//! [`Confirmed::finish`] tells the initiator what the responder's set is like.

mod codec;
mod details;

#[cfg(test)]
mod tests;

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use foxtrot_ot::{Direction, Session, Sid};

use crate::{Channel, ChannelError, Error, HelloError, Lane, Reason, error::Difference};
use codec::Decoded;

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

/// The offer that asks the peer for work, in bits, and the most that may be asked for.
pub const PUZZLE: &str = "puzzle";
/// The offer that tells which end of a connection a side takes itself for.
pub const SIDE: &str = "side";

/// See [`PUZZLE`].
pub const MOST_PUZZLE_BITS: u8 = 24;

/// The role of one side in the session as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Byte 0.
    Sender,
    /// Byte 1.
    Receiver,
}

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
    /// Bits of the puzzle that the peer has to solve.
    puzzle: u8,
    nonce: Option<[u8; 32]>,
    binding: Option<Binding>,
    /// The exporter of a connection whose keys somebody else has checked.
    exporter: Option<[u8; 32]>,
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
        let (keys, nonce, binding, exporter) = Default::default();
        Self { role, terms, offers, details, keys, puzzle: 0, nonce, binding, exporter }
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
    /// [`Confirmed::answer_by`].
    #[must_use]
    pub fn without_keys(mut self) -> Self {
        for number in 0..self.keys.len() {
            self.details.remove(&numbered(KEYS, number));
        }
        self.keys.clear();
        self
    }

    /// Asks as an offer for no fewer keys than this. A peer that has fewer does not tell how many they are.
    #[must_use]
    pub fn at_least(self, least: u64) -> Self {
        if least == 0 { self } else { self.offer(LEAST_KEYS, least) }
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
}

impl Hello {
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
}

/// Agrees on a session: [`greet`], [`Greeted::confirm`] and [`Confirmed::finish`]. `initiator` is the side that opened the
/// connection. The channel's counters start after it.
///
/// # Errors
/// [`Error::Hello`] if the two sides do not agree, on both of them; [`Error::Frame`], [`Error::Channel`].
pub fn exchange(channel: &Channel, initiator: bool, hello: &Hello) -> Result<Agreement, Error> {
    greet(channel, initiator, hello)?.confirm()?.finish()
}

/// A first message as it was read, without a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The peer's role.
    pub role: Role,
    /// Its terms. The strings are as they came: see [`printable`](crate::printable).
    pub terms: Table,
    /// Its offers.
    pub offers: Table,
}

impl Heard {
    /// Reads the first message of a peer: for a program that shows a person what the peer wants.
    ///
    /// # Errors
    /// [`HelloError::NotAHello`], [`HelloError::Version`], [`HelloError::Malformed`].
    pub fn read(bytes: &[u8]) -> Result<Self, HelloError> {
        let Decoded { role, terms, offers, .. } = codec::decode(bytes)?;
        Ok(Self { role, terms, offers })
    }
}

/// A hello that was sent, or is about to be: for drivers of their own. [`Opening::hear`] compares it with the peer's.
#[derive(Debug)]
pub struct Opening<'a> {
    hello: &'a Hello,
    initiator: bool,
    nonce: [u8; 32],
    message: Vec<u8>,
}

/// Two hellos that agree, as a plain value. [`Greeted`] is the same with a channel.
#[derive(Debug)]
pub struct Compared {
    initiator: bool,
    /// The namespace of both first hellos.
    greeting: Session,
    terms: Table,
    offers: Table,
}

impl<'a> Opening<'a> {
    /// Makes the first message of one side.
    ///
    /// # Errors
    /// [`HelloError::TooLong`], [`HelloError::Randomness`].
    pub fn new(initiator: bool, hello: &'a Hello) -> Result<Self, HelloError> {
        let nonce = match hello.nonce {
            Some(nonce) => nonce,
            None => fresh_nonce()?,
        };
        let message = codec::encode(hello, &nonce)?;
        details::encode(&[0; 32], 0, &hello.details)?;
        Ok(Self { hello, initiator, nonce, message })
    }

    /// The message for the peer.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        &self.message
    }

    /// Compares the peer's first message with ours.
    ///
    /// # Errors
    /// [`HelloError`] if the two sides do not agree; the peer finds out by itself.
    pub fn hear(self, theirs: &[u8]) -> Result<Compared, HelloError> {
        let Self { hello, initiator, nonce, message: ours } = self;
        let peer = codec::decode(theirs)?;
        compare(hello, &nonce, &peer)?;
        if peer.offers.get(SIDE).is_some_and(|theirs| theirs == side(initiator)) {
            return Err(HelloError::SameSide { side: side(initiator) });
        }
        let exporter = hello.binding.as_ref().map(|binding| &binding.exporter);
        let exporter = exporter.or(hello.exporter.as_ref()).map_or(&[][..], |it| it);
        let (first, second) = if initiator { (&ours[..], theirs) } else { (theirs, &ours[..]) };
        let greeting = Session::new(Sid::derive(first, second, exporter));
        let Decoded { terms, offers, .. } = peer;
        Ok(Compared { initiator, greeting, terms, offers })
    }
}

impl Compared {
    /// The offers in the peer's hello.
    #[must_use]
    pub fn peer_offers(&self) -> &Table {
        &self.offers
    }

    /// Returns true if we opened the connection.
    #[must_use]
    pub fn is_initiator(&self) -> bool {
        self.initiator
    }

    /// The puzzle that the peer sets us.
    ///
    /// # Errors
    /// [`HelloError`], of which the peer is to be told: our set does not suit the peer, or an offer cannot be.
    pub fn puzzle(&self, ours: &Hello) -> Result<u8, HelloError> {
        details::read_offers(ours, self.initiator, &self.offers)
    }

    /// Makes our second message: it takes about 2^puzzle hashes.
    ///
    /// # Errors
    /// [`HelloError::TooLong`].
    pub fn tell(&self, ours: &Hello, puzzle: u8) -> Result<Vec<u8>, HelloError> {
        details::make(&self.greeting, self.initiator, puzzle, &ours.details)
    }

    /// Reads the peer's second message: its details.
    ///
    /// # Errors
    /// [`HelloError`], of which the peer is to be told.
    pub fn hear(&self, ours: &Hello, theirs: &[u8]) -> Result<Table, HelloError> {
        details::check(&self.greeting, !self.initiator, ours.puzzle, theirs)
    }

    /// Ends it, with the second messages of both sides, ours first.
    #[must_use]
    pub fn agree(self, role: Role, [ours, theirs]: [&[u8]; 2], peer_details: Table) -> Agreement {
        let both = if self.initiator { [ours, theirs] } else { [theirs, ours] };
        Agreement {
            sid: details::sid(&self.greeting, both),
            role,
            we_are_initiator: self.initiator,
            terms: self.terms,
            peer_offers: self.offers,
            peer_details,
        }
    }
}

/// Two sides whose first hellos agree. Nothing is known yet of the data of either, nor whether the peer is there now or
/// somebody repeats what it once said.
#[derive(Debug)]
#[must_use = "the peer waits for the details"]
pub struct Greeted<'a> {
    channel: &'a Channel,
    hello: &'a Hello,
    compared: Compared,
}

/// Two sides of which the responder has heard the initiator's details.
#[derive(Debug)]
#[must_use = "the peer waits for the details"]
pub struct Confirmed<'a> {
    greeted: Greeted<'a>,
    /// Ours if we are the initiator, else the peer's.
    first: Vec<u8>,
    /// The peer's details, if we are the responder.
    peers: Option<Table>,
}

/// Sends our hello, reads the peer's and compares them.
///
/// # Errors
/// [`Error::Hello`] if the two sides do not agree, on both of them; [`Error::Channel`].
pub fn greet<'a>(
    channel: &'a Channel,
    initiator: bool,
    hello: &'a Hello,
) -> Result<Greeted<'a>, Error> {
    let opening = Opening::new(initiator, hello)?;
    channel.send(Lane::HELLO, opening.message.clone())?;
    let theirs = channel.recv_at_most(Lane::HELLO, MAX_BYTES).map_err(|e| match e {
        // A program of another kind, rather than a peer that cheats.
        Error::Frame(_) => HelloError::NotAHello.into(),
        e => e,
    })?;
    if let [reason] = theirs[..]
        && channel.is_renewed()
    {
        // Behind the session before the peer gave up.
        return Err(ChannelError::GivenUp(Reason::from_byte(reason)).into());
    }
    let compared = opening.hear(&theirs)?;
    channel.greeted();
    Ok(Greeted { channel, hello, compared })
}

impl<'a> Greeted<'a> {
    /// The offers in the peer's hello.
    #[must_use]
    pub fn peer_offers(&self) -> &Table {
        self.compared.peer_offers()
    }

    /// Ends it, and tells the peer why.
    #[must_use]
    pub fn refuse(self, reason: Reason) -> Error {
        self.channel.give_up(HelloError::Refused(reason))
    }

    /// Confirms the session. The initiator solves the peer's puzzle and sends its details. The responder reads the
    /// peer's details with the proof that the peer is there now, and its solution of our puzzle.
    ///
    /// # Errors
    /// [`Error::Hello`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn confirm(self) -> Result<Confirmed<'a>, Error> {
        // The responder reads first: bytes that nobody reads would take back what is said of a refusal.
        let heard = if self.compared.initiator { None } else { Some(self.hear()?) };
        let puzzle = self.compared.puzzle(self.hello).map_err(|e| self.channel.give_up(e))?;
        let (first, peers) = match heard {
            None => (self.tell(puzzle)?, None),
            Some((bytes, details)) => (bytes, Some(details)),
        };
        Ok(Confirmed { greeted: self, first, peers })
    }

    fn tell(&self, puzzle: u8) -> Result<Vec<u8>, Error> {
        let ours = self.compared.tell(self.hello, puzzle)?;
        self.channel.send(Lane::HELLO, ours.clone())?;
        Ok(ours)
    }

    fn hear(&self) -> Result<(Vec<u8>, Table), Error> {
        let theirs = self.channel.recv_at_most(Lane::HELLO, MAX_BYTES)?;
        let details = self.compared.hear(self.hello, &theirs);
        Ok((theirs, details.map_err(|e| self.channel.give_up(e))?))
    }
}

impl<'a> Confirmed<'a> {
    /// The offers in the peer's hello.
    #[must_use]
    pub fn peer_offers(&self) -> &Table {
        self.greeted.peer_offers()
    }

    /// The peer's details, if we are the responder.
    #[must_use]
    pub fn peer_details(&self) -> Option<&Table> {
        self.peers.as_ref()
    }

    /// Takes our details from another hello: for a responder whose details follow from the initiator's. Terms and offers
    /// stay as they were said.
    ///
    /// # Errors
    /// [`Error::Hello`] if the peer does not accept so many or so few keys, of which it is told.
    pub fn answer_by(mut self, hello: &'a Hello) -> Result<Self, Error> {
        details::encode(&[0; 32], 0, &hello.details)?;
        details::check_keys(hello, self.peer_offers())
            .map_err(|e| self.greeted.channel.give_up(e))?;
        self.greeted.hello = hello;
        Ok(self)
    }

    /// Ends it, and tells the peer why.
    #[must_use]
    pub fn refuse(self, reason: Reason) -> Error {
        self.greeted.refuse(reason)
    }

    /// Reads the peer's details as the initiator; sends ours as the responder.
    ///
    /// # Errors
    /// As of [`Greeted::confirm`].
    pub fn finish(self) -> Result<Agreement, Error> {
        let Self { greeted, first, peers } = self;
        let (ours, theirs, peer_details) = match peers {
            Some(peers) => (greeted.tell(0)?, first, peers),
            None => {
                let (theirs, details) = greeted.hear()?;
                (first, theirs, details)
            }
        };
        let Greeted { channel, hello, compared } = greeted;
        let agreement = compared.agree(hello.role, [&ours, &theirs], peer_details);
        channel.agreed(agreement.sid, agreement.we_are_initiator);
        Ok(agreement)
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

fn compare(ours: &Hello, nonce: &[u8; 32], peer: &Decoded) -> Result<(), HelloError> {
    if peer.nonce == *nonce {
        return Err(HelloError::Reflection);
    }
    let differences = differences(&ours.terms, &peer.terms);
    // The roles of different jobs say nothing of each other.
    let job = differences.iter().find(|it| it.key == JOB).cloned();
    if job.is_none() && peer.role == ours.role {
        return Err(HelloError::SameRole(ours.role));
    }
    if peer.fingerprint != ours.binding.map(|binding| binding.peer) {
        return Err(HelloError::Fingerprint);
    }
    match job {
        Some(job) => Err(HelloError::Terms(vec![job])),
        None if differences.is_empty() => Ok(()),
        None => Err(HelloError::Terms(differences)),
    }
}

fn differences(here: &Table, peer: &Table) -> Vec<Difference> {
    let keys: BTreeSet<_> = here.keys().chain(peer.keys()).collect();
    keys.into_iter()
        .filter(|&key| here.get(key) != peer.get(key))
        .map(|key| Difference {
            key: key.clone(),
            here: here.get(key).cloned(),
            peer: peer.get(key).cloned(),
        })
        .collect()
}

foxtrot_ot::erase::redacted! {
    Binding;
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        })
    }
}
