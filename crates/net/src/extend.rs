//! Running an extension over a channel: base OTs, set-up, then batch after batch, several of them
//! on their way at a time (`docs/wire.md`, section 7).

pub mod one_of_n;

#[cfg(test)]
pub(crate) mod tests;

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
use zeroize::{Zeroize, Zeroizing};

use crate::{Channel, ChannelError, Error, HelloError, Lane, channel::held_back, drive};

/// Batches that may be on their way: what hides the latency of the link.
pub(crate) const WINDOW: usize = 8;

/// Batches that are computed at once: one per thread, and a power of two, which may be another one
/// than the peer's. Both windows are then full of whole groups, so that neither party waits for a
/// message of a group that the other one has not begun.
fn group(executor: &dyn Executor) -> usize {
    executor.threads().clamp(1, WINDOW).next_power_of_two()
}

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
    group: usize,
    /// A run has not come to its end: what is on its way belongs to it, and there is no other.
    ended: bool,
}

/// The receiver of an extension, set up.
#[derive(Debug)]
pub struct Receiver<'a> {
    channel: &'a Channel,
    extension: Any,
    state: AnyReceiver,
    group: usize,
    /// A run has not come to its end: what is on its way belongs to it, and there is no other.
    ended: bool,
}

/// What the receiver of the base OTs below an extension chooses: at random, as this protocol lets it.
pub(crate) fn secret_choice(base: &dyn BaseOt) -> Result<Choice, Error> {
    Ok(match base.info().functionality {
        Functionality::Random => Choice::Random(ROWS),
        _ => Choice::Given(Bits::from_bytes(&*random::<{ ROWS / 8 }>()?, ROWS)),
    })
}

