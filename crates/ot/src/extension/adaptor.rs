//! The states of an extension that is chosen at run time: for drivers, benchmarks and tests.

use alloc::{boxed::Box, vec::Vec};
use core::fmt;

use super::{
    Any, Challenge, Malicious, PROOF_LEN, Received, Receiver, SemiHonest, Sender, Sent, Shape,
    Unanswered, Unverified,
};
use crate::{
    Bits, Decode, Error, Seed, Session, Usage,
    base::{Block, Choice, ReceiverKeys, SenderKeys},
    tasks::Executor,
};

/// Which output of a batch is wanted, and where the sender's goes.
pub enum Places<'a> {
    /// Both keys of random OTs.
    Random(&'a mut [[Block; 2]]),
    /// The rows of correlated OTs.
    Correlated(&'a mut [Block]),
}

/// Which output of a batch is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Keys of random OTs.
    Random,
    /// The rows of correlated OTs.
    Correlated,
}

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
    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(self, executor: Box<dyn Executor>) -> Self {
        match self {
            Self::SemiHonest(sender) => Self::SemiHonest(sender.with_executor(executor)),
            Self::Malicious(sender) => Self::Malicious(sender.with_executor(executor)),
        }
    }

    /// Takes corrections; with the challenge to be sent, if there is one.
    ///
    /// # Errors
    /// Those of [`Sender::absorb`].
    pub fn absorb(
        &mut self,
        shape: Shape,
        corrections: &[u8],
    ) -> Result<(SenderBatch, Option<Challenge>), Error> {
        Ok(match self {
            Self::SemiHonest(sender) => {
                (SenderBatch(Checked::No(sender.absorb(shape, corrections)?)), None)
            }
            Self::Malicious(sender) => {
                let (batch, challenge) = sender.absorb(shape, corrections)?;
                (SenderBatch(Checked::Yes(batch)), Some(challenge))
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
        match (self, batch.0) {
            (Self::SemiHonest(sender), Checked::No(sent)) => match places {
                Places::Random(keys) => sender.random(sent, keys)?,
                Places::Correlated(rows) => sender.correlated(sent, rows)?,
            },
            (Self::Malicious(sender), Checked::Yes(unverified)) => {
                let sent = sender.verify(unverified, proof)?;
                match places {
                    Places::Random(keys) => sender.random(sent, keys)?,
                    Places::Correlated(rows) => sender.correlated(sent, rows)?,
                }
            }
            _ => return Err(Usage::ForeignBatch.into()),
        }
        Ok(())
    }
}

impl AnyReceiver {
    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(self, executor: Box<dyn Executor>) -> Self {
        match self {
            Self::SemiHonest(receiver) => Self::SemiHonest(receiver.with_executor(executor)),
            Self::Malicious(receiver) => Self::Malicious(receiver.with_executor(executor)),
        }
    }

    /// Begins a batch; `corrections` becomes its message, whatever was in it.
    ///
    /// # Errors
    /// Those of [`Receiver::extend`].
    pub fn extend(
        &mut self,
        choice: Choice,
        corrections: &mut Vec<u8>,
    ) -> Result<ReceiverBatch, Usage> {
        Ok(ReceiverBatch(match self {
            Self::SemiHonest(receiver) => Checked::No(receiver.extend(choice, corrections)?),
            Self::Malicious(receiver) => Checked::Yes(receiver.extend(choice, corrections)?),
        }))
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
        Ok(match (self, batch.0) {
            (Self::SemiHonest(receiver), Checked::No(received)) => match kind {
                Kind::Random => (receiver.random(received, keys)?, Vec::new()),
                Kind::Correlated => (receiver.correlated(received, keys)?, Vec::new()),
            },
            (Self::Malicious(receiver), Checked::Yes(unanswered)) => {
                let (expected, got) = (size_of::<Challenge>(), challenge.len());
                let challenge = challenge.try_into().map_err(|_| Decode::Length {
                    message: "Challenge",
                    expected,
                    got,
                })?;
                let (received, proof) = receiver.answer(unanswered, challenge)?;
                match kind {
                    Kind::Random => (receiver.random(received, keys)?, proof),
                    Kind::Correlated => (receiver.correlated(received, keys)?, proof),
                }
            }
            _ => return Err(Usage::ForeignBatch.into()),
        })
    }
}

impl fmt::Debug for Places<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(keys) => write!(f, "Random(<{} redacted>)", keys.len()),
            Self::Correlated(rows) => write!(f, "Correlated(<{} redacted>)", rows.len()),
        }
    }
}
