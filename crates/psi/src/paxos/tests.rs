extern crate std;

mod attacks;
mod laws;
mod protocol;
mod reference;
mod vectors;

use alloc::{vec, vec::Vec};
use std::collections::BTreeSet;

use foxtrot_ot::{
    Misbehaved, Seed, Session, Sid, Usage,
    base::{Adversary, ReceiverKeys, SenderKeys},
    ideal,
};

use super::*;

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

/// The joint coin, if there is one.
pub(super) fn coin(parameters: &Parameters) -> Option<Joint> {
    (parameters.buckets() > 1).then(|| {
        let session = session();
        let (committed, commitment) = commit(&session, &seed(5));
        let (challenged, coin) = Challenged::new(&session, &commitment, &seed(6)).unwrap();
        let (joint, opening) = committed.open(&coin).unwrap();
        assert_eq!(challenged.check(&opening).unwrap(), joint);
        joint
    })
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
) -> Result<Vec<usize>, (Party, Error)> {
    let (sent, received) = base(parameters);
    let joint = coin(parameters);
    let receiver = Receiver::new(session(), *parameters, sent, ours.to_vec(), joint, seed(1));
    let sender = Sender::new(session(), *parameters, received, theirs.to_vec(), joint, seed(2));
    play(
        parameters,
        receiver.map_err(by(Party::Receiver))?,
        sender.map_err(by(Party::Sender))?,
        messages,
    )
}

/// The party whose state gave an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Party {
    Sender,
    Receiver,
}

pub(super) fn by<E: Into<Error>>(party: Party) -> impl Fn(E) -> (Party, Error) {
    move |error| (party, error.into())
}

#[expect(clippy::panic_in_result_fn, reason = "both have as many buckets")]
pub(super) fn play(
    parameters: &Parameters,
    mut receiver: Receiver,
    mut sender: Sender,
    messages: Messages<'_>,
) -> Result<Vec<usize>, (Party, Error)> {
    let (us, them) = (by(Party::Receiver), by(Party::Sender));
    let mut number = 0;
    let (mut received, sent) = loop {
        let (mut encoded, row_seed) = receiver.encode().map_err(&us)?;
        let mut row_seed = row_seed.as_bytes().to_vec();
        (messages.row_seed)(number, &mut row_seed);
        let mut absorbing = sender.open(&row_seed).map_err(&them)?;
        // All batches of a bucket on their way at the same time.
        let mut pending = Vec::new();
        for n in parameters.batches() {
            let mut corrections = Vec::new();
            let unanswered = encoded.extend(n, &mut corrections).map_err(&us)?;
            (messages.corrections)(number, &mut corrections);
            let (unverified, challenge) = absorbing.absorb(n, &corrections).map_err(&them)?;
            let challenge = challenge.map_or_else(Vec::new, |it| it.to_vec());
            pending.push((unanswered, unverified, challenge));
            number += 1;
        }
        for (unanswered, unverified, challenge) in pending {
            let mut proof = encoded.answer(unanswered, &challenge).map_err(&us)?;
            (messages.proof)(number, &mut proof);
            absorbing.verify(unverified, &proof).map_err(&them)?;
        }
        let sent = absorbing.finish().map_err(&them)?;
        match (encoded.finish().map_err(&us)?, sent) {
            (Next::Bucket(one), Next::Bucket(another)) => (receiver, sender) = (one, another),
            (Next::Done(received), Next::Done(sent)) => break (received, sent),
            _ => panic!("buckets"),
        }
    };
    let mut frames = sent.frames().collect();
    (messages.tags)(&mut frames);
    for frame in frames {
        received.take(&frame).map_err(&us)?;
    }
    received.intersect().map_err(&us)
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
    frames.iter().try_for_each(|frame| list.take(frame)).unwrap();
    let mut tags = list.all().unwrap().to_vec();
    change(&mut tags);
    *frames = coding.frames(&tags, FRAME).collect();
}

pub(super) const BOTH: [Adversary; 2] = [Adversary::Malicious, Adversary::SemiHonest];

pub(super) fn vec_of(n: usize, byte: u8) -> Vec<u8> {
    vec![byte; n]
}
