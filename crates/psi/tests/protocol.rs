//! The protocol of PaXoS, both parties in one thread: the intersection, messages, and a receiver that cheats.

use foxtrot_ot::{
    Context, Direction, Misbehaved, Seed, Session, Sid, Usage,
    base::{self, Adversary, Functionality},
    engine::{
        Engine, Io,
        batches::{PROOFS, WINDOW},
    },
    extension::Incompatible,
    pair::{Failed, Pair, PairParty},
};
use foxtrot_psi::{
    Digest, Error,
    method::protocol::{IntersectionPlan, Progress, Receiver, Sender},
    paxos::Parameters,
};

fn session() -> Session {
    Session::new(Sid::from_bytes([8; 32]))
}

fn plan(parameters: Parameters) -> IntersectionPlan<'static> {
    let base = base::find("roted", Functionality::Endemic).unwrap();
    IntersectionPlan {
        parameters: parameters.into(),
        base,
        direction: Direction::InitiatorSends,
        counter: 0,
    }
}

fn digest(k: usize) -> Digest {
    let mut digest = [0x33; 32];
    digest[..8].copy_from_slice(&(k as u64).to_le_bytes());
    digest
}

async fn sender(io: Io, plan: IntersectionPlan<'_>) -> Result<Sender, Error> {
    Sender::set_up(&io, &mut Context::new(&session(), Seed::from_bytes([1; 32])), plan).await
}

async fn receiver(io: Io, plan: IntersectionPlan<'_>) -> Result<Receiver, Error> {
    Receiver::set_up(&io, &mut Context::new(&session(), Seed::from_bytes([2; 32])), plan).await
}

/// Asserts that progress is made from step to step up to the end, and says whether it has come there.
#[derive(Default)]
struct Steps {
    done: usize,
    of: usize,
}

impl Steps {
    fn add(&mut self, progress: Progress) {
        assert!(progress.done > self.done && progress.done <= progress.of);
        (self.done, self.of) = (progress.done, progress.of);
    }
}

/// Both parties over a channel that may change messages or lose them; the receiver's result.
#[expect(clippy::panic_in_result_fn, reason = "both have told all their steps")]
fn run_over(
    plan: IntersectionPlan<'static>,
    [ours, theirs]: [Vec<Digest>; 2],
    mut channel: impl FnMut(PairParty, u8, Vec<u8>) -> Option<Vec<u8>>,
) -> Result<Vec<usize>, Failed<Error>> {
    let sender = Engine::new(|io| async move {
        let mut steps = Steps::default();
        sender(io.clone(), plan).await?.run(&io, theirs, &mut |it| steps.add(it)).await?;
        Ok(steps)
    });
    let receiver = Engine::new(|io| async move {
        let mut steps = Steps::default();
        let received =
            receiver(io.clone(), plan).await?.run(&io, ours, &mut |it| steps.add(it)).await?;
        Ok((steps, received))
    });
    let channel = |party, stream, message| {
        channel(party, stream, message).map(|message| (stream, message)).into_iter().collect()
    };
    let (sent, (steps, received)) = Pair::new(sender, receiver).run_over(channel)?;
    assert_eq!((sent.done, steps.done), (sent.of, steps.of));
    assert_eq!(sent.of, steps.of);
    received.intersect().map_err(|e| Failed::Party(PairParty::Receiver, e))
}

/// The receiver's result, and the bytes that sender and receiver sent.
fn run(adversary: Adversary, sets: [Vec<Digest>; 2]) -> (Vec<usize>, [usize; 2]) {
    let plan = plan(Parameters::new(adversary, sets[0].len(), sets[1].len()).unwrap());
    let mut sent = [0; 2];
    let indices = run_over(plan, sets, |party, _, message| {
        sent[usize::from(party == PairParty::Receiver)] += message.len();
        Some(message)
    });
    (indices.unwrap(), sent)
}

