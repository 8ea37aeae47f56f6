//! The states of an extension that is chosen at run time: for drivers, benchmarks and tests.

use alloc::{vec, vec::Vec};

use super::{
    Any, Challenge, Kind, Malicious, PROOF_LEN, Places, Received, Receiver, SemiHonest, Sender,
    Sent, Shape, Unanswered, Unverified,
};
use crate::{
    Bits, Decode, Error, Seed, Session, Usage,
    base::{Block, Choice, ReceiverKeys, SenderKeys},
    tasks::only,
};

/// A [`Sender`] of either kind.
#[derive(Debug)]
pub enum AnySender {
    /// Without checks.
    SemiHonest(Sender<SemiHonest>),
    /// With checks.
    Malicious(Sender<Malicious>),
}

/// A [`Receiver`] of either kind.
#[derive(Debug)]
pub enum AnyReceiver {
    /// Without checks.
    SemiHonest(Receiver<SemiHonest>),
    /// With checks.
    Malicious(Receiver<Malicious>),
}

/// A sender's batch whose corrections have come.
#[derive(Debug)]
pub struct SenderBatch(Checked<Sent<SemiHonest>, Unverified>);

/// A receiver's batch whose corrections are on their way.
#[derive(Debug)]
pub struct ReceiverBatch(Checked<Received<SemiHonest>, Unanswered>);

#[derive(Debug)]
enum Checked<A, B> {
    No(A),
    Yes(B),
}

impl<A, B> Checked<A, B> {
    fn no(self) -> Result<A, Usage> {
        match self {
            Self::No(batch) => Ok(batch),
            Self::Yes(_) => Err(Usage::ForeignBatch),
        }
    }

    fn yes(self) -> Result<B, Usage> {
        match self {
            Self::Yes(batch) => Ok(batch),
            Self::No(_) => Err(Usage::ForeignBatch),
        }
    }
}

impl Any {
    /// Bytes of the sender's challenge to a batch; with none, it is not sent.
    #[must_use]
    pub const fn challenge_len(&self) -> usize {
        match self {
            Self::SemiHonest(_) => 0,
            Self::Malicious(_) => size_of::<Challenge>(),
        }
    }

    /// Bytes of the receiver's proof of a batch; with none, it is not sent.
    #[must_use]
    pub const fn proof_len(&self) -> usize {
        match self {
            Self::SemiHonest(_) => 0,
            Self::Malicious(_) => PROOF_LEN,
        }
    }

    /// The sender; see [`Sender::new`].
    ///
    /// # Errors
    /// Those of [`Sender::new`].
    pub fn sender(
        &self,
        session: Session,
        base: ReceiverKeys,
        setup: &[u8],
        seed: Seed,
    ) -> Result<AnySender, Error> {
        Ok(match *self {
            Self::SemiHonest(extension) => {
                AnySender::SemiHonest(Sender::new(session, extension, base, setup, seed)?)
            }
            Self::Malicious(extension) => {
                AnySender::Malicious(Sender::new(session, extension, base, setup, seed)?)
            }
        })
    }

    /// The receiver, and what it has to send first; see [`Receiver::new`].
    ///
    /// # Errors
    /// Those of [`Receiver::new`].
    pub fn receiver(
        &self,
        session: Session,
        base: SenderKeys,
        seed: Seed,
    ) -> Result<(AnyReceiver, Vec<u8>), Usage> {
        Ok(match *self {
            Self::SemiHonest(extension) => {
                let (receiver, setup) = Receiver::new(session, extension, base, seed)?;
                (AnyReceiver::SemiHonest(receiver), setup)
            }
            Self::Malicious(extension) => {
                let (receiver, setup) = Receiver::new(session, extension, base, seed)?;
                (AnyReceiver::Malicious(receiver), setup)
            }
        })
    }
}

impl AnySender {
    /// Takes corrections; with the challenge to be sent, if there is one.
    ///
    /// # Errors
    /// Those of [`Sender::absorb`].
    pub fn absorb(
        &mut self,
        shape: Shape,
        corrections: &[u8],
    ) -> Result<(SenderBatch, Option<Challenge>), Error> {
        Ok(only(self.absorb_all(&[(shape, corrections)])?))
    }

    /// The same for the next batches, in their order, at once: one per thread.
    ///
    /// # Errors
    /// Those of [`AnySender::absorb`], for any of them: then none has been taken.
    pub fn absorb_all(
        &mut self,
        messages: &[(Shape, &[u8])],
    ) -> Result<Vec<(SenderBatch, Option<Challenge>)>, Error> {
        Ok(match self {
            Self::SemiHonest(sender) => {
                let unchecked = |batch| (SenderBatch(Checked::No(batch)), None);
                sender.absorb_all(messages)?.into_iter().map(unchecked).collect()
            }
            Self::Malicious(sender) => {
                let checked =
                    |(batch, challenge)| (SenderBatch(Checked::Yes(batch)), Some(challenge));
                sender.absorb_all(messages)?.into_iter().map(checked).collect()
            }
        })
    }

