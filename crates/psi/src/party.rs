//! A party of an intersection, whichever protocol gives it rows of its items.

use alloc::vec::Vec;
use core::{
    fmt,
    ops::{Deref, Range},
};

use foxtrot_kernel::memory::prefetch;
use foxtrot_ot::{Seed, Session, Usage, erase::Secret};

use crate::{
    Digest, Error, Joint, Received, RowSeed, Sent,
    hashes::Keyed,
    items::{Filled, Items, bucket_session},
    okvs::{Coins, OkvsPlan},
    sets::Sets,
    tags::{Answers, Ours},
};

/// Items of which the sender has a plan at a time.
const PART: usize = 1 << 20;

/// The party that learns nothing, before a bucket, with the parameters of its protocol.
pub struct Sender<P>(pub(crate) BucketParty<P>);

/// The party that learns the intersection, before a bucket.
pub struct Receiver<P>(pub(crate) BucketParty<P>);

/// The step after a bucket: another bucket, or the tags.
#[derive(Debug)]
pub enum Next<More, Done> {
    /// Another bucket.
    Bucket(More),
    /// The tags.
    Done(Done),
}

/// Either party before a bucket.
pub(crate) struct BucketParty<P> {
    pub(crate) parameters: P,
    pub(crate) session: Session,
    seed: Seed,
    items: Items,
    /// Buckets so far.
    pub(crate) bucket: usize,
    /// The tags of all buckets so far.
    pub(crate) tags: Ours,
}

/// The hash of a bucket's tags, in its namespace.
pub(crate) struct TagHash {
    pub(crate) session: Session,
    hash: Keyed,
    bits: u32,
    /// True if keys are wanted.
    keyed: bool,
}

impl<P: Deref<Target = Sets>> Sender<P> {
    /// Begins. The joint coin is there if there are several buckets.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many items or coins as the parameters say;
    /// [`Error::Unlucky`] if a bucket is too full.
    pub fn new(
        session: Session,
        parameters: P,
        items: Vec<Digest>,
        joint: Option<Joint>,
        seed: Seed,
    ) -> Result<Self, Error> {
        let shape = (parameters.sender_items(), parameters.sender_load());
        let items = Items::new(&session, parameters.buckets(), shape, items, joint)?;
        let tags = Ours::new(&items, false);
        Ok(Self(BucketParty { parameters, session, seed, items, bucket: 0, tags }))
    }

    /// Keeps the keys of items, for a [join](crate::join).
    #[must_use]
    pub fn keep_keys(mut self) -> Self {
        self.0.tags.keep_keys();
        self
    }
}

impl<P: Deref<Target = Sets>> Receiver<P> {
    /// Begins. The seed was secret while the items could change, and the joint coin is there if there are several
    /// buckets.
    ///
    /// # Errors
    /// As of [`Sender::new`].
    pub fn new(
        session: Session,
        parameters: P,
        items: Vec<Digest>,
        joint: Option<Joint>,
        seed: Seed,
    ) -> Result<Self, Error> {
        let shape = (parameters.receiver_items(), parameters.keys());
        let items = Items::new(&session, parameters.buckets(), shape, items, joint)?;
        let tags = Ours::new(&items, true);
        Ok(Self(BucketParty { parameters, session, seed, items, bucket: 0, tags }))
    }

    /// Keeps the keys of items, for a [join](crate::join).
    #[must_use]
    pub fn keep_keys(mut self) -> Self {
        self.0.tags.keep_keys();
        self
    }
}

impl<P: Deref<Target = Sets>> BucketParty<P> {
    /// The namespace of the bucket.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`] after the last one.
    pub(crate) fn bucket_session(&self) -> Result<Session, Usage> {
        if self.bucket >= self.parameters.buckets() {
            return Err(Usage::SessionEnded);
        }
        Ok(bucket_session(&self.session, self.bucket))
    }

