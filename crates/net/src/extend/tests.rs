use core::time::Duration;
use std::thread;

use foxtrot_ot::{
    Misbehaved, Sid,
    base::{Adversary, find},
    extension::{self, Incompatible},
    tasks::Task,
};

use super::*;
use crate::{ChannelError, Counters, Reason, memory};

const LONG: Duration = Duration::from_secs(20);

/// What both get of a run of random OTs, and what the receiver's channel counted.
struct Outcome {
    pairs: Vec<[Block; 2]>,
    choices: Vec<bool>,
    keys: Vec<Block>,
    counters: Counters,
}

fn session() -> Session {
    Session::new(Sid::from_bytes([8; 32]))
}

fn plan<'a>(name: &str, adversary: Adversary, base: &str, session: &'a Session) -> Plan<'a> {
    let base = [Functionality::Endemic, Functionality::Random]
        .into_iter()
        .find_map(|functionality| find(base, functionality).filter(|it| it.info().name == base));
    Plan {
        extension: extension::find(name, adversary).unwrap(),
        base: base.unwrap(),
        session,
        direction: Direction::InitiatorSends,
        counter: 0,
    }
}

/// Both parties on a thread each, run after run with the same base OTs.
fn run(name: &str, adversary: Adversary, base: &str, runs: &[Choice]) -> Outcome {
    let (here, there) = memory::pair(LONG);
    let shapes: Vec<_> = runs.iter().map(Shape::of).collect();
    let (name, base) = (name.to_owned(), base.to_owned());
    let (names, bases) = (name.clone(), base.clone());
    let sender = thread::spawn(move || {
        let session = session();
        let mut sender = Sender::set_up(&there, &plan(&names, adversary, &bases, &session))?;
        let mut pairs = Vec::new();
        for shape in shapes {
            sender.random(shape, |keys| {
                pairs.extend_from_slice(keys);
                Ok::<_, Error>(())
            })?;
        }
        there.close()?;
        Ok::<_, Error>(pairs)
    });
    let session = session();
    let mut receiver = Receiver::set_up(&here, &plan(&name, adversary, &base, &session)).unwrap();
    let (mut choices, mut keys) = (Vec::new(), Vec::new());
    for choice in runs {
        let run = receiver.run(choice, Kind::Random, |bits, some| {
            choices.extend((0..bits.len()).map(|i| bool::from(bits.get(i))));
            keys.extend_from_slice(some);
            Ok::<_, Error>(())
        });
        run.unwrap();
    }
    let counters = here.counters();
    here.close().unwrap();
    Outcome { pairs: sender.join().unwrap().unwrap(), choices, keys, counters }
}

fn assert_fits(outcome: &Outcome) {
    let Outcome { pairs, choices, keys, .. } = outcome;
    assert_eq!((pairs.len(), keys.len()), (choices.len(), choices.len()));
    for ((pair, &choice), key) in pairs.iter().zip(choices).zip(keys) {
        assert_eq!(&pair[usize::from(choice)], key);
        assert_ne!(&pair[usize::from(!choice)], key);
    }
}

#[test]
fn more_batches_than_may_be_on_their_way_arrive_in_order() {
    let n = (WINDOW + 3) * 65472 + 5;
    for name in ["softspoken-2", "softspoken-8"] {
        let outcome = run(name, Adversary::Malicious, "roted-endemic", &[Choice::Random(n)]);
        assert_eq!(outcome.choices.len(), n);
        assert_fits(&outcome);
    }
}

/// Computes in one thread, whatever it says.
#[derive(Debug)]
struct Threads(usize);

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        tasks.into_iter().for_each(|task| task());
    }
}

