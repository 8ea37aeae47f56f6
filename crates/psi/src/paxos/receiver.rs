//! The side that learns the intersection; the extension's receiver.

use alloc::{vec, vec::Vec};

use foxtrot_ot::{Seed, Session, Usage, base::SenderKeys, expect_count, extension::one_of_n};
use zeroize::Zeroizing;

use super::{
    Digest, Error, Joint, Next, Parameters, RowSeed,
    buckets::{Items, bucket_session, check_bucket, ots_session},
    hashes::Keyed,
    tags::Work,
};
use crate::{
    erase::Secret,
    okvs::Coins,
    store::Plan,
    tags::{Ours, Received},
};

/// The receiver, before a bucket.
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
pub struct Receiver {
    parameters: Parameters,
    session: Session,
    seed: Seed,
    items: Items,
    ots: one_of_n::Receiver,
    /// Buckets so far.
    bucket: usize,
    tags: Ours,
}

/// The receiver in a bucket, whose words are encoded.
pub struct Encoded {
    receiver: Receiver,
    row_seed: RowSeed,
    plan: Plan,
    words: Secret<u8>,
    rows: Secret<u8>,
    /// Slots whose corrections are on their way, and those that have rows.
    begun: usize,
    finished: usize,
}

/// A batch whose corrections are on their way.
#[derive(Debug)]
#[must_use = "the batch has no rows yet"]
pub struct Unanswered {
    batch: one_of_n::Unanswered,
    at: usize,
    n: usize,
}

impl Receiver {
    /// Begins with both keys of the base OTs. The seed was secret while the items could change, and
    /// the joint coin is there if there are several buckets.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many items, base OTs or coins as the parameters
    /// say; [`Error::Unlucky`] if a bucket is too full.
    pub fn new(
        session: Session,
        parameters: Parameters,
        base: SenderKeys,
        items: Vec<Digest>,
        joint: Option<Joint>,
        seed: Seed,
    ) -> Result<Self, Error> {
        let shape = (parameters.receiver_items(), parameters.keys());
        let items = Items::new(&session, parameters.buckets(), shape, items, joint)?;
        let mut of_ots = Zeroizing::new([0; 32]);
        let oracle = session.oracle("foxtrot v1 paxos receiver seed");
        seed.fill(&oracle, 0, of_ots.as_mut_slice());
        let (of_ots, extension) = (Seed::from_bytes(*of_ots), parameters.extension());
        let ots =
            one_of_n::Receiver::new(ots_session(&session, &extension), extension, base, of_ots)?;
        let tags = Ours::new(&items, true);
        Ok(Self { parameters, session, seed, items, ots, bucket: 0, tags })
    }

    /// Keeps the keys of items, for a [join](crate::join).
    #[must_use]
    pub fn keep_keys(mut self) -> Self {
        self.tags.keep_keys();
        self
    }

    /// Steps 2 and 3: encodes the words of the next bucket's items, and gives what is sent of it.
    ///
    /// # Errors
    /// [`Error::Unlucky`] if there are no slots; items that repeat are the same error.
    pub fn encode(self) -> Result<(Encoded, RowSeed), Error> {
        check_bucket(&self.parameters, self.bucket)?;
        let code = self.parameters.lengths();
        let (plan, row_seed, words) = if self.parameters.checked() {
            self.encode_words::<29>()?
        } else {
            self.encode_words::<11>()?
        };
        let rows = Secret(vec![0; self.parameters.slots() * code.row_len()]);
        let encoded =
            Encoded { receiver: self, row_seed, plan, words, rows, begun: 0, finished: 0 };
        Ok((encoded, row_seed))
    }

    fn encode_words<const W: usize>(&self) -> Result<(Plan, RowSeed, Secret<u8>), Error> {
        let session = bucket_session(&self.session, self.bucket);
        let items = self.items.filled(&self.session, &self.seed, self.bucket);
        let mut coins = Zeroizing::new([0; 32]);
        let oracle = self.session.oracle("foxtrot v1 paxos coins");
        self.seed.fill(&oracle, self.bucket as u64, coins.as_mut_slice());
        let store = self.parameters.store();
        let mut slots = Secret(vec![0; store.slots() * W]);
        let (seed, plan) = store.encode_with(
            &session,
            Coins::from_bytes(*coins),
            &items,
            |seed| {
                let mut words = Secret(vec![0; items.len() * W]);
                Keyed::words(&session, seed).words_of(&items, &mut words.0, W);
                words
            },
            slots.0.as_chunks_mut::<W>().0,
        )?;
        Ok((plan, seed, slots))
    }
}

impl Encoded {
    /// Step 4: begins a batch of n slots; `corrections` becomes its message, whatever was in it.
    ///
    /// Other batches may begin before this one is answered.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`]; [`Usage::CountMismatch`] if there are not as many slots left.
    pub fn extend(&mut self, n: usize, corrections: &mut Vec<u8>) -> Result<Unanswered, Error> {
        let (at, Receiver { parameters, ots, .. }) = (self.begun, &mut self.receiver);
        let left = parameters.slots() - at;
        expect_count("slots", n.min(left), n)?;
        let len = parameters.lengths().word_len();
        let batch = ots.extend(n, &self.words.0[at * len..][..n * len], corrections)?;
        self.begun += n;
        Ok(Unanswered { batch, at, n })
    }

    /// Step 4: answers the sender's challenge, which is empty where there is none, with a proof, which is
    /// then also empty.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if the challenge has another length; [`Usage::ForeignBatch`].
    pub fn answer(&mut self, unanswered: Unanswered, challenge: &[u8]) -> Result<Vec<u8>, Error> {
        let Unanswered { batch, at, n } = unanswered;
        let len = self.receiver.parameters.lengths().row_len();
        let rows = self.rows.0.get_mut(at * len..(at + n) * len).ok_or(Usage::ForeignBatch)?;
        let (received, proof) = self.receiver.ots.answer(batch, challenge)?;
        self.receiver.ots.rows(received, rows)?;
        self.finished += n;
        Ok(proof)
    }

    /// Step 7, first half: the receiver's own tags of this bucket.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if not all batches have been answered.
    pub fn finish(self) -> Result<Next<Receiver, Received>, Error> {
        let Self { mut receiver, row_seed, plan, words, rows, finished, .. } = self;
        drop(words);
        let parameters = receiver.parameters;
        expect_count("slots", parameters.slots(), finished)?;
        let bucket = receiver.bucket;
        let session = bucket_session(&receiver.session, bucket);
        let items = receiver.items.filled(&receiver.session, &receiver.seed, bucket);
        let keyed = receiver.tags.keyed();
        let work = Work::new(&parameters, (&session, &row_seed), None, keyed);
        let answers = work.run(&plan, &items, &rows.0)?;
        drop(items);
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
    Encoded, encoded => "{} of {} slots", encoded.finished, encoded.receiver.parameters.slots();
}
