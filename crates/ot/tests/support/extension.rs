//! Both parties of an extension in memory, over doubles of the base OTs.

use std::thread;

use foxtrot_ot::{
    Backend, Bits, Error, Seed, Session, Sid,
    base::{Block, Choice},
    extension::{Any, Extension, Malicious, Receiver, Security, SemiHonest, Sender, Shape},
    ideal,
    tasks::{Executor, Task},
};

/// Which output of a batch is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Random,
    Correlated,
}

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
    states: States,
    pub(crate) setup: usize,
    pub(crate) corrections: Vec<usize>,
    pub(crate) proofs: Vec<usize>,
}

enum States {
    SemiHonest(Receiver<SemiHonest>, Sender<SemiHonest>),
    Malicious(Receiver<Malicious>, Sender<Malicious>),
}

impl Runs {
    pub(crate) fn new(extension: Any, backend: Backend) -> Self {
        let states = match extension {
            Any::SemiHonest(extension) => {
                let (receiver, sender) = states(extension, backend);
                States::SemiHonest(receiver, sender)
            }
            Any::Malicious(extension) => {
                let (receiver, sender) = states(extension, backend);
                States::Malicious(receiver, sender)
            }
        };
        Self { states, setup: extension.setup_len(), corrections: Vec::new(), proofs: Vec::new() }
    }

    pub(crate) fn on_threads(self, threads: usize) -> Self {
        let executor = || Box::new(Threads(threads));
        let states = match self.states {
            States::SemiHonest(receiver, sender) => States::SemiHonest(
                receiver.with_executor(executor()),
                sender.with_executor(executor()),
            ),
            States::Malicious(receiver, sender) => States::Malicious(
                receiver.with_executor(executor()),
                sender.with_executor(executor()),
            ),
        };
        Self { states, ..self }
    }

    pub(crate) fn delta(&self) -> Block {
        match &self.states {
            States::SemiHonest(_, sender) => *sender.delta(),
            States::Malicious(_, sender) => *sender.delta(),
        }
    }

    pub(crate) fn batch(&mut self, choice: Choice, kind: Kind) -> Run {
        self.try_batch(choice, kind).unwrap()
    }

    pub(crate) fn try_batch(&mut self, choice: Choice, kind: Kind) -> Result<Run, Error> {
        let shape = match &choice {
            Choice::Given(bits) => Shape::given(bits.len()),
            Choice::Random(n) => Shape::random(*n),
        };
        // Something that must not show in the message.
        let mut message = vec![0xa5; 100];
        match &mut self.states {
            States::SemiHonest(receiver, sender) => {
                let received = receiver.extend(choice, &mut message)?;
                self.corrections.push(message.len());
                let sent = sender.absorb(shape, &message)?;
                outputs(receiver, sender, received, sent, shape.n(), kind)
            }
            States::Malicious(receiver, sender) => {
                let unanswered = receiver.extend(choice, &mut message)?;
                self.corrections.push(message.len());
                let (unverified, challenge) = sender.absorb(shape, &message)?;
                let (received, proof) = receiver.answer(unanswered, &challenge);
                self.proofs.push(proof.len());
                let sent = sender.verify(unverified, &proof)?;
                outputs(receiver, sender, received, sent, shape.n(), kind)
            }
        }
    }
}

fn outputs<S: Security>(
    receiver: &mut Receiver<S>,
    sender: &mut Sender<S>,
    received: foxtrot_ot::extension::Received<S>,
    sent: foxtrot_ot::extension::Sent<S>,
    n: usize,
    kind: Kind,
) -> Result<Run, Error> {
    match kind {
        Kind::Random => {
            let (mut pairs, mut keys) = (vec![[[0; 16]; 2]; n], vec![[0; 16]; n]);
            sender.random(sent, &mut pairs)?;
            let choices = receiver.random(received, &mut keys)?;
            Ok(Run::Random { pairs, choices, keys })
        }
        Kind::Correlated => {
            let (mut rows, mut keys) = (vec![[0; 16]; n], vec![[0; 16]; n]);
            sender.correlated(sent, &mut rows)?;
            let choices = receiver.correlated(received, &mut keys)?;
            Ok(Run::Correlated { sender: rows, choices, receiver: keys })
        }
    }
}

/// Both states at their beginning.
pub(crate) fn states<S: Security>(
    extension: Extension<S>,
    backend: Backend,
) -> (Receiver<S>, Sender<S>) {
    let (pairs, chosen) = ideal::random(128, &Seed::from_bytes([4; 32]));
    let session = || session().with_backend(backend);
    let seed = |byte| Seed::from_bytes([byte; 32]);
    let (receiver, setup) = Receiver::new(session(), extension, &pairs, seed(5)).unwrap();
    (receiver, Sender::new(session(), extension, chosen, &setup, seed(6)).unwrap())
}

pub(crate) fn session() -> Session {
    Session::new(Sid::from_bytes([3; 32])).sub("extension", 0, Default::default())
}

pub(crate) fn bit(bits: &Bits, i: usize) -> bool {
    bits.get(i).into()
}

/// n bits, one in `step` of which is 1.
pub(crate) fn bits(n: usize, step: usize) -> Bits {
    Bits::from_bools((0..n).map(|i| i % step == 0))
}

/// A thread for every task.
#[derive(Debug)]
struct Threads(usize);

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        thread::scope(|scope| {
            for task in tasks {
                scope.spawn(task);
            }
        });
    }
}
