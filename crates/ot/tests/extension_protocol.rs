//! The protocol of an extension, both parties in one thread: outputs, messages, cheaters and runs that fail.

use crate::support::narrow;

use std::sync::Arc;

use crate::support::threads::Threads;
use foxtrot_ot::{
    Bits, Context, Direction, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{self, Adversary, Block, Choice, Functionality},
    engine::{
        Abandoned, Engine, Io,
        batches::{PROOFS, WINDOW},
    },
    extension::{
        self, Incompatible, OtKind, ROWS, Shape,
        protocol::{ExtensionPlan, Receiver, Sender},
    },
    pair::{Failed, Pair, PairParty},
};

/// OTs of a whole batch.
const BATCH: usize = 65472;

fn session(threads: usize) -> Session {
    Session::new(Sid::from_bytes([8; 32])).with_executor(Arc::new(Threads(threads)))
}

async fn sender(io: Io, plan: ExtensionPlan<'_>, threads: usize) -> Result<Sender, Error> {
    let session = session(threads);
    Sender::set_up(&io, &mut Context::new(&session, Seed::from_bytes([1; 32])), plan).await
}

async fn receiver(io: Io, plan: ExtensionPlan<'_>, threads: usize) -> Result<Receiver, Error> {
    let session = session(threads);
    Receiver::set_up(&io, &mut Context::new(&session, Seed::from_bytes([2; 32])), plan).await
}

fn plan(name: &str, adversary: Adversary, base: &str) -> ExtensionPlan<'static> {
    let base =
        [Functionality::Endemic, Functionality::Random].into_iter().find_map(|functionality| {
            base::find(base, functionality).filter(|it| it.info().name == base)
        });
    let extension = extension::find(name, adversary).unwrap();
    let direction = Direction::InitiatorSends;
    ExtensionPlan { extension, base: base.unwrap(), direction, counter: 0 }
}

/// The set-up of both parties, with so many threads each.
fn set_up(plan: ExtensionPlan<'static>, threads: [usize; 2]) -> Pair<'static, Sender, Receiver> {
    let sender = Engine::new(move |io| sender(io, plan, threads[0]));
    let receiver = Engine::new(move |io| receiver(io, plan, threads[1]));
    Pair::new(sender, receiver)
}

/// Outputs that the sinks got: of a run that fails, the batches before.
#[derive(Default)]
struct Outputs {
    pairs: Vec<[Block; 2]>,
    choices: Vec<bool>,
    keys: Vec<Block>,
}

/// One run of random OTs.
fn engines<'a>(
    (sender, receiver): &'a mut (Sender, Receiver),
    choice: &'a Choice,
    Outputs { pairs, choices, keys }: &'a mut Outputs,
) -> [Engine<'a, ()>; 2] {
    let sender = Engine::new(|io| async move {
        let sink = |some: &[[Block; 2]]| {
            pairs.extend_from_slice(some);
            Ok(())
        };
        sender.random(&io, Shape::of(choice), sink).await
    });
    let receiver = Engine::new(|io| async move {
        let sink = |bits: &Bits, some: &[Block]| {
            choices.extend((0..bits.len()).map(|i| bool::from(bits.get(i))));
            keys.extend_from_slice(some);
            Ok(())
        };
        receiver.run(&io, choice, OtKind::Random, sink).await
    });
    [sender, receiver]
}

/// The run over a channel that may change messages or lose them.
fn run_over(
    parties: &mut (Sender, Receiver),
    choice: &Choice,
    outputs: &mut Outputs,
    mut channel: impl FnMut(PairParty, u8, Vec<u8>) -> Option<Vec<u8>>,
) -> Result<(), Failed<Error>> {
    let [sender, receiver] = engines(parties, choice, outputs);
    let channel = |party, stream, message| {
        channel(party, stream, message).map(|message| (stream, message)).into_iter().collect()
    };
    Pair::new(sender, receiver).run_over(channel).map(|((), ())| ())
}

fn assert_fits(outputs: &Outputs) {
    let Outputs { pairs, choices, keys } = outputs;
    assert_eq!((pairs.len(), keys.len()), (choices.len(), choices.len()));
    for ((pair, &choice), key) in pairs.iter().zip(choices).zip(keys) {
        assert_eq!(&pair[usize::from(choice)], key);
        assert_ne!(&pair[usize::from(!choice)], key);
    }
}

