//! Both parties of an extension over doubles of the base OTs.

use foxtrot_ot::{
    Bits, Error, Seed, Session, Sid, Usage,
    base::{Choice, ReceiverKeys, SenderKeys},
    extension::{
        Challenge, Extension, OtKind, Places, Receiver, Sender, Shape, Unanswered, Unverified,
    },
    ideal,
    tasks::only,
};

/// Both states at their beginning, in those sessions.
pub(crate) fn states(extension: Extension, session: impl Fn() -> Session) -> (Receiver, Sender) {
    let (pairs, chosen) = base();
    let (receiver, setup) = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
    (receiver, Sender::new(session(), extension, chosen, &setup, seed(6)).unwrap())
}

/// The keys of 128 base OTs, the receiver's and the sender's.
pub(crate) fn base() -> (SenderKeys, ReceiverKeys) {
    ideal::random(128, &seed(4))
}

pub(crate) fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

pub(crate) fn session() -> Session {
    Session::new(Sid::from_bytes([3; 32])).sub("extension", 0, Default::default())
}

pub(crate) fn bit(bits: &Bits, i: usize) -> bool {
    bits.get(i).into()
}

/// n bits, one in `step` of which is 1.
pub(crate) fn bits(n: usize, step: usize) -> Bits {
    Bits::from_bools((0..n).map(|i| i % step == 0))
}

/// Begins a group of one batch.
pub(crate) fn extend(
    receiver: &mut Receiver,
    choice: Choice,
    message: &mut Vec<u8>,
) -> Result<Unanswered, Usage> {
    receiver.extend(vec![(choice, message)]).map(only)
}

/// Takes the corrections of a group of one batch.
pub(crate) fn absorb(
    sender: &mut Sender,
    shape: Shape,
    message: &[u8],
) -> Result<(Unverified, Option<Challenge>), Error> {
    sender.absorb(&[(shape, message)]).map(only)
}

/// The proof of a batch of n OTs.
pub(crate) fn answer(
    receiver: &mut Receiver,
    n: usize,
    batch: Unanswered,
    challenge: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut keys = vec![[0; 16]; n];
    receiver.finish(OtKind::Random, vec![(batch, challenge, &mut keys)]).map(|all| only(all).1)
}

/// The verdict on the proof of a batch of n OTs.
pub(crate) fn verify(
    sender: &mut Sender,
    n: usize,
    batch: Unverified,
    proof: &[u8],
) -> Result<(), Error> {
    sender.finish(vec![(batch, proof, Places::Random(&mut vec![[[0; 16]; 2]; n]))])
}
