//! The protocol: base OTs, the extension's set-up, then any number of batches (`docs/wire/silent.md`, section 20.9).
//!
//! Both parties in one program, over a [`Pair`](crate::pair::Pair); between two programs a driver takes its place:
//!
//! ```
//! use foxtrot_ot::{
//!     Context, Direction, Seed, Session, Sid,
//!     base::roted::Endemic,
//!     engine::Engine,
//!     pair::Pair,
//!     silent::{self, protocol::{Plan, Receiver, Sender}},
//! };
//!
//! let plan = Plan {
//!     extension: silent::vole(),
//!     base: &Endemic,
//!     direction: Direction::InitiatorSends,
//!     counter: 0,
//! };
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = || Session::new(Sid::from_bytes([7; 32]));
//!
//! let sender = Engine::new(|io| async move {
//!     let session = session();
//!     let mut cx = Context::new(&session, Seed::from_bytes([8; 32]));
//!     let mut sender = Sender::set_up(&io, &mut cx, plan).await?;
//!     let w = sender.vole(&io, 1000).await?;
//!     Ok::<_, foxtrot_ot::Error>((sender.delta()?, w))
//! });
//! let receiver = Engine::new(|io| async move {
//!     let session = session();
//!     let mut cx = Context::new(&session, Seed::from_bytes([9; 32]));
//!     let mut receiver = Receiver::set_up(&io, &mut cx, plan).await?;
//!     receiver.vole(&io, 1000).await
//! });
//! let ((delta, w), (u, v)) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
//!
//! let product = |u| foxtrot_kernel::gf::gf128::mul(foxtrot_kernel::Backend::best(), u, *delta);
//! assert!((0..1000).all(|i| v[i] == w[i] ^ product(u[i])));
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```

use alloc::vec::Vec;
use core::mem;

use zeroize::Zeroizing;

pub use crate::extension::protocol::Plan;

use super::{Answered, Field, Gf2, Received, Sent, Silent, Unverified};
use crate::{
    Bits, Context, Error, Usage,
    base::{Block, Choice},
    engine::{
        Abandoned, Io, Limits,
        batches::{Runs, WINDOW},
    },
    erase::Secret,
    extension::{Kind, Shape, protocol as ots},
};

/// OTs whose keys go to a sink at a time, while they are in the cache.
const PIECE: usize = 1 << 13;

/// The sender, set up.
#[derive(Debug)]
pub struct Sender<F> {
    silent: Silent<F>,
    state: super::Sender<F>,
    runs: Runs,
}

/// The receiver, set up.
#[derive(Debug)]
pub struct Receiver<F: Field> {
    silent: Silent<F>,
    state: super::Receiver<F>,
    runs: Runs,
}

/// The plan of the extension below.
fn below<'a, F>(plan: &Plan<'a, Silent<F>>) -> Plan<'a> {
    let (extension, base, direction) = (plan.extension.extension(), plan.base, plan.direction);
    Plan { extension, base, direction, counter: 0 }
}

impl<F: Field> Sender<F> {
    /// Runs the base OTs, and takes the set-up of the extension.
    ///
    /// # Errors
    /// [`Usage::Incompatible`]; errors of the base OT and of the extension.
    pub async fn set_up(
        io: &Io,
        cx: &mut Context<'_>,
        plan: Plan<'_, Silent<F>>,
    ) -> Result<Self, Error> {
        let silent = plan.extension;
        let session = cx.session().sub(silent.name(), plan.counter, plan.direction);
        let (seed, of_ots) = (cx.seed(), cx.seed());
        let ots =
            ots::Sender::set_up(io, &mut Context::new(&session, of_ots), below(&plan)).await?;
        let state = super::Sender::of_ots(session, silent, ots, seed);
        Ok(Self { silent, state, runs: Runs::default() })
    }

    /// Δ of every batch. Of OTs, bit 0 is 1.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`] after an error.
    pub fn delta(&self) -> Result<Zeroizing<u128>, Usage> {
        self.state.delta()
    }

    /// Keeps the memory of a batch of VOLE for the next one, or no longer.
    pub fn keep_memory(&mut self, keep: bool) {
        self.state.keep_memory(keep);
    }

    /// m outputs: W, of which the receiver's V is W ⊕ U·Δ.
    ///
    /// # Errors
    /// Errors of the steps, and [`Usage::SessionEnded`] after any of them.
    pub async fn vole(&mut self, io: &Io, m: usize) -> Result<Secret<u128>, Error> {
        self.runs.begin()?;
        let w = if F::LATER {
            self.batch(io, m).await?.into_rows()
        } else {
            self.batches(io, m).await?
        };
        self.runs.end();
        Ok(w)
    }

    /// Batches that are encoded as many at a time as there are threads.
    async fn batches(&mut self, io: &Io, m: usize) -> Result<Secret<u128>, Error> {
        let mut batches = self.silent.batches(m).peekable();
        let most = batches.peek().copied().unwrap_or_default();
        self.state.keep_memory(most < m);
        let mut w = Secret::zeroed(m);
        let (mut places, mut answered) = (&mut w[..], Vec::new());
        loop {
            answered.push(self.answered(io, most).await?);
            batches.next();
            if answered.len() == self.state.threads() || batches.peek().is_none() {
                let len = (answered.len() * most).min(places.len());
                let (these, later) = mem::take(&mut places).split_at_mut(len);
                self.state.encode_all(mem::take(&mut answered), most, these);
                places = later;
            }
            if batches.peek().is_none() {
                break;
            }
        }
        self.state.forget_memory();
        Ok(w)
    }

    async fn batch(&mut self, io: &Io, m: usize) -> Result<Sent<F>, Error> {
        let answered = self.answered(io, m).await?;
        Ok(self.state.encode(answered)?)
    }

    async fn answered(&mut self, io: &Io, m: usize) -> Result<Answered<F>, Error> {
        let size = self.silent.size(m)?;
        let mut rows = Secret(Vec::with_capacity(size.ots));
        let sink = |some: &[Block]| {
            rows.0.extend_from_slice(some);
            Ok(())
        };
        self.state.ots()?.correlated(io, Shape::random(size.ots), sink).await?;
        io.limit(limits(&self.silent));
        let (planted, trees) = self.state.plant_rows(m, &rows)?;
        drop(rows);
        io.send_any(trees).await;
        let check = io.recv_any(self.silent.check_len()).await;
        let (answered, answer) = self.state.answer(planted, &check)?;
        io.send_any(answer).await;
        Ok(answered)
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
        plan: Plan<'_, Silent<F>>,
    ) -> Result<Self, Error> {
        let silent = plan.extension;
        let session = cx.session().sub(silent.name(), plan.counter, plan.direction);
        let (seed, of_ots) = (cx.seed(), cx.seed());
        let ots =
            ots::Receiver::set_up(io, &mut Context::new(&session, of_ots), below(&plan)).await?;
        let state = super::Receiver::of_ots(session, silent, ots, seed);
        Ok(Self { silent, state, runs: Runs::default() })
    }

    /// Keeps the memory of a batch of VOLE for the next one, or no longer.
    pub fn keep_memory(&mut self, keep: bool) {
        self.state.keep_memory(keep);
    }

    /// m outputs: U and V, which is the sender's W ⊕ U·Δ.
    ///
    /// # Errors
    /// Errors of the steps, and [`Usage::SessionEnded`] after any of them.
    pub async fn vole(&mut self, io: &Io, m: usize) -> Result<(F::Values, Secret<u128>), Error> {
        let (u, v, ()) = self.vole_beside(io, m, || ()).await?;
        Ok((u, v))
    }

    /// Does what [`vole`](Self::vole) does, and runs `work` while the sender computes: before the sender's last answer is
    /// checked, and not at all after an earlier error. `work` must not use the session's threads.
    ///
    /// # Errors
    /// The errors of [`vole`](Self::vole).
    pub async fn vole_beside<R: Send>(
        &mut self,
        io: &Io,
        m: usize,
        work: impl FnOnce() -> R + Send,
    ) -> Result<(F::Values, Secret<u128>, R), Error> {
        self.runs.begin()?;
        let output = if F::LATER || !self.silent.has_noise() {
            let (received, result) = self.batch(io, m, work).await?;
            let (u, v) = received.into_parts();
            (u, v, result)
        } else {
            self.batches(io, m, work).await?
        };
        self.runs.end();
        Ok(output)
    }

    /// Batches that are encoded as many at a time as there are threads; the last ones beside `work`.
    async fn batches<R: Send>(
        &mut self,
        io: &Io,
        m: usize,
        work: impl FnOnce() -> R + Send,
    ) -> Result<(F::Values, Secret<u128>, R), Error> {
        let mut batches = self.silent.batches(m).peekable();
        let most = batches.peek().copied().unwrap_or_default();
        self.state.keep_memory(most < m);
        let (mut u, mut v) = (Secret::zeroed(m), Secret::zeroed(m));
        let (mut places, mut strings) = ((&mut u[..], &mut v[..]), Vec::new());
        let mut work = Some(work);
        let result = loop {
            let (mut unverified, check) = self.grown(io, most).await?;
            batches.next();
            io.send_any(check).await;
            strings.extend(unverified.take_strings());
            let is_last = batches.peek().is_none();
            let mut result = None;
            // While the sender computes.
            if strings.len() == self.state.threads() || is_last {
                let len = (strings.len() * most).min(places.0.len());
                let (of_u, of_v) = mem::take(&mut places);
                let ((u, later_u), (v, later_v)) = (of_u.split_at_mut(len), of_v.split_at_mut(len));
                let work = work.take_if(|_| is_last);
                result = self.state.encode_all(mem::take(&mut strings), most, (u, v), work);
                places = (later_u, later_v);
            }
            let answer = io.recv_any(self.silent.answer_len()).await;
            self.state.confirm(unverified, &answer)?;
            if is_last {
                break result;
            }
        };
        self.state.forget_memory();
        Ok((F::of_string(u), v, result.expect("the last batch is encoded beside the work")))
    }

    async fn batch<R>(
        &mut self,
        io: &Io,
        m: usize,
        work: impl FnOnce() -> R,
    ) -> Result<(Received<F>, R), Error> {
        let (mut unverified, check) = self.grown(io, m).await?;
        io.send_any(check).await;
        // While the sender computes.
        self.state.encode(&mut unverified);
        let result = work();
        let answer = io.recv_any(self.silent.answer_len()).await;
        Ok((self.state.verify(unverified, &answer)?, result))
    }

    /// A batch whose trees have come, and the receiver's answer.
    async fn grown(&mut self, io: &Io, m: usize) -> Result<(Unverified<F>, Vec<u8>), Error> {
        let size = self.silent.size(m)?;
        let mut rows = Secret(Vec::with_capacity(size.ots));
        let mut choices = Secret(Vec::with_capacity(size.ots));
        let sink = |bits: &Bits, some: &[Block]| {
            rows.0.extend_from_slice(some);
            choices.0.extend((0..bits.len()).map(|i| bits.get(i).unwrap_u8()));
            Ok(())
        };
        let choice = Choice::Random(size.ots);
        self.state.ots()?.run(io, &choice, Kind::Correlated, sink).await?;
        io.limit(limits(&self.silent));
        let choices = Bits::from_bools(choices.iter().map(|&bit| bit == 1));
        let trees = io.recv_any(size.trees_len).await;
        self.state.grow_rows(m, &choices, &rows, &trees)
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
        mut sink: impl FnMut(&[[Block; 2]]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.runs.begin()?;
        let mut keys = Secret::zeroed(PIECE.min(shape.n()));
        let mut batches = self.silent.batches(shape.n()).peekable();
        while let Some(m) = batches.next() {
            self.state.keep_memory(batches.peek().is_some());
            let mut sent = self.batch(io, m).await?;
            if shape.is_given() {
                sent.flip(&io.recv(m.div_ceil(8)).await)?;
            }
            for first in (0..m).step_by(PIECE) {
                let keys = &mut keys[..PIECE.min(m - first)];
                self.state.pairs(&sent, first, keys)?;
                sink(keys)?;
            }
            self.state.put(sent);
        }
        self.runs.end();
        Ok(())
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
        mut sink: impl FnMut(&Bits, &[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.runs.begin()?;
        let n = Shape::of(choice).n();
        let mut keys = Secret::zeroed(PIECE.min(n));
        let mut start = 0;
        let mut batches = self.silent.batches(n).peekable();
        while let Some(m) = batches.next() {
            self.state.keep_memory(batches.peek().is_some());
            let (mut received, ()) = self.batch(io, m, || ()).await?;
            if let Choice::Given(bits) = choice {
                io.send(received.choose(bits.slice(start..start + m))?).await;
            }
            start += m;
            for first in (0..m).step_by(PIECE) {
                let keys = &mut keys[..PIECE.min(m - first)];
                let choices = self.state.keys(&received, first, keys)?;
                sink(&choices, keys)?;
            }
            self.state.put(received);
        }
        self.runs.end();
        Ok(())
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
