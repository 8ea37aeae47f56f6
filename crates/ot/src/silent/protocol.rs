//! The protocol: base OTs, the extension's set-up, then any number of batches (`docs/wire/silent.md`, section 20.9).
//!
//! [`silent`](super) has an example.

use alloc::vec::Vec;

pub use super::{Receiver, Sender};
pub use crate::extension::protocol::ExtensionPlan;

use super::{Field, Gf2, Gf16, Received, Sent, Silent};
use crate::{
    Bits, Context, Decode, Error, Usage,
    base::{Block, Choice},
    engine::{Abandoned, Io, Limits, batches::WINDOW},
    erase::{Secret, Zero},
    extension::{OtKind, Shape, protocol as ots},
};

/// OTs whose keys go to a sink at a time, while they are in the cache.
const PIECE: usize = 1 << 13;

/// The plan of the extension below.
fn below<'a, F>(plan: &ExtensionPlan<'a, Silent<F>>) -> ExtensionPlan<'a> {
    let (extension, base, direction) = (plan.extension.extension(), plan.base, plan.direction);
    ExtensionPlan { extension, base, direction, counter: 0 }
}

impl<F: Field> Sender<F> {
    /// Runs the base OTs, and takes the set-up of the extension.
    ///
    /// # Errors
    /// [`Usage::Incompatible`]; errors of the base OT and of the extension.
    pub async fn set_up(
        io: &Io,
        cx: &mut Context<'_>,
        plan: ExtensionPlan<'_, Silent<F>>,
    ) -> Result<Self, Error> {
        let silent = plan.extension;
        let session = cx.session().sub(silent.name(), plan.counter, plan.direction);
        let (seed, of_ots) = (cx.seed(), cx.seed());
        let ots =
            ots::Sender::set_up(io, &mut Context::new(&session, of_ots), below(&plan)).await?;
        Ok(Self::of_ots(session, silent, ots, seed))
    }

    /// A batch of m outputs: W, of which the receiver's V is W ⊕ U·Δ.
    ///
    /// # Errors
    /// Errors of the steps, and [`Usage::SessionEnded`] after any of them.
    pub async fn vole(&mut self, io: &Io, m: usize) -> Result<Secret<u128>, Error> {
        self.runs.begin()?;
        let w = self.batch(io, m).await?.into_rows();
        self.runs.end();
        Ok(w)
    }

    async fn batch(&mut self, io: &Io, m: usize) -> Result<Sent<F>, Error> {
        let size = self.silent.size(m)?;
        let mut rows = Secret(Vec::with_capacity(size.ots));
        let sink = |some: &[Block]| {
            rows.0.extend_from_slice(some);
            Ok(())
        };
        self.ots()?.correlated(io, Shape::random(size.ots), sink).await?;
        io.limit(limits(&self.silent));
        let (planted, trees) = self.plant(m, rows)?;
        io.send_any(trees).await;
        let challenge = io.recv_any(self.silent.check_len()).await;
        let encoded = self.encode(planted, &challenge)?;
        let check = io.recv_any(self.silent.check_len()).await;
        let (sent, answer) = self.answer(encoded, &check)?;
        io.send_any(answer).await;
        Ok(sent)
    }

    /// Runs batches of OTs: `read` makes the sink's pieces of a batch; `flip` takes the flips of given choices.
    async fn pieces<T: Zero>(
        &mut self,
        io: &Io,
        shape: Shape,
        flip: fn(&mut Sent<F>, &[u8]) -> Result<(), Decode>,
        read: impl Fn(&Sender<F>, &Sent<F>, usize, &mut [T]) -> Result<(), Usage>,
        mut sink: impl FnMut(&[T]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.runs.begin()?;
        let mut room = Secret::zeroed(PIECE.min(shape.n()));
        let mut batches = self.silent.batches(shape.n()).peekable();
        while let Some(m) = batches.next() {
            self.scratch.keeps = batches.peek().is_some();
            let mut sent = self.batch(io, m).await?;
            if shape.is_given() {
                flip(&mut sent, &io.recv(m.div_ceil(8)).await)?;
            }
            for first in (0..m).step_by(PIECE) {
                let piece = &mut room[..PIECE.min(m - first)];
                read(self, &sent, first, piece)?;
                sink(piece)?;
            }
            self.put(sent);
        }
        self.runs.end();
        Ok(())
    }
}

impl<F: Field> Receiver<F> {
    /// Runs the base OTs, and sends the set-up of the extension.
    ///
    /// # Errors
    /// [`Usage::Incompatible`]; errors of the base OT.
    pub async fn set_up(
        io: &Io,
        cx: &mut Context<'_>,
        plan: ExtensionPlan<'_, Silent<F>>,
    ) -> Result<Self, Error> {
        let silent = plan.extension;
        let session = cx.session().sub(silent.name(), plan.counter, plan.direction);
        let (seed, of_ots) = (cx.seed(), cx.seed());
        let ots =
            ots::Receiver::set_up(io, &mut Context::new(&session, of_ots), below(&plan)).await?;
        Ok(Self::of_ots(session, silent, ots, seed))
    }

