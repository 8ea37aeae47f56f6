//! The side that learns the intersection.

use alloc::vec::Vec;
use core::mem::take;

use foxtrot_kernel::{memcheck, memory::strings};
use foxtrot_ot::{erase::Secret, expect_count, tasks::erase_with};

use super::{Mask, Parameters, tags};
use crate::{
    Error, Next, Received, RowSeed,
    okvs::OkvsPlan,
    party::{self, BucketParty},
};

/// The receiver, before a bucket.
pub type Receiver = party::Receiver<Parameters>;

/// The receiver in a bucket, whose items are hashed.
pub struct Planned {
    party: BucketParty<Parameters>,
    row_seed: RowSeed,
    plan: OkvsPlan,
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
    party: BucketParty<Parameters>,
    pub(super) row_seed: RowSeed,
    plan: OkvsPlan,
    /// P: a word per slot.
    slots: Secret<u8>,
}

/// The receiver in a bucket whose store is masked.
pub struct Masked {
    party: BucketParty<Parameters>,
    row_seed: RowSeed,
    plan: OkvsPlan,
    v: Secret<u128>,
}

impl Receiver {
    /// Step 3: draws the row seed of the next bucket, and hashes its items, with all threads of the session.
    ///
    /// ```compile_fail,E0382
    /// # use foxtrot_psi::vole_psi::Receiver;
    /// # fn twice(receiver: Receiver) {
    /// let _ = receiver.plan();
    /// let _ = receiver.plan(); // a second row seed would tell about the items
    /// # }
    /// ```
    ///
    /// ```
    /// # use foxtrot_psi::vole_psi::Receiver;
    /// # fn once(receiver: Receiver) {
    /// let _ = receiver.plan();
    /// # }
    /// ```
    ///
    /// # Errors
    /// None after steps in order.
    pub fn plan(self) -> Result<Planned, Error> {
        let Self(party) = self;
        let (session, coins, parameters) =
            (party.bucket_session()?, party.coins(), party.parameters);
        let (store, items) = (parameters.store, party.items());
        let mut slots = Secret::<u8>::zeroed(parameters.sums_len());
        let (row_seed, plan, words) = match parameters.word_len() {
            16 => store.begin_words::<16>(&session, coins, &items, &mut slots)?,
            _ => store.begin_words::<8>(&session, coins, &items, &mut slots)?,
        };
        drop(items);
        Ok(Planned { party, row_seed, plan, words, slots })
    }
}

impl Planned {
    /// Step 3: encodes the words of the bucket's items, in the calling thread. The row seed leaves with [`Encoded::mask`].
    ///
    /// # Errors
    /// [`Error::Unlucky`] if there are no slots; items that repeat are the same error.
    pub fn encode(self) -> Result<Encoded, Error> {
        let Self { party, row_seed, plan, words, mut slots } = self;
        match party.parameters.word_len() {
            16 => plan.encode_words::<16>(&words, &mut slots)?,
            _ => plan.encode_words::<8>(&words, &mut slots)?,
        }
        Ok(Encoded { party, row_seed, plan, slots })
    }
}

impl Encoded {
    /// Step 4: masks the store with U, and gives what is sent: the row seed and A. U and V are of a VOLE whose check has passed, and
    /// serve once.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`](foxtrot_ot::Usage) if there are not as many elements as slots.
    pub fn mask(self, u: Mask, v: Secret<u128>) -> Result<(Masked, RowSeed, Vec<u8>), Error> {
        let Self { party, row_seed, plan, mut slots } = self;
        let parameters = &party.parameters;
        expect_count("elements of V", parameters.slots(), v.len())?;
        u.add_to(party.session.executor(), (parameters.word_len(), &mut slots))?;
        let mut sums = take(&mut slots.0);
        // They are sent.
        memcheck::public(&mut sums);
        Ok((Masked { party, row_seed, plan, v }, row_seed, sums))
    }
}

impl Masked {
    /// Step 6: the receiver's own tags of this bucket.
    ///
    /// # Errors
    /// None after steps in order.
    pub fn finish(self) -> Result<Next<Receiver, Received>, Error> {
        let Self { mut party, row_seed, plan, mut v } = self;
        let (hash, items) = (party.tag_hash(&row_seed)?, party.items());
        let decoder = party.parameters.store.decoder(strings(&mut v))?;
        let tags = tags(&hash, (&plan, &decoder), &items, |_, _| ())?;
        drop(items);
        erase_with(hash.session.executor(), v);
        party.add(tags, &plan);
        Ok(party.received())
    }
}

foxtrot_kernel::redacted! {
    Planned, planned => "{} slots", planned.party.parameters.slots();
    Encoded, encoded => "{} slots", encoded.party.parameters.slots();
    Masked, masked => "{} slots", masked.party.parameters.slots();
}