impl<'a> Sender<'a> {
    /// Runs the base OTs, and takes the set-up.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        plan.check().map_err(|e| channel.give_up(e))?;
        channel.use_lanes(PROOFS.index() + 1);
        plan.hold_back(channel);
        let choice = secret_choice(plan.base)?;
        let role = plan.base.receiver(plan.base_session(), choice, fresh_seed()?);
        let role = role.map_err(|e| channel.give_up(e))?;
        let keys = drive::run(channel, Lane::PROTOCOL, role)?;
        let setup = match plan.extension.setup_len() {
            0 => Vec::new(),
            len => channel.recv(Lane::PROTOCOL, len)?,
        };
        let state = plan.extension.sender(plan.session(), keys, &setup, fresh_seed()?);
        let state = state.map_err(|e| channel.give_up(e))?;
        Ok(Self { channel, extension: plan.extension, state, group: 1, ended: false })
    }

    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(self, executor: Box<dyn Executor>) -> Self {
        let group = group(&*executor);
        Self { state: self.state.with_executor(executor), group, ..self }
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
        sink: impl FnMut(&[[Block; 2]]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.run(shape, |keys| Places::Random(keys), sink)
    }

    /// Correlated OTs: the rows q go to `sink`, batch after batch.
    ///
    /// # Errors
    /// As for [`Sender::random`].
    pub fn correlated<E: From<Error>>(
        &mut self,
        shape: Shape,
        sink: impl FnMut(&[Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.run(shape, |rows| Places::Correlated(rows), sink)
    }

    fn run<T: Clone + Default + Zeroize, E: From<Error>>(
        &mut self,
        shape: Shape,
        places: fn(&mut [T]) -> Places<'_>,
        sink: impl FnMut(&[T]) -> Result<(), E>,
    ) -> Result<(), E> {
        begin(&mut self.ended)?;
        let done = self.run_batches(shape, places, sink);
        end(self.channel, &mut self.ended, done)
    }

    fn run_batches<T: Clone + Default + Zeroize, E: From<Error>>(
        &mut self,
        shape: Shape,
        places: fn(&mut [T]) -> Places<'_>,
        mut sink: impl FnMut(&[T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (channel, extension) = (self.channel, self.extension);
        let mut buffers = Vec::new();
        let mut finish = |state: &mut AnySender, group: Vec<(SenderBatch, usize)>| {
            let (batches, sizes): (Vec<_>, Vec<_>) = group.into_iter().unzip();
            let proofs = receive_each(channel, PROOFS, sizes.len(), extension.proof_len())?;
            let places = sized(&mut buffers, &sizes).map(places);
            let batches = batches.into_iter().zip(&proofs).zip(places);
            let batches = batches.map(|((batch, proof), places)| (batch, proof.as_slice(), places));
            state.finish_all(batches.collect()).map_err(|e| channel.give_up(e))?;
            sized(&mut buffers, &sizes).try_for_each(|output| sink(output))
        };
        let mut pending = VecDeque::with_capacity(WINDOW);
        let mut shapes = shape.batches(extension.max_batch());
        while let Some(shapes) = next_group(&mut shapes, self.group) {
            let mut messages = Vec::with_capacity(shapes.len());
            for shape in &shapes {
                messages.push(channel.recv(Lane::PROTOCOL, extension.corrections_len(*shape))?);
            }
            let of_shapes: Vec<_> =
                shapes.iter().copied().zip(messages.iter().map(Vec::as_slice)).collect();
            let absorbed = self.state.absorb_all(&of_shapes).map_err(|e| channel.give_up(e))?;
            let mut group = Vec::with_capacity(shapes.len());
            for ((batch, challenge), shape) in absorbed.into_iter().zip(shapes) {
                if let Some(challenge) = challenge {
                    channel.send(Lane::PROTOCOL, challenge.to_vec())?;
                }
                group.push((batch, shape.n()));
            }
            pending.push_back(group);
            if pending.len() * self.group >= window(extension)
                && let Some(oldest) = pending.pop_front()
            {
                finish(&mut self.state, oldest)?;
            }
        }
        pending.into_iter().try_for_each(|group| finish(&mut self.state, group))
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
        plan.hold_back(channel);
        let role = plan.base.sender(plan.base_session(), ROWS, fresh_seed()?);
        let role = role.map_err(|e| channel.give_up(e))?;
        let keys = drive::run(channel, Lane::PROTOCOL, role)?;
        let state = plan.extension.receiver(plan.session(), keys, fresh_seed()?);
        let (state, setup) = state.map_err(|e| channel.give_up(e))?;
        if !setup.is_empty() {
            channel.send(Lane::PROTOCOL, setup)?;
        }
        Ok(Self { channel, extension: plan.extension, state, group: 1, ended: false })
    }

    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(self, executor: Box<dyn Executor>) -> Self {
        let group = group(&*executor);
        Self { state: self.state.with_executor(executor), group, ..self }
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
        let mut buffers = Vec::new();
        let mut finish = |state: &mut AnyReceiver, group: Vec<(ReceiverBatch, usize)>| {
            let (batches, sizes): (Vec<_>, Vec<_>) = group.into_iter().unzip();
            let lane = Lane::PROTOCOL;
            let challenges = receive_each(channel, lane, sizes.len(), extension.challenge_len())?;
            let places = sized(&mut buffers, &sizes);
            let batches = batches.into_iter().zip(&challenges).zip(places);
            let batches =
                batches.map(|((batch, challenge), keys)| (batch, challenge.as_slice(), keys));
            let finished = state.finish_all(kind, batches.collect());
            let (choices, proofs): (Vec<_>, Vec<_>) =
                finished.map_err(|e| channel.give_up(e))?.into_iter().unzip();
            for proof in proofs.into_iter().filter(|proof| !proof.is_empty()) {
                channel.send(PROOFS, proof)?;
            }
            let mut outputs = choices.iter().zip(sized(&mut buffers, &sizes));
            outputs.try_for_each(|(choices, keys)| sink(choices, keys))
        };
        let mut pending = VecDeque::with_capacity(WINDOW);
        let mut start = 0;
        let mut shapes = Shape::of(choice).batches(extension.max_batch());
        while let Some(shapes) = next_group(&mut shapes, self.group) {
            let mut messages = vec![Vec::new(); shapes.len()];
            let mut choices = Vec::with_capacity(shapes.len());
            for shape in &shapes {
                choices.push(match choice {
                    Choice::Given(bits) => Choice::Given(bits.slice(start..start + shape.n())),
                    Choice::Random(_) => Choice::Random(shape.n()),
                });
                start += shape.n();
            }
            let begun = choices.into_iter().zip(&mut messages).collect();
            let begun = self.state.extend_all(begun).map_err(|e| channel.give_up(e))?;
            for corrections in messages {
                channel.send(Lane::PROTOCOL, corrections)?;
            }
            pending
                .push_back(begun.into_iter().zip(shapes.iter().map(|shape| shape.n())).collect());
            if pending.len() * self.group >= window(extension)
                && let Some(oldest) = pending.pop_front()
            {
                finish(&mut self.state, oldest)?;
            }
        }
        pending.into_iter().try_for_each(|group| finish(&mut self.state, group))
    }
}

/// How many batches are on their way before the oldest come to their end.
fn window(extension: Any) -> usize {
    if extension.challenge_len() == 0 { 0 } else { WINDOW }
}

/// The shapes of the next batches, unless there are none.
fn next_group(shapes: &mut impl Iterator<Item = Shape>, group: usize) -> Option<Vec<Shape>> {
    let shapes: Vec<_> = shapes.take(group).collect();
    if shapes.is_empty() { None } else { Some(shapes) }
}

/// A message of each of n batches; one without bytes is not sent.
fn receive_each(
    channel: &Channel,
    lane: Lane,
    n: usize,
    len: usize,
) -> Result<Vec<Vec<u8>>, Error> {
    let message = |_| if len == 0 { Ok(Vec::new()) } else { channel.recv(lane, len) };
    (0..n).map(message).collect()
}

/// Buffers of those sizes, which are used again.
fn sized<'b, T: Clone + Default + Zeroize>(
    buffers: &'b mut Vec<Zeroizing<Vec<T>>>,
    sizes: &'b [usize],
) -> impl Iterator<Item = &'b mut [T]> {
    buffers.resize_with(buffers.len().max(sizes.len()), Zeroizing::default);
    buffers.iter_mut().zip(sizes).map(|(buffer, n)| {
        buffer.resize(*n, T::default());
        buffer.as_mut_slice()
    })
}

/// The most bytes that wait for a party of that extension, sent by a peer that does not wait for it.
#[must_use]
pub fn most_ahead(extension: &Any) -> u64 {
    2 * held_back(2 * WINDOW, longest(extension)) as u64
}

/// The longest message of a batch.
fn longest(extension: &Any) -> usize {
    let n = extension.max_batch();
    let corrections = [Shape::given(n), Shape::random(n)].map(|it| extension.corrections_len(it));
    corrections[0].max(corrections[1]).max(extension.proof_len())
}

impl Plan<'_> {
    fn check(&self) -> Result<(), Usage> {
        let (base, extension) = (self.base.info(), self.extension.info());
        compatible(base, &extension).map_err(Usage::Incompatible)
    }

    /// Corrections are a window ahead of proofs at most, whatever the groups, and proofs of challenges.
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

pub(crate) fn random<const L: usize>() -> Result<Zeroizing<[u8; L]>, Error> {
    let mut bytes = Zeroizing::new([0; L]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|e| HelloError::Randomness(e.to_string()))?;
    Ok(bytes)
}
