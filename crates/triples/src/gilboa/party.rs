//! One of the two parties, which are alike.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::rns::sample::Streams;
use foxtrot_ot::{
    Decode, Direction, Error, Seed, Session, Sid, Usage,
    base::{Block, Choice, ReceiverKeys, SenderKeys},
    engine::batches::sized,
    expect_count, expect_len,
    extension::{OtKind, Places, ROWS, Receiver, Sender, Shape},
    tasks::{for_each, only},
};
use zeroize::Zeroizing;

use super::{Set, products};
use crate::{Shares, erase::Secret};

/// A party with both extensions: it is the sender of one, with its a, and the receiver of the other, with its b.
pub struct GilboaParty {
    set: &'static Set,
    /// The stream in which we are the sender.
    session: Session,
    seed: Seed,
    sender: Sender,
    receiver: Receiver,
    /// Batches begun, and those to which the peer's corrections have come.
    begun: u64,
    multiplied: u64,
    /// Keys, used for one batch after another.
    chosen: Vec<Secret<Block>>,
    pairs: Vec<Secret<[Block; 2]>>,
}

/// A batch that waits for the peer's `Corrections`. Its shares of b are drawn.
#[must_use = "the batch has no output yet"]
pub struct Extended(pub(super) Batch);

/// A batch that waits for the peer's `Products`.
///
/// It takes one message.
///
/// ```
/// # use foxtrot_triples::gilboa::{Multiplied, GilboaParty};
/// # fn once(party: &mut GilboaParty, batch: Multiplied, products: &[u8]) {
/// let _ = party.add(vec![(batch, products)]);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_triples::gilboa::{Multiplied, GilboaParty};
/// # fn twice(party: &mut GilboaParty, batch: Multiplied, products: &[u8]) {
/// let _ = party.add(vec![(batch, products)]);
/// let _ = party.add(vec![(batch, products)]);
/// # }
/// ```
#[must_use = "the batch has no output yet"]
pub struct Multiplied(pub(super) Batch);

pub(super) struct Batch {
    session: Sid,
    number: u64,
    pub(super) shares: Shares,
}

/// The sub-session of the 128 base OTs, whose receiver is the initiator.
#[must_use]
pub fn base_session(session: &Session, set: &Set, base: &'static str) -> Session {
    let [first, _] = streams(session, set);
    first.sub(base, 0, Direction::ResponderSends)
}

/// The two streams: the one whose sender is the initiator, then the other one.
fn streams(session: &Session, set: &Set) -> [Session; 2] {
    let directions = [Direction::InitiatorSends, Direction::ResponderSends];
    directions.map(|direction| session.sub(set.name(), 0, direction))
}

impl GilboaParty {
    /// Steps 1 to 3 of the side that opened the connection: from the chosen keys of 128 base OTs, and the peer's
    /// `Opening`; with the message `Setup`.
    ///
    /// Both streams are sub-sessions, number 0, of `session` for the set's name; `seed` is used for this session only.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not 128; [`Decode`] if the message is malformed.
    pub fn initiator(
        session: &Session,
        set: &'static Set,
        base: ReceiverKeys,
        seed: Seed,
        opening: &[u8],
    ) -> Result<(Self, Vec<u8>), Error> {
        let [ours, theirs] = streams(session, set);
        expect_len("Opening", opening, set.opening_len())?;
        let (setup, corrections) = opening.split_at(set.setup_len());
        let (below, unused) = of_extension(&ours, set, Direction::InitiatorSends, &seed);
        let mut sender = Sender::new(below, set.extension(), base, setup, unused)?;
        let (unverified, _) = only(sender.absorb(&[(Shape::random(ROWS), corrections)])?);
        let mut pairs = vec![[[0; 16]; 2]; ROWS];
        sender.finish(vec![(unverified, &[], Places::Random(&mut pairs))])?;
        let base = SenderKeys::new(pairs);

        let (below, unused) = of_extension(&theirs, set, Direction::ResponderSends, &seed);
        let (receiver, setup) = Receiver::new(below, set.extension(), base, unused)?;
        Ok((Self::joined(set, ours, seed, sender, receiver), setup))
    }

