extern crate std;

mod attacks;
mod engine;
mod laws;
mod reference;

use alloc::{sync::Arc, vec, vec::Vec};
use core::cell::Cell;
use std::collections::BTreeSet;

use foxtrot_kernel::gf::gf128;
use foxtrot_ot::{
    Seed, Session, Sid,
    tasks::{Executor, Task},
};

use super::*;
use crate::{Error, FRAME, Joint, Next, paxos::tests::toss};

/// Three threads, whose tasks must not ask for threads: a pool without a free one would wait for ever.
#[derive(Debug)]
pub(super) struct Threads;

std::thread_local! {
    static IS_TASK: Cell<bool> = const { Cell::new(false) };
}

impl Executor for Threads {
    fn threads(&self) -> usize {
        3
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        assert!(!IS_TASK.get(), "a task that asks for threads");
        std::thread::scope(|scope| {
            for task in tasks {
                scope.spawn(|| {
                    IS_TASK.set(true);
                    task();
                });
            }
        });
    }
}

/// An ideal VOLE over GF(2^128), or of U in GF(2^64): a double.
pub(super) struct Ideal {
    pub(super) delta: u128,
    pub(super) u: Vec<u128>,
    pub(super) w: Vec<u128>,
    small: bool,
}

impl Ideal {
    pub(super) fn new(parameters: &Parameters, seed: u8) -> Self {
        let m = parameters.slots();
        let random = |purpose, number| {
            let mut elements = vec![[0; 16]; number];
            let oracle = Session::new(Sid::from_bytes([seed; 32])).oracle("foxtrot ideal vole");
            oracle.query(0, purpose).fill(elements.as_flattened_mut());
            elements.into_iter().map(u128::from_le_bytes).collect::<Vec<_>>()
        };
        let small = !parameters.checked();
        let mask = if small { u128::from(u64::MAX) } else { u128::MAX };
        let u = random(0, m).into_iter().map(|u| u & mask).collect();
        Self { delta: random(1, 1)[0], u, w: random(2, m), small }
    }

    pub(super) fn v(&self) -> Vec<u128> {
        let mut v = self.w.clone();
        let words: Vec<[u8; 16]> = self.u.iter().map(|u| u.to_le_bytes()).collect();
        if self.small {
            let words: Vec<[u8; 8]> =
                words.iter().map(|word| *word.first_chunk().unwrap()).collect();
            add_products(Backend::best(), self.delta, &words, &mut v);
        } else {
            let product = |u| gf128::mul(Backend::best(), u, self.delta);
            v.iter_mut().zip(&self.u).for_each(|(v, &u)| *v ^= product(u));
        }
        v
    }

    fn mask(&self) -> Mask {
        if self.small {
            Mask::Small(Secret(self.u.iter().map(|&u| u64::try_from(u).unwrap()).collect()))
        } else {
            Mask::Large(Secret(self.u.clone()))
        }
    }
}

/// Hooks by which a hostile party changes a run's messages.
pub(super) struct Messages<'a> {
    pub(super) row_seed: &'a mut dyn FnMut(&mut Vec<u8>),
    pub(super) sums: &'a mut dyn FnMut(&mut Vec<u8>),
    pub(super) tags: &'a mut dyn FnMut(&mut Vec<u8>),
}

pub(super) fn session() -> Session {
    Session::new(Sid::from_bytes([7; 32])).sub("vole-psi", 0, Default::default())
}

pub(super) fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

pub(super) fn digests(range: impl IntoIterator<Item = u64>) -> Vec<Digest> {
    let digest = |k: u64| core::array::from_fn(|i| k.to_le_bytes().get(i).copied().unwrap_or(0x21));
    range.into_iter().map(digest).collect()
}

/// The joint coin, if there is one.
pub(super) fn coin(parameters: &Parameters) -> Option<Joint> {
    (parameters.buckets() > 1).then(|| {
        let coins = toss(&session(), [seed(5), seed(6)], |_, message| message);
        let [receivers, senders] = coins.unwrap();
        assert_eq!(receivers, senders);
        receivers
    })
}

/// The receiver's result in an honest run.
pub(super) fn run(parameters: &Parameters, ours: &[Digest], theirs: &[Digest]) -> Vec<usize> {
    let (mut none, mut neither, mut nothing) = (|_: &mut _| (), |_: &mut _| (), |_: &mut _| ());
    let messages = Messages { row_seed: &mut none, sums: &mut neither, tags: &mut nothing };
    run_through(parameters, [ours, theirs], |_| (), messages).unwrap()
}

/// The receiver's result with messages, or a VOLE, changed on their way.
#[expect(clippy::panic_in_result_fn, reason = "both have as many buckets")]
pub(super) fn run_through(
    parameters: &Parameters,
    [ours, theirs]: [&[Digest]; 2],
    change: impl Fn(&mut Ideal),
    messages: Messages<'_>,
) -> Result<Vec<usize>, Error> {
    let joint = coin(parameters);
    let mut receiver = Receiver::new(session(), *parameters, ours.to_vec(), joint, seed(1))?;
    let mut sender = Sender::new(session(), *parameters, theirs.to_vec(), joint, seed(2))?;
    let mut number = 3;
    let (mut received, sent) = loop {
        let mut ideal = Ideal::new(parameters, number);
        change(&mut ideal);
        number += 1;
        let encoded = receiver.plan()?.encode()?;
        let (masked, row_seed, mut sums) = encoded.mask(ideal.mask(), Secret(ideal.v()))?;
        let mut row_seed = row_seed.as_bytes().to_vec();
        (messages.row_seed)(&mut row_seed);
        (messages.sums)(&mut sums);
        let mut opened = sender.open(&row_seed)?;
        sums.chunks(FRAME).try_for_each(|frame| opened.take(frame))?;
        let sent = opened.finish(&ideal.delta, Secret(ideal.w))?;
        match (masked.finish()?, sent) {
            (Next::Bucket(one), Next::Bucket(another)) => (receiver, sender) = (one, another),
            (Next::Done(received), Next::Done(sent)) => break (received, sent),
            _ => panic!("buckets"),
        }
    };
    let mut tags = sent.frames().collect::<Vec<_>>().concat();
    (messages.tags)(&mut tags);
    for frame in tags.chunks(FRAME) {
        received.take(frame)?;
    }
    received.intersect()
}

/// The intersection, naively.
pub(super) fn naive(ours: &[Digest], theirs: &[Digest]) -> Vec<usize> {
    let theirs: BTreeSet<_> = theirs.iter().collect();
    (0..ours.len()).filter(|&k| theirs.contains(&ours[k])).collect()
}

pub(super) const ALL: [Vole; 3] = [Vole::Silent, Vole::Small, Vole::Packed];