#[test]
fn parties_may_have_any_two_numbers_of_threads() {
    let n = (2 * WINDOW + 3) * 65472 + 5;
    for adversary in [Adversary::Malicious, Adversary::SemiHonest] {
        for (ours, theirs) in (0..25).map(|k| ([1, 2, 3, 8, 100][k / 5], [1, 2, 3, 8, 100][k % 5]))
        {
            let (here, there) = memory::pair(LONG);
            let sender = thread::spawn(move || {
                let session = session();
                let plan = plan("softspoken-2", adversary, "roted-endemic", &session);
                let sender = Sender::set_up(&there, &plan)?;
                let mut pairs = Vec::with_capacity(n);
                let mut sender = sender.with_executor(Box::new(Threads(theirs)));
                sender.random(Shape::random(n), |keys| {
                    pairs.extend_from_slice(keys);
                    Ok::<_, Error>(())
                })?;
                there.close().map(|()| pairs)
            });
            let session = session();
            let plan = plan("softspoken-2", adversary, "roted-endemic", &session);
            let receiver = Receiver::set_up(&here, &plan).unwrap();
            let mut receiver = receiver.with_executor(Box::new(Threads(ours)));
            let mut all = Vec::with_capacity(n);
            let run = receiver.run(&Choice::Random(n), Kind::Random, |bits, keys| {
                all.extend(keys.iter().enumerate().map(|(i, key)| (bool::from(bits.get(i)), *key)));
                Ok::<_, Error>(())
            });
            run.unwrap();
            here.close().unwrap();
            let pairs = sender.join().unwrap().unwrap();
            assert_eq!((pairs.len(), all.len()), (n, n));
            assert!(
                pairs.iter().zip(all).all(|(pair, (choice, key))| pair[usize::from(choice)] == key)
            );
        }
    }
}

#[test]
fn one_set_of_base_ots_serves_several_runs() {
    let given = Bits::from_bools((0..70_000).map(|i| i % 5 == 0));
    let runs = [Choice::Random(1000), Choice::Given(given.slice(0..70_000)), Choice::Random(1)];
    for (name, adversary) in [
        ("softspoken", Adversary::Malicious),
        ("softspoken", Adversary::SemiHonest),
        ("kos", Adversary::Malicious),
        ("iknp", Adversary::SemiHonest),
    ] {
        let outcome = run(name, adversary, "roted-endemic", &runs);
        assert_fits(&outcome);
        let chosen = (0..70_000).map(|i| bool::from(given.get(i)));
        assert!(chosen.eq(outcome.choices[1000..71_000].iter().copied()), "{name}");
    }
}

#[test]
fn bytes_are_those_that_were_announced_over_random_base_ots_too() {
    for base in ["roted", "roted-endemic"] {
        let n = 100_000;
        let outcome = run("softspoken-3", Adversary::Malicious, base, &[Choice::Random(n)]);
        assert_fits(&outcome);
        let session = session();
        let plan = plan("softspoken-3", Adversary::Malicious, base, &session);
        let info = plan.base.info();
        let sent = plan.extension.receiver_bytes(n) + (info.sender_bytes)(ROWS);
        let received = plan.extension.sender_bytes(n) + (info.receiver_bytes)(ROWS);
        assert_eq!(outcome.counters.sent, sent as u64);
        assert_eq!(outcome.counters.received, received as u64);
    }
}

#[test]
fn correlated_rows_differ_by_delta_where_the_choice_is_one() {
    let (here, there) = memory::pair(LONG);
    let sender = thread::spawn(move || {
        let session = session();
        let plan = plan("softspoken", Adversary::Malicious, "roted-endemic", &session);
        let mut rows = Vec::new();
        let run = Sender::set_up(&there, &plan)?.correlated(Shape::random(2000), |some| {
            rows.extend_from_slice(some);
            Ok::<_, Error>(())
        });
        run.and_then(|()| there.close()).map(|()| rows)
    });
    let session = session();
    let plan = plan("softspoken", Adversary::Malicious, "roted-endemic", &session);
    let mut all = Vec::new();
    let mut receiver = Receiver::set_up(&here, &plan).unwrap();
    let run = receiver.run(&Choice::Random(2000), Kind::Correlated, |choices, rows| {
        all.extend(rows.iter().enumerate().map(|(i, row)| (bool::from(choices.get(i)), *row)));
        Ok::<_, Error>(())
    });
    run.unwrap();
    here.close().unwrap();
    let sums = sender.join().unwrap().unwrap().into_iter().zip(all);
    let sums = sums.map(|(q, (b, t))| (b, u128::from_le_bytes(q) ^ u128::from_le_bytes(t)));
    let (ones, zeros): (Vec<_>, Vec<_>) = sums.partition(|(b, _)| *b);
    assert!(zeros.iter().all(|(_, sum)| *sum == 0));
    assert!(ones.iter().all(|(_, sum)| *sum == ones[0].1 && *sum != 0));
}

