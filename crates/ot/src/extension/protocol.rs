//! The protocol of an extension: base OTs, set-up, then batch after batch, several of them on their way at a time
//! (`docs/wire/softspoken.md`, section 7).
//!
//! Proofs have a stream of their own, for they go between corrections.
//! The page of each extension has an example, say that of [`softspoken`](super::softspoken).

use alloc::{vec, vec::Vec};
use core::fmt;

pub use super::{Receiver, Sender};

use super::{Extension, OtKind, Places, ROWS, Shape, Unanswered, Unverified, compatible};
use crate::{
    Bits, Context, Direction, Error, Session, Usage,
    base::{BaseOt, Block, Choice, Protocol, ReceiverKeys, SenderKeys},
    engine::{
        Abandoned, Io, Limits,
        batches::{PROOFS, Step, Window, group, groups, sized, window_limits},
    },
    erase::Zero,
};

/// Terms that both parties have agreed on, for extensions of either kind.
#[derive(Clone, Copy)]
pub struct ExtensionPlan<'a, E = Extension> {
    /// The extension.
    pub extension: E,
    /// The base OT that it starts from.
    pub base: &'a dyn BaseOt,
    /// The direction of the extension; its base OTs run the other way.
    pub direction: Direction,
    /// The counter of the extension within its session.
    pub counter: u64,
}

impl Sender {
    /// Runs the base OTs, and takes the set-up.
    ///
    /// # Errors
    /// [`Usage::Incompatible`]; errors of the base OT and of [`Sender::new`].
    pub async fn set_up(
        io: &Io,
        cx: &mut Context<'_>,
        plan: ExtensionPlan<'_>,
    ) -> Result<Self, Error> {
        let (about, limits) = (plan.extension.info(), limits(&plan.extension));
        let (session, keys) = plan.receive_base(io, cx, about, limits, ROWS).await?;
        let setup = io.recv_any(plan.extension.setup_len()).await;
        Self::new(session, plan.extension, keys, &setup, cx.seed())
    }

