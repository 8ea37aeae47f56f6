//! 1-of-N extensions chosen at run time: what there is to know of each, and its states, for drivers,
//! benchmarks and tests.

use alloc::vec::Vec;
use core::fmt;

use super::{Extension, Received, Receiver, Sender, Sent, Unanswered, Unverified};
use crate::{
    Decode, Error, Seed, Session, Usage,
    base::{self, Adversary, Block, ReceiverKeys, SenderKeys},
    extension::{
        Challenge, Incompatible, Malicious, Security, SemiHonest, any,
        code::{Linear, Parameters, Pseudorandom},
        kkrt, oos,
    },
};

/// A 1-of-N extension of any kind.
#[derive(Clone, Copy, Debug)]
pub enum Any {
    /// A linear code, with checks.
    Checked(Extension<Linear, Malicious>),
    /// A linear code, without checks.
    Linear(Extension<Linear, SemiHonest>),
    /// A pseudorandom code, without checks.
    Pseudorandom(Extension<Pseudorandom, SemiHonest>),
}

/// What there is to know about a 1-of-N extension before running it.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name, also in sub-sids and hellos.
    pub name: &'static str,
    /// Name without parameters.
    pub family: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// What it realises, in words.
    pub functionality: &'static str,
    /// Against whom.
    pub adversary: Adversary,
    /// Under which assumption, besides that of the base OTs.
    pub assumption: &'static str,
    /// Its code, in words.
    pub code: &'static str,
    /// The lengths of its code.
    pub parameters: Parameters,
    /// Messages of a batch, without the base OTs.
    pub flows: usize,
}

/// Runs `$work` with the extension, whatever kind it is of.
macro_rules! of_any {
    ($any:expr, $extension:ident => $work:expr) => {
        match $any {
            Any::Checked($extension) => $work,
            Any::Linear($extension) => $work,
            Any::Pseudorandom($extension) => $work,
        }
    };
}

impl Any {
    /// What it is.
    #[must_use]
    pub fn info(&self) -> Info {
        let (family, paper, code) = match self {
            Self::Checked(Extension { family, .. }) | Self::Linear(Extension { family, .. }) => {
                let code = match family {
                    Linear::Repetition128 => "repetition [128, 1]",
                    Linear::Bch512 => "extended BCH [512, 85], distance at least 128",
                    Linear::Bch802 => "shortened extended BCH [802, 231], distance at least 128",
                };
                ("oos", "OOS17, check of KOS15 (2022)", code)
            }
            Self::Pseudorandom(_) => ("kkrt", "KKRT16", "pseudorandom [512, 128]"),
        };
        let (adversary, flows, functionality) = match self {
            Self::Checked(_) => (Malicious::ADVERSARY, 3, "endemic 1-of-N OT with abort"),
            _ => (SemiHonest::ADVERSARY, 1, "endemic 1-of-N OT"),
        };
        let assumption = match self {
            Self::Pseudorandom(_) => "AEGIS-128L as a PRG, AES as a PRF, random oracle",
            _ => "AEGIS-128L as a PRG, random oracle",
        };
        let (name, parameters) = of_any!(self, it => (it.name(), it.parameters()));
        Info { name, family, paper, functionality, adversary, assumption, code, parameters, flows }
    }

