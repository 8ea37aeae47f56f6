//! The side that learns nothing; the extension's sender, with Δ.

use alloc::vec::Vec;

use foxtrot_ot::{
    Seed, Session, Usage,
    base::ReceiverKeys,
    expect_count,
    extension::{Challenge, one_of_n},
};
use zeroize::Zeroizing;

use super::{
    Digest, Error, Joint, Next, Parameters, RowSeed,
    buckets::{Items, bucket_session, check_bucket, ots_session},
    tags::Work,
};
use crate::{
    erase::Secret,
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
    ots: one_of_n::Sender,
    /// Buckets so far.
    bucket: usize,
    /// The tags of all buckets so far.
    tags: Ours,
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
        let shape = (parameters.sender_items(), parameters.sender_load());
        let items = Items::new(&session, parameters.buckets(), shape, items, joint)?;
        let mut of_ots = Zeroizing::new([0; 32]);
        let oracle = session.oracle("foxtrot v1 paxos sender seed");
        seed.fill(&oracle, 0, of_ots.as_mut_slice());
        let (of_ots, extension) = (Seed::from_bytes(*of_ots), parameters.extension());
        let ots =
            one_of_n::Sender::new(ots_session(&session, &extension), extension, base, of_ots)?;
        let tags = Ours::new(&items, false);
        Ok(Self { parameters, session, seed, items, ots, bucket: 0, tags })
    }

    /// Keeps the keys of items, for a [join](crate::join).
    #[must_use]
    pub fn keep_keys(mut self) -> Self {
        self.tags.keep_keys();
        self
    }

    /// Step 3: takes the row seed of the next bucket.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if it has another length.
    pub fn open(self, row_seed: &[u8]) -> Result<Absorbing, Error> {
        check_bucket(&self.parameters, self.bucket)?;
        let row_seed = RowSeed::decode(row_seed)?;
        let len = self.parameters.lengths().row_len();
        // Written, and so erased, only as far as the peer has come: it may have declared much and end at once.
        let rows = Secret::with_capacity(self.parameters.slots() * len);
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
        let (at, Sender { parameters, ots, .. }) = (self.begun, &mut self.sender);
        expect_count("slots", n.min(parameters.slots() - at), n)?;
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
        let len = self.sender.parameters.lengths().row_len();
        let end = at + n;
        if end > self.sender.parameters.slots() {
            return Err(Usage::ForeignBatch.into());
        }
        if self.rows.0.len() < end * len {
            // There is room: it does not grow.
            self.rows.0.resize(end * len, 0);
        }
        let rows = self.rows.0.get_mut(at * len..end * len).ok_or(Usage::ForeignBatch)?;
        let sent = self.sender.ots.verify(batch, proof)?;
        self.sender.ots.rows(sent, rows)?;
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
        let Self { mut sender, row_seed, rows, finished, .. } = self;
        let parameters = sender.parameters;
        expect_count("slots", parameters.slots(), finished)?;
        let (bucket, store) = (sender.bucket, parameters.store());
        let session = bucket_session(&sender.session, bucket);
        let items = sender.items.filled(&sender.session, &sender.seed, bucket);
        let work =
            Work::new(&parameters, (&session, &row_seed), Some(&sender.ots), sender.tags.keyed());
        for (first, items) in (0..).step_by(PART).zip(items.chunks(PART)) {
            let plan = store.plan(&session, &row_seed, items)?;
            let answers = work.run(&plan, items, &rows.0)?;
            sender.tags.add(answers, plan.order(), &sender.items, (bucket, first));
        }
        drop(items);
        sender.bucket += 1;
        if sender.bucket < parameters.buckets() {
            return Ok(Next::Bucket(sender));
        }
        // Step 6.
        Ok(Next::Done(Sent::new(sender.session, parameters.coding(), sender.tags)?))
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "{:?}, {} buckets", sender.parameters, sender.bucket;
    Absorbing, absorbing => "{} of {} slots", absorbing.finished, absorbing.sender.parameters.slots();
}
