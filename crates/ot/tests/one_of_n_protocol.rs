//! The protocol of a 1-of-N extension, both parties in one thread: outputs, messages, cheaters and runs that fail.

use foxtrot_ot::{
    Context, Direction, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{self, Adversary, Block, Functionality},
    engine::{
        Abandoned, Engine, Io,
        batches::{PROOFS, WINDOW},
    },
    extension::{
        Incompatible,
        one_of_n::{
            self,
            protocol::{OneOfNPlan, Receiver, Sender, Shape},
        },
    },
    pair::{Failed, Pair, PairParty},
};

fn session() -> Session {
    Session::new(Sid::from_bytes([8; 32]))
}

async fn sender(io: Io, plan: OneOfNPlan<'_>) -> Result<Sender, Error> {
    Sender::set_up(&io, &mut Context::new(&session(), Seed::from_bytes([1; 32])), plan).await
}

async fn receiver(io: Io, plan: OneOfNPlan<'_>) -> Result<Receiver, Error> {
    Receiver::set_up(&io, &mut Context::new(&session(), Seed::from_bytes([2; 32])), plan).await
}

fn plan(name: &str, adversary: Adversary) -> OneOfNPlan<'static> {
    OneOfNPlan {
        extension: one_of_n::find(name, adversary).unwrap(),
        base: base::find("roted", Functionality::Endemic).unwrap(),
        direction: Direction::InitiatorSends,
        counter: 0,
    }
}