    /// Steps 1 and 2 of the other side, from both keys of these base OTs: returns step 3, which makes the party of the
    /// peer's `Setup`, or a [`Decode`] error, and the message `Opening`.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not 128.
    #[expect(clippy::type_complexity, reason = "what waits for one message is a function of it")]
    pub fn responder(
        session: &Session,
        set: &'static Set,
        base: SenderKeys,
        seed: Seed,
    ) -> Result<(impl FnOnce(&[u8]) -> Result<Self, Error> + use<>, Vec<u8>), Error> {
        let [theirs, ours] = streams(session, set);
        let (below, unused) = of_extension(&theirs, set, Direction::InitiatorSends, &seed);
        let (mut receiver, mut opening) = Receiver::new(below, set.extension(), base, unused)?;
        let mut corrections = Vec::new();
        let unanswered = only(receiver.extend(vec![(Choice::Random(ROWS), &mut corrections)])?);
        opening.extend(corrections);
        let mut keys = vec![[0; 16]; ROWS];
        let batch = (unanswered, &[][..], keys.as_mut_slice());
        let (choices, _) = only(receiver.finish(OtKind::Random, vec![batch])?);
        let base = ReceiverKeys::new(choices, keys);
        let join = move |setup: &[u8]| {
            let (below, unused) = of_extension(&ours, set, Direction::ResponderSends, &seed);
            let sender = Sender::new(below, set.extension(), base, setup, unused)?;
            Ok(Self::joined(set, ours, seed, sender, receiver))
        };
        Ok((join, opening))
    }

    fn joined(
        set: &'static Set,
        session: Session,
        seed: Seed,
        sender: Sender,
        receiver: Receiver,
    ) -> Self {
        let (chosen, pairs) = (Vec::new(), Vec::new());
        let (begun, multiplied) = (0, 0);
        Self { set, session, seed, sender, receiver, begun, multiplied, chosen, pairs }
    }

    /// The set.
    #[must_use]
    pub fn set(&self) -> &'static Set {
        self.set
    }

    /// Step 4: begins the next batches, in their order, at once: one per thread. Each has as many triples as there is room
    /// for in its shares, and its message `Corrections`, whatever was in it.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if there are more than [`Set::n`]; [`Usage::CountMismatch`] if shares are for another
    /// set; [`Usage::TooManyBatches`]. Then no batch has begun.
    pub fn extend(&mut self, batches: Vec<(Shares, &mut Vec<u8>)>) -> Result<Vec<Extended>, Error> {
        let (set, width) = (self.set, self.set.width());
        for (shares, _) in &batches {
            expect_count("bytes of a share", width, shares.width())?;
        }
        let (shares, messages): (Vec<_>, Vec<_>) = batches.into_iter().unzip();
        let ots: Vec<_> = shares.iter().map(|shares| set.shape(shares.len()).n()).collect();
        let choices = ots.iter().map(|n| Choice::Random(*n));
        let unanswered = self.receiver.extend(choices.zip(messages).collect())?;
        let places = sized(&mut self.chosen, &ots);
        let unanswered =
            unanswered.into_iter().zip(places).map(|(batch, keys)| (batch, &[][..], keys));
        let received = self.receiver.finish(OtKind::Random, unanswered.collect())?;
        let id = *self.session.id();
        let numbers = self.begun..;
        self.begun += ots.len() as u64;
        let mut batches: Vec<_> = (numbers.zip(shares))
            .map(|(number, shares)| Batch { session: id, number, shares })
            .collect();
        let keys = self.chosen.iter().zip(&ots).map(|(keys, n)| &keys[..*n]);
        let parts = batches.iter_mut().zip(keys).zip(&received);
        for_each(self.session.executor(), parts, |((batch, keys), (choices, _))| {
            let [_, b, c] = batch.shares.parts_mut();
            b.copy_from_slice(choices.as_bytes());
            products::gather(width, keys, c);
        });
        Ok(batches.into_iter().map(Extended).collect())
    }

    /// Step 5: multiplies the next batches, in the order in which they have begun, at once: one per thread. Each takes the
    /// peer's `Corrections`, and its last part becomes the message `Products`, whatever was in it.
    ///
    /// # Errors
    /// [`Decode`] if a message is malformed. [`Usage::ForeignBatch`] if a batch is another state's, or not the next
    /// one. All batches are then gone.
    pub fn multiply(
        &mut self,
        batches: Vec<(Extended, &[u8], &mut Vec<u8>)>,
    ) -> Result<Vec<Multiplied>, Error> {
        let (set, width) = (self.set, self.set.width());
        for (number, (Extended(batch), ..)) in (self.multiplied..).zip(&batches) {
            if batch.session != *self.session.id() || batch.number != number {
                return Err(Usage::ForeignBatch.into());
            }
        }
        let shapes: Vec<_> =
            batches.iter().map(|(Extended(batch), ..)| set.shape(batch.shares.len())).collect();
        let ots: Vec<_> = shapes.iter().map(|shape| shape.n()).collect();
        let messages: Vec<_> = shapes
            .iter()
            .zip(&batches)
            .map(|(shape, (_, message, _))| (*shape, *message))
            .collect();
        let unverified = self.sender.absorb(&messages)?;
        self.multiplied += ots.len() as u64;
        let places = sized(&mut self.pairs, &ots).map(Places::Random);
        let unverified = unverified.into_iter().zip(places);
        let unverified = unverified.map(|((batch, _), places)| (batch, &[][..], places));
        self.sender.finish(unverified.collect())?;

        let (mut batches, messages): (Vec<_>, Vec<_>) =
            batches.into_iter().map(|(Extended(batch), _, message)| (batch, message)).unzip();
        let keys = self.pairs.iter().zip(&ots).map(|(keys, n)| &keys[..*n]);
        let parts = batches.iter_mut().zip(messages).zip(keys);
        let (session, seed) = (&self.session, &self.seed);
        for_each(self.session.executor(), parts, |((batch, message), keys)| {
            draw(session, seed, batch);
            message.clear();
            message.resize(set.products_len(batch.shares.len()), 0);
            products::multiply(width, keys, batch.shares.parts_mut(), message);
        });
        Ok(batches.into_iter().map(Multiplied).collect())
    }

    /// Step 6: ends batches with the peer's `Products`, at once: one per thread. Returns their shares.
    ///
    /// # Errors
    /// [`Decode`] if a message is malformed; [`Usage::ForeignBatch`] if a batch is another state's. All batches are then
    /// gone.
    pub fn add(&mut self, batches: Vec<(Multiplied, &[u8])>) -> Result<Vec<Shares>, Error> {
        let (set, width) = (self.set, self.set.width());
        for (Multiplied(batch), products) in &batches {
            if batch.session != *self.session.id() {
                return Err(Usage::ForeignBatch.into());
            }
            check_products(set, batch.shares.len(), products)?;
        }
        let mut batches = batches;
        for_each(self.session.executor(), batches.iter_mut(), |(Multiplied(batch), products)| {
            let [_, b, c] = batch.shares.parts_mut();
            products::add(width, b, products, c);
        });
        Ok(batches.into_iter().map(|(Multiplied(batch), _)| batch.shares).collect())
    }
}

