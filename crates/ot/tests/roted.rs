//! The laws of every base OT, over encoded and decoded messages.

use std::sync::Arc;

use foxtrot_ot::{
    Backend, Bits, Seed, Session, Sid,
    base::{
        BaseOt, Choice, Functionality, ReceiverKeys, SenderKeys,
        roted::{Endemic, Rot},
    },
    pair::{Event, Pair, PairParty, assert_rot},
    tasks::{Executor, Task},
};
use foxtrot_papers::base_ots;

fn session() -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", 0, Default::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn some_choices(n: usize) -> Bits {
    Bits::from_bools((0..n).map(|i| i * i % 7 % 2 == 1))
}

fn pair(base: &dyn BaseOt, n: usize) -> Pair<'static> {
    let choice = match base.info().functionality {
        Functionality::Random => Choice::Random(n),
        _ => Choice::Given(some_choices(n)),
    };
    let sender = base.sender(session(), n, seed(1)).unwrap();
    Pair::new(sender, base.receiver(session(), choice, seed(2)).unwrap())
}

fn run(base: &dyn BaseOt, n: usize) -> (SenderKeys, ReceiverKeys) {
    pair(base, n).run().unwrap()
}

#[test]
fn the_receiver_gets_exactly_the_chosen_key() {
    for base in base_ots() {
        for n in [0, 1, 2, 7, 8, 9, 127, 128] {
            let (sender, receiver) = run(base, n);
            assert_eq!(sender.pairs().len(), n);
            assert_rot(&sender, &receiver);
        }
    }
}

#[test]
fn a_batch_has_room_for_a_thousand() {
    for base in [&Rot as &dyn BaseOt, &Endemic] {
        let (sender, receiver) = run(base, 1000);
        assert_rot(&sender, &receiver);
    }
}

#[test]
fn given_choices_are_the_choices() {
    for base in base_ots().filter(|b| b.info().functionality != Functionality::Random) {
        assert_eq!(run(base, 100).1.choices(), &some_choices(100), "{}", base.info().name);
    }
}

#[test]
fn drawn_choices_are_not_constant_and_differ_between_batches() {
    for base in base_ots().filter(|b| b.info().functionality == Functionality::Random) {
        let choices = |sid: u8| {
            let session = || Session::new(Sid::from_bytes([sid; 32]));
            let sender = base.sender(session(), 64, seed(1)).unwrap();
            let receiver = base.receiver(session(), Choice::Random(64), seed(2)).unwrap();
            let (_, received) = Pair::new(sender, receiver).run().unwrap();
            received.choices().as_bytes().to_vec()
        };
        let (here, there) = (choices(1), choices(2));
        assert_ne!(here, there);
        let ones: u32 = here.iter().map(|byte| byte.count_ones()).sum();
        assert!((12..52).contains(&ones), "{}: {ones} of 64 choices are 1", base.info().name);
    }
}

#[test]
fn measured_bytes_equal_the_announced_ones_and_stay_below_3500_per_instance() {
    for base in base_ots() {
        for n in [1, 128, 129] {
            let (mut sent, mut received) = (0, 0);
            let mut pair = pair(base, n);
            while let Some(Event { party, stream, message }) = pair.step().unwrap() {
                let Some(message) = message else { continue };
                match party {
                    PairParty::Sender => sent += message.len(),
                    PairParty::Receiver => received += message.len(),
                }
                pair.deliver(party, stream, message);
            }
            let info = base.info();
            assert_eq!((sent, received), ((info.sender_bytes)(n), (info.receiver_bytes)(n)));
            assert_eq!(pair.flows(), info.flows);
            assert!(info.family != "roted" || n < 128 || sent + received <= 3500 * n);
        }
    }
}

#[test]
fn every_backend_sends_the_same_bytes() {
    for base in base_ots() {
        let transcript = |backend: Backend| {
            let session = || session().with_backend(backend);
            let choice = match base.info().functionality {
                Functionality::Random => Choice::Random(5),
                _ => Choice::Given(some_choices(5)),
            };
            let sender = base.sender(session(), 5, seed(1)).unwrap();
            let receiver = base.receiver(session(), choice, seed(2)).unwrap();
            let mut messages = Vec::new();
            let keys = Pair::new(sender, receiver)
                .run_through(|_, message| {
                    messages.push(message.clone());
                    message
                })
                .unwrap();
            (messages, keys)
        };
        for backend in Backend::all() {
            assert_eq!(transcript(backend), transcript(Backend::PORTABLE), "{backend:?}");
        }
    }
}

/// Takes tasks apart from the order in which they came.
#[derive(Debug)]
struct Backwards(usize);

impl Executor for Backwards {
    fn threads(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        std::thread::scope(|scope| {
            for task in tasks.into_iter().rev() {
                scope.spawn(task);
            }
        });
    }
}

#[test]
fn any_number_of_threads_sends_the_same_bytes_and_gives_the_same_keys() {
    for base in [&Rot as &dyn BaseOt, &Endemic] {
        for n in [1, 16, 17, 100] {
            let run = |threads: Option<usize>| {
                let session = || match threads {
                    Some(threads) => session().with_executor(Arc::new(Backwards(threads))),
                    None => session(),
                };
                let choice = match base.info().functionality {
                    Functionality::Random => Choice::Random(n),
                    _ => Choice::Given(some_choices(n)),
                };
                let sender = base.sender(session(), n, seed(1)).unwrap();
                let receiver = base.receiver(session(), choice, seed(2)).unwrap();
                let mut messages = Vec::new();
                let (sent, received) = Pair::new(sender, receiver)
                    .run_through(|_, message| {
                        messages.push(message.clone());
                        message
                    })
                    .unwrap();
                (messages, sent.pairs().to_vec(), received.keys().to_vec())
            };
            let expected = run(None);
            for threads in [1, 2, 3, 8] {
                assert_eq!(run(Some(threads)), expected, "n = {n}, {threads} threads");
            }
        }
    }
}
