//! Values that the tests of 1-of-N extensions share.
#![allow(dead_code, reason = "not every test takes all of it")]

use foxtrot_ot::{
    Backend, Error, Seed, Session, Sid,
    base::{Block, ReceiverKeys, SenderKeys},
    extension::one_of_n::{Extension, Places, Receiver, Sender, Unanswered, Unverified},
    ideal,
};

pub(crate) fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

pub(crate) fn session() -> Session {
    Session::new(Sid::from_bytes([7; 32])).sub("one-of-n", 0, Default::default())
}

/// Returns n base OTs, always the same.
pub(crate) fn base(n: usize) -> (SenderKeys, ReceiverKeys) {
    ideal::random(n, &seed(3))
}

/// Bytes that look random.
pub(crate) fn bytes(label: u64, n: usize) -> Vec<u8> {
    let mut bytes = vec![0; n];
    session().oracle("foxtrot test bytes").query(label, 0).fill(&mut bytes);
    bytes
}

/// The proof of a batch of n OTs.
pub(crate) fn answer(
    receiver: &mut Receiver,
    n: usize,
    batch: Unanswered,
    challenge: &[u8],
) -> Result<Vec<u8>, Error> {
    receiver.finish(batch, challenge, &mut vec![[0; 16]; n])
}

/// The verdict on the proof of a batch of n OTs.
pub(crate) fn verify(
    sender: &mut Sender,
    n: usize,
    batch: Unverified,
    proof: &[u8],
) -> Result<(), Error> {
    sender.finish(batch, proof, Places::All(1, &mut vec![[0; 16]; n]))
}

/// Both parties of one extension.
pub(crate) struct Runs {
    pub(crate) extension: Extension,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
}

impl Runs {
    pub(crate) fn new(extension: Extension, backend: Backend) -> Self {
        Self::of(extension, || session().with_backend(backend))
    }

    /// Makes the parties in sessions of the caller.
    pub(crate) fn of(extension: Extension, session: impl Fn() -> Session) -> Self {
        let (pairs, chosen) = base(extension.parameters().length);
        let sender = Sender::new(session(), extension, chosen, seed(6)).unwrap();
        let receiver = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
        Self { extension, sender, receiver }
    }

    /// The receiver's keys for these words, after the sender wrote its own.
    pub(crate) fn batch(&mut self, words: &[u8], places: Places<'_>) -> Vec<Block> {
        let n = words.len() / self.extension.parameters().word_len();
        let mut corrections = Vec::new();
        let of_receiver = self.receiver.extend(n, words, &mut corrections).unwrap();
        assert_eq!(corrections.len(), self.extension.corrections_len(n));
        let (of_sender, challenge) = self.sender.absorb(n, &corrections).unwrap();
        let challenge = challenge.map_or(Vec::new(), Vec::from);
        assert_eq!(challenge.len(), self.extension.challenge_len());
        let mut keys = vec![[0; 16]; n];
        let proof = self.receiver.finish(of_receiver, &challenge, &mut keys).unwrap();
        assert_eq!(proof.len(), self.extension.proof_len());
        self.sender.finish(of_sender, &proof, places).unwrap();
        keys
    }
}
