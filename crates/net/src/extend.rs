//! Running an extension over a channel: base OTs, set-up, then batch after batch, several of them
//! on their way at a time (`docs/wire.md`, section 7).

pub mod one_of_n;

#[cfg(test)]
mod tests;

use core::fmt;
use std::collections::VecDeque;

use foxtrot_ot::{
    Bits, Direction, Seed, Session, Usage,
    base::{BaseOt, Block, Choice, Functionality},
    extension::{
        Any, AnyReceiver, AnySender, Kind, Places, ROWS, ReceiverBatch, SenderBatch, Shape,
        compatible,
    },
    tasks::Executor,
};
use zeroize::Zeroizing;

use crate::{Channel, ChannelError, Error, HelloError, Lane, drive};

/// Batches that may be on their way: what hides the latency of the link.
pub(crate) const WINDOW: usize = 8;

/// Proofs have a lane of their own, for they go between corrections.
pub(crate) const PROOFS: Lane = Lane::SECOND;

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

/// The sender of an extension, set up.
#[derive(Debug)]
pub struct Sender<'a> {
    channel: &'a Channel,
    extension: Any,
    state: AnySender,
    /// A run has not come to its end: what is on its way belongs to it, and there is no other.
    ended: bool,
}

/// The receiver of an extension, set up.
#[derive(Debug)]
pub struct Receiver<'a> {
    channel: &'a Channel,
    extension: Any,
    state: AnyReceiver,
    /// A run has not come to its end: what is on its way belongs to it, and there is no other.
    ended: bool,
}