/// The shares of a.
fn draw(session: &Session, seed: &Seed, batch: &mut Batch) {
    let mut coins = Zeroizing::new([0; 24]);
    seed.fill(&session.oracle("foxtrot v1 gilboa shares"), batch.number, coins.as_mut_slice());
    let streams = Streams::new(session.backend(), &coins);
    let [a, ..] = batch.shares.parts_mut();
    if a.len().is_multiple_of(16) {
        streams.bytes(0, a);
    } else {
        let mut blocks = Secret::zeroed(a.len().next_multiple_of(16));
        streams.bytes(0, &mut blocks);
        a.copy_from_slice(&blocks[..a.len()]);
    }
}

/// The sub-session of the extension below a stream, and the seed that it takes: with random choices and no check it draws
/// nothing from it.
fn of_extension(stream: &Session, set: &Set, direction: Direction, seed: &Seed) -> (Session, Seed) {
    let mut bytes = Zeroizing::new([0; 32]);
    seed.fill(&stream.oracle("foxtrot v1 gilboa extension seed"), 0, bytes.as_mut_slice());
    (stream.sub(set.extension().name(), 0, direction), Seed::from_bytes(*bytes))
}

/// Returns an error unless the message is well formed: its length, and no bits behind the last one.
fn check_products(set: &Set, n: usize, products: &[u8]) -> Result<(), Decode> {
    const MESSAGE: &str = "Products";
    expect_len(MESSAGE, products, set.products_len(n))?;
    let bits = set.bits() as usize;
    match (products.last(), n * (bits * (bits + 1) / 2) % 8) {
        (Some(last), used @ 1..) if last >> used != 0 => {
            Err(Decode::SpareBits { message: MESSAGE })
        }
        _ => Ok(()),
    }
}

foxtrot_kernel::redacted! {
    GilboaParty, party => "{:?}, {} batches, <redacted>", party.set, party.begun;
    Extended, extended => "batch {}, <redacted>", extended.0.number;
    Multiplied, multiplied => "batch {}, <redacted>", multiplied.0.number;
}
