//! The extension under it, with its check or without.

use alloc::vec::Vec;

use foxtrot_ot::{
    Decode, Error, Seed, Session, Usage,
    base::{ReceiverKeys, SenderKeys},
    extension::{Challenge, Malicious, SemiHonest, code::Linear, one_of_n, oos},
};

use super::Parameters;

/// The sender's side, with Δ.
#[derive(Debug)]
pub(super) enum SenderOts {
    Checked(one_of_n::Sender<Linear, Malicious>),
    Unchecked(one_of_n::Sender<Linear, SemiHonest>),
}

/// The receiver's side, with words.
#[derive(Debug)]
pub(super) enum ReceiverOts {
    Checked(one_of_n::Receiver<Linear, Malicious>),
    Unchecked(one_of_n::Receiver<Linear, SemiHonest>),
}

#[derive(Debug)]
pub(super) enum SenderBatch {
    Checked(one_of_n::Unverified),
    Unchecked(one_of_n::Sent<SemiHonest>),
}

#[derive(Debug)]
pub(super) enum ReceiverBatch {
    Checked(one_of_n::Unanswered),
    Unchecked(one_of_n::Received<SemiHonest>),
}

fn session(session: &Session, parameters: &Parameters) -> Session {
    session.sub(parameters.extension().info().name, 0, Default::default())
}

impl SenderOts {
    pub(super) fn new(
        of: &Session,
        parameters: &Parameters,
        base: ReceiverKeys,
        seed: Seed,
    ) -> Result<Self, Usage> {
        let (session, code) = (session(of, parameters), parameters.code());
        Ok(if parameters.checked() {
            let extension = oos::malicious(code);
            Self::Checked(one_of_n::Sender::new(session, extension, base, seed)?)
        } else {
            let extension = oos::semi_honest(code);
            Self::Unchecked(one_of_n::Sender::new(session, extension, base, seed)?)
        })
    }

    pub(super) fn absorb(
        &mut self,
        n: usize,
        corrections: &[u8],
    ) -> Result<(SenderBatch, Option<Challenge>), Error> {
        match self {
            Self::Checked(it) => {
                let (batch, challenge) = it.absorb(n, corrections)?;
                Ok((SenderBatch::Checked(batch), Some(challenge)))
            }
            Self::Unchecked(it) => Ok((SenderBatch::Unchecked(it.absorb(n, corrections)?), None)),
        }
    }

    /// Checks the proof, which is empty where there is none, and only then writes the rows.
    pub(super) fn rows(
        &mut self,
        batch: SenderBatch,
        proof: &[u8],
        rows: &mut [u8],
    ) -> Result<(), Error> {
        match (self, batch) {
            (Self::Checked(it), SenderBatch::Checked(batch)) => {
                let sent = it.verify(batch, proof)?;
                Ok(it.rows(sent, rows)?)
            }
            (Self::Unchecked(it), SenderBatch::Unchecked(sent)) => {
                none("Proof", proof)?;
                Ok(it.rows(sent, rows)?)
            }
            _ => Err(Usage::ForeignBatch.into()),
        }
    }

    pub(super) fn shift_sums(&self, words: &[u8], sums: &mut [u8]) -> Result<(), Usage> {
        match self {
            Self::Checked(it) => it.shift_sums(words, sums),
            Self::Unchecked(it) => it.shift_sums(words, sums),
        }
    }
}

impl ReceiverOts {
    pub(super) fn new(
        of: &Session,
        parameters: &Parameters,
        base: SenderKeys,
        seed: Seed,
    ) -> Result<Self, Usage> {
        let (session, code) = (session(of, parameters), parameters.code());
        Ok(if parameters.checked() {
            let extension = oos::malicious(code);
            Self::Checked(one_of_n::Receiver::new(session, extension, base, seed)?)
        } else {
            let extension = oos::semi_honest(code);
            Self::Unchecked(one_of_n::Receiver::new(session, extension, base, seed)?)
        })
    }

    pub(super) fn extend(
        &mut self,
        n: usize,
        words: &[u8],
        corrections: &mut Vec<u8>,
    ) -> Result<ReceiverBatch, Usage> {
        Ok(match self {
            Self::Checked(it) => ReceiverBatch::Checked(it.extend(n, words, corrections)?),
            Self::Unchecked(it) => ReceiverBatch::Unchecked(it.extend(n, words, corrections)?),
        })
    }

    /// Answers the challenge, which is empty where there is none, with a proof, then empty too;
    /// writes the rows.
    pub(super) fn rows(
        &mut self,
        batch: ReceiverBatch,
        challenge: &[u8],
        rows: &mut [u8],
    ) -> Result<Vec<u8>, Error> {
        match (self, batch) {
            (Self::Checked(it), ReceiverBatch::Checked(batch)) => {
                let (expected, got) = (size_of::<Challenge>(), challenge.len());
                let wrong = Decode::Length { message: "Challenge", expected, got };
                let challenge: &Challenge = challenge.try_into().map_err(|_| wrong)?;
                let (received, proof) = it.answer(batch, challenge)?;
                it.rows(received, rows)?;
                Ok(proof)
            }
            (Self::Unchecked(it), ReceiverBatch::Unchecked(received)) => {
                none("Challenge", challenge)?;
                it.rows(received, rows)?;
                Ok(Vec::new())
            }
            _ => Err(Usage::ForeignBatch.into()),
        }
    }
}

fn none(message: &'static str, bytes: &[u8]) -> Result<(), Decode> {
    match bytes.len() {
        0 => Ok(()),
        got => Err(Decode::Length { message, expected: 0, got }),
    }
}
