extern crate std;

mod attacks;
mod laws;
mod protocol;
mod reference;
mod vectors;

use alloc::{vec, vec::Vec};
use std::collections::BTreeSet;

pub(super) use foxtrot_ot::pair::PairParty;
use foxtrot_ot::{
    Misbehaved, Seed, Session, Sid, Usage,
    base::{Adversary, ReceiverKeys, SenderKeys},
    engine::Engine,
    extension::one_of_n::{self, Places},
    ideal,
    pair::Pair,
};

use super::*;
use crate::{Digest, Error, FRAME, Joint, Next, erase::Secret, receivers_coin, senders_coin};

/// Hooks by which a hostile party changes a run's messages; the defaults are honest.
pub(super) struct Messages<'a> {
    /// A bucket's row seed.
    pub(super) row_seed: &'a mut dyn FnMut(usize, &mut Vec<u8>),
    /// The corrections of a bucket's batch.
    pub(super) corrections: &'a mut dyn FnMut(usize, &mut Vec<u8>),
    /// Its proof.
    pub(super) proof: &'a mut dyn FnMut(usize, &mut Vec<u8>),
    /// All frames of tags.
    pub(super) tags: &'a mut dyn FnMut(&mut Vec<Vec<u8>>),
}

pub(super) fn session() -> Session {
    Session::new(Sid::from_bytes([7; 32])).sub("paxos", 0, Default::default())
}

pub(super) fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

pub(super) fn base(parameters: &Parameters) -> (SenderKeys, ReceiverKeys) {
    ideal::random(parameters.base_ots(), &seed(3))
}

pub(super) fn digest(k: u64) -> Digest {
    let mut digest = [0x21; 32];
    digest[..8].copy_from_slice(&k.to_le_bytes());
    digest
}

pub(super) fn digests(range: impl IntoIterator<Item = u64>) -> Vec<Digest> {
    range.into_iter().map(digest).collect()
}

/// The coins of receiver and sender, by their seeds, over a channel that may change messages.
pub(crate) fn toss(
    session: &Session,
    [receivers, senders]: [Seed; 2],
    channel: impl FnMut(PairParty, Vec<u8>) -> Vec<u8>,
) -> Result<[Joint; 2], (PairParty, Error)> {
    let receiver = Engine::new(|io| async move { receivers_coin(&io, session, &receivers).await });
    let sender = Engine::new(|io| async move { senders_coin(&io, session, &senders).await });
    let (senders, receivers) = Pair::new(sender, receiver).run_through(channel)?;
    Ok([receivers, senders])
}

/// The joint coin, if there is one.
pub(super) fn coin(parameters: &Parameters) -> Option<Joint> {
    (parameters.buckets() > 1).then(|| {
        let coins = toss(&session(), [seed(5), seed(6)], |_, message| message);
        let [receivers, senders] = coins.unwrap();
        assert_eq!(receivers, senders);
        receivers
    })
}

/// A receiver, and its part in the extension.
pub(super) struct Receiving {
    pub(super) party: Receiver,
    pub(super) ots: one_of_n::Receiver,
}

impl Receiving {
    pub(super) fn new(
        session: &dyn Fn() -> Session,
        parameters: &Parameters,
        base: SenderKeys,
        items: &[Digest],
        joint: Option<Joint>,
    ) -> Result<Self, Error> {
        let ots = parameters.ots_receiver(&session(), base, &seed(1))?;
        let party = Receiver::new(session(), *parameters, items.to_vec(), joint, seed(1))?;
        Ok(Self { party, ots })
    }
}

/// A sender, and its part in the extension.
pub(super) struct Sending {
    pub(super) party: Sender,
    pub(super) ots: one_of_n::Sender,
}

impl Sending {
    pub(super) fn new(
        session: &dyn Fn() -> Session,
        parameters: &Parameters,
        base: ReceiverKeys,
        items: &[Digest],
        joint: Option<Joint>,
    ) -> Result<Self, Error> {
        let ots = parameters.ots_sender(&session(), base, &seed(2))?;
        let party = Sender::new(session(), *parameters, items.to_vec(), joint, seed(2))?;
        Ok(Self { party, ots })
    }
}

/// Room for the rows of a batch behind those of a bucket so far.
pub(super) fn room<'a>(
    parameters: &Parameters,
    rows: &'a mut Secret<u8>,
    n: usize,
) -> &'a mut [u8] {
    let at = rows.len();
    rows.0.resize(at + n * parameters.lengths().row_len(), 0);
    &mut rows[at..]
}

/// The receiver's result in an honest run.
pub(super) fn run(parameters: &Parameters, ours: &[Digest], theirs: &[Digest]) -> Vec<usize> {
    run_through(parameters, ours, theirs, Messages::honest()).unwrap()
}