    /// The bucket's items, and what fills it up.
    pub(crate) fn items(&self) -> Filled<'_> {
        self.items.filled(&self.session, &self.seed, self.bucket)
    }

    /// The coins of the bucket's store.
    pub(crate) fn coins(&self) -> Coins {
        Coins::of(&self.seed, &self.session, "foxtrot v1 paxos coins", self.bucket as u64)
    }

    /// The hash of the bucket's tags.
    pub(crate) fn tag_hash(&self, row_seed: &RowSeed) -> Result<TagHash, Usage> {
        let session = self.bucket_session()?;
        let hash = Keyed::tags(&session, row_seed);
        Ok(TagHash { session, hash, bits: self.parameters.tag_bits(), keyed: self.tags.keyed() })
    }

    /// Adds the tags of the receiver's items, which has a plan of them all.
    pub(crate) fn add(&mut self, tags: Answers, plan: &OkvsPlan) {
        self.tags.add(tags, plan.order(), &self.items, (self.bucket, 0));
    }

    /// Adds the tags of the sender's items, which plans a part of them at a time.
    pub(crate) fn add_parts(
        &mut self,
        mut tags: impl FnMut(&[Digest]) -> Result<(Answers, OkvsPlan), Usage>,
    ) -> Result<(), Usage> {
        let items = self.items.filled(&self.session, &self.seed, self.bucket);
        for (first, items) in (0..).step_by(PART).zip(items.chunks(PART)) {
            let (tags, plan) = tags(items)?;
            self.tags.add(tags, plan.order(), &self.items, (self.bucket, first));
        }
        Ok(())
    }

    /// The receiver behind a bucket: before another one, or with its tags of all.
    pub(crate) fn received(mut self) -> Next<Receiver<P>, Received> {
        self.bucket += 1;
        match self.bucket < self.parameters.buckets() {
            true => Next::Bucket(Receiver(self)),
            false => Next::Done(Received::new(self.session, self.parameters.coding(), self.tags)),
        }
    }

    /// The sender behind a bucket: before another one, or with its tags of all.
    ///
    /// # Errors
    /// [`Usage::RepeatedItem`].
    pub(crate) fn sent(mut self) -> Result<Next<Sender<P>, Sent>, Usage> {
        self.bucket += 1;
        Ok(match self.bucket < self.parameters.buckets() {
            true => Next::Bucket(Sender(self)),
            false => Next::Done(Sent::new(self.session, self.parameters.coding(), self.tags)?),
        })
    }
}

impl TagHash {
    /// Computes the tags of a plan's items, in the order of the plan. An input of L bytes is an item and its row. `rows` gets places of the
    /// plan, TOGETHER at most, and writes the rows.
    pub(crate) fn tags<const L: usize>(
        &self,
        plan: &OkvsPlan,
        items: &[Digest],
        rows: impl Fn(Range<usize>, &mut [[u8; L]]) -> Result<(), Usage> + Sync,
    ) -> Result<Answers, Usage> {
        let executor = self.session.executor();
        Answers::compute(executor, items.len(), self.keyed, |range, mut answers| {
            let order = &plan.order()[range.clone()];
            // The items are needed when the rows are there.
            order.iter().for_each(|&index| prefetch(&items[index as usize]));
            let mut inputs = Secret::<[u8; L]>::zeroed(range.len());
            rows(range, &mut inputs)?;
            for (input, &index) in inputs.iter_mut().zip(order) {
                input[..size_of::<Digest>()].copy_from_slice(&items[index as usize]);
            }
            answers.fill(self.bits, |len, answers| {
                self.hash.hash(L, inputs.as_flattened(), len, answers);
            });
            Ok(())
        })
    }
}

foxtrot_kernel::redacted! {
    [P: fmt::Debug] Sender<P>, sender => "{:?}, {} buckets", sender.0.parameters, sender.0.bucket;
    [P: fmt::Debug] Receiver<P>, receiver => "{:?}, {} buckets", receiver.0.parameters, receiver.0.bucket;
}