    /// Checks the proof, which is empty where there is none, and writes the output.
    ///
    /// # Errors
    /// Those of [`Sender::verify`] and [`Sender::random`]; [`Usage::ForeignBatch`].
    pub fn finish(
        &mut self,
        batch: SenderBatch,
        proof: &[u8],
        places: Places<'_>,
    ) -> Result<(), Error> {
        self.finish_all(vec![(batch, proof, places)])
    }

    /// The same for several batches at once, one per thread.
    ///
    /// # Errors
    /// Those of [`AnySender::finish`], for any of them: there is no output then.
    pub fn finish_all(
        &mut self,
        batches: Vec<(SenderBatch, &[u8], Places<'_>)>,
    ) -> Result<(), Error> {
        match self {
            Self::SemiHonest(sender) => {
                let sent =
                    batches.into_iter().map(|(batch, _, places)| Ok((batch.0.no()?, places)));
                sender.output_all(sent.collect::<Result<_, Usage>>()?)?;
            }
            Self::Malicious(sender) => {
                let (mut unverified, mut all_places) = (Vec::new(), Vec::new());
                for (batch, proof, places) in batches {
                    unverified.push((batch.0.yes()?, proof));
                    all_places.push(places);
                }
                let sent = sender.verify_all(unverified)?;
                sender.output_all(sent.into_iter().zip(all_places).collect())?;
            }
        }
        Ok(())
    }
}

impl AnyReceiver {
    /// Begins a batch; `corrections` becomes its message, whatever was in it.
    ///
    /// # Errors
    /// Those of [`Receiver::extend`].
    pub fn extend(
        &mut self,
        choice: Choice,
        corrections: &mut Vec<u8>,
    ) -> Result<ReceiverBatch, Usage> {
        Ok(only(self.extend_all(vec![(choice, corrections)])?))
    }

    /// The same for the next batches, in their order, at once: one per thread.
    ///
    /// # Errors
    /// Those of [`AnyReceiver::extend`], for any of them: then none has begun.
    pub fn extend_all(
        &mut self,
        batches: Vec<(Choice, &mut Vec<u8>)>,
    ) -> Result<Vec<ReceiverBatch>, Usage> {
        Ok(match self {
            Self::SemiHonest(receiver) => {
                let unchecked = |batch| ReceiverBatch(Checked::No(batch));
                receiver.extend_all(batches)?.into_iter().map(unchecked).collect()
            }
            Self::Malicious(receiver) => {
                let checked = |batch| ReceiverBatch(Checked::Yes(batch));
                receiver.extend_all(batches)?.into_iter().map(checked).collect()
            }
        })
    }

    /// Answers the challenge, which is empty where there is none, with a proof, then empty too;
    /// writes the output and returns the choices.
    ///
    /// # Errors
    /// [`Decode`] if the challenge has another length; those of [`Receiver::random`];
    /// [`Usage::ForeignBatch`].
    pub fn finish(
        &mut self,
        batch: ReceiverBatch,
        challenge: &[u8],
        kind: Kind,
        keys: &mut [Block],
    ) -> Result<(Bits, Vec<u8>), Error> {
        Ok(only(self.finish_all(kind, vec![(batch, challenge, keys)])?))
    }

    /// The same for several batches at once, one per thread.
    ///
    /// # Errors
    /// Those of [`AnyReceiver::finish`], for any of them: there is no output then.
    pub fn finish_all(
        &mut self,
        kind: Kind,
        batches: Vec<(ReceiverBatch, &[u8], &mut [Block])>,
    ) -> Result<Vec<(Bits, Vec<u8>)>, Error> {
        Ok(match self {
            Self::SemiHonest(receiver) => {
                let received =
                    batches.into_iter().map(|(batch, _, keys)| Ok((batch.0.no()?, keys)));
                let received = received.collect::<Result<_, Usage>>()?;
                let choices = receiver.output_all(kind, received)?.into_iter();
                choices.map(|choices| (choices, Vec::new())).collect()
            }
            Self::Malicious(receiver) => {
                let (mut unanswered, mut places) = (Vec::new(), Vec::new());
                for (batch, challenge, keys) in batches {
                    unanswered.push((batch.0.yes()?, decode(challenge)?));
                    places.push(keys);
                }
                let (received, proofs): (Vec<_>, Vec<_>) =
                    receiver.answer_all(unanswered)?.into_iter().unzip();
                let received = received.into_iter().zip(places).collect();
                receiver.output_all(kind, received)?.into_iter().zip(proofs).collect()
            }
        })
    }
}

fn decode(challenge: &[u8]) -> Result<Challenge, Decode> {
    let (expected, got) = (size_of::<Challenge>(), challenge.len());
    challenge.try_into().map_err(|_| Decode::Length { message: "Challenge", expected, got })
}
