//! The side that learns the intersection; the extension's receiver.

use alloc::vec;

use foxtrot_ot::expect_count;

use super::{Parameters, tags::tags};
use crate::{
    Digest, Error, Next, Received, RowSeed,
    erase::Secret,
    hashes::Keyed,
    okvs::OkvsPlan,
    party::{self, BucketParty},
};

/// The receiver, before a bucket.
pub type Receiver = party::Receiver<Parameters>;

/// The receiver in a bucket, whose words are encoded.
pub struct Encoded {
    party: BucketParty<Parameters>,
    row_seed: RowSeed,
    plan: OkvsPlan,
    words: Secret<u8>,
}

impl Receiver {
    /// Steps 2 and 3: encodes the words of the next bucket's items, and gives what is sent of it.
    ///
    /// ```compile_fail,E0382
    /// # use foxtrot_psi::paxos::Receiver;
    /// # fn twice(receiver: Receiver) {
    /// let _ = receiver.encode();
    /// let _ = receiver.encode(); // a second row seed would tell about the items
    /// # }
    /// ```
    ///
    /// ```
    /// # use foxtrot_psi::paxos::Receiver;
    /// # fn once(receiver: Receiver) {
    /// let _ = receiver.encode();
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unlucky`] if there are no slots; items that repeat are the same error.
    pub fn encode(self) -> Result<(Encoded, RowSeed), Error> {
        let Self(party) = self;
        let (plan, row_seed, words) = match party.parameters.checked() {
            true => encode_words::<29>(&party)?,
            false => encode_words::<11>(&party)?,
        };
        Ok((Encoded { party, row_seed, plan, words }, row_seed))
    }
}

fn encode_words<const W: usize>(
    party: &BucketParty<Parameters>,
) -> Result<(OkvsPlan, RowSeed, Secret<u8>), Error> {
    let (session, items, store) = (party.bucket_session()?, party.items(), party.parameters.store);
    let mut slots = Secret(vec![0; store.slots() * W]);
    let (seed, plan) = store.encode_with(
        &session,
        party.coins(),
        &items,
        |seed| {
            let mut words = Secret(vec![0; items.len() * W]);
            let hash = Keyed::words(&session, seed);
            hash.hash(size_of::<Digest>(), items.as_flattened(), W, &mut words);
            words
        },
        slots.0.as_chunks_mut::<W>().0,
    )?;
    Ok((plan, seed, slots))
}

impl Encoded {
    /// Step 4: the words of all slots, one after another, for the [extension's receiver](Parameters::ots_receiver).
    #[must_use]
    pub fn words(&self) -> &[u8] {
        &self.words
    }

    /// Step 7, first half: the receiver's own tags of this bucket, from the rows of all slots.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`](foxtrot_ot::Usage::CountMismatch) if there are not all rows.
    pub fn finish(self, rows: Secret<u8>) -> Result<Next<Receiver, Received>, Error> {
        let Self { mut party, row_seed, plan, words } = self;
        drop(words);
        let parameters = party.parameters;
        expect_count("bytes of rows", parameters.rows_len(), rows.len())?;
        let (hash, items) = (party.tag_hash(&row_seed)?, party.items());
        let tags = tags(&parameters, &hash, (&plan, &items), &rows, |_, _| Ok(()))?;
        drop(items);
        party.add(tags, &plan);
        Ok(party.received())
    }
}

foxtrot_kernel::redacted! {
    Encoded, encoded => "{} slots", encoded.party.parameters.slots();
}
