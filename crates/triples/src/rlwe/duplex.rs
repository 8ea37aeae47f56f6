//! Two streams with the roles swapped.

use alloc::{sync::Arc, vec::Vec};

use foxtrot_ot::{Direction, Error, Seed, Session};

use super::{P0, P1, coins, ring::Ring};
use crate::params::Set;

/// A party that is P₀ in one stream and P₁ in the other, so that requests and responses go both ways at a time.
///
/// Batch g of the run is batch ⌊g/2⌋ of the stream whose P₀ is the initiator if g is even, else of the other: for
/// a party all batches of one parity are its own, which its P₀ [requests](P0::request) and
/// [receives](P0::receive), and to the others its P₁ [responds](P1::respond), and [finishes](P1::finish) them.
/// Each in ascending order; there is no order between the two.
#[derive(Debug)]
pub struct Duplex {
    /// The party in its own stream, where it requests.
    pub p0: P0,
    /// The party in the peer's stream, where it responds.
    pub p1: P1,
    /// The direction of the stream in which this party is P₀.
    direction: Direction,
}

impl Duplex {
    /// Draws a key: returns what makes the party of the peer's `PublicKey`, or an error of [`P1::new`], and our message
    /// `PublicKey`. `direction` is [`Direction::InitiatorSends`] for the side that opened the connection. Both streams are
    /// sub-sessions, number 0, of `session` for the set's name.
    ///
    /// The run begins with batch `first`. Seed and session must be new, also if it is not 0: a batch that was made before
    /// under the same two would be made again with the same coins, which gives both runs away.
    pub fn new(
        session: &Session,
        set: &'static Set,
        direction: Direction,
        seed: &Seed,
        first: u64,
    ) -> (impl FnOnce(&[u8]) -> Result<Self, Error> + use<>, Vec<u8>) {
        let [initiators, responders] = [first.div_ceil(2), first / 2];
        let first = match direction {
            Direction::InitiatorSends => [initiators, responders],
            Direction::ResponderSends => [responders, initiators],
        };
        let ring = Arc::new(Ring::new(set, session.backend()));
        let ours = session.sub(set.name(), 0, direction);
        let theirs = session.sub(set.name(), 0, direction.reversed());
        let [for_ours, for_theirs] = [&ours, &theirs].map(|it| coins::stream_seed(it, seed));
        let (p0, public_key) = P0::with_ring(ring.clone(), ours, for_ours, first[0]);
        let join = move |public_key: &[u8]| {
            let p1 = P1::with_ring(ring, theirs, public_key, for_theirs, first[1])?;
            Ok(Self { p0, p1, direction })
        };
        (join, public_key)
    }

    /// The set.
    #[must_use]
    pub fn set(&self) -> &'static Set {
        self.p0.set()
    }

    /// Returns true if this party is P₀ in this batch of the run: it requests the batch.
    #[must_use]
    pub fn asks(&self, batch: u64) -> bool {
        batch.is_multiple_of(2) == (self.direction == Direction::InitiatorSends)
    }
}
