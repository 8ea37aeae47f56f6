//! The hello: two programs find out whether they mean the same, and derive their session id.

mod codec;

#[cfg(test)]
mod tests;

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use foxtrot_ot::{Direction, Sid};

use crate::{Channel, Error, HelloError, Lane, error::Difference};
use codec::Decoded;

/// The wire version that this crate speaks.
pub const VERSION: u16 = 5;

/// The most bytes that a hello has.
pub const MAX_BYTES: usize = 4096;

/// The term that says what a session is for. Sides that want different jobs are told of nothing else.
pub const JOB: &str = "job";

/// What one side is in the session as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Byte 0.
    Sender,
    /// Byte 1.
    Receiver,
}

/// Strings by strings.
pub type Table = BTreeMap<String, String>;

/// What one side says of itself.
#[derive(Clone, Debug)]
pub struct Hello {
    role: Role,
    terms: Table,
    offers: Table,
    nonce: Option<[u8; 32]>,
    binding: Option<Binding>,
}

/// What ties a hello to the secure connection that carries it. Keys are named by the SHA-256 of
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

/// What both sides have said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agreement {
    /// The session's id.
    pub sid: Sid,
    /// Our role.
    pub role: Role,
    /// Whether we opened the connection.
    pub we_are_initiator: bool,
    /// What both sides want.
    pub terms: Table,
    /// What only the peer can know. The strings are as they came: see
    /// [`printable`](crate::printable).
    pub peer_offers: Table,
}

impl Hello {
    /// Without terms and offers.
    #[must_use]
    pub fn new(role: Role) -> Self {
        Self { role, terms: Table::new(), offers: Table::new(), nonce: None, binding: None }
    }

    /// Adds a term, which has to be the same on both sides: a key of at most 255 bytes and a value
    /// of at most 65535.
    #[must_use]
    pub fn term(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.terms.insert(key.to_owned(), value.to_string());
        self
    }

    /// Adds an offer, which the peer gets to know; limits as for [`Hello::term`].
    #[must_use]
    pub fn offer(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.offers.insert(key.to_owned(), value.to_string());
        self
    }

    /// Names the keys of the connection, and binds the session id to it.
    #[must_use]
    pub fn bound_to(mut self, binding: Binding) -> Self {
        self.binding = Some(binding);
        self
    }

    /// Fixes the nonce, for reproducible tests; otherwise [`exchange`] draws it. A nonce that
    /// occurs twice may repeat a session id, and then nothing is secure.
    #[must_use]
    pub fn with_nonce(mut self, nonce: [u8; 32]) -> Self {
        self.nonce = Some(nonce);
        self
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

/// Sends our hello, reads the peer's and compares them; `initiator` is the side that opened the
/// connection. The channel's counters start after it.
///
/// # Errors
/// [`Error::Hello`] if the two sides do not agree, on both of them; [`Error::Channel`].
pub fn exchange(channel: &Channel, initiator: bool, hello: &Hello) -> Result<Agreement, Error> {
    let nonce = match hello.nonce {
        Some(nonce) => nonce,
        None => fresh_nonce()?,
    };
    let ours = codec::encode(hello, &nonce)?;
    channel.send(Lane::HELLO, ours.clone())?;
    let theirs = channel.recv_at_most(Lane::HELLO, MAX_BYTES).map_err(|e| match e {
        // A program of another kind, rather than a peer that cheats.
        Error::Frame(_) => HelloError::NotAHello.into(),
        e => e,
    })?;
    let peer = codec::decode(&theirs)?;
    compare(hello, &nonce, &peer)?;
    channel.greeted();
    let exporter = hello.binding.as_ref().map_or(&[][..], |binding| &binding.exporter);
    let (first, second) = if initiator { (&ours, &theirs) } else { (&theirs, &ours) };
    Ok(Agreement {
        sid: Sid::derive(first, second, exporter),
        role: hello.role,
        we_are_initiator: initiator,
        terms: peer.terms,
        peer_offers: peer.offers,
    })
}

fn fresh_nonce() -> Result<[u8; 32], HelloError> {
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

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Binding(<redacted>)")
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        })
    }
}