    /// Random OTs, as many as the shape says, however many: both keys of each go to `sink`, batch after batch.
    ///
    /// # Errors
    /// Errors of the steps, [`Usage::Abandoned`], and [`Usage::SessionEnded`] after any of them.
    pub async fn random(
        &mut self,
        io: &Io,
        shape: Shape,
        sink: impl FnMut(&[[Block; 2]]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.run(io, shape, |keys| Places::Random(keys), sink).await
    }

    /// Correlated OTs: the rows q go to `sink`, batch after batch.
    ///
    /// # Errors
    /// As for [`Sender::random`].
    pub async fn correlated(
        &mut self,
        io: &Io,
        shape: Shape,
        sink: impl FnMut(&[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.run(io, shape, |rows| Places::Correlated(rows), sink).await
    }

    async fn run<T: Zero>(
        &mut self,
        io: &Io,
        shape: Shape,
        places: fn(&mut [T]) -> Places<'_>,
        mut sink: impl FnMut(&[T]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.state.runs.begin()?;
        let extension = self.extension;
        io.limit(limits(&extension));
        let group = group(self.state.session.executor());
        let shapes = groups(shape.batches(extension.max_batch()), group);
        let mut window = Window::new(io.on(PROOFS), extension.proof_len(), group, shapes);
        let mut buffers = Vec::new();
        while let Some(step) = window.step().await {
            match step {
                Step::Begin(shapes) => window.push(self.absorb_group(io, shapes).await?),
                Step::End((batches, sizes)) => {
                    self.finish_group(io, batches, sized(&mut buffers, &sizes).map(places)).await?;
                    for output in sized(&mut buffers, &sizes) {
                        sink(output)?;
                    }
                }
            }
        }
        self.state.runs.end();
        Ok(())
    }

    /// Takes the corrections of batches, and challenges them.
    async fn absorb_group(
        &mut self,
        io: &Io,
        shapes: Vec<Shape>,
    ) -> Result<(Vec<Unverified>, Vec<usize>), Error> {
        let lens = shapes.iter().map(|shape| self.extension.corrections_len(*shape));
        let messages = io.recv_all(lens.collect()).await;
        let of_shapes: Vec<_> =
            shapes.iter().copied().zip(messages.iter().map(Vec::as_slice)).collect();
        let absorbed = self.absorb(&of_shapes)?;
        let spares = io.spares();
        messages.into_iter().for_each(|message| spares.put(message));
        let mut batches = Vec::with_capacity(shapes.len());
        for (batch, challenge) in absorbed {
            if let Some(challenge) = challenge {
                io.send(challenge.to_vec()).await;
            }
            batches.push(batch);
        }
        Ok((batches, shapes.iter().map(|shape| shape.n()).collect()))
    }

    /// Takes the proofs of batches, and writes their output.
    async fn finish_group(
        &mut self,
        io: &Io,
        batches: Vec<Unverified>,
        places: impl Iterator<Item = Places<'_>>,
    ) -> Result<(), Error> {
        let len = self.extension.proof_len();
        let proofs = receive_each(&io.on(PROOFS), batches.len(), len).await;
        let batches = batches.into_iter().zip(&proofs).zip(places);
        let batches = batches.map(|((batch, proof), places)| (batch, proof.as_slice(), places));
        self.finish(batches.collect())
    }
}

impl Receiver {
    /// Runs the base OTs, and sends the set-up.
    ///
    /// # Errors
    /// [`Usage::Incompatible`]; errors of the base OT.
    pub async fn set_up(
        io: &Io,
        cx: &mut Context<'_>,
        plan: ExtensionPlan<'_>,
    ) -> Result<Self, Error> {
        let (about, limits) = (plan.extension.info(), limits(&plan.extension));
        let (session, keys) = plan.send_base(io, cx, about, limits, ROWS).await?;
        let (receiver, setup) = Self::new(session, plan.extension, keys, cx.seed())?;
        io.send_any(setup).await;
        Ok(receiver)
    }

    /// OTs of the given kind, for these choices or for n random ones: choices and keys, or
    /// rows t, go to `sink`, batch after batch.
    ///
    /// # Errors
    /// Errors of the steps, [`Usage::Abandoned`], and [`Usage::SessionEnded`] after any of them.
    pub async fn run(
        &mut self,
        io: &Io,
        choice: &Choice,
        kind: OtKind,
        mut sink: impl FnMut(&Bits, &[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.runs.begin()?;
        let extension = self.extension;
        io.limit(limits(&extension));
        let group = group(self.session.executor());
        let shapes = groups(Shape::of(choice).batches(extension.max_batch()), group);
        let mut window = Window::new(io.clone(), extension.challenge_len(), group, shapes);
        let mut buffers = Vec::new();
        let mut start = 0;
        while let Some(step) = window.step().await {
            match step {
                Step::Begin(shapes) => {
                    let choices = shapes.iter().map(|shape| {
                        let of_batch = start..start + shape.n();
                        start = of_batch.end;
                        match choice {
                            Choice::Given(bits) => Choice::Given(bits.slice(of_batch)),
                            Choice::Random(_) => Choice::Random(shape.n()),
                        }
                    });
                    let spares = io.spares();
                    let mut messages: Vec<_> = shapes.iter().map(|_| spares.take()).collect();
                    let batches = self.extend(choices.zip(&mut messages).collect())?;
                    io.send_all(messages).await;
                    let sizes: Vec<_> = shapes.iter().map(|shape| shape.n()).collect();
                    window.push((batches, sizes));
                }
                Step::End((batches, sizes)) => {
                    let places = sized(&mut buffers, &sizes);
                    let choices = self.finish_group(io, kind, batches, places).await?;
                    for (choices, keys) in choices.iter().zip(sized(&mut buffers, &sizes)) {
                        sink(choices, keys)?;
                    }
                }
            }
        }
        self.runs.end();
        Ok(())
    }

    /// Answers the challenges to batches, and writes their output.
    async fn finish_group(
        &mut self,
        io: &Io,
        kind: OtKind,
        batches: Vec<Unanswered>,
        places: impl Iterator<Item = &mut [Block]>,
    ) -> Result<Vec<Bits>, Error> {
        let len = self.extension.challenge_len();
        let challenges = receive_each(io, batches.len(), len).await;
        let batches = batches.into_iter().zip(&challenges).zip(places);
        let batches = batches.map(|((batch, challenge), keys)| (batch, challenge.as_slice(), keys));
        let finished = self.finish(kind, batches.collect())?;
        let (choices, proofs): (Vec<_>, Vec<_>) = finished.into_iter().unzip();
        for proof in proofs {
            io.on(PROOFS).send_any(proof).await;
        }
        Ok(choices)
    }
}

/// A message of each of n batches; one without bytes is not sent.
async fn receive_each(io: &Io, n: usize, len: usize) -> Vec<Vec<u8>> {
    if len == 0 { vec![Vec::new(); n] } else { io.recv_all(vec![len; n]).await }
}

/// The bounds of what is on its way to a party: batches of a window.
#[must_use]
pub fn limits(extension: &Extension) -> Limits {
    let n = extension.max_batch();
    let corrections = [Shape::given(n), Shape::random(n)].map(|it| extension.corrections_len(it));
    window_limits(corrections[0].max(corrections[1]).max(extension.proof_len()))
}

impl<E> ExtensionPlan<'_, E> {
    /// Runs n base OTs as their receiver; with the session of the extension.
    pub(super) async fn receive_base(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        extension: &Protocol,
        limits: Limits,
        rows: usize,
    ) -> Result<(Session, ReceiverKeys), Error> {
        let [session, below] = self.begin(io, cx.session(), extension, limits)?;
        let choice = cx.choice(self.base.info(), rows);
        let keys = io.run(self.base.receiver(below, choice, cx.seed())?).await?;
        Ok((session, keys))
    }

    /// Runs n base OTs as their sender; with the session of the extension.
    pub(super) async fn send_base(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        extension: &Protocol,
        limits: Limits,
        rows: usize,
    ) -> Result<(Session, SenderKeys), Error> {
        let [session, below] = self.begin(io, cx.session(), extension, limits)?;
        let keys = io.run(self.base.sender(below, rows, cx.seed())?).await?;
        Ok((session, keys))
    }

    /// The sessions of the extension and of its base OTs, which have to fit.
    fn begin(
        &self,
        io: &Io,
        session: &Session,
        extension: &Protocol,
        limits: Limits,
    ) -> Result<[Session; 2], Usage> {
        let base = self.base.info();
        compatible(base, extension).map_err(Usage::Incompatible)?;
        io.limit(limits);
        let [above, below] = [self.direction, self.direction.reversed()];
        Ok([
            session.sub(extension.name, self.counter, above),
            session.sub(base.name, self.counter, below),
        ])
    }
}

foxtrot_kernel::redacted! {
    [E: fmt::Debug] ExtensionPlan<'_, E>, plan => "{:?} from {}, counter {}", plan.extension, plan.base.info().name, plan.counter;
}
