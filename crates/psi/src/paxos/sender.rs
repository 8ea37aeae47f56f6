//! The side that learns nothing; the extension's sender, with Δ.

use alloc::{vec, vec::Vec};
use core::mem::take;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{
    Seed, Session, Usage,
    base::ReceiverKeys,
    extension::{Challenge, one_of_n},
};
use zeroize::Zeroizing;

use super::{
    Digest, Error, Joint, Next, Parameters, RowSeed, TAGS_PER_FRAME,
    buckets::{Items, bucket_session, check_bucket, ots_session},
    parameters::TAG,
    same,
    tags::{Tag, Work},
};
use crate::erase::Secret;

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
    /// Tags by place, with memory for the tags that fill up the last bucket.
    tags: Secret<Tag>,
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

/// The tags, of a run all of whose batches have passed; there is no other way to them than
/// [`Absorbing::finish`].
pub struct Sent {
    parameters: Parameters,
    tags: Secret<Tag>,
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
        let tags = Secret(Vec::new());
        Ok(Self { parameters, session, seed, items, ots, bucket: 0, tags })
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
        let rows = Secret(Vec::with_capacity(self.parameters.slots() * len));
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
        same("slots", n.min(parameters.slots() - at), n)?;
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
        same("slots", parameters.slots(), finished)?;
        let (bucket, okvs) = (sender.bucket, parameters.okvs());
        let session = bucket_session(&sender.session, bucket);
        let items = sender.items.filled(&sender.session, &sender.seed, bucket);
        // What fills a bucket up is overwritten by the next bucket.
        let mut tags = take(&mut sender.tags);
        if tags.0.is_empty() {
            tags.0 = vec![[0; TAG]; sender.items.places()];
        }
        let places = &mut tags.0[sender.items.start(bucket)..][..items.len()];
        let of_bucket = (&session, &row_seed);
        let work = Work::new(&parameters, of_bucket, Some(&sender.ots));
        for (items, tags) in items.chunks(PART).zip(places.chunks_mut(PART)) {
            work.run(&okvs.plan(&session, &row_seed, items)?, items, &rows.0, tags)?;
        }
        sender.tags = tags;
        sender.bucket += 1;
        if sender.bucket < parameters.buckets() {
            return Ok(Next::Bucket(sender));
        }
        let mut tags = sender.tags;
        // Step 6: in an order that says no more than the tags themselves.
        let of_items = &mut tags.0[..parameters.sender_items()];
        // How they are sorted says whose they are, but that only to who shares the processor.
        memcheck::public(of_items);
        of_items.sort_unstable();
        let repeated = of_items.windows(2).filter(|pair| pair[0] == pair[1]).count();
        if parameters.checked() && repeated > 0 {
            return Err(Usage::RepeatedItem.into());
        }
        Ok(Next::Done(Sent { parameters, tags }))
    }
}

impl Sent {
    /// Step 6: the frames that are sent.
    pub fn frames(&self) -> impl Iterator<Item = Vec<u8>> {
        let len = self.parameters.tag_len();
        let tags = &self.tags.0[..self.parameters.tags()];
        tags.chunks(TAGS_PER_FRAME)
            .map(move |tags| tags.iter().flat_map(|tag| &tag[..len]).copied().collect())
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "{:?}, {} buckets", sender.parameters, sender.bucket;
    Absorbing, absorbing => "{} of {} slots", absorbing.finished, absorbing.sender.parameters.slots();
    Sent, sent => "{} tags", sent.parameters.tags();
}
