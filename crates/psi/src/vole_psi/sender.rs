//! The side that learns nothing, with Δ.

use alloc::vec::Vec;

use foxtrot_kernel::memory::{prefer_huge_pages, strings};
use foxtrot_ot::{
    Usage,
    erase::Secret,
    expect_count, expect_len,
    tasks::{erase_with, for_each},
};

use super::{Parameters, TOGETHER, add_products, tags};
use crate::{
    Error, FRAME, Next, RowSeed, Sent,
    party::{self, BucketParty},
};

/// The sender, before a bucket.
pub type Sender = party::Sender<Parameters>;

/// The sender in a bucket, which takes the receiver's sums.
pub struct Opened {
    party: BucketParty<Parameters>,
    row_seed: RowSeed,
    /// A, as far as it has come.
    sums: Vec<u8>,
}

impl Sender {
    /// Step 4: takes the row seed of the next bucket.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if it has another length.
    pub fn open(self, row_seed: &[u8]) -> Result<Opened, Error> {
        let Self(party) = self;
        // It fails after the last bucket.
        party.bucket_session()?;
        let row_seed = RowSeed::decode(row_seed)?;
        let mut sums = Vec::with_capacity(party.parameters.sums_len());
        prefer_huge_pages(sums.spare_capacity_mut());
        Ok(Opened { party, row_seed, sums })
    }
}

impl Opened {
    /// Step 4: takes the next frame of A.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if it has another length than is next.
    pub fn take(&mut self, frame: &[u8]) -> Result<(), Error> {
        let mut frames = self.party.parameters.sum_frames();
        let expected = frames.nth(self.sums.len().div_ceil(FRAME));
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
        let party = match self.party.parameters.word_len() {
            16 => self.add_tags::<16>(delta, w)?,
            _ => self.add_tags::<8>(delta, w)?,
        };
        // Step 7.
        Ok(party.sent()?)
    }

    fn add_tags<const W: usize>(
        self,
        delta: &u128,
        mut w: Secret<u128>,
    ) -> Result<BucketParty<Parameters>, Error> {
        let Self { mut party, row_seed, sums } = self;
        let (store, sums) = (party.parameters.store, sums.as_chunks::<W>().0);
        expect_count("sums", store.slots(), sums.len())?;
        expect_count("elements of W", store.slots(), w.len())?;
        let hash = party.tag_hash(&row_seed)?;
        let (backend, executor) = (hash.session.backend(), hash.session.executor());
        for_each(executor, sums.chunks(TOGETHER).zip(w.chunks_mut(TOGETHER)), |(sums, w)| {
            add_products(backend, *delta, sums, w);
        });
        let decoder = store.decoder(strings(&mut w))?;
        party.add_parts(|items| {
            let (plan, words) = store.plan_words::<W>(&hash.session, &row_seed, items)?;
            // A product with a word turns the sender's value into the receiver's.
            let shift = |range, values: &mut [u128]| {
                add_products(backend, *delta, &words[range], values);
            };
            Ok((tags(&hash, (&plan, &decoder), items, shift)?, plan))
        })?;
        erase_with(executor, w);
        Ok(party)
    }
}

foxtrot_kernel::redacted! {
    Opened, opened => "{} of {} bytes", opened.sums.len(), opened.party.parameters.sums_len();
}
