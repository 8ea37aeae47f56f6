//! The side that learns the intersection; the extension's receiver.

use alloc::{vec, vec::Vec};

use foxtrot_ot::{Seed, Session, Usage, base::SenderKeys, expect_count, extension::one_of_n};

use super::{
    Digest, Error, Joint, Next, Parameters, RowSeed,
    buckets::{ots_seed, ots_session},
    hashes::Keyed,
    tags::tags,
};
use crate::{erase::Secret, okvs::Plan, party::Party, tags::Received};

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
    party: Party<Parameters>,
    ots: one_of_n::Receiver,
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
        let of_ots = ots_seed(&session, "foxtrot v1 paxos receiver seed", &seed);
        let party = Party::new(session, parameters, true, items, joint, seed)?;
        let extension = parameters.extension();
        let session = ots_session(&party.session, &extension);
        let ots = one_of_n::Receiver::new(session, extension, base, of_ots)?;
        Ok(Self { party, ots })
    }

    /// Keeps the keys of items, for a [join](crate::join).
    #[must_use]
    pub fn keep_keys(mut self) -> Self {
        self.party.tags.keep_keys();
        self
    }

    /// Steps 2 and 3: encodes the words of the next bucket's items, and gives what is sent of it.
    ///
    /// # Errors
    /// [`Error::Unlucky`] if there are no slots; items that repeat are the same error.
    pub fn encode(self) -> Result<(Encoded, RowSeed), Error> {
        let parameters = self.party.parameters;
        let (plan, row_seed, words) = if parameters.checked() {
            self.encode_words::<29>()?
        } else {
            self.encode_words::<11>()?
        };
        let rows = Secret(vec![0; parameters.slots() * parameters.lengths().row_len()]);
        let encoded =
            Encoded { receiver: self, row_seed, plan, words, rows, begun: 0, finished: 0 };
        Ok((encoded, row_seed))
    }

    fn encode_words<const W: usize>(&self) -> Result<(Plan, RowSeed, Secret<u8>), Error> {
        let (session, items) = (self.party.bucket_session()?, self.party.items());
        let store = self.party.parameters.store();
        let mut slots = Secret(vec![0; store.slots() * W]);
        let (seed, plan) = store.encode_with(
            &session,
            self.party.coins(),
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
        let (at, Receiver { party, ots }) = (self.begun, &mut self.receiver);
        let left = party.parameters.slots() - at;
        expect_count("slots", n.min(left), n)?;
        let len = party.parameters.lengths().word_len();
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
        let len = self.receiver.party.parameters.lengths().row_len();
        let rows = self.rows.0.get_mut(at * len..(at + n) * len).ok_or(Usage::ForeignBatch)?;
        let proof = self.receiver.ots.finish_rows(batch, challenge, rows)?;
        self.finished += n;
        Ok(proof)
    }

    /// Step 7, first half: the receiver's own tags of this bucket.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if not all batches have been answered.
    pub fn finish(self) -> Result<Next<Receiver, Received>, Error> {
        let Self { receiver, row_seed, plan, words, rows, finished, .. } = self;
        let Receiver { mut party, ots } = receiver;
        drop(words);
        let parameters = party.parameters;
        expect_count("slots", parameters.slots(), finished)?;
        let (hash, items) = (party.tag_hash(&row_seed)?, party.items());
        let tags = tags(&parameters, &hash, (&plan, &items), &rows, |_, _| Ok(()))?;
        drop(items);
        party.add(tags, &plan);
        Ok(match party.end_bucket() {
            true => Next::Bucket(Receiver { party, ots }),
            false => Next::Done(party.received()),
        })
    }
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "{:?}, {} buckets", receiver.party.parameters, receiver.party.bucket;
    Encoded, encoded => "{} of {} slots", encoded.finished, encoded.receiver.party.parameters.slots();
}