#[test]
fn a_receiver_that_cheats_is_told_and_gets_no_further() {
    let (here, there) = memory::pair(LONG);
    there.agreed(Sid::from_bytes([1; 32]), false);
    here.agreed(Sid::from_bytes([1; 32]), true);
    let sender = thread::spawn(move || {
        let session = session();
        let plan = plan("kos", Adversary::Malicious, "roted-endemic", &session);
        let mut batches = 0;
        let failed = Sender::set_up(&there, &plan)?.random(Shape::given(70_000), |_| {
            batches += 1;
            Ok::<_, Error>(())
        });
        Ok::<_, Error>((failed.unwrap_err(), batches))
    });
    let session = session();
    let plan = plan("kos", Adversary::Malicious, "roted-endemic", &session);
    // Other choices for one of the rows, from the second batch on.
    let mut receiver = Receiver::set_up(&here, &plan).unwrap();
    let mut batch = |n: usize, spoilt: u8| {
        let mut corrections = Vec::new();
        let choice = Choice::Given(Bits::from_bools((0..n).map(|_| false)));
        let batch = receiver.state.extend(choice, &mut corrections).unwrap();
        for row in corrections[32..].chunks_mut((n + 64).next_multiple_of(512) / 8) {
            row[0] ^= spoilt;
        }
        corrections[32] ^= spoilt;
        here.send(Lane::PROTOCOL, corrections).unwrap();
        let challenge = here.recv(Lane::PROTOCOL, 32)?;
        let mut keys = vec![[0; 16]; n];
        let finished = receiver.state.finish(batch, &challenge, Kind::Random, &mut keys);
        here.send(PROOFS, finished.unwrap().1)
    };
    batch(65472, 0).unwrap();
    batch(70_000 - 65472, 1).unwrap();
    let (failed, batches) = sender.join().unwrap().unwrap();
    assert_eq!(failed, Error::from(foxtrot_ot::Error::from(Misbehaved::ConsistencyCheck)));
    assert_eq!(batches, 1);
    let told = here.recv(Lane::PROTOCOL, 1).unwrap_err();
    assert_eq!(told, ChannelError::GivenUp(Reason::CheckFailed).into());
}

/// Batches that are checked together come out together, or not at all.
#[test]
fn a_cheat_in_one_batch_of_a_group_leaves_no_output_of_the_others() {
    let (here, there) = memory::pair(LONG);
    there.agreed(Sid::from_bytes([1; 32]), false);
    here.agreed(Sid::from_bytes([1; 32]), true);
    let sender = thread::spawn(move || {
        let session = session();
        let plan = plan("kos", Adversary::Malicious, "roted-endemic", &session);
        let sender = Sender::set_up(&there, &plan)?;
        let mut batches = 0;
        let failed =
            sender.with_executor(Box::new(Threads(8))).random(Shape::given(70_000), |_| {
                batches += 1;
                Ok::<_, Error>(())
            });
        Ok::<_, Error>((failed.unwrap_err(), batches))
    });
    let session = session();
    let plan = plan("kos", Adversary::Malicious, "roted-endemic", &session);
    let mut receiver = Receiver::set_up(&here, &plan).unwrap();
    let extended = [(65472, 0), (70_000 - 65472, 1)].map(|(n, spoilt)| {
        let mut corrections = Vec::new();
        let choice = Choice::Given(Bits::from_bools((0..n).map(|_| false)));
        let batch = receiver.state.extend(choice, &mut corrections).unwrap();
        // Other choices for all of the rows but one.
        for row in corrections[32..].chunks_mut((n + 64_usize).next_multiple_of(512) / 8) {
            row[0] ^= spoilt;
        }
        corrections[32] ^= spoilt;
        here.send(Lane::PROTOCOL, corrections).unwrap();
        (batch, n)
    });
    for (batch, n) in extended {
        let challenge = here.recv(Lane::PROTOCOL, 32).unwrap();
        let mut keys = vec![[0; 16]; n];
        let finished = receiver.state.finish(batch, &challenge, Kind::Random, &mut keys);
        here.send(PROOFS, finished.unwrap().1).unwrap();
    }
    let (failed, batches) = sender.join().unwrap().unwrap();
    assert_eq!(failed, Error::from(foxtrot_ot::Error::from(Misbehaved::ConsistencyCheck)));
    assert_eq!(batches, 0);
    let told = here.recv(Lane::PROTOCOL, 1).unwrap_err();
    assert_eq!(told, ChannelError::GivenUp(Reason::CheckFailed).into());
}

