//! Running a 1-of-N extension over a channel: base OTs, then batch after batch, several of them on
//! their way at a time (`docs/wire.md`, section 10).

#[cfg(test)]
mod tests;

use core::fmt;
use std::collections::VecDeque;

use foxtrot_ot::{
    Bits, Direction, Session, Usage,
    base::{BaseOt, Block, Choice, Functionality},
    extension::one_of_n::{Any, AnyReceiver, AnySender, Places, ReceiverBatch},
    tasks::Executor,
};
use zeroize::Zeroizing;

use super::{PROOFS, WINDOW, begin, end, fresh_seed};
use crate::{Channel, Error, HelloError, Lane, channel::held_back, drive};

/// What both sides have agreed on.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The extension.
    pub extension: Any,
    /// What it starts from.
    pub base: &'a dyn BaseOt,
    /// The whole session.
    pub session: &'a Session,
    /// Which way the extension runs; its base OTs run the other way.
    pub direction: Direction,
    /// Which of the extensions of the session.
    pub counter: u64,
}

/// The sender of a 1-of-N extension, set up.
#[derive(Debug)]
pub struct Sender<'a> {
    channel: &'a Channel,
    extension: Any,
    state: AnySender,
    /// A run has not come to its end: what is on its way belongs to it, and there is no other.
    ended: bool,
}

/// The receiver of a 1-of-N extension, set up.
#[derive(Debug)]
pub struct Receiver<'a> {
    channel: &'a Channel,
    extension: Any,
    state: AnyReceiver,
    /// A run has not come to its end: what is on its way belongs to it, and there is no other.
    ended: bool,
}

/// A run: so many OTs, of so many choices each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of OTs.
    pub n: usize,
    /// N: how many words the sender takes the keys of.
    pub choices: usize,
}

impl Shape {
    /// Keys of a batch that the sender has at a time, about.
    const KEYS: usize = 1 << 20;

    /// The sizes of the batches of the run.
    fn batches(self, extension: &Any) -> impl Iterator<Item = usize> + use<> {
        let max = (Self::KEYS / self.choices.max(1)).clamp(1, extension.max_batch());
        (0..self.n).step_by(max).map(move |start| max.min(self.n - start))
    }
}