/// Set-up and run after run, with the same base OTs; the bytes that sender and receiver sent.
fn run(
    plan: ExtensionPlan<'static>,
    runs: &[Choice],
    threads: [usize; 2],
) -> (Outputs, [usize; 2]) {
    let mut sent = [0; 2];
    let mut count =
        |party, message: &Vec<u8>| sent[usize::from(party == PairParty::Receiver)] += message.len();
    let parties = set_up(plan, threads).run_through(|party, message| {
        count(party, &message);
        message
    });
    let (mut parties, mut outputs) = (parties.unwrap(), Outputs::default());
    for choice in runs {
        let channel = |party, _, message| {
            count(party, &message);
            Some(message)
        };
        run_over(&mut parties, choice, &mut outputs, channel).unwrap();
    }
    assert_fits(&outputs);
    (outputs, sent)
}

#[test]
fn more_batches_than_may_be_on_their_way_arrive_in_order() {
    let n = (WINDOW + 3) * BATCH + 5;
    for name in ["softspoken-2", "softspoken-8"] {
        let plan = plan(name, Adversary::Malicious, "roted-endemic");
        let (outputs, _) = run(plan, &[Choice::Random(n)], [1, 1]);
        assert_eq!(outputs.choices.len(), n);
    }
}

#[test]
fn parties_may_have_different_numbers_of_threads() {
    let choice = Choice::Random((2 * WINDOW + 3) * BATCH + 5);
    for adversary in [Adversary::Malicious, Adversary::SemiHonest] {
        let plan = plan("softspoken-2", adversary, "roted-endemic");
        for threads in [[1, 100], [2, 3], [3, 1], [8, 8], [100, 2]] {
            let mut parties = set_up(plan, threads).run().unwrap();
            let mut outputs = Outputs::default();
            let [sender, receiver] = engines(&mut parties, &choice, &mut outputs);
            // A window of batches is on its way with no more room than the limits.
            narrow::run(sender, receiver);
            assert_eq!(outputs.keys.len(), Shape::of(&choice).n());
            assert_fits(&outputs);
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
        let (outputs, _) = run(plan(name, adversary, "roted-endemic"), &runs, [1, 1]);
        let chosen = (0..70_000).map(|i| bool::from(given.get(i)));
        assert!(chosen.eq(outputs.choices[1000..71_000].iter().copied()), "{name}");
    }
}

#[test]
fn sent_bytes_match_the_announcement_also_over_random_base_ots() {
    for base in ["roted", "roted-endemic"] {
        let n = 100_000;
        let plan = plan("softspoken-3", Adversary::Malicious, base);
        let (_, sent) = run(plan, &[Choice::Random(n)], [1, 1]);
        let info = plan.base.info();
        let sender = plan.extension.sender_bytes(n) + (info.receiver_bytes)(ROWS);
        let receiver = plan.extension.receiver_bytes(n) + (info.sender_bytes)(ROWS);
        assert_eq!(sent, [sender, receiver]);
    }
}

#[test]
fn correlated_rows_differ_by_delta_where_the_choice_is_one() {
    let plan = plan("softspoken", Adversary::Malicious, "roted-endemic");
    let (mut sender, mut receiver) = set_up(plan, [1, 1]).run().unwrap();
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let ours = Engine::new(|io| async move {
        let sink = |rows: &[Block]| {
            sent.extend_from_slice(rows);
            Ok(())
        };
        sender.correlated(&io, Shape::random(2000), sink).await.map(|()| sent)
    });
    let theirs = Engine::new(|io| async move {
        let sink = |choices: &Bits, rows: &[Block]| {
            received.extend((0..).zip(rows).map(|(i, row)| (bool::from(choices.get(i)), *row)));
            Ok(())
        };
        receiver.run(&io, &Choice::Random(2000), OtKind::Correlated, sink).await.map(|()| received)
    });
    let (sent, received) = Pair::new(ours, theirs).run().unwrap();
    assert_eq!((sent.len(), received.len()), (2000, 2000));
    let sums = sent.into_iter().zip(received);
    let sums = sums.map(|(q, (b, t))| (b, u128::from_le_bytes(q) ^ u128::from_le_bytes(t)));
    let (ones, zeros): (Vec<_>, Vec<_>) = sums.partition(|(b, _)| *b);
    assert!(zeros.iter().all(|(_, sum)| *sum == 0));
    assert!(ones.iter().all(|(_, sum)| *sum == ones[0].1 && *sum != 0));
}

/// Other choices for one of the rows in the second of two batches. Returns OTs that the sender put out.
fn cheat_in_the_second_batch(threads: usize) -> usize {
    let n = 70_000;
    let plan = plan("kos", Adversary::Malicious, "roted-endemic");
    let mut parties = set_up(plan, [threads; 2]).run().unwrap();
    let (choice, mut outputs) =
        (Choice::Given(Bits::from_bools((0..n).map(|_| false))), Outputs::default());
    let mut batches = 0;
    let failed = run_over(&mut parties, &choice, &mut outputs, |party, stream, mut message| {
        if (party, stream) == (PairParty::Receiver, 0) {
            batches += 1;
            let n: usize = if batches == 1 { BATCH } else { n - BATCH };
            let spoilt = u8::from(batches == 2);
            for row in message[32..].chunks_mut((n + 64).next_multiple_of(512) / 8) {
                row[0] ^= spoilt;
            }
            message[32] ^= spoilt;
        }
        Some(message)
    });
    let error = Misbehaved::ConsistencyCheck.into();
    assert_eq!(failed, Err(Failed::Party(PairParty::Sender, error)));
    assert_eq!(batches, 2);
    outputs.pairs.len()
}

#[test]
fn a_receiver_that_cheats_gets_no_further() {
    assert_eq!(cheat_in_the_second_batch(1), BATCH);
}

/// Batches that are checked together come out together, or not at all.
#[test]
fn a_cheat_in_one_batch_of_a_group_leaves_no_output_of_the_others() {
    assert_eq!(cheat_in_the_second_batch(8), 0);
}

#[test]
fn a_receiver_runs_ahead_by_a_window_and_no_more() {
    // docs/wire: R7-3.
    let plan = plan("softspoken-2", Adversary::Malicious, "roted-endemic");
    for threads in [1, 2, 8] {
        let mut parties = set_up(plan, [threads; 2]).run().unwrap();
        let mut corrections = 0;
        let choice = Choice::Random(2 * WINDOW * BATCH);
        let stands =
            run_over(&mut parties, &choice, &mut Outputs::default(), |party, stream, message| {
                corrections += usize::from(party == PairParty::Receiver);
                assert_ne!(stream, PROOFS);
                (party == PairParty::Receiver).then_some(message)
            });
        assert_eq!((stands, corrections), (Err(Failed::Stalled), WINDOW));
    }
}

#[test]
fn a_base_ot_that_cannot_carry_the_extension_is_refused_before_anything_is_sent() {
    let raw = base::find("pvw", Functionality::ChosenMessage).unwrap();
    let plan =
        ExtensionPlan { base: raw, ..plan("softspoken", Adversary::Malicious, "roted-endemic") };
    let why = Incompatible::Functionality(Functionality::ChosenMessage);
    let expected = Error::from(Usage::Incompatible(why));
    let mut sender = Engine::new(|io| sender(io, plan, 1));
    assert_eq!(sender.advance().unwrap_err(), expected);
    assert_eq!(sender.outgoing(), None);
    let mut receiver = Engine::new(|io| receiver(io, plan, 1));
    assert_eq!(receiver.advance().unwrap_err(), expected);
    assert_eq!(receiver.outgoing(), None);
}

/// Asserts that the party refuses another run before it sends or receives anything.
fn assert_ended(mut engine: Engine<'_, ()>) {
    assert_eq!(engine.advance(), Err(Usage::SessionEnded.into()));
    assert_eq!(engine.outgoing(), None);
}

#[test]
fn after_a_run_that_failed_or_was_dropped_there_are_no_further_runs() {
    let plan = plan("softspoken", Adversary::Malicious, "roted-endemic");
    let (mut sender, mut receiver) = set_up(plan, [1, 1]).run().unwrap();
    let shape = Shape::random(100_000);
    let choice = Choice::Random(100_000);
    // The sender's sink fails, and the receiver's run is dropped where it waits.
    let full = Engine::new(|io| {
        let sender = &mut sender;
        async move { sender.random(&io, shape, |_| Err(Abandoned)).await }
    });
    let late = Engine::new(|io| {
        let (receiver, choice) = (&mut receiver, &choice);
        async move { receiver.run(&io, choice, OtKind::Random, |_, _| Ok(())).await }
    });
    let failed = Pair::new(full, late).run().unwrap_err();
    assert_eq!(failed, (PairParty::Sender, Usage::Abandoned.into()));
    assert_ended(Engine::new(|io| {
        let sender = &mut sender;
        async move { sender.random(&io, Shape::random(1), |_| Ok(())).await }
    }));
    assert_ended(Engine::new(|io| {
        let receiver = &mut receiver;
        async move { receiver.run(&io, &Choice::Random(1), OtKind::Random, |_, _| Ok(())).await }
    }));
}
