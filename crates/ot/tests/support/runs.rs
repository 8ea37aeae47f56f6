//! Extensions run in memory, batch after batch.

use std::sync::Arc;

use foxtrot_ot::{
    Backend, Bits, Error, Session,
    base::{Block, Choice},
    extension::{Extension, OtKind, Places, Receiver, Sender, Shape},
    tasks::only,
};

use super::{
    extension::{absorb, base, extend, seed, session},
    threads::Threads,
};

/// The output of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Random { pairs: Vec<[Block; 2]>, choices: Bits, keys: Vec<Block> },
    Correlated { sender: Vec<Block>, choices: Bits, receiver: Vec<Block> },
}

impl Run {
    pub(crate) fn choices(&self) -> &Bits {
        match self {
            Self::Random { choices, .. } | Self::Correlated { choices, .. } => choices,
        }
    }
}

/// Both states, and the lengths of what they have said.
pub(crate) struct Runs {
    receiver: Receiver,
    sender: Sender,
    pub(crate) setup: usize,
    pub(crate) corrections: Vec<usize>,
    pub(crate) proofs: Vec<usize>,
}

impl Runs {
    pub(crate) fn new(extension: Extension, backend: Backend) -> Self {
        Self::of(extension, || session().with_backend(backend))
    }

    pub(crate) fn on_threads(extension: Extension, threads: usize) -> Self {
        Self::of(extension, || session().with_executor(Arc::new(Threads(threads))))
    }

    fn of(extension: Extension, session: impl Fn() -> Session) -> Self {
        let (pairs, chosen) = base();
        let (receiver, setup) = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
        let sender = Sender::new(session(), extension, chosen, &setup, seed(6)).unwrap();
        let (corrections, proofs) = (Vec::new(), Vec::new());
        Self { receiver, sender, setup: setup.len(), corrections, proofs }
    }

    pub(crate) fn delta(&self) -> Block {
        *self.sender.delta().unwrap()
    }

    pub(crate) fn batch(&mut self, choice: Choice, kind: OtKind) -> Run {
        self.try_batch(choice, kind).unwrap()
    }

    pub(crate) fn try_batch(&mut self, choice: Choice, kind: OtKind) -> Result<Run, Error> {
        let shape = Shape::of(&choice);
        let n = shape.n();
        // Something that must not show in the message.
        let mut message = vec![0xa5; 100];
        let unanswered = extend(&mut self.receiver, choice, &mut message)?;
        self.corrections.push(message.len());
        let (unverified, challenge) = absorb(&mut self.sender, shape, &message)?;
        let challenge = challenge.as_slice().as_flattened();
        let mut keys = vec![[0; 16]; n];
        let batch = (unanswered, challenge, keys.as_mut_slice());
        let (choices, proof) = only(self.receiver.finish(kind, vec![batch])?);
        self.proofs.push(proof.len());
        match kind {
            OtKind::Random => {
                let mut pairs = vec![[[0; 16]; 2]; n];
                self.sender.finish(vec![(unverified, &proof, Places::Random(&mut pairs))])?;
                Ok(Run::Random { pairs, choices, keys })
            }
            OtKind::Correlated => {
                let mut sender = vec![[0; 16]; n];
                self.sender.finish(vec![(unverified, &proof, Places::Correlated(&mut sender))])?;
                Ok(Run::Correlated { sender, choices, receiver: keys })
            }
        }
    }
}
