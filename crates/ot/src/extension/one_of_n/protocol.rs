//! The protocol of a 1-of-N extension: base OTs, then batch after batch, several of them on their way at a time
//! (`docs/wire/oos.md`, section 10).
//! [`oos`](crate::extension::oos) has an example.

use alloc::{collections::VecDeque, vec::Vec};

use zeroize::Zeroizing;

pub use super::{Receiver, Sender};

use super::{Extension, Places};
use crate::{
    Context, Error,
    base::Block,
    engine::{
        Abandoned, Io, Limits,
        batches::{PROOFS, WINDOW, window_limits},
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
        (0..self.n).step_by(max).map(move |start| max.min(self.n - start))
    }
}

impl Sender {
    /// Runs the base OTs.
    ///
    /// # Errors
    /// [`Usage::Incompatible`](crate::Usage::Incompatible); errors of the base OT.
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
    /// Errors of the steps, [`Usage::Abandoned`](crate::Usage::Abandoned), and [`Usage::SessionEnded`](crate::Usage::SessionEnded) after any of them.
    pub async fn run(
        &mut self,
        io: &Io,
        shape: Shape,
        mut sink: impl FnMut(&[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        self.runs.begin()?;
        io.limit(limits(&self.extension));
        let mut keys = Zeroizing::new(Vec::new());
        let mut pending = VecDeque::with_capacity(WINDOW);
        let (proofs, len) = (io.on(PROOFS), self.extension.proof_len());
        let mut batches = shape.batches(&self.extension);
        loop {
            let begun = batches.next();
            if let Some(n) = begun {
                let corrections = io.recv(self.extension.corrections_len(n)).await;
                let (batch, challenge) = self.absorb(n, &corrections)?;
                if let Some(challenge) = challenge {
                    io.send(challenge.to_vec()).await;
                }
                pending.push_back((batch, n));
            }
            if begun.is_none() || proofs.wait_until_due(pending.len(), 2, len).await {
                let Some((batch, n)) = pending.pop_front() else { break };
                let proof = proofs.recv_any(len).await;
                keys.resize(n.saturating_mul(shape.choices), [0; 16]);
                self.finish(batch, &proof, Places::All(shape.choices, &mut keys))?;
                sink(&keys)?;
            }
        }
        self.runs.end();
        Ok(())
    }
}

impl Receiver {
    /// Runs the base OTs.
    ///
    /// # Errors
    /// [`Usage::Incompatible`](crate::Usage::Incompatible); errors of the base OT.
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

    /// The keys of these words, as many as the shape says, go to `sink`, batch after batch.
    ///
    /// # Errors
    /// Errors of the steps, [`Usage::Abandoned`](crate::Usage::Abandoned), and [`Usage::SessionEnded`](crate::Usage::SessionEnded) after any of them.
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
        let mut pending = VecDeque::with_capacity(WINDOW);
        let len = self.extension.challenge_len();
        let mut batches = shape.batches(&self.extension);
        loop {
            let begun = batches.next();
            if let Some(n) = begun {
                let (of_batch, rest) = words.split_at(n * word_len);
                words = rest;
                let mut corrections = Vec::new();
                let batch = self.extend(n, of_batch, &mut corrections)?;
                io.send(corrections).await;
                pending.push_back((batch, n));
            }
            if begun.is_none() || io.wait_until_due(pending.len(), 2, len).await {
                let Some((batch, n)) = pending.pop_front() else { break };
                let challenge = io.recv_any(len).await;
                keys.resize(n, [0; 16]);
                let proof = self.finish(batch, &challenge, &mut keys)?;
                io.on(PROOFS).send_any(proof).await;
                sink(&keys)?;
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
