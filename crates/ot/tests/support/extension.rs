//! Both parties of an extension over doubles of the base OTs.

use foxtrot_ot::{
    Bits, Seed, Session, Sid,
    base::{ReceiverKeys, SenderKeys},
    extension::{Extension, Receiver, Sender},
    ideal,
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
