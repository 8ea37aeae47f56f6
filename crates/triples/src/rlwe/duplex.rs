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
///
/// ```
/// use foxtrot_ot::{Direction, Seed, Session, Sid};
/// use foxtrot_triples::{Shares, params, rlwe::Duplex, wrong_in_batch};
///
/// # let (seed_0, seed_1) = (Seed::from_bytes([1; 32]), Seed::from_bytes([2; 32]));
/// // Without the fix there are no OTs, and nothing corrects.
/// let set = params::find("rlwe-lift-8").expect("there is one");
/// let session = || Session::new(Sid::from_bytes([7; 32]));
/// let (one, key_1) = Duplex::new(&session(), set, Direction::InitiatorSends, &seed_0);
/// let (other, key_2) = Duplex::new(&session(), set, Direction::ResponderSends, &seed_1);
/// let (mut one, mut other) = (one.finish(&key_2)?, other.finish(&key_1)?);
///
/// let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
/// let (mut request, mut response) = (Vec::new(), Vec::new());
/// for batch in 0..4 {
///     let parties = if one.asks(batch) { [&mut one, &mut other] } else { [&mut other, &mut one] };
///     let [asking, answering] = parties;
///     let requested = asking.p0.request(&mut request);
///     let responded = answering.p1.respond(&request, None, &mut theirs, &mut response)?;
///     asking.p0.receive(requested, &response, None, &mut ours, &mut request)?;
///     answering.p1.finish(responded, &[], &mut theirs)?;
///     assert_eq!(wrong_in_batch(&ours, &theirs), 0);
/// }
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
#[derive(Debug)]
pub struct Duplex {
    /// The party in its own stream, where it requests.
    pub p0: P0,
    /// The party in the peer's stream, where it responds.
    pub p1: P1,
    /// The direction of the stream in which this party is P₀.
    direction: Direction,
}

/// A [`Duplex`] that waits for the peer's `PublicKey`.
#[derive(Debug)]
#[must_use = "it waits for the peer's key"]
pub struct Joining {
    p0: P0,
    session: Session,
    seed: Seed,
    ring: Arc<Ring>,
    direction: Direction,
}

impl Duplex {
    /// Draws a key; with the message `PublicKey`. `direction` is [`Direction::InitiatorSends`] for the side
    /// that opened the connection. Both streams are sub-sessions, number 0, of `session` for the set's name.
    #[expect(clippy::new_ret_no_self, reason = "it becomes one with the peer's key")]
    pub fn new(
        session: &Session,
        set: &'static Set,
        direction: Direction,
        seed: &Seed,
    ) -> (Joining, Vec<u8>) {
        let ring = Arc::new(Ring::new(set, session.backend()));
        let ours = session.sub(set.name(), 0, direction);
        let theirs = session.sub(set.name(), 0, direction.reversed());
        let [for_ours, for_theirs] = [&ours, &theirs].map(|it| coins::stream_seed(it, seed));
        let (p0, public_key) = P0::with_ring(ring.clone(), ours, for_ours);
        (Joining { p0, session: theirs, seed: for_theirs, ring, direction }, public_key)
    }

    /// Continues a run with this batch as the next one; the peer must agree.
    ///
    /// Only for a seed and a session that are new, as in [`P0::starting_at`].
    ///
    /// # Errors
    /// [`Usage::ForeignBatch`](foxtrot_ot::Usage::ForeignBatch) if that number is behind.
    pub fn starting_at(self, batch: u64) -> Result<Self, Error> {
        let [initiators, responders] = [batch.div_ceil(2), batch / 2];
        let [ours, theirs] = match self.direction {
            Direction::InitiatorSends => [initiators, responders],
            Direction::ResponderSends => [responders, initiators],
        };
        Ok(Self { p0: self.p0.starting_at(ours)?, p1: self.p1.starting_at(theirs)?, ..self })
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

impl Joining {
    /// Takes the peer's `PublicKey`.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if the message is malformed.
    pub fn finish(self, public_key: &[u8]) -> Result<Duplex, Error> {
        let Self { p0, session, seed, ring, direction } = self;
        let p1 = P1::with_ring(ring, session, public_key, seed)?;
        Ok(Duplex { p0, p1, direction })
    }
}