/// The receiver's result with messages changed on their way; the error says who noticed it.
pub(super) fn run_through(
    parameters: &Parameters,
    ours: &[Digest],
    theirs: &[Digest],
    messages: Messages<'_>,
) -> Result<Vec<usize>, (PairParty, Error)> {
    let (sent, received) = base(parameters);
    let joint = coin(parameters);
    let receiver = Receiving::new(&session, parameters, sent, ours, joint);
    let sender = Sending::new(&session, parameters, received, theirs, joint);
    play(
        parameters,
        receiver.map_err(by(PairParty::Receiver))?,
        sender.map_err(by(PairParty::Sender))?,
        messages,
    )
}

pub(super) fn by<E: Into<Error>>(party: PairParty) -> impl Fn(E) -> (PairParty, Error) {
    move |error| (party, error.into())
}

#[expect(clippy::panic_in_result_fn, reason = "both have as many buckets")]
pub(super) fn play(
    parameters: &Parameters,
    receiving: Receiving,
    sending: Sending,
    messages: Messages<'_>,
) -> Result<Vec<usize>, (PairParty, Error)> {
    let Receiving { party: mut receiver, ots: mut receivers } = receiving;
    let Sending { party: mut sender, ots: mut senders } = sending;
    let word_len = parameters.lengths().word_len();
    let mut number = 0;
    let (mut received, sent) = loop {
        let (encoded, row_seed) = receiver.encode().map_err(by(PairParty::Receiver))?;
        let mut row_seed = row_seed.as_bytes().to_vec();
        (messages.row_seed)(number, &mut row_seed);
        let opened = sender.open(&row_seed).map_err(by(PairParty::Sender))?;
        // All batches of a bucket on their way at the same time.
        let (mut pending, mut words) = (Vec::new(), encoded.words());
        for n in parameters.batches() {
            let (of_batch, rest) = words.split_at(n * word_len);
            words = rest;
            let mut corrections = Vec::new();
            let unanswered = receivers.extend(n, of_batch, &mut corrections);
            let unanswered = unanswered.map_err(by(PairParty::Receiver))?;
            (messages.corrections)(number, &mut corrections);
            let absorbed = senders.absorb(n, &corrections);
            let (unverified, challenge) = absorbed.map_err(by(PairParty::Sender))?;
            let challenge = challenge.map_or_else(Vec::new, |it| it.to_vec());
            pending.push((n, unanswered, unverified, challenge));
            number += 1;
        }
        let [mut rows, mut of_sender] = [(); 2].map(|()| Secret::default());
        for (n, unanswered, unverified, challenge) in pending {
            let places = room(parameters, &mut rows, n);
            let proof = receivers.finish_rows(unanswered, &challenge, places);
            let mut proof = proof.map_err(by(PairParty::Receiver))?;
            (messages.proof)(number, &mut proof);
            let places = Places::Rows(room(parameters, &mut of_sender, n));
            senders.finish(unverified, &proof, places).map_err(by(PairParty::Sender))?;
        }
        let sent = opened.finish(&senders, of_sender).map_err(by(PairParty::Sender))?;
        match (encoded.finish(rows).map_err(by(PairParty::Receiver))?, sent) {
            (Next::Bucket(one), Next::Bucket(another)) => (receiver, sender) = (one, another),
            (Next::Done(received), Next::Done(sent)) => break (received, sent),
            _ => panic!("buckets"),
        }
    };
    let mut frames = sent.frames().collect();
    (messages.tags)(&mut frames);
    for frame in frames {
        received.take(&frame).map_err(by(PairParty::Receiver))?;
    }
    received.intersect().map_err(by(PairParty::Receiver))
}

impl Messages<'_> {
    pub(super) fn honest() -> Self {
        // Closures without captures live for ever.
        Self {
            row_seed: leak(|_, _| ()),
            corrections: leak(|_, _| ()),
            proof: leak(|_, _| ()),
            tags: {
                fn none(_: &mut Vec<Vec<u8>>) {}
                alloc::boxed::Box::leak(alloc::boxed::Box::new(none))
            },
        }
    }
}

fn leak(nothing: fn(usize, &mut Vec<u8>)) -> &'static mut dyn FnMut(usize, &mut Vec<u8>) {
    alloc::boxed::Box::leak(alloc::boxed::Box::new(nothing))
}

/// The intersection, naively.
pub(super) fn naive(ours: &[Digest], theirs: &[Digest]) -> Vec<usize> {
    let theirs: BTreeSet<_> = theirs.iter().collect();
    (0..ours.len()).filter(|&k| theirs.contains(&ours[k])).collect()
}

/// Frames of the tags that these frames have, changed.
pub(super) fn recode(
    parameters: &Parameters,
    frames: &mut Vec<Vec<u8>>,
    change: impl FnOnce(&mut Vec<u128>),
) {
    let coding = parameters.coding();
    let mut list = crate::elias_fano::Tags::new(coding);
    frames.iter().try_for_each(|frame| list.take(&foxtrot_ot::tasks::InPlace, frame)).unwrap();
    let mut tags = list.all().unwrap().to_vec();
    change(&mut tags);
    *frames = coding.frames(&tags, FRAME).collect();
}

pub(super) const BOTH: [Adversary; 2] = [Adversary::Malicious, Adversary::SemiHonest];

pub(super) fn vec_of(n: usize, byte: u8) -> Vec<u8> {
    vec![byte; n]
}