impl<'a> Sender<'a> {
    /// Runs the base OTs, and takes the set-up.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        plan.check().map_err(|e| channel.give_up(e))?;
        channel.use_lanes(PROOFS.index() + 1);
        let choice = match plan.base.info().functionality {
            Functionality::Random => Choice::Random(ROWS),
            _ => Choice::Given(Bits::from_bytes(&*random::<{ ROWS / 8 }>()?, ROWS)),
        };
        let role = plan.base.receiver(plan.base_session(), choice, fresh_seed()?);
        let role = role.map_err(|e| channel.give_up(e))?;
        let keys = drive::run(channel, Lane::PROTOCOL, role)?;
        let setup = match plan.extension.setup_len() {
            0 => Vec::new(),
            len => channel.recv(Lane::PROTOCOL, len)?,
        };
        let state = plan.extension.sender(plan.session(), keys, &setup, fresh_seed()?);
        let state = state.map_err(|e| channel.give_up(e))?;
        Ok(Self { channel, extension: plan.extension, state, ended: false })
    }

    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(self, executor: Box<dyn Executor>) -> Self {
        Self { state: self.state.with_executor(executor), ..self }
    }

    /// Random OTs, as many as the shape says, however many: both keys of each go to `sink`, batch
    /// after batch.
    ///
    /// # Errors
    /// Those of the sink, and [`Error::Protocol`], of which the peer is told; [`Error::Frame`],
    /// [`Error::Channel`]. After any there are no further runs.
    pub fn random<E: From<Error>>(
        &mut self,
        shape: Shape,
        mut sink: impl FnMut(&[[Block; 2]]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut keys = Zeroizing::new(Vec::new());
        self.run(shape, |state, batch, proof, n| {
            keys.resize(n, [[0; 16]; 2]);
            state.finish(batch, proof, Places::Random(&mut keys))?;
            Ok(sink(&keys))
        })
    }

    /// Correlated OTs: the rows q go to `sink`, batch after batch.
    ///
    /// # Errors
    /// As for [`Sender::random`].
    pub fn correlated<E: From<Error>>(
        &mut self,
        shape: Shape,
        mut sink: impl FnMut(&[Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rows = Zeroizing::new(Vec::new());
        self.run(shape, |state, batch, proof, n| {
            rows.resize(n, [0; 16]);
            state.finish(batch, proof, Places::Correlated(&mut rows))?;
            Ok(sink(&rows))
        })
    }

    fn run<E: From<Error>>(
        &mut self,
        shape: Shape,
        output: impl FnMut(
            &mut AnySender,
            SenderBatch,
            &[u8],
            usize,
        ) -> Result<Result<(), E>, foxtrot_ot::Error>,
    ) -> Result<(), E> {
        begin(&mut self.ended)?;
        let done = self.run_batches(shape, output);
        end(self.channel, &mut self.ended, done)
    }

    fn run_batches<E: From<Error>>(
        &mut self,
        shape: Shape,
        mut output: impl FnMut(
            &mut AnySender,
            SenderBatch,
            &[u8],
            usize,
        ) -> Result<Result<(), E>, foxtrot_ot::Error>,
    ) -> Result<(), E> {
        let (channel, extension) = (self.channel, self.extension);
        let mut pending = VecDeque::with_capacity(WINDOW);
        let mut finish = |state: &mut AnySender, (batch, n)| {
            let proof = match extension.proof_len() {
                0 => Vec::new(),
                len => channel.recv(PROOFS, len)?,
            };
            output(state, batch, &proof, n).map_err(|e| channel.give_up(e))?
        };
        for shape in shape.batches(extension.max_batch()) {
            let corrections = channel.recv(Lane::PROTOCOL, extension.corrections_len(shape))?;
            let absorbed = self.state.absorb(shape, &corrections);
            let (batch, challenge) = absorbed.map_err(|e| channel.give_up(e))?;
            match challenge {
                Some(challenge) => {
                    channel.send(Lane::PROTOCOL, challenge.to_vec())?;
                    pending.push_back((batch, shape.n()));
                }
                None => finish(&mut self.state, (batch, shape.n()))?,
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
    /// Runs the base OTs, and sends the set-up.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        plan.check().map_err(|e| channel.give_up(e))?;
        channel.use_lanes(PROOFS.index() + 1);
        let role = plan.base.sender(plan.base_session(), ROWS, fresh_seed()?);
        let role = role.map_err(|e| channel.give_up(e))?;
        let keys = drive::run(channel, Lane::PROTOCOL, role)?;
        let state = plan.extension.receiver(plan.session(), keys, fresh_seed()?);
        let (state, setup) = state.map_err(|e| channel.give_up(e))?;
        if !setup.is_empty() {
            channel.send(Lane::PROTOCOL, setup)?;
        }
        Ok(Self { channel, extension: plan.extension, state, ended: false })
    }

    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(self, executor: Box<dyn Executor>) -> Self {
        Self { state: self.state.with_executor(executor), ..self }
    }

    /// OTs of the given kind, for these choices or for so many random ones: choices and keys, or
    /// rows t, go to `sink`, batch after batch.
    ///
    /// # Errors
    /// Those of the sink, and [`Error::Protocol`], of which the peer is told; [`Error::Frame`],
    /// [`Error::Channel`]. After any there are no further runs.
    pub fn run<E: From<Error>>(
        &mut self,
        choice: &Choice,
        kind: Kind,
        sink: impl FnMut(&Bits, &[Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        begin(&mut self.ended)?;
        let done = self.run_batches(choice, kind, sink);
        end(self.channel, &mut self.ended, done)
    }

    fn run_batches<E: From<Error>>(
        &mut self,
        choice: &Choice,
        kind: Kind,
        mut sink: impl FnMut(&Bits, &[Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (channel, extension) = (self.channel, self.extension);
        let mut keys = Zeroizing::new(Vec::new());
        let mut finish = |state: &mut AnyReceiver, (batch, n): (ReceiverBatch, usize)| {
            let challenge = match extension.challenge_len() {
                0 => Vec::new(),
                len => channel.recv(Lane::PROTOCOL, len)?,
            };
            keys.resize(n, [0; 16]);
            let finished = state.finish(batch, &challenge, kind, &mut keys);
            let (choices, proof) = finished.map_err(|e| channel.give_up(e))?;
            if !proof.is_empty() {
                channel.send(PROOFS, proof)?;
            }
            sink(&choices, &keys)
        };
        let mut pending = VecDeque::with_capacity(WINDOW);
        let mut start = 0;
        for shape in Shape::of(choice).batches(extension.max_batch()) {
            if pending.len() == WINDOW
                && let Some(oldest) = pending.pop_front()
            {
                finish(&mut self.state, oldest)?;
            }
            let choice = match choice {
                Choice::Given(bits) => Choice::Given(bits.slice(start..start + shape.n())),
                Choice::Random(_) => Choice::Random(shape.n()),
            };
            start += shape.n();
            let mut corrections = Vec::new();
            let extended = self.state.extend(choice, &mut corrections);
            let batch = extended.map_err(|e| channel.give_up(e))?;
            channel.send(Lane::PROTOCOL, corrections)?;
            if extension.challenge_len() == 0 {
                finish(&mut self.state, (batch, shape.n()))?;
            } else {
                pending.push_back((batch, shape.n()));
            }
        }
        pending.into_iter().try_for_each(|batch| finish(&mut self.state, batch))
    }
}

impl Plan<'_> {
    fn check(&self) -> Result<(), Usage> {
        let (base, extension) = (self.base.info(), self.extension.info());
        compatible(base, &extension).map_err(Usage::Incompatible)
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

/// Marks a run as under way.
fn begin(ended: &mut bool) -> Result<(), Error> {
    if core::mem::replace(ended, true) { Err(Usage::SessionEnded.into()) } else { Ok(()) }
}

/// What a run came to; the peer of one that failed is told.
fn end<E>(channel: &Channel, ended: &mut bool, done: Result<(), E>) -> Result<(), E> {
    match done {
        Ok(()) => *ended = false,
        // Unless the channel knows of an earlier error, it was the sink's.
        Err(_) => drop(channel.give_up(ChannelError::Abandoned)),
    }
    done
}

pub(crate) fn fresh_seed() -> Result<Seed, Error> {
    Ok(Seed::from_bytes(*random()?))
}

fn random<const L: usize>() -> Result<Zeroizing<[u8; L]>, Error> {
    let mut bytes = Zeroizing::new([0; L]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|e| HelloError::Randomness(e.to_string()))?;
    Ok(bytes)
}