fn set_up(plan: OneOfNPlan<'static>) -> Pair<'static, Sender, Receiver> {
    Pair::new(Engine::new(move |io| sender(io, plan)), Engine::new(move |io| receiver(io, plan)))
}

/// The choices of a run.
fn choices(shape: Shape) -> impl Iterator<Item = u64> {
    (0..shape.n as u64).map(move |i| 31 * i % shape.choices as u64)
}

fn words(plan: &OneOfNPlan<'_>, shape: Shape) -> Vec<u8> {
    choices(shape).flat_map(|choice| plan.extension.parameters().word(choice).unwrap()).collect()
}

/// One run over a channel that may change messages or lose them. Sinks get the keys of the sender and of the receiver.
fn run_over(
    (sender, receiver): &mut (Sender, Receiver),
    (shape, words): (Shape, &[u8]),
    sinks: [&mut Vec<Block>; 2],
    mut channel: impl FnMut(PairParty, u8, Vec<u8>) -> Option<Vec<u8>>,
) -> Result<(), Failed<Error>> {
    let [all, chosen] = sinks;
    let sender = Engine::new(|io| async move {
        let sink = |keys: &[Block]| {
            all.extend_from_slice(keys);
            Ok(())
        };
        sender.run(&io, shape, sink).await
    });
    let receiver = Engine::new(|io| async move {
        let sink = |keys: &[Block]| {
            chosen.extend_from_slice(keys);
            Ok(())
        };
        receiver.run(&io, shape, words, sink).await
    });
    let channel = |party, stream, message| {
        channel(party, stream, message).map(|message| (stream, message)).into_iter().collect()
    };
    Pair::new(sender, receiver).run_over(channel).map(|((), ())| ())
}

/// Set-up and run after run, with the same base OTs; the bytes that sender and receiver sent.
fn run(plan: OneOfNPlan<'static>, runs: &[Shape]) -> [usize; 2] {
    let mut sent = [0; 2];
    let mut count = |party, message: &Vec<u8>| {
        sent[usize::from(party == PairParty::Receiver)] += message.len();
    };
    let parties = set_up(plan).run_through(|party, message| {
        count(party, &message);
        message
    });
    let mut parties = parties.unwrap();
    for shape in runs {
        let (mut all, mut chosen) = (Vec::new(), Vec::new());
        let channel = |party, _, message| {
            count(party, &message);
            Some(message)
        };
        let words = words(&plan, *shape);
        run_over(&mut parties, (*shape, &words), [&mut all, &mut chosen], channel).unwrap();
        assert_eq!((all.len(), chosen.len()), (shape.n * shape.choices, shape.n));
        let of_each = all.chunks(shape.choices).zip(choices(*shape));
        for ((keys, choice), key) in of_each.zip(chosen) {
            assert_eq!(keys[usize::try_from(choice).unwrap()], key);
        }
    }
    sent
}

#[test]
fn one_set_of_base_ots_serves_runs_of_many_batches() {
    // 1024 to a batch, then 16320: more than may be on their way.
    const RUNS: [Shape; 3] = [
        Shape { n: 11_000, choices: 1000 },
        Shape { n: 1, choices: 65_536 },
        Shape { n: 200_000, choices: 3 },
    ];
    for (name, adversary) in [("oos", Adversary::Malicious), ("kkrt", Adversary::SemiHonest)] {
        run(plan(name, adversary), &RUNS);
    }
    run(plan("oos-802", Adversary::Malicious), &RUNS[1..2]);
}

#[test]
fn sent_bytes_match_the_announcement() {
    let plan = plan("oos", Adversary::Malicious);
    let sent = run(plan, &[Shape { n: 20_000, choices: 2 }]);
    let (extension, base) = (plan.extension, plan.base.info());
    let sender = extension.sender_bytes(20_000) + (base.receiver_bytes)(512);
    let receiver = extension.receiver_bytes(20_000) + (base.sender_bytes)(512);
    assert_eq!(sent, [sender, receiver]);
}

#[test]
fn a_base_ot_that_is_not_enough_is_refused_before_anything_is_sent() {
    let raw = base::find("pvw", Functionality::ChosenMessage).unwrap();
    let plan = OneOfNPlan { base: raw, ..plan("oos", Adversary::Malicious) };
    let why = Incompatible::Functionality(Functionality::ChosenMessage);
    let expected = Error::from(Usage::Incompatible(why));
    let mut sender = Engine::new(|io| sender(io, plan));
    assert_eq!(sender.advance().unwrap_err(), expected);
    assert_eq!(sender.outgoing(), None);
    let mut receiver = Engine::new(|io| receiver(io, plan));
    assert_eq!(receiver.advance().unwrap_err(), expected);
    assert_eq!(receiver.outgoing(), None);
}

#[test]
fn a_receiver_runs_ahead_by_a_window_and_no_more() {
    // docs/wire: R10-2.
    let plan = plan("oos", Adversary::Malicious);
    let shape = Shape { n: 200_000, choices: 2 };
    let mut parties = set_up(plan).run().unwrap();
    let words = words(&plan, shape);
    let (mut all, mut chosen, mut corrections) = (Vec::new(), Vec::new(), 0);
    let sinks = [&mut all, &mut chosen];
    let stands = run_over(&mut parties, (shape, &words), sinks, |party, stream, message| {
        assert_ne!(stream, PROOFS);
        corrections += usize::from(party == PairParty::Receiver);
        (party == PairParty::Receiver).then_some(message)
    });
    assert_eq!((stands, corrections), (Err(Failed::Stalled), WINDOW));
    assert_eq!((all.len(), chosen.len()), (0, 0));
}

/// Asserts that the party refuses another run before it sends or receives anything.
fn assert_ended(mut engine: Engine<'_, ()>) {
    assert_eq!(engine.advance(), Err(Usage::SessionEnded.into()));
    assert_eq!(engine.outgoing(), None);
}

/// A receiver that sends noise for corrections, and a proof that fits nothing.
#[test]
fn a_sender_ends_at_a_wrong_proof_and_has_no_further_runs() {
    let plan = plan("oos", Adversary::Malicious);
    let mut parties = set_up(plan).run().unwrap();
    let shape = Shape { n: 10, choices: 4 };
    let words = words(&plan, shape);
    let (mut all, mut chosen) = (Vec::new(), Vec::new());
    let sinks = [&mut all, &mut chosen];
    let failed = run_over(&mut parties, (shape, &words), sinks, |party, stream, mut message| {
        match (party, stream) {
            (PairParty::Receiver, 0) => message.fill(0x5a),
            (PairParty::Receiver, _) => message.fill(0xa5),
            (PairParty::Sender, _) => {}
        }
        Some(message)
    });
    let error = Misbehaved::ConsistencyCheck.into();
    assert_eq!(failed, Err(Failed::Party(PairParty::Sender, error)));
    assert!(all.is_empty());
    let (sender, _) = &mut parties;
    assert_ended(Engine::new(|io| async move { sender.run(&io, shape, |_| Ok(())).await }));
}

#[test]
fn after_a_run_that_was_dropped_or_whose_sink_failed_there_are_no_further_runs() {
    let plan = plan("oos", Adversary::Malicious);
    let shape = Shape { n: 100, choices: 4 };
    let words = &words(&plan, shape);
    let again = |sender: &mut Sender, receiver: &mut Receiver| {
        assert_ended(Engine::new(|io| async move { sender.run(&io, shape, |_| Ok(())).await }));
        assert_ended(Engine::new(
            |io| async move { receiver.run(&io, shape, words, |_| Ok(())).await },
        ));
    };
    let mut parties = set_up(plan).run().unwrap();
    let (mut all, mut chosen) = (Vec::new(), Vec::new());
    let sinks = [&mut all, &mut chosen];
    let lost = run_over(&mut parties, (shape, words), sinks, |_, _, _| None);
    assert_eq!(lost, Err(Failed::Stalled));
    again(&mut parties.0, &mut parties.1);

    // The sender's sink fails, and the receiver's run is dropped where it waits.
    let shape = Shape { n: 40_000, ..shape };
    let words = &self::words(&plan, shape);
    let (mut sender, mut receiver) = set_up(plan).run().unwrap();
    let full = Engine::new(|io| {
        let sender = &mut sender;
        async move { sender.run(&io, shape, |_| Err(Abandoned)).await }
    });
    let late = Engine::new(|io| {
        let receiver = &mut receiver;
        async move { receiver.run(&io, shape, words, |_| Ok(())).await }
    });
    let failed = Pair::new(full, late).run().unwrap_err();
    assert_eq!(failed, (PairParty::Sender, Usage::Abandoned.into()));
    again(&mut sender, &mut receiver);
}
