//! The side that learns the intersection.

use alloc::vec::Vec;
use core::mem::take;

use foxtrot_kernel::{memcheck, memory::strings};
use foxtrot_ot::{Seed, Session, Usage, erase::Secret, expect_count, tasks::erase_with};
use zeroize::Zeroizing;

use super::{Digest, Error, Joint, Mask, Next, Parameters, RowSeed, tags::Work};
use crate::{
    okvs::Coins,
    paxos::buckets::{Items, bucket_session},
    store::Plan,
    tags::{Ours, Received},
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
    tags: Ours,
}

/// The receiver in a bucket, whose items are hashed.
pub struct Planned {
    receiver: Receiver,
    row_seed: RowSeed,
    plan: Plan,
    /// A word per item, in the order of the plan.
    words: Secret<u8>,
    slots: Secret<u8>,
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
        let tags = Ours::new(&items, true);
        Ok(Self { parameters, session, seed, items, bucket: 0, tags })
    }

    /// Keeps the keys of items, for a [join](crate::join).
    #[must_use]
    pub fn keep_keys(mut self) -> Self {
        self.tags.keep_keys();
        self
    }

    /// Step 3: draws the row seed of the next bucket, and hashes its items, with all threads of the session.
    ///
    /// # Errors
    /// None after steps in order.
    pub fn plan(self) -> Result<Planned, Error> {
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
        let (row_seed, plan, words) = match self.parameters.word_len() {
            16 => store.begin_words::<16>(&session, coins, &items, &mut slots)?,
            _ => store.begin_words::<8>(&session, coins, &items, &mut slots)?,
        };
        drop(items);
        Ok(Planned { receiver: self, row_seed, plan, words, slots })
    }

    /// Step 3 as a whole.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan) and of [`Planned::encode`].
    pub fn encode(self) -> Result<Encoded, Error> {
        self.plan()?.encode()
    }
}

impl Planned {
    /// Step 3: encodes the words of the bucket's items, in the calling thread. The row seed leaves with [`Encoded::mask`].
    ///
    /// # Errors
    /// [`Error::Unlucky`] if there are no slots; items that repeat are the same error.
    pub fn encode(self) -> Result<Encoded, Error> {
        let Self { receiver, row_seed, plan, words, mut slots } = self;
        match receiver.parameters.word_len() {
            16 => plan.encode_words::<16>(&words, &mut slots)?,
            _ => plan.encode_words::<8>(&words, &mut slots)?,
        }
        Ok(Encoded { receiver, row_seed, plan, slots })
    }
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
        expect_count("elements of V", parameters.slots(), v.len())?;
        u.add_to(receiver.session.executor(), (parameters.word_len(), &mut slots))?;
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
        let Self { mut receiver, row_seed, plan, mut v } = self;
        let (parameters, bucket) = (receiver.parameters, receiver.bucket);
        let session = bucket_session(&receiver.session, bucket);
        let items = receiver.items.filled(&receiver.session, &receiver.seed, bucket);
        let work = Work::new(&parameters, (&session, &row_seed), receiver.tags.keyed());
        let decoder = parameters.store().decoder(strings(&mut v))?;
        let answers = work.run::<16>((&plan, &decoder), &items, None)?;
        drop(items);
        erase_with(session.executor(), v);
        receiver.tags.add(answers, plan.order(), &receiver.items, (bucket, 0));
        receiver.bucket += 1;
        if receiver.bucket < parameters.buckets() {
            return Ok(Next::Bucket(receiver));
        }
        Ok(Next::Done(Received::new(receiver.session, parameters.coding(), receiver.tags)))
    }
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "{:?}, {} buckets", receiver.parameters, receiver.bucket;
    Planned, planned => "{} slots", planned.receiver.parameters.slots();
    Encoded, encoded => "{} slots", encoded.receiver.parameters.slots();
    Masked, masked => "{} slots", masked.receiver.parameters.slots();
}
