//! The side that learns nothing; the extension's sender, with Δ.

use alloc::vec;

use foxtrot_ot::{expect_count, extension::one_of_n};

use super::{Parameters, tags::tags};
use crate::{
    Digest, Error, Next, RowSeed, Sent,
    erase::Secret,
    hashes::Keyed,
    party::{self, BucketParty},
};

/// The sender, before a bucket.
pub type Sender = party::Sender<Parameters>;

/// The sender in a bucket, which waits for the rows of its slots.
pub struct Opened {
    party: BucketParty<Parameters>,
    row_seed: RowSeed,
}

impl Sender {
    /// Step 3: takes the row seed of the next bucket. The receiver's words for [step 4](Parameters::ots_sender) follow it.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if it has another length.
    pub fn open(self, row_seed: &[u8]) -> Result<Opened, Error> {
        // It fails after the last bucket.
        self.0.bucket_session()?;
        Ok(Opened { party: self.0, row_seed: RowSeed::decode(row_seed)? })
    }
}

impl Opened {
    /// Step 5: the tags of this bucket, from the extension's sender and the rows of all slots of this bucket in their order, which
    /// come of batches whose check has passed.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`](foxtrot_ot::Usage::CountMismatch) if there are not all rows;
    /// [`Usage::SessionEnded`](foxtrot_ot::Usage::SessionEnded) after a failed check;
    /// [`Usage::RepeatedItem`](foxtrot_ot::Usage::RepeatedItem), which the peer would take for a sender that cheats. Against
    /// semi-honest peers, where that does no harm, tags are too short to tell.
    pub fn finish(
        self,
        ots: &one_of_n::Sender,
        rows: Secret<u8>,
    ) -> Result<Next<Sender, Sent>, Error> {
        ots.delta()?;
        let Self { mut party, row_seed } = self;
        let (parameters, hash) = (party.parameters, party.tag_hash(&row_seed)?);
        expect_count("bytes of rows", parameters.rows_len(), rows.len())?;
        let (of_words, len) =
            (Keyed::words(&hash.session, &row_seed), parameters.lengths().word_len());
        party.add_parts(|items| {
            let plan = parameters.store.plan(&hash.session, &row_seed, items)?;
            let shift = |items: &[_], rows: &mut [u8]| {
                let mut words = Secret(vec![0; items.len() * len]);
                of_words.hash(size_of::<Digest>(), items.as_flattened(), len, &mut words);
                ots.shift_sums(&words, rows)
            };
            Ok((tags(&parameters, &hash, (&plan, items), &rows, shift)?, plan))
        })?;
        // Step 6.
        Ok(party.sent()?)
    }
}

foxtrot_kernel::redacted! {
    Opened, opened => "{} slots", opened.party.parameters.slots();
}