    /// A batch of m outputs: U and V, which is the sender's W ⊕ U·Δ.
    ///
    /// # Errors
    /// Errors of the steps, and [`Usage::SessionEnded`] after any of them.
    pub async fn vole(&mut self, io: &Io, m: usize) -> Result<(F::Values, Secret<u128>), Error> {
        let (u, v, ()) = self.vole_beside(io, m, || (), |()| ()).await?;
        Ok((u, v))
    }

    /// Makes a batch as [`vole`](Self::vole) does, and meanwhile runs `prepare`, and `work` of what this returns: before the sender's answer is
    /// checked, and not at all after an earlier error. `work` runs on a thread of the session and must not use the others.
    ///
    /// # Errors
    /// The errors of [`vole`](Self::vole).
    pub async fn vole_beside<P: Send, R: Send>(
        &mut self,
        io: &Io,
        m: usize,
        prepare: impl FnOnce() -> P,
        work: impl FnOnce(P) -> R + Send,
    ) -> Result<(F::Values, Secret<u128>, R), Error> {
        self.runs.begin()?;
        let (received, result) = self.batch(io, m, prepare, work).await?;
        self.runs.end();
        let (u, v) = received.into_parts();
        Ok((u, v, result))
    }

    async fn batch<P: Send, R: Send>(
        &mut self,
        io: &Io,
        m: usize,
        prepare: impl FnOnce() -> P,
        work: impl FnOnce(P) -> R + Send,
    ) -> Result<(Received<F>, R), Error> {
        let size = self.silent.size(m)?;
        let mut rows = Secret(Vec::with_capacity(size.ots));
        let mut choices = Secret(Vec::with_capacity(size.ots));
        let sink = |bits: &Bits, some: &[Block]| {
            rows.0.extend_from_slice(some);
            choices.0.extend((0..bits.len()).map(|i| bits.get(i).unwrap_u8()));
            Ok(())
        };
        let choice = Choice::Random(size.ots);
        self.ots()?.run(io, &choice, OtKind::Correlated, sink).await?;
        io.limit(limits(&self.silent));
        let choices = Bits::from_bools(choices.iter().map(|&bit| bit == 1));
        let trees = io.recv_any(size.trees_len).await;
        let (grown, challenge) = self.grow(m, choices, rows, &trees)?;
        io.send_any(challenge).await;
        // While the sender computes.
        let prepared = prepare();
        let (unverified, result) = if self.has_threads() {
            let work = || work(prepared);
            let (unverified, check, result) = self.encode_beside(grown, work)?;
            io.send_any(check).await;
            (unverified, result)
        } else {
            let (unverified, check) = self.encode(grown)?;
            io.send_any(check).await;
            (unverified, work(prepared))
        };
        let answer = io.recv_any(self.silent.answer_len()).await;
        Ok((self.verify(unverified, &answer)?, result))
    }

