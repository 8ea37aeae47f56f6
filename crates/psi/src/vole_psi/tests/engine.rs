//! The whole protocol, both parties in one thread.

use std::vec;

use foxtrot_ot::{
    Context, Direction, Misbehaved,
    base::{self, Functionality},
    engine::Engine,
    extension::Incompatible,
    pair::{Failed, Pair, PairParty},
};

use super::*;
use crate::{
    Error,
    method::protocol::{self, IntersectionPlan, Progress},
};

fn plan(parameters: Parameters) -> IntersectionPlan<'static> {
    let base = base::find("roted", Functionality::Endemic).unwrap();
    IntersectionPlan {
        parameters: parameters.into(),
        base,
        direction: Direction::InitiatorSends,
        counter: 0,
    }
}

fn session() -> Session {
    Session::new(Sid::from_bytes([8; 32])).with_executor(Arc::new(Threads))
}

/// Asserts that progress is made from step to step.
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

/// Both parties over a channel that may change messages; the receiver's result.
#[expect(clippy::panic_in_result_fn, reason = "both have told all their steps")]
fn run_over(
    plan: IntersectionPlan<'static>,
    [ours, theirs]: [Vec<Digest>; 2],
    mut channel: impl FnMut(PairParty, &mut Vec<u8>),
) -> Result<Vec<usize>, Failed<Error>> {
    let sender = Engine::new(|io| async move {
        let (session, mut steps) = (session(), Steps::default());
        let mut cx = Context::new(&session, seed(1));
        let sender = protocol::Sender::set_up(&io, &mut cx, plan).await?;
        sender.run(&io, theirs, &mut |it| steps.add(it)).await?;
        Ok(steps)
    });
    let receiver = Engine::new(|io| async move {
        let (session, mut steps) = (session(), Steps::default());
        let mut cx = Context::new(&session, seed(2));
        let receiver = protocol::Receiver::set_up(&io, &mut cx, plan).await?;
        let received = receiver.run(&io, ours, &mut |it| steps.add(it)).await?;
        Ok((steps, received))
    });
    let (sent, (steps, received)) =
        Pair::new(sender, receiver).run_over(|party, stream, mut message| {
            channel(party, &mut message);
            vec![(stream, message)]
        })?;
    assert_eq!((sent.done, steps.done, sent.of), (sent.of, steps.of, steps.of));
    received.intersect().map_err(|e| Failed::Party(PairParty::Receiver, e))
}

#[test]
fn a_run_finds_the_intersection_and_takes_the_bytes_that_the_parameters_say() {
    for vole in ALL {
        for (n, buckets) in [(0, 1), (1, 1), (100, 1), (100, 3), (3000, 1)] {
            if n == 3000 && vole == Vole::Packed {
                continue;
            }
            let (ours, theirs) = (digests(0..n), digests(n / 2..2 * n));
            let parameters =
                Parameters::with_buckets(vole, ours.len(), theirs.len(), buckets).unwrap();
            let mut sent = [0; 2];
            let plan = plan(parameters);
            let expected = naive(&ours, &theirs);
            let found = run_over(plan, [ours, theirs], |party, message| {
                sent[usize::from(party == PairParty::Receiver)] += message.len();
            });
            assert_eq!(found.unwrap(), expected, "{parameters:?}");
            let (info, base) = (plan.base.info(), parameters.base_ots());
            let sender = parameters.sender_bytes() + (info.receiver_bytes)(base);
            let receiver = parameters.receiver_bytes() + (info.sender_bytes)(base);
            assert_eq!(sent, [sender, receiver], "{parameters:?}");
        }
    }
}

/// A receiver whose proof is wrong gets no tags; a sender whose answer is wrong gets no sums.
#[test]
fn neither_tags_nor_sums_leave_before_the_checks() {
    // docs/wire: R21-1, R21-4.
    let parameters = Parameters::of(Vole::Silent, 100, 100).unwrap();
    let sets = || [digests(0..100), digests(0..100)];
    let corrections = silent_corrections(&parameters);
    let mut after = 0;
    let failed = run_over(plan(parameters), sets(), |party, message| {
        if party == PairParty::Receiver && message.len() == corrections {
            message[0] ^= 1;
            after = 0;
        }
        after += usize::from(party == PairParty::Sender);
    });
    let error = Misbehaved::ConsistencyCheck.into();
    assert_eq!(failed, Err(Failed::Party(PairParty::Sender, error)));
    assert_eq!(after, 1, "the challenge");

    let (mut answers, mut later) = (0, 0);
    let failed = run_over(plan(parameters), sets(), |party, message| {
        let answer = party == PairParty::Sender && message.len() == 32 && {
            answers += 1;
            answers == 2
        };
        if answer {
            message[0] ^= 1;
        }
        later += usize::from(answers == 2 && party == PairParty::Receiver);
    });
    assert_eq!(failed, Err(Failed::Party(PairParty::Receiver, error)));
    assert_eq!((answers, later), (2, 0), "a challenge and an answer");
}

/// The length of the message of corrections in a run of one batch.
fn silent_corrections(parameters: &Parameters) -> usize {
    let silent = foxtrot_ot::silent::vole();
    let ots = silent.size(parameters.slots()).unwrap().ots;
    silent.extension().corrections_len(foxtrot_ot::extension::Shape::random(ots))
}

#[test]
fn a_base_ot_that_is_not_enough_is_refused_before_anything_is_sent() {
    let raw = base::find("pvw", Functionality::ChosenMessage).unwrap();
    let plan = IntersectionPlan { base: raw, ..plan(Parameters::of(Vole::Silent, 2, 2).unwrap()) };
    let why = Incompatible::Functionality(Functionality::ChosenMessage);
    let session = session();
    let mut sender = Engine::new(|io| async move {
        protocol::Sender::set_up(&io, &mut Context::new(&session, seed(1)), plan).await
    });
    assert_eq!(sender.advance().unwrap_err(), Error::from(Usage::Incompatible(why)));
    assert_eq!(sender.outgoing(), None);
}
