//! The meeting of two hellos, as plain values: any driver carries the messages.

use std::collections::{BTreeMap, BTreeSet};

use foxtrot_ot::{Session, Sid};

use super::{
    Agreement, Heard, Hello, JOB, POLICY, POLICY_RULE, POLICY_RULES, Role, Rule, SIDE, Table,
    codec, details, fresh_nonce, side,
};
use crate::{HelloError, error::Difference};

/// A hello that was sent, or is about to be.
#[derive(Debug)]
pub(crate) struct Opening<'a> {
    hello: &'a Hello,
    initiator: bool,
    nonce: [u8; 32],
    /// The message for the peer.
    pub(crate) message: Vec<u8>,
}

/// Two hellos that agree. Of errors from now on the peer is to be told.
#[derive(Debug)]
pub(crate) struct Compared {
    /// True if we opened the connection.
    pub(crate) initiator: bool,
    /// The namespace of both first hellos.
    greeting: Session,
    terms: Table,
    fingerprints: Option<[[u8; 32]; 2]>,
    /// The offers in the peer's hello.
    pub(crate) offers: Table,
}

impl<'a> Opening<'a> {
    /// Makes the first message of one side.
    pub(crate) fn new(initiator: bool, hello: &'a Hello) -> Result<Self, HelloError> {
        let nonce = match hello.nonce {
            Some(nonce) => nonce,
            None => fresh_nonce()?,
        };
        let message = codec::encode(hello, &nonce)?;
        details::encode(&[0; 32], 0, &hello.details)?;
        Ok(Self { hello, initiator, nonce, message })
    }

    /// Compares the peer's first message with ours. If the two sides do not agree, the peer finds out by itself.
    pub(crate) fn hear(self, theirs: &[u8]) -> Result<Compared, HelloError> {
        let Self { hello, initiator, nonce, message: ours } = self;
        let peer = Heard::read(theirs)?;
        compare(hello, &nonce, &peer)?;
        if peer.offers.get(SIDE).is_some_and(|theirs| theirs == side(initiator)) {
            return Err(HelloError::SameSide { side: side(initiator) });
        }
        let exporter = hello.binding.as_ref().map(|binding| &binding.exporter);
        let exporter = exporter.or(hello.exporter.as_ref()).map_or(&[][..], |it| it);
        let (first, second) = if initiator { (&ours[..], theirs) } else { (theirs, &ours[..]) };
        let greeting = Session::new(Sid::derive(first, second, exporter));
        let Heard { terms, offers, .. } = peer;
        let fingerprints = hello.fingerprints();
        Ok(Compared { initiator, greeting, terms, fingerprints, offers })
    }
}

impl Compared {
    /// Makes our second message, with the details of this hello, if our set suits the peer.
    pub(crate) fn tell(&self, ours: &Hello) -> Result<Vec<u8>, HelloError> {
        ours.check_offers(&self.offers)?;
        self.make(ours)
    }

    /// Makes our second message, whether or not our set suits the peer. An initiator solves the peer's puzzle.
    pub(crate) fn make(&self, ours: &Hello) -> Result<Vec<u8>, HelloError> {
        let puzzle = details::puzzle_of(self.initiator, &self.offers)?;
        details::make(&self.greeting, self.initiator, puzzle, &ours.details)
    }

    /// Reads the peer's second message: its details.
    pub(crate) fn hear(&self, ours: &Hello, theirs: &[u8]) -> Result<Table, HelloError> {
        let details = details::check(&self.greeting, !self.initiator, ours.puzzle, theirs)?;
        details::puzzle_of(self.initiator, &self.offers)?;
        Ok(details)
    }

    /// Ends it, with the second messages of both sides, ours first.
    pub(crate) fn agree(
        self,
        role: Role,
        [ours, theirs]: [&[u8]; 2],
        peer_details: Table,
    ) -> Agreement {
        let both = if self.initiator { [ours, theirs] } else { [theirs, ours] };
        Agreement {
            sid: details::sid(&self.greeting, both),
            role,
            we_are_initiator: self.initiator,
            terms: self.terms,
            fingerprints: self.fingerprints,
            peer_offers: self.offers,
            peer_details,
        }
    }
}

fn compare(ours: &Hello, nonce: &[u8; 32], peer: &Heard) -> Result<(), HelloError> {
    if peer.nonce == *nonce {
        return Err(HelloError::Reflection);
    }
    let differences = by_rule(&ours.rules, &peer.offers, differences(&ours.terms, &peer.terms));
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

/// Names the rules in which two policies differ, in place of the hashes of all rules, if both sides tell them.
fn by_rule(ours: &[Rule], offers: &Table, mut differences: Vec<Difference>) -> Vec<Difference> {
    let at = differences.iter().position(|it| it.key == POLICY && it.here.is_some());
    let told = offers.get(POLICY_RULES).map_or("", String::as_str);
    let theirs: BTreeMap<_, _> = told.split('\n').filter_map(|line| line.split_once(' ')).collect();
    let Some(at) = at.filter(|_| !theirs.is_empty()) else { return differences };
    let here: BTreeMap<_, _> = ours.iter().map(|rule| (rule.name.as_str(), rule)).collect();
    let names: BTreeSet<_> = here.keys().chain(theirs.keys()).copied().collect();
    let differ = names.into_iter().filter_map(|name| {
        let (here, peer) = (here.get(name), theirs.get(name));
        let peer = match (here, peer) {
            (Some(here), Some(peer)) if here.hash == *peer => return None,
            (_, peer) => peer.map(|_| "another value".to_owned()),
        };
        let here = here.map(|rule| rule.words.clone());
        Some(Difference { key: format!("{POLICY_RULE} {name}"), here, peer })
    });
    let differ: Vec<_> = differ.collect();
    if !differ.is_empty() {
        differences.splice(at..=at, differ);
    }
    differences
}
