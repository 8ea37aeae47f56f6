//! The protocol of a 1-of-N extension: base OTs, then batch after batch, several of them on their way at a time
//! (`docs/wire/oos.md`, section 10).
//! [`oos`](crate::extension::oos) has an example.

use alloc::vec::Vec;

use zeroize::Zeroizing;

pub use super::{Receiver, Sender};

use super::{Extension, Places, Unanswered, Unverified};
use crate::{
    Context, Error, Usage,
    base::Block,
    engine::{
        Abandoned, Io, Limits,
        batches::{PROOFS, Step, Window, sizes, window_limits},
    },
    expect_count,
    extension::protocol,
};

/// Terms that both parties have agreed on.
pub type OneOfNPlan<'a> = protocol::ExtensionPlan<'a, Extension>;

/// The size of a run: its OTs, and the choices of each.
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
    fn batches(self, extension: &Extension) -> impl Iterator<Item = usize> + use<> {
        let max = (Self::KEYS / self.choices.max(1)).clamp(1, extension.max_batch());
        sizes(self.n, max)
    }
}

impl Sender {
    /// Runs the base OTs.
    ///
    /// # Errors
    /// [`Usage::Incompatible`]; errors of the base OT.
    pub async fn set_up(
        io: &Io,
        cx: &mut Context<'_>,
        plan: OneOfNPlan<'_>,
    ) -> Result<Self, Error> {
        let (about, limits) = (plan.extension.info(), limits(&plan.extension));
        let rows = plan.extension.parameters().length;
        let (session, keys) = plan.receive_base(io, cx, about, limits, rows).await?;
        Ok(Self::new(session, plan.extension, keys, cx.seed())?)
    }

    /// The keys of the first words of every OT go to `sink`, batch after batch, those of an OT one
    /// after another.
    ///
    /// # Errors
    /// Errors of the steps, [`Usage::Abandoned`], and [`Usage::SessionEnded`] after any of them.
    pub async fn run(
        &mut self,
        io: &Io,
        shape: Shape,
        mut sink: impl FnMut(&[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.state.runs.begin()?;
        io.limit(limits(&self.extension));
        let mut keys = Zeroizing::new(Vec::new());
        self.finish_each(io, shape.batches(&self.extension), |sender, batch, n, proof| {
            keys.resize(n.saturating_mul(shape.choices), [0; 16]);
            sender.finish(batch, proof, Places::All(shape.choices, &mut keys))?;
            Ok::<_, Error>(sink(&keys)?)
        })
        .await?;
        self.state.runs.end();
        Ok(())
    }

    /// Takes the corrections of batches of these sizes; `finish` gets each batch with its size and proof, and finishes it.
    ///
    /// # Errors
    /// Errors of the steps, and of `finish`.
    pub async fn finish_each<E: From<Error>>(
        &mut self,
        io: &Io,
        sizes: impl Iterator<Item = usize>,
        mut finish: impl FnMut(&mut Self, Unverified, usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (proofs, len) = (io.on(PROOFS), self.extension.proof_len());
        let mut window = Window::new(proofs.clone(), len, 1, sizes);
        while let Some(step) = window.step().await {
            match step {
                Step::Begin(n) => {
                    let corrections = io.recv(self.extension.corrections_len(n)).await;
                    let (batch, challenge) = self.absorb(n, &corrections)?;
                    if let Some(challenge) = challenge {
                        io.send(challenge.to_vec()).await;
                    }
                    window.push((batch, n));
                }
                Step::End((batch, n)) => finish(self, batch, n, &proofs.recv_any(len).await)?,
            }
        }
        Ok(())
    }
}

impl Receiver {
    /// Runs the base OTs.
    ///
    /// # Errors
    /// [`Usage::Incompatible`]; errors of the base OT.
    pub async fn set_up(
        io: &Io,
        cx: &mut Context<'_>,
        plan: OneOfNPlan<'_>,
    ) -> Result<Self, Error> {
        let (about, limits) = (plan.extension.info(), limits(&plan.extension));
        let rows = plan.extension.parameters().length;
        let (session, keys) = plan.send_base(io, cx, about, limits, rows).await?;
        Ok(Self::new(session, plan.extension, keys, cx.seed())?)
    }

    /// Begins a batch of n words, and sends its corrections.
    ///
    /// # Errors
    /// Errors of [`Receiver::extend`].
    pub async fn begin(&mut self, io: &Io, n: usize, words: &[u8]) -> Result<Unanswered, Usage> {
        let mut corrections = Vec::new();
        let batch = self.extend(n, words, &mut corrections)?;
        io.send(corrections).await;
        Ok(batch)
    }

    /// The keys of these words, as many as the shape says, go to `sink`, batch after batch.
    ///
    /// # Errors
    /// Errors of the steps, [`Usage::Abandoned`], and [`Usage::SessionEnded`] after any of them.
    pub async fn run(
        &mut self,
        io: &Io,
        shape: Shape,
        mut words: &[u8],
        mut sink: impl FnMut(&[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.runs.begin()?;
        io.limit(limits(&self.extension));
        let word_len = self.extension.parameters().word_len();
        expect_count("bytes of words", shape.n.saturating_mul(word_len), words.len())?;
        let mut keys = Zeroizing::new(Vec::new());
        let len = self.extension.challenge_len();
        let mut window = Window::new(io.clone(), len, 1, shape.batches(&self.extension));
        while let Some(step) = window.step().await {
            match step {
                Step::Begin(n) => {
                    let of_batch = words.split_off(..n * word_len).unwrap_or_default();
                    window.push((self.begin(io, n, of_batch).await?, n));
                }
                Step::End((batch, n)) => {
                    let challenge = io.recv_any(len).await;
                    keys.resize(n, [0; 16]);
                    let proof = self.finish(batch, &challenge, &mut keys)?;
                    io.on(PROOFS).send_any(proof).await;
                    sink(&keys)?;
                }
            }
        }
        self.runs.end();
        Ok(())
    }
}

/// The bounds of what is on its way to a party: batches of a window.
#[must_use]
pub fn limits(extension: &Extension) -> Limits {
    window_limits(extension.corrections_len(extension.max_batch()).max(extension.proof_len()))
}
