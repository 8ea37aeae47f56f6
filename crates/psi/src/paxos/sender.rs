//! The side that learns nothing; the extension's sender, with Δ.

use alloc::{vec, vec::Vec};

use foxtrot_ot::{
    Seed, Session, Usage,
    base::ReceiverKeys,
    expect_count,
    extension::{
        Challenge,
        one_of_n::{self, Places},
    },
};

use super::{
    Digest, Error, Joint, Next, Parameters, RowSeed,
    buckets::{ots_seed, ots_session},
    hashes::Keyed,
    tags::tags,
};
use crate::{erase::Secret, party::Party, tags::Sent};

/// The sender, before a bucket.
pub struct Sender {
    party: Party<Parameters>,
    ots: one_of_n::Sender,
}

/// The sender in a bucket, which takes the receiver's corrections.
pub struct Absorbing {
    sender: Sender,
    row_seed: RowSeed,
    rows: Secret<u8>,
    /// Slots whose corrections have come, and those that have passed.
    begun: usize,
    finished: usize,
}

/// A batch whose corrections have come.
#[derive(Debug)]
#[must_use = "the batch has no rows yet"]
pub struct Unverified {
    batch: one_of_n::Unverified,
    at: usize,
    n: usize,
}

impl Sender {
    /// Begins with the chosen keys of the base OTs, whose choices become Δ. The joint coin is there
    /// if there are several buckets.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many items, base OTs or coins as the parameters
    /// say; [`Error::Unlucky`] if a bucket is too full.
    pub fn new(
        session: Session,
        parameters: Parameters,
        base: ReceiverKeys,
        items: Vec<Digest>,
        joint: Option<Joint>,
        seed: Seed,
    ) -> Result<Self, Error> {
        let of_ots = ots_seed(&session, "foxtrot v1 paxos sender seed", &seed);
        let party = Party::new(session, parameters, false, items, joint, seed)?;
        let extension = parameters.extension();
        let session = ots_session(&party.session, &extension);
        let ots = one_of_n::Sender::new(session, extension, base, of_ots)?;
        Ok(Self { party, ots })
    }

    /// Keeps the keys of items, for a [join](crate::join).
    #[must_use]
    pub fn keep_keys(mut self) -> Self {
        self.party.tags.keep_keys();
        self
    }

    /// Step 3: takes the row seed of the next bucket.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if it has another length.
    pub fn open(self, row_seed: &[u8]) -> Result<Absorbing, Error> {
        // It fails after the last bucket.
        self.party.bucket_session()?;
        let (row_seed, parameters) = (RowSeed::decode(row_seed)?, self.party.parameters);
        // Written, and so erased, only as far as the peer has come: it may have declared much and end at once.
        let rows = Secret::with_capacity(parameters.slots() * parameters.lengths().row_len());
        Ok(Absorbing { sender: self, row_seed, rows, begun: 0, finished: 0 })
    }
}

impl Absorbing {
    /// Step 4: takes the corrections of the next batch, of n slots; with the challenge to be sent, if
    /// there is one.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if they have another length; [`Usage::CountMismatch`] if there
    /// are not as many slots left; [`Usage::SessionEnded`] after a failed check.
    pub fn absorb(
        &mut self,
        n: usize,
        corrections: &[u8],
    ) -> Result<(Unverified, Option<Challenge>), Error> {
        let (at, Sender { party, ots }) = (self.begun, &mut self.sender);
        expect_count("slots", n.min(party.parameters.slots() - at), n)?;
        let (batch, challenge) = ots.absorb(n, corrections)?;
        self.begun += n;
        Ok((Unverified { batch, at, n }, challenge))
    }

    /// Step 4: checks the proof, which is empty where there is none.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if it has another length, and
    /// [`Misbehaved::ConsistencyCheck`](foxtrot_ot::Misbehaved::ConsistencyCheck): after either there
    /// is no output any more. [`Usage::ForeignBatch`].
    pub fn verify(&mut self, unverified: Unverified, proof: &[u8]) -> Result<(), Error> {
        let Unverified { batch, at, n } = unverified;
        let (parameters, end) = (self.sender.party.parameters, at + n);
        let len = parameters.lengths().row_len();
        if end > parameters.slots() {
            return Err(Usage::ForeignBatch.into());
        }
        if self.rows.0.len() < end * len {
            // There is room: it does not grow.
            self.rows.0.resize(end * len, 0);
        }
        let rows = self.rows.0.get_mut(at * len..end * len).ok_or(Usage::ForeignBatch)?;
        self.sender.ots.finish(batch, proof, Places::Rows(rows))?;
        self.finished += n;
        Ok(())
    }

    /// Step 5: the tags of this bucket.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if not all batches have passed; [`Usage::RepeatedItem`], which the
    /// peer would take for a sender that cheats. Against semi-honest peers, where that does no harm,
    /// tags are too short to tell.
    pub fn finish(self) -> Result<Next<Sender, Sent>, Error> {
        let Self { sender: Sender { mut party, ots }, row_seed, rows, finished, .. } = self;
        let parameters = party.parameters;
        expect_count("slots", parameters.slots(), finished)?;
        let hash = party.tag_hash(&row_seed)?;
        let (of_words, len) =
            (Keyed::words(&hash.session, &row_seed), parameters.lengths().word_len());
        party.add_parts(|items| {
            let plan = parameters.store().plan(&hash.session, &row_seed, items)?;
            let shift = |items: &[Digest], rows: &mut [u8]| {
                let mut words = Secret(vec![0; items.len() * len]);
                of_words.words_of(items, &mut words, len);
                ots.shift_sums(&words, rows)
            };
            Ok((tags(&parameters, &hash, (&plan, items), &rows, shift)?, plan))
        })?;
        if party.end_bucket() {
            return Ok(Next::Bucket(Sender { party, ots }));
        }
        // Step 6.
        Ok(Next::Done(party.sent()?))
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "{:?}, {} buckets", sender.party.parameters, sender.party.bucket;
    Absorbing, absorbing => "{} of {} slots", absorbing.finished, absorbing.sender.party.parameters.slots();
}