impl<'a> Sender<'a> {
    /// Runs the base OTs.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        plan.check().map_err(|e| channel.give_up(e))?;
        channel.use_lanes(PROOFS.index() + 1);
        plan.hold_back(channel);
        let rows = plan.extension.parameters().length;
        let choice = match plan.base.info().functionality {
            Functionality::Random => Choice::Random(rows),
            _ => Choice::Given(random_bits(rows)?),
        };
        let role = plan.base.receiver(plan.base_session(), choice, fresh_seed()?);
        let role = role.map_err(|e| channel.give_up(e))?;
        let keys = drive::run(channel, Lane::PROTOCOL, role)?;
        let state = plan.extension.sender(plan.session(), keys, fresh_seed()?);
        let state = state.map_err(|e| channel.give_up(e))?;
        Ok(Self { channel, extension: plan.extension, state, ended: false })
    }

    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(self, executor: Box<dyn Executor>) -> Self {
        Self { state: self.state.with_executor(executor), ..self }
    }

    /// The keys of the first words of every OT go to `sink`, batch after batch, those of an OT one
    /// after another.
    ///
    /// # Errors
    /// Those of the sink, and [`Error::Protocol`], of which the peer is told; [`Error::Frame`],
    /// [`Error::Channel`]. After any there are no further runs.
    pub fn run<E: From<Error>>(
        &mut self,
        shape: Shape,
        sink: impl FnMut(&[Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        begin(&mut self.ended)?;
        let done = self.run_batches(shape, sink);
        end(self.channel, &mut self.ended, done)
    }

    fn run_batches<E: From<Error>>(
        &mut self,
        shape: Shape,
        mut sink: impl FnMut(&[Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (channel, extension) = (self.channel, self.extension);
        let mut keys = Zeroizing::new(Vec::new());
        let mut finish = |state: &mut AnySender, (batch, n): (_, usize)| {
            let proof = match extension.proof_len() {
                0 => Vec::new(),
                len => channel.recv(PROOFS, len)?,
            };
            keys.resize(n.saturating_mul(shape.choices), [0; 16]);
            let finished = state.finish(batch, &proof, Places::All(shape.choices, &mut keys));
            finished.map_err(|e| channel.give_up(e))?;
            sink(&keys)
        };
        let mut pending = VecDeque::with_capacity(WINDOW);
        for n in shape.batches(&extension) {
            let corrections = channel.recv(Lane::PROTOCOL, extension.corrections_len(n))?;
            let absorbed = self.state.absorb(n, &corrections);
            let (batch, challenge) = absorbed.map_err(|e| channel.give_up(e))?;
            match challenge {
                Some(challenge) => {
                    channel.send(Lane::PROTOCOL, challenge.to_vec())?;
                    pending.push_back((batch, n));
                }
                None => finish(&mut self.state, (batch, n))?,
            }
            if pending.len() == WINDOW
                && let Some(oldest) = pending.pop_front()
            {
                finish(&mut self.state, oldest)?;
            }
        }
        pending.into_iter().try_for_each(|batch| finish(&mut self.state, batch))
    }
}

impl<'a> Receiver<'a> {
    /// Runs the base OTs.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        plan.check().map_err(|e| channel.give_up(e))?;
        channel.use_lanes(PROOFS.index() + 1);
        plan.hold_back(channel);
        let rows = plan.extension.parameters().length;
        let role = plan.base.sender(plan.base_session(), rows, fresh_seed()?);
        let role = role.map_err(|e| channel.give_up(e))?;
        let keys = drive::run(channel, Lane::PROTOCOL, role)?;
        let state = plan.extension.receiver(plan.session(), keys, fresh_seed()?);
        let state = state.map_err(|e| channel.give_up(e))?;
        Ok(Self { channel, extension: plan.extension, state, ended: false })
    }

    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(self, executor: Box<dyn Executor>) -> Self {
        Self { state: self.state.with_executor(executor), ..self }
    }

    /// The keys of these words, as many as the shape says, go to `sink`, batch after batch.
    ///
    /// # Errors
    /// Those of the sink, and [`Error::Protocol`], of which the peer is told; [`Error::Frame`],
    /// [`Error::Channel`]. After any there are no further runs.
    pub fn run<E: From<Error>>(
        &mut self,
        shape: Shape,
        words: &[u8],
        sink: impl FnMut(&[Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        begin(&mut self.ended)?;
        let done = self.run_batches(shape, words, sink);
        end(self.channel, &mut self.ended, done)
    }

    fn run_batches<E: From<Error>>(
        &mut self,
        shape: Shape,
        mut words: &[u8],
        mut sink: impl FnMut(&[Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (channel, extension) = (self.channel, self.extension);
        let word_len = extension.parameters().word_len();
        let (expected, got) = (shape.n.saturating_mul(word_len), words.len());
        if expected != got {
            let error = Usage::CountMismatch { what: "bytes of words", expected, got };
            return Err(channel.give_up(Error::from(error)).into());
        }
        let mut keys = Zeroizing::new(Vec::new());
        let mut finish = |state: &mut AnyReceiver, (batch, n): (ReceiverBatch, usize)| {
            let challenge = match extension.challenge_len() {
                0 => Vec::new(),
                len => channel.recv(Lane::PROTOCOL, len)?,
            };
            keys.resize(n, [0; 16]);
            let finished = state.finish(batch, &challenge, &mut keys);
            let proof = finished.map_err(|e| channel.give_up(e))?;
            if !proof.is_empty() {
                channel.send(PROOFS, proof)?;
            }
            sink(&keys)
        };
        let mut pending = VecDeque::with_capacity(WINDOW);
        for n in shape.batches(&extension) {
            if pending.len() == WINDOW
                && let Some(oldest) = pending.pop_front()
            {
                finish(&mut self.state, oldest)?;
            }
            let (of_batch, rest) = words.split_at(n * word_len);
            words = rest;
            let mut corrections = Vec::new();
            let extended = self.state.extend(n, of_batch, &mut corrections);
            let batch = extended.map_err(|e| channel.give_up(e))?;
            channel.send(Lane::PROTOCOL, corrections)?;
            if extension.challenge_len() == 0 {
                finish(&mut self.state, (batch, n))?;
            } else {
                pending.push_back((batch, n));
            }
        }
        pending.into_iter().try_for_each(|batch| finish(&mut self.state, batch))
    }
}

/// The most bytes that wait for a party of that extension, sent by a peer that does not wait for it.
#[must_use]
pub fn most_ahead(extension: &Any) -> u64 {
    2 * held_back(2 * WINDOW, longest(extension)) as u64
}

/// The longest message of a batch.
fn longest(extension: &Any) -> usize {
    extension.corrections_len(extension.max_batch()).max(extension.proof_len())
}

impl Plan<'_> {
    fn check(&self) -> Result<(), Usage> {
        self.extension.compatible(self.base.info()).map_err(Usage::Incompatible)
    }

    /// Corrections are a window ahead of proofs at most.
    fn hold_back(&self, channel: &Channel) {
        channel.hold_back(2 * WINDOW, longest(&self.extension));
    }

    fn base_session(&self) -> Session {
        self.session.sub(self.base.info().name, self.counter, self.direction.reversed())
    }

    fn session(&self) -> Session {
        self.session.sub(self.extension.info().name, self.counter, self.direction)
    }
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (extension, base) = (self.extension.info().name, self.base.info().name);
        write!(f, "Plan({extension} from {base}, counter {})", self.counter)
    }
}

/// Secret random bits.
fn random_bits(n: usize) -> Result<Bits, Error> {
    let mut bytes = Zeroizing::new(vec![0; n.div_ceil(8)]);
    getrandom::fill(&mut bytes).map_err(|e| HelloError::Randomness(e.to_string()))?;
    Ok(Bits::from_bytes(&bytes, n))
}