    /// The lengths of its code; as many base OTs are needed as codewords have bits.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        of_any!(self, it => it.parameters())
    }

    /// Bytes of the `Corrections` of a batch of n OTs.
    #[must_use]
    pub fn corrections_len(&self, n: usize) -> usize {
        of_any!(self, it => it.corrections_len(n))
    }

    /// Bytes of the sender's challenge to a batch; with none, it is not sent.
    #[must_use]
    pub const fn challenge_len(&self) -> usize {
        match self {
            Self::Checked(_) => size_of::<Challenge>(),
            _ => 0,
        }
    }

    /// Bytes of the receiver's proof of a batch; with none, it is not sent.
    #[must_use]
    pub fn proof_len(&self) -> usize {
        of_any!(self, it => it.proof_len())
    }

    /// The most OTs of one batch.
    #[must_use]
    pub const fn max_batch(&self) -> usize {
        match self {
            Self::Checked(_) => Extension::<Linear, Malicious>::MAX_BATCH,
            Self::Linear(_) => Extension::<Linear, SemiHonest>::MAX_BATCH,
            Self::Pseudorandom(_) => Extension::<Pseudorandom, SemiHonest>::MAX_BATCH,
        }
    }

    /// The sizes of the batches of a run of n OTs.
    pub fn batches(&self, n: usize) -> impl Iterator<Item = usize> + use<> {
        let max = self.max_batch();
        (0..n).step_by(max).map(move |start| max.min(n - start))
    }

    /// Payload bytes of the receiver for a run of n OTs, without base OTs.
    #[must_use]
    pub fn receiver_bytes(&self, n: usize) -> usize {
        self.batches(n).map(|n| self.corrections_len(n) + self.proof_len()).sum()
    }

    /// Payload bytes of the sender for a run of n OTs, without base OTs.
    #[must_use]
    pub fn sender_bytes(&self, n: usize) -> usize {
        self.challenge_len() * n.div_ceil(self.max_batch())
    }

    /// Whether that base OT may carry this extension; see [`extension::compatible`].
    ///
    /// # Errors
    /// [`Incompatible`], the reason why not.
    ///
    /// [`extension::compatible`]: crate::extension::compatible
    pub fn compatible(&self, base: &base::Info) -> Result<(), Incompatible> {
        any::carries(base, self.info().adversary)
    }

    /// The sender; see [`Sender::new`].
    ///
    /// # Errors
    /// Those of [`Sender::new`].
    pub fn sender(
        &self,
        session: Session,
        base: ReceiverKeys,
        seed: Seed,
    ) -> Result<AnySender, Usage> {
        Ok(match *self {
            Self::Checked(it) => AnySender::Checked(Sender::new(session, it, base, seed)?),
            Self::Linear(it) => AnySender::Linear(Sender::new(session, it, base, seed)?),
            Self::Pseudorandom(it) => {
                AnySender::Pseudorandom(Sender::new(session, it, base, seed)?)
            }
        })
    }

    /// The receiver; see [`Receiver::new`].
    ///
    /// # Errors
    /// Those of [`Receiver::new`].
    pub fn receiver(
        &self,
        session: Session,
        base: SenderKeys,
        seed: Seed,
    ) -> Result<AnyReceiver, Usage> {
        Ok(match *self {
            Self::Checked(it) => AnyReceiver::Checked(Receiver::new(session, it, base, seed)?),
            Self::Linear(it) => AnyReceiver::Linear(Receiver::new(session, it, base, seed)?),
            Self::Pseudorandom(it) => {
                AnyReceiver::Pseudorandom(Receiver::new(session, it, base, seed)?)
            }
        })
    }
}

/// Every 1-of-N extension.
pub fn registry() -> impl Iterator<Item = Any> {
    const CODES: [Linear; 3] = [Linear::Bch512, Linear::Bch802, Linear::Repetition128];
    let checked = CODES.map(|code| Any::Checked(oos::malicious(code)));
    let unchecked = CODES.map(|code| Any::Linear(oos::semi_honest(code)));
    checked.into_iter().chain(unchecked).chain([Any::Pseudorandom(kkrt::semi_honest())])
}

/// The 1-of-N extension of that name, with or without the adversary in it, against that adversary.
#[must_use]
pub fn find(name: &str, adversary: Adversary) -> Option<Any> {
    registry().find(|extension| {
        let info = extension.info();
        let short = info.name.strip_suffix("-semi-honest");
        info.adversary == adversary && (info.name == name || short == Some(name))
    })
}

/// A [`Sender`] of any kind.
#[derive(Debug)]
pub enum AnySender {
    /// A linear code, with checks.
    Checked(Sender<Linear, Malicious>),
    /// A linear code, without checks.
    Linear(Sender<Linear, SemiHonest>),
    /// A pseudorandom code, without checks.
    Pseudorandom(Sender<Pseudorandom, SemiHonest>),
}

/// A [`Receiver`] of any kind.
#[derive(Debug)]
pub enum AnyReceiver {
    /// A linear code, with checks.
    Checked(Receiver<Linear, Malicious>),
    /// A linear code, without checks.
    Linear(Receiver<Linear, SemiHonest>),
    /// A pseudorandom code, without checks.
    Pseudorandom(Receiver<Pseudorandom, SemiHonest>),
}

/// A sender's batch whose corrections have come.
#[derive(Debug)]
pub struct SenderBatch(Step<Sent<SemiHonest>, Unverified>);

/// A receiver's batch whose corrections are on their way.
#[derive(Debug)]
pub struct ReceiverBatch(Step<Received<SemiHonest>, Unanswered>);

#[derive(Debug)]
enum Step<A, B> {
    Last(A),
    Check(B),
}

