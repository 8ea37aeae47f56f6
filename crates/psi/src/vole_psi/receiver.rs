//! The side that learns the intersection.

use alloc::vec::Vec;
use core::mem::take;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{Decode, Seed, Session, Usage, erase::Secret};
use zeroize::Zeroizing;

use super::{
    Digest, Error, Joint, Mask, Next, Parameters, RowSeed,
    store::{Plan, Store},
    strings,
    tags::{Work, among},
};
use crate::{
    elias_fano::Tags,
    okvs::{self, Coins},
    paxos::{
        buckets::{Items, bucket_session},
        same,
    },
};

/// The receiver, before a bucket.
///
/// ```compile_fail,E0382
/// # use foxtrot_psi::vole_psi::Receiver;
/// # fn twice(receiver: Receiver) {
/// let _ = receiver.encode();
/// let _ = receiver.encode(); // a second row seed would tell about the items
/// # }
/// ```
///
/// ```
/// # use foxtrot_psi::vole_psi::Receiver;
/// # fn once(receiver: Receiver) {
/// let _ = receiver.encode();
/// # }
/// ```
pub struct Receiver {
    parameters: Parameters,
    session: Session,
    seed: Seed,
    items: Items,
    /// Buckets so far.
    bucket: usize,
    /// The tags of all buckets so far, and the indices of their items.
    tags: Secret<u128>,
    owners: Secret<u32>,
}

/// The receiver in a bucket, whose words are encoded.
///
/// ```compile_fail,E0382
/// # use foxtrot_psi::vole_psi::{Encoded, Mask};
/// # use foxtrot_ot::erase::Secret;
/// # fn twice(encoded: Encoded, u: Mask, again: Mask, v: Secret<u128>, w: Secret<u128>) {
/// let _ = encoded.mask(u, v);
/// let _ = encoded.mask(again, w); // two sums of one store would tell about the items
/// # }
/// ```
pub struct Encoded {
    receiver: Receiver,
    pub(super) row_seed: RowSeed,
    plan: Plan,
    /// P: a word per slot.
    slots: Secret<u8>,
}

/// The receiver in a bucket whose store is masked.
pub struct Masked {
    receiver: Receiver,
    row_seed: RowSeed,
    plan: Plan,
    v: Secret<u128>,
}

/// The receiver, who waits for tags.
pub struct Received {
    parameters: Parameters,
    pub(super) ours: Secret<u128>,
    owners: Secret<u32>,
    theirs: Tags,
    /// Bytes so far.
    bytes: usize,
}

impl Receiver {
    /// Begins. The seed was secret while the items could change, and the joint coin is there if there are several
    /// buckets.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many items or coins as the parameters say;
    /// [`Error::Unlucky`] if a bucket is too full.
    pub fn new(
        session: Session,
        parameters: Parameters,
        items: Vec<Digest>,
        joint: Option<Joint>,
        seed: Seed,
    ) -> Result<Self, Error> {
        let shape = (parameters.receiver_items(), parameters.keys());
        let items = Items::new(&session, parameters.buckets(), shape, items, joint)?;
        let n = items.len();
        let (tags, owners) = (Secret(Vec::with_capacity(n)), Secret(Vec::with_capacity(n)));
        Ok(Self { parameters, session, seed, items, bucket: 0, tags, owners })
    }

    /// Steps 2 and 3: encodes the words of the next bucket's items. The row seed leaves with [`Encoded::mask`].
    ///
    /// # Errors
    /// [`Error::Unlucky`] if there are no slots; items that repeat are the same error.
    pub fn encode(self) -> Result<Encoded, Error> {
        if self.bucket >= self.parameters.buckets() {
            return Err(Usage::SessionEnded.into());
        }
        let session = bucket_session(&self.session, self.bucket);
        let items = self.items.filled(&self.session, &self.seed, self.bucket);
        let mut coins = Zeroizing::new([0; 32]);
        let oracle = self.session.oracle("foxtrot v1 paxos coins");
        self.seed.fill(&oracle, self.bucket as u64, coins.as_mut_slice());
        let (store, coins) = (self.parameters.store(), Coins::from_bytes(*coins));
        let mut slots = Secret::<u8>::zeroed(store.slots() * self.parameters.word_len());
        let words = &mut slots.0;
        let encoded = match (store, self.parameters.word_len()) {
            (Store::Three(okvs), 16) => {
                let words = words.as_chunks_mut::<16>().0;
                okvs.encode_words(&session, coins, &items, words).map(three)
            }
            (Store::Three(okvs), _) => {
                let words = words.as_chunks_mut::<8>().0;
                okvs.encode_words(&session, coins, &items, words).map(three)
            }
            (Store::Four(okvs), 16) => {
                let words = words.as_chunks_mut::<16>().0;
                okvs.encode_words(&session, coins, &items, words).map(four)
            }
            (Store::Four(okvs), _) => {
                let words = words.as_chunks_mut::<8>().0;
                okvs.encode_words(&session, coins, &items, words).map(four)
            }
        };
        let (row_seed, plan) = encoded?;
        drop(items);
        Ok(Encoded { receiver: self, row_seed, plan, slots })
    }
}