    /// Runs batches of OTs: `read` makes the sink's pieces of a batch; `choose` makes the flips of given choices.
    async fn pieces<T: Zero, R>(
        &mut self,
        io: &Io,
        choice: &Choice,
        choose: fn(&mut Received<F>, Bits) -> Result<Vec<u8>, Usage>,
        read: impl Fn(&Receiver<F>, &Received<F>, usize, &mut [T]) -> Result<R, Usage>,
        mut sink: impl FnMut(&R, &[T]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.runs.begin()?;
        let n = choice.n();
        let mut room = Secret::zeroed(PIECE.min(n));
        let mut start = 0;
        let mut batches = self.silent.batches(n).peekable();
        while let Some(m) = batches.next() {
            self.scratch.keeps = batches.peek().is_some();
            let (mut received, ()) = self.batch(io, m, || (), |()| ()).await?;
            if let Choice::Given(bits) = choice {
                io.send(choose(&mut received, bits.slice(start..start + m))?).await;
            }
            start += m;
            for first in (0..m).step_by(PIECE) {
                let piece = &mut room[..PIECE.min(m - first)];
                let of_piece = read(self, &received, first, piece)?;
                sink(&of_piece, piece)?;
            }
            self.put(received);
        }
        self.runs.end();
        Ok(())
    }
}

impl Sender<Gf2> {
    /// Random OTs, as many as the shape says, however many: both keys of each go to `sink`, piece after piece.
    ///
    /// # Errors
    /// Errors of the steps, [`Usage::Abandoned`], and [`Usage::SessionEnded`] after any of them.
    pub async fn random(
        &mut self,
        io: &Io,
        shape: Shape,
        sink: impl FnMut(&[[Block; 2]]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.pieces(io, shape, Sent::flip, Sender::<Gf2>::pairs, sink).await
    }
}

impl Receiver<Gf2> {
    /// Random OTs for these choices or for n random ones: choices and keys go to `sink`, piece after piece. Every piece but the
    /// last has a whole number of bytes of choices.
    ///
    /// # Errors
    /// Errors of the steps, [`Usage::Abandoned`], and [`Usage::SessionEnded`] after any of them.
    pub async fn random(
        &mut self,
        io: &Io,
        choice: &Choice,
        sink: impl FnMut(&Bits, &[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.pieces(io, choice, Received::choose, Receiver::<Gf2>::keys, sink).await
    }
}

impl Sender<Gf16> {
    /// n random OTs of one of sixteen bits: tables of two bytes, the least first, go to `sink`, piece after piece. Bit c is that of choice c.
    ///
    /// # Errors
    /// Errors of the steps, [`Usage::Abandoned`], and [`Usage::SessionEnded`] after any of them.
    pub async fn random(
        &mut self,
        io: &Io,
        n: usize,
        sink: impl FnMut(&[[u8; 2]]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.pieces(io, Shape::random(n), |_, _| Ok(()), Sender::<Gf16>::tables, sink).await
    }
}

impl Receiver<Gf16> {
    /// n random OTs of one of sixteen bits: choices, and 16 more where the bit is 1, go to `sink`, piece after piece.
    ///
    /// # Errors
    /// Errors of the steps, [`Usage::Abandoned`], and [`Usage::SessionEnded`] after any of them.
    pub async fn random(
        &mut self,
        io: &Io,
        n: usize,
        mut sink: impl FnMut(&[u8]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        let (choice, sink) = (Choice::Random(n), |(): &(), some: &[u8]| sink(some));
        self.pieces(io, &choice, |_, _| Ok(Vec::new()), Receiver::<Gf16>::choices, sink).await
    }
}

impl<F: Field> Silent<F> {
    /// The most bytes of memory that a run of n outputs takes at the sender, beside its keys: a batch, and what waits on the way.
    #[must_use]
    pub fn memory_of_sender(&self, n: usize) -> u64 {
        let size = self.size(n.clamp(1, self.max_batch()));
        let of_batch = size.map_or(0, |it| {
            it.leaves() * (2 * 16 + 2 * it.accumulators) + 16 * it.outputs + 32 * it.ots
        });
        let limits = limits(self);
        (of_batch + limits.messages * limits.len) as u64 + (8 << 20)
    }
}

/// The bounds of what is on its way to a party between the extension's batches.
#[must_use]
pub fn limits<F: Field>(silent: &Silent<F>) -> Limits {
    let of_ots = ots::limits(&silent.extension());
    let largest = silent.size(silent.max_batch()).map_or(0, |size| size.trees_len);
    Limits { messages: 2 * WINDOW, len: of_ots.len.max(largest), ..of_ots }
}
