//! Sets divided into shards, which other machines intersect: `docs/wire/shards.md`, section 27.
//!
//! Two parties with many machines each agree once on a [`Division`]: a joint coin, and the number of shards. From then on each
//! party knows, without the other, which of its items is in which shard. Shard i of one party is intersected with shard i of the
//! other, in a session of its own, whose declared sizes are [`Division::load`] whatever the items are. The coin is tossed after both sizes are
//! fixed, so that no party can fill a shard on purpose.
//!
//! ```
//! use foxtrot_ot::{
//!     Context, Direction, Seed, Session, Sid,
//!     engine::Engine,
//!     pair::{Pair, PairParty},
//! };
//! use foxtrot_psi::shards::Division;
//!
//! // The parties have agreed on the session, which fixed their sizes; each has a secret seed, which it uses once.
//! let toss = |party, seed| {
//!     Engine::new(move |io| async move {
//!         let session = Session::new(Sid::from_bytes([7; 32]));
//!         let mut cx = Context::new(&session, Seed::from_bytes([seed; 32]));
//!         Division::toss(&io, &mut cx, Direction::InitiatorSends, party, 16).await
//!     })
//! };
//! let (ours, theirs) =
//!     Pair::new(toss(PairParty::Sender, 8), toss(PairParty::Receiver, 9)).run().map_err(|(_party, e)| e)?;
//! assert_eq!(ours.shards_of(&[[1; 32], [2; 32]]), theirs.shards_of(&[[1; 32], [2; 32]]));
//! // A million items are padded to 16 times 64 485.
//! assert_eq!(ours.load(1_000_000), 64_485);
//! # Ok::<(), foxtrot_psi::Error>(())
//! ```

use alloc::vec::Vec;
use core::mem;

use foxtrot_ot::{Context, Direction, Session, Sid, Usage, engine::Io, pair::PairParty};

use crate::{Digest, Error, Joint, items::buckets_of, load, receivers_coin, senders_coin};

/// The most shards.
pub const MOST: u32 = 1 << 16;

/// The division of items into shards. It is not secret, but for who would fill a shard.
#[derive(Clone, PartialEq, Eq)]
pub struct Division {
    sid: [u8; 32],
    coin: [u8; 32],
    shards: u32,
}

impl Division {
    /// Tosses the joint coin, in a session in which both sizes are fixed. The receiver commits, and the sender answers; either
    /// may have either set.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] for no shard, or more than [`MOST`]; [`Misbehaved::CommitmentMismatch`](foxtrot_ot::Misbehaved) and
    /// [`Decode`](foxtrot_ot::Decode) are the peer's fault.
    pub async fn toss(
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        party: PairParty,
        shards: u32,
    ) -> Result<Self, Error> {
        check(shards)?;
        let (session, seed) = (cx.session().sub("psi shards", 0, direction), cx.seed());
        let Joint(coin) = match party {
            PairParty::Sender => senders_coin(io, &session, &seed).await?,
            PairParty::Receiver => receivers_coin(io, &session, &seed).await?,
        };
        Ok(Self { sid: *session.id().as_bytes(), coin, shards })
    }

    /// A division that was agreed on earlier, by its [`parts`](Self::parts).
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] for no shard, or more than [`MOST`].
    pub fn from_parts(sid: [u8; 32], coin: [u8; 32], shards: u32) -> Result<Self, Usage> {
        check(shards)?;
        Ok(Self { sid, coin, shards })
    }

    /// The sub-sid of the toss, the joint coin and the number of shards.
    #[must_use]
    pub fn parts(&self) -> ([u8; 32], [u8; 32], u32) {
        (self.sid, self.coin, self.shards)
    }

    /// The number of shards.
    #[must_use]
    pub fn shards(&self) -> u32 {
        self.shards
    }

    /// The shard of each item, from 0.
    #[must_use]
    pub fn shards_of(&self, items: &[Digest]) -> Vec<u32> {
        let session = Session::new(Sid::from_bytes(self.sid));
        mem::take(&mut buckets_of(&session, &Joint(self.coin), items, self.shards as usize).0)
    }

    /// The number of items to which each shard of a set of n items is filled up. No shard of the set has more, but with probability 2⁻⁴¹.
    #[must_use]
    pub fn load(&self, n: usize) -> usize {
        load::most(n, self.shards as usize)
    }
}

fn check(shards: u32) -> Result<(), Usage> {
    match shards {
        1..=MOST => Ok(()),
        got => {
            let (expected, got) = (MOST as usize, got as usize);
            Err(Usage::CountMismatch { what: "shards", expected, got })
        }
    }
}

foxtrot_kernel::redacted! {
    Division, division => "{} shards", division.shards;
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use foxtrot_reference::paxos as schoolbook;

    use super::*;

    fn items(n: u32) -> Vec<Digest> {
        (0..n).map(|i| *blake3::hash(&i.to_le_bytes()).as_bytes()).collect()
    }

    #[test]
    fn no_shard_has_more_items_than_the_bound() {
        for (n, shards) in [(1, 4), (100, 16), (20_000, 16), (20_000, 7), (1000, 1)] {
            let division = Division::from_parts([1; 32], [2; 32], shards).unwrap();
            let mut loads = alloc::vec![0; shards as usize];
            for shard in division.shards_of(&items(n)) {
                loads[shard as usize] += 1;
            }
            assert_eq!(loads.iter().sum::<usize>(), n as usize);
            let most = loads.into_iter().max().unwrap();
            assert!(most <= division.load(n as usize), "{n} {shards}: {most}");
        }
    }

    #[test]
    fn shards_and_loads_match_the_schoolbook() {
        let (items, shards) = (items(300), 7);
        let division = Division::from_parts([5; 32], [6; 32], shards).unwrap();
        let book = schoolbook::Protocol {
            id: [5; 32],
            checked: true,
            receiver_items: 300,
            sender_items: 300,
            buckets: shards as usize,
        };
        let of = |item: &Digest| u32::try_from(book.bucket_of(&[6; 32], item)).unwrap();
        assert_eq!(division.shards_of(&items), items.iter().map(of).collect::<Vec<_>>());
        for n in [0, 1, 300, 1_000_000] {
            assert_eq!(division.load(n), schoolbook::load(n, shards as usize));
        }
    }

    #[test]
    fn another_coin_or_session_divides_otherwise() {
        let items = items(64);
        let of =
            |sid, coin| Division::from_parts([sid; 32], [coin; 32], 16).unwrap().shards_of(&items);
        assert_eq!(of(1, 2), of(1, 2));
        assert_ne!(of(1, 2), of(1, 3));
        assert_ne!(of(1, 2), of(3, 2));
    }

    #[test]
    fn there_are_1_to_2_to_the_16_shards() {
        for shards in [0, MOST + 1] {
            assert!(Division::from_parts([0; 32], [0; 32], shards).is_err());
        }
        assert!(Division::from_parts([0; 32], [0; 32], MOST).is_ok());
    }
}
