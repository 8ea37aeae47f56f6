//! The side that learns nothing, with Δ.

use alloc::vec::Vec;

use foxtrot_kernel::memory::{prefer_huge_pages, strings};
use foxtrot_ot::{
    Seed, Session, Usage,
    erase::Secret,
    expect_count, expect_len,
    tasks::{erase_with, for_each},
};

use super::{
    Digest, Error, Joint, Next, Parameters, RowSeed, TOGETHER, add_products,
    tags::{Shift, Work},
};
use crate::{
    paxos::buckets::{Items, bucket_session},
    tags::{Ours, Sent},
};

/// Items of which the sender has a plan at a time.
const PART: usize = 1 << 20;

/// The sender, before a bucket.
pub struct Sender {
    parameters: Parameters,
    session: Session,
    seed: Seed,
    items: Items,
    /// Buckets so far.
    bucket: usize,
    /// The tags of all buckets so far.
    tags: Ours,
}

/// The sender in a bucket, which takes the receiver's sums.
pub struct Opened {
    sender: Sender,
    row_seed: RowSeed,
    /// A, as far as it has come.
    sums: Vec<u8>,
}

impl Sender {
    /// Begins. The joint coin is there if there are several buckets.
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
        let shape = (parameters.sender_items(), parameters.sender_load());
        let items = Items::new(&session, parameters.buckets(), shape, items, joint)?;
        let tags = Ours::new(&items, false);
        Ok(Self { parameters, session, seed, items, bucket: 0, tags })
    }

    /// Keeps the keys of items, for a [join](crate::join).
    #[must_use]
    pub fn keep_keys(mut self) -> Self {
        self.tags.keep_keys();
        self
    }

    /// Step 4: takes the row seed of the next bucket.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if it has another length.
    pub fn open(self, row_seed: &[u8]) -> Result<Opened, Error> {
        if self.bucket >= self.parameters.buckets() {
            return Err(Usage::SessionEnded.into());
        }
        let row_seed = RowSeed::decode(row_seed)?;
        let mut sums = Vec::with_capacity(self.parameters.sums_len());
        prefer_huge_pages(sums.spare_capacity_mut());
        Ok(Opened { sender: self, row_seed, sums })
    }
}

impl Opened {
    /// Step 4: takes the next frame of A.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if it has another length than is next.
    pub fn take(&mut self, frame: &[u8]) -> Result<(), Error> {
        let expected =
            self.sender.parameters.sum_frames().nth(self.sums.len().div_ceil(super::FRAME));
        expect_len("Masked", frame, expected.ok_or(Usage::SessionEnded)?)?;
        self.sums.extend_from_slice(frame);
        Ok(())
    }

    /// Steps 5 and 6: the tags of this bucket, from Δ and W of a VOLE whose check has passed.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if not all of A has come, or there are not as many elements of W as slots;
    /// [`Usage::RepeatedItem`], which the peer would take for a sender that cheats. Against semi-honest peers, where
    /// that does no harm, tags are too short to tell.
    pub fn finish(self, delta: &u128, w: Secret<u128>) -> Result<Next<Sender, Sent>, Error> {
        let sender = match self.sender.parameters.word_len() {
            16 => self.add_tags::<16>(delta, w)?,
            _ => self.add_tags::<8>(delta, w)?,
        };
        let parameters = sender.parameters;
        if sender.bucket < parameters.buckets() {
            return Ok(Next::Bucket(sender));
        }
        // Step 7.
        Ok(Next::Done(Sent::new(sender.session, parameters.coding(), sender.tags)?))
    }

    fn add_tags<const W: usize>(self, delta: &u128, mut w: Secret<u128>) -> Result<Sender, Error> {
        let Self { mut sender, row_seed, sums } = self;
        let parameters = sender.parameters;
        let (slots, sums) = (parameters.slots(), sums.as_chunks::<W>().0);
        expect_count("sums", slots, sums.len())?;
        expect_count("elements of W", slots, w.len())?;
        let (backend, executor) = (sender.session.backend(), sender.session.executor());
        for_each(executor, sums.chunks(TOGETHER).zip(w.chunks_mut(TOGETHER)), |(sums, w)| {
            add_products(backend, *delta, sums, w);
        });
        let (bucket, k) = (sender.bucket, strings(&mut w));
        let session = bucket_session(&sender.session, bucket);
        let items = sender.items.filled(&sender.session, &sender.seed, bucket);
        let work = Work::new(&parameters, (&session, &row_seed), sender.tags.keyed());
        let store = parameters.store();
        let decoder = store.decoder(k)?;
        for (first, items) in (0..).step_by(PART).zip(items.chunks(PART)) {
            let (plan, words) = store.plan_words::<W>(&session, &row_seed, items)?;
            let shift = Shift { delta, words: &words };
            let answers = work.run((&plan, &decoder), items, Some(&shift))?;
            sender.tags.add(answers, plan.order(), &sender.items, (bucket, first));
        }
        drop(items);
        erase_with(executor, w);
        sender.bucket += 1;
        Ok(sender)
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "{:?}, {} buckets", sender.parameters, sender.bucket;
    Opened, opened => "{} of {} bytes", opened.sums.len(), opened.sender.parameters.sums_len();
}