#[test]
fn the_receiver_gets_the_indices_of_common_items() {
    for adversary in [Adversary::Malicious, Adversary::SemiHonest] {
        let ours = (0..40_000).map(|k| digest(3 * k)).collect();
        let theirs = (0..30_000).map(|k| digest(5 * k)).collect();
        let (indices, sent) = run(adversary, [ours, theirs]);
        let expected = (0..40_000).filter(|k| 3 * k % 5 == 0 && 3 * k / 5 < 30_000);
        assert!(indices.into_iter().eq(expected), "{adversary:?}");

        let parameters = Parameters::new(adversary, 40_000, 30_000).unwrap();
        let (info, base) = (plan(parameters).base.info(), parameters.base_ots());
        let sender = parameters.sender_bytes() + (info.receiver_bytes)(base);
        let receiver = parameters.receiver_bytes() + (info.sender_bytes)(base);
        assert_eq!(sent, [sender, receiver]);
    }
}

#[test]
fn sets_may_be_empty() {
    for (ours, theirs) in [(0, 0), (0, 3), (3, 0), (1, 1)] {
        let sets = [ours, theirs].map(|n| (0..n).map(digest).collect());
        let (indices, _) = run(Adversary::Malicious, sets);
        assert!(indices.into_iter().eq(0..ours.min(theirs)));
    }
}

#[test]
fn a_set_of_the_wrong_size_is_refused_before_any_message() {
    let plan = plan(Parameters::new(Adversary::Malicious, 2, 2).unwrap());
    let parties = Pair::new(
        Engine::new(move |io| sender(io, plan)),
        Engine::new(move |io| receiver(io, plan)),
    );
    let (sender, receiver) = parties.run().unwrap();
    let expected = Error::from(Usage::CountMismatch { what: "items", expected: 2, got: 1 });
    let mut sender =
        Engine::new(|io| async move { sender.run(&io, vec![digest(1)], &mut |_| ()).await });
    assert_eq!(sender.advance().unwrap_err(), expected);
    assert_eq!(sender.outgoing(), None);
    let mut receiver =
        Engine::new(|io| async move { receiver.run(&io, vec![digest(1)], &mut |_| ()).await });
    assert_eq!(receiver.advance().unwrap_err(), expected);
    assert_eq!(receiver.outgoing(), None);
}

#[test]
fn a_base_ot_that_is_not_enough_is_refused_before_anything_is_sent() {
    let raw = base::find("pvw", Functionality::ChosenMessage).unwrap();
    let plan = IntersectionPlan {
        base: raw,
        ..plan(Parameters::new(Adversary::Malicious, 2, 2).unwrap())
    };
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
fn a_receiver_that_cheats_gets_no_tags() {
    // docs/wire: R13-4.
    let parameters = Parameters::new(Adversary::Malicious, 100, 100).unwrap();
    let sets = [(); 2].map(|()| (0..100).map(digest).collect());
    let corrections = parameters.extension().corrections_len(parameters.slots());
    let (mut spoilt, mut from_sender) = (0, Vec::new());
    let failed = run_over(plan(parameters), sets, |party, _, mut message| {
        if party == PairParty::Sender {
            from_sender.push(message.len());
        } else if message.len() == corrections {
            // Another word in the first slot: in every row that has its codeword's bits.
            let stride = message.len() / parameters.base_ots();
            message.chunks_mut(stride).for_each(|row| row[0] ^= 1);
            spoilt += 1;
        }
        Some(message)
    });
    let error = Misbehaved::ConsistencyCheck.into();
    assert_eq!(failed, Err(Failed::Party(PairParty::Sender, error)));
    assert_eq!(spoilt, 1);
    // Base OTs and a challenge.
    let info = plan(parameters).base.info();
    let base = (info.receiver_bytes)(parameters.base_ots());
    assert_eq!(from_sender.iter().sum::<usize>(), base + 32);
}

#[test]
fn a_receiver_runs_ahead_by_a_window_and_no_more() {
    // docs/wire: R13-3.
    let parameters = Parameters::new(Adversary::Malicious, 150_000, 1).unwrap();
    assert!(parameters.buckets() == 1 && parameters.batches().count() > WINDOW);
    let sets = [150_000, 1].map(|n| (0..n).map(digest).collect());
    let first = parameters.extension().corrections_len(parameters.batches().next().unwrap());
    let mut corrections = 0;
    let stands = run_over(plan(parameters), sets, |party, stream, message| {
        assert_ne!(stream, PROOFS);
        corrections += usize::from(party == PairParty::Receiver && message.len() == first);
        // Challenges are lost.
        (party == PairParty::Receiver || message.len() != 32).then_some(message)
    });
    assert_eq!((stands, corrections), (Err(Failed::Stalled), WINDOW));
}