/// Which keys of a batch the sender wants, and where they go.
pub enum Places<'a> {
    /// That of one word of every OT.
    Words(&'a [u8], &'a mut [Block]),
    /// Those of the first words, so many, of every OT.
    All(usize, &'a mut [Block]),
}

impl AnySender {
    /// Takes the corrections of n OTs; with the challenge to be sent, if there is one.
    ///
    /// # Errors
    /// Those of [`Sender::absorb`].
    pub fn absorb(
        &mut self,
        n: usize,
        corrections: &[u8],
    ) -> Result<(SenderBatch, Option<Challenge>), Error> {
        let last = |sent| (SenderBatch(Step::Last(sent)), None);
        match self {
            Self::Checked(sender) => {
                let (batch, challenge) = sender.absorb(n, corrections)?;
                Ok((SenderBatch(Step::Check(batch)), Some(challenge)))
            }
            Self::Linear(sender) => sender.absorb(n, corrections).map(last),
            Self::Pseudorandom(sender) => sender.absorb(n, corrections).map(last),
        }
    }

    /// Checks the proof, which is empty where there is none, and writes the keys.
    ///
    /// # Errors
    /// Those of [`Sender::verify`], [`Sender::keys`] and [`Sender::all`]; [`Usage::ForeignBatch`].
    pub fn finish(
        &mut self,
        batch: SenderBatch,
        proof: &[u8],
        places: Places<'_>,
    ) -> Result<(), Error> {
        match (self, batch.0) {
            (Self::Checked(sender), Step::Check(batch)) => {
                let sent = sender.verify(batch, proof)?;
                Ok(places.fill(sender, sent)?)
            }
            (Self::Linear(sender), Step::Last(sent)) => Ok(places.fill(sender, sent)?),
            (Self::Pseudorandom(sender), Step::Last(sent)) => Ok(places.fill(sender, sent)?),
            _ => Err(Usage::ForeignBatch.into()),
        }
    }
}

impl Places<'_> {
    fn fill<F: super::Family, S: Security>(
        self,
        sender: &mut Sender<F, S>,
        sent: Sent<S>,
    ) -> Result<(), Usage> {
        match self {
            Self::Words(words, keys) => sender.keys(sent, words, keys),
            Self::All(choices, keys) => sender.all(sent, choices, keys),
        }
    }
}

impl AnyReceiver {
    /// Begins a batch of n words; `corrections` becomes its message, whatever was in it.
    ///
    /// # Errors
    /// Those of [`Receiver::extend`].
    pub fn extend(
        &mut self,
        n: usize,
        words: &[u8],
        corrections: &mut Vec<u8>,
    ) -> Result<ReceiverBatch, Usage> {
        Ok(ReceiverBatch(match self {
            Self::Checked(receiver) => Step::Check(receiver.extend(n, words, corrections)?),
            Self::Linear(receiver) => Step::Last(receiver.extend(n, words, corrections)?),
            Self::Pseudorandom(receiver) => Step::Last(receiver.extend(n, words, corrections)?),
        }))
    }

    /// Answers the challenge, which is empty where there is none, with a proof, then empty too;
    /// writes the keys.
    ///
    /// # Errors
    /// [`Decode`] if the challenge has another length; those of [`Receiver::keys`];
    /// [`Usage::ForeignBatch`].
    pub fn finish(
        &mut self,
        batch: ReceiverBatch,
        challenge: &[u8],
        keys: &mut [Block],
    ) -> Result<Vec<u8>, Error> {
        match (self, batch.0) {
            (Self::Checked(receiver), Step::Check(batch)) => {
                let (expected, got) = (size_of::<Challenge>(), challenge.len());
                let challenge = challenge.try_into().map_err(|_| Decode::Length {
                    message: "Challenge",
                    expected,
                    got,
                })?;
                let (received, proof) = receiver.answer(batch, challenge)?;
                receiver.keys(received, keys)?;
                return Ok(proof);
            }
            (Self::Linear(receiver), Step::Last(received)) => receiver.keys(received, keys)?,
            (Self::Pseudorandom(receiver), Step::Last(received)) => {
                receiver.keys(received, keys)?;
            }
            _ => return Err(Usage::ForeignBatch.into()),
        }
        Ok(Vec::new())
    }
}

impl fmt::Debug for Places<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(_, keys) => write!(f, "Words(<{} redacted>)", keys.len()),
            Self::All(choices, keys) => write!(f, "All({choices}, <{} redacted>)", keys.len()),
        }
    }
}
