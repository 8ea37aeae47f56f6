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
/// use foxtrot_ot::{Direction, Seed, Session, Sid, tasks::only};
/// use foxtrot_triples::rlwe::{Answering, Duplex, Receiving};
/// use foxtrot_triples::{Shares, params, wrong_in_batch};
///
/// # let (seed_0, seed_1) = (Seed::from_bytes([1; 32]), Seed::from_bytes([2; 32]));
/// // Without the fix there are no OTs, and nothing corrects.
/// let set = params::find("rlwe-lift-8").expect("there is one");
/// let session = || Session::new(Sid::from_bytes([7; 32]));
/// let (one, key_1) = Duplex::new(&session(), set, Direction::InitiatorSends, &seed_0, 0);
/// let (other, key_2) = Duplex::new(&session(), set, Direction::ResponderSends, &seed_1, 0);
/// let (mut one, mut other) = (one(&key_2)?, other(&key_1)?);
///
/// let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
/// let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
/// for batch in 0..4 {
///     let parties = if one.asks(batch) { [&mut one, &mut other] } else { [&mut other, &mut one] };
///     let [asking, answering] = parties;
///     let requested = only(asking.p0.request(vec![&mut request]));
///     let (shares, answer) = (&mut theirs, &mut response);
///     let asked = Answering { request: &request, ots: None, shares, response: answer };
///     let responded = only(answering.p1.respond(vec![asked])?);
///     let (shares, correction) = (&mut ours, &mut correction);
///     let answer = Receiving { requested, response: &response, ots: None, shares, correction };
///     asking.p0.receive(vec![answer])?;
///     answering.p1.finish(vec![(responded, &[], &mut theirs)])?;
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