fn three((seed, plan): (RowSeed, okvs::Plan<3>)) -> (RowSeed, Plan) {
    (seed, Plan::Three(plan))
}

fn four((seed, plan): (RowSeed, okvs::Plan<4>)) -> (RowSeed, Plan) {
    (seed, Plan::Four(plan))
}

impl Encoded {
    /// Step 4: masks the store with U, and gives what is sent: the row seed and A. U and V are of a VOLE whose check has passed, and
    /// serve once.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many elements as slots.
    pub fn mask(
        self,
        u: impl Into<Mask>,
        v: Secret<u128>,
    ) -> Result<(Masked, RowSeed, Vec<u8>), Error> {
        let Self { receiver, row_seed, plan, mut slots } = self;
        let (u, parameters) = (u.into(), &receiver.parameters);
        same("elements of V", parameters.slots(), v.len())?;
        match parameters.word_len() {
            16 => u.add_to(slots.0.as_chunks_mut::<16>().0)?,
            _ => u.add_to(slots.0.as_chunks_mut::<8>().0)?,
        }
        let mut sums = take(&mut slots.0);
        // They are sent.
        memcheck::public(&mut sums);
        Ok((Masked { receiver, row_seed, plan, v }, row_seed, sums))
    }
}

impl Masked {
    /// Step 6: the receiver's own tags of this bucket.
    ///
    /// # Errors
    /// None after steps in order.
    pub fn finish(self) -> Result<Next<Receiver, Received>, Error> {
        let Self { mut receiver, row_seed, plan, v } = self;
        let (parameters, bucket) = (receiver.parameters, receiver.bucket);
        let session = bucket_session(&receiver.session, bucket);
        let items = receiver.items.filled(&receiver.session, &receiver.seed, bucket);
        let (work, v) = (Work::new(&parameters, &session, &row_seed), strings(v));
        let (tags, order) = match (&plan, parameters.store()) {
            (Plan::Three(plan), Store::Three(okvs)) => {
                (work.run::<3, 16>((plan, &okvs.decoder(&v)?), &items, None)?, plan.order())
            }
            (Plan::Four(plan), Store::Four(okvs)) => {
                (work.run::<4, 16>((plan, &okvs.decoder(&v)?), &items, None)?, plan.order())
            }
            _ => return Err(Usage::SessionEnded.into()),
        };
        drop(items);
        // Tags of items that fill the bucket up are nobody's.
        let (start, number) = (receiver.items.start(bucket), receiver.items.number(bucket));
        for (&tag, &index) in
            tags.iter().zip(order).filter(|(_, index)| (**index as usize) < number)
        {
            receiver.tags.0.push(tag);
            #[expect(clippy::cast_possible_truncation, reason = "items are fewer than 2³²")]
            receiver.owners.0.push(receiver.items.index(start + index as usize) as u32);
        }
        receiver.bucket += 1;
        if receiver.bucket < parameters.buckets() {
            return Ok(Next::Bucket(receiver));
        }
        let Receiver { tags: ours, owners, .. } = receiver;
        let theirs = Tags::new(parameters.coding());
        Ok(Next::Done(Received { parameters, ours, owners, theirs, bytes: 0 }))
    }
}

impl Received {
    /// Step 7: takes the next frame of tags. What it does depends on nothing that the sender does not know.
    ///
    /// # Errors
    /// [`Decode`] if it has another length than is next, or spare bits are set;
    /// [`Misbehaved::Tags`](foxtrot_ot::Misbehaved::Tags) if there is another number of tags or they do not ascend.
    pub fn take(&mut self, frame: &[u8]) -> Result<(), Error> {
        let expected = self.parameters.tag_frames().nth(self.bytes.div_ceil(super::FRAME));
        let expected = expected.ok_or(Usage::SessionEnded)?;
        if frame.len() != expected {
            return Err(Decode::Length { message: "Tags", expected, got: frame.len() }.into());
        }
        self.bytes += frame.len();
        Ok(self.theirs.take(frame)?)
    }

    /// Step 8: the indices, ascending, of the items that the sender also has. After the last message: its time depends on
    /// the sets.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if not all tags have come.
    pub fn intersect(self) -> Result<Vec<usize>, Error> {
        let expected = self.parameters.tags();
        let wrong = Usage::CountMismatch { what: "tags", expected, got: 0 };
        let theirs = self.theirs.all().ok_or(wrong)?;
        let among = among(theirs, &self.ours, self.parameters.tag_bits());
        let owners = self.owners.iter().zip(among).filter(|(_, among)| *among);
        let mut indices: Vec<usize> = owners.map(|(&owner, _)| owner as usize).collect();
        indices.sort_unstable();
        Ok(indices)
    }
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "{:?}, {} buckets", receiver.parameters, receiver.bucket;
    Encoded, encoded => "{} slots", encoded.receiver.parameters.slots();
    Masked, masked => "{} slots", masked.receiver.parameters.slots();
    Received, received => "{} items, <redacted>", received.owners.len();
}