#[test]
fn a_base_ot_that_cannot_carry_the_extension_is_refused_before_anything_is_said() {
    let (here, _there) = memory::pair(LONG);
    let session = session();
    let raw = find("pvw", Functionality::ChosenMessage).unwrap();
    let plan = plan("softspoken", Adversary::Malicious, "roted-endemic", &session);
    let plan = Plan { base: raw, ..plan };
    let refused = Receiver::set_up(&here, &plan).map(drop).unwrap_err();
    let why = Incompatible::Functionality(Functionality::ChosenMessage);
    assert_eq!(refused, Error::from(Usage::Incompatible(why)));
    assert_eq!(here.counters(), Counters::default());
}

#[test]
fn after_a_sink_has_failed_the_peer_is_told_and_there_are_no_further_runs() {
    let (here, there) = memory::pair(LONG);
    there.agreed(Sid::from_bytes([1; 32]), false);
    here.agreed(Sid::from_bytes([1; 32]), true);
    let sender = thread::spawn(move || {
        let session = session();
        let plan = plan("softspoken", Adversary::Malicious, "roted-endemic", &session);
        let mut sender = Sender::set_up(&there, &plan)?;
        let full = || Error::from(ChannelError::Abandoned);
        let failed = sender.random(Shape::random(100_000), |_| Err::<(), _>(full())).unwrap_err();
        let again = sender.random(Shape::random(1), |_| Ok::<_, Error>(())).unwrap_err();
        // The connection stays, so that the last word is what the peer hears of it.
        Ok::<_, Error>((failed, again, there))
    });
    let session = session();
    let plan = plan("softspoken", Adversary::Malicious, "roted-endemic", &session);
    let mut receiver = Receiver::set_up(&here, &plan).unwrap();
    // Our own part of the first run may well succeed; the peer's failure is then seen in the next.
    let mut run =
        || receiver.run(&Choice::Random(100_000), Kind::Random, |_, _| Ok::<_, Error>(()));
    let told = run().and_then(|()| run()).unwrap_err();
    // Whichever of the two we notice first: that the peer says why, or that it takes no more.
    let expected = [ChannelError::GivenUp(Reason::Other), ChannelError::ClosedSending];
    assert!(expected.map(Error::from).contains(&told), "{told}");
    let (failed, again, _there) = sender.join().unwrap().unwrap();
    assert_eq!(failed, ChannelError::Abandoned.into());
    assert_eq!(again, Usage::SessionEnded.into());
}

/// How long a party of [`flood`] waits.
pub(crate) const SHORT: Duration = Duration::from_secs(2);

/// Sends proofs of that length which nobody waits for, far less than a lane holds back otherwise and more than
/// lies between writer and reader: they are not taken.
pub(crate) fn flood(here: &Channel, proof_len: usize) {
    for _ in 0..(24 << 20) / proof_len {
        here.send(PROOFS, vec![0; proof_len]).unwrap();
    }
}

/// What such a sender and the party that has waited for something else meanwhile then say.
pub(crate) fn assert_refused(here: Channel, there: Error) {
    let refused = here.close().unwrap_err();
    let expected = [ChannelError::NothingTaken(SHORT), ChannelError::ClosedSending];
    assert!(expected.map(Error::from).contains(&refused), "{refused}");
    assert_eq!(there, ChannelError::NothingReceived(SHORT).into());
}

#[test]
fn a_flood_of_proofs_stays_with_who_sends_it() {
    let (here, there) = memory::pair(SHORT);
    let sender = thread::spawn(move || {
        let session = session();
        let plan = plan("softspoken-8", Adversary::Malicious, "roted-endemic", &session);
        let mut sender = Sender::set_up(&there, &plan)?;
        sender.random(Shape::random(100), |_| Ok::<_, Error>(()))
    });
    let session = session();
    let plan = plan("softspoken-8", Adversary::Malicious, "roted-endemic", &session);
    drop(Receiver::set_up(&here, &plan).unwrap());
    flood(&here, plan.extension.proof_len());
    let failed = sender.join().unwrap().unwrap_err();
    assert_refused(here, failed);
}
