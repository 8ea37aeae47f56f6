//! The protocol of triples from ring-LWE, both parties in one thread: shares, how far a party runs ahead, and what
//! comes in place of messages.

use crate::support::narrow;

use core::ops::Range;
use std::{sync::Arc, thread};

use foxtrot_ot::{
    Context, Decode, Seed, Session, Sid, Usage,
    base::{BaseOt, roted::Endemic},
    engine::{Abandoned, Engine, Limits, Stream},
    extension::{ROWS, Shape},
    pair::{Failed, Pair, PairParty},
    tasks::{Executor, Task},
};
use foxtrot_triples::{
    Error, Shares,
    formats::{record_len, write_records, wrong_records},
    params::{self, Set},
    rlwe::protocol::{self, RlwePlan},
};

fn set(bits: u32) -> &'static Set {
    params::of_bits(bits).unwrap()
}

fn lift() -> &'static Set {
    params::find("rlwe-lift-8").unwrap()
}

/// An executor that starts that many threads for each task.
#[derive(Debug)]
struct Threads(usize);

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        thread::scope(|scope| tasks.into_iter().for_each(|task| drop(scope.spawn(task))));
    }
}

type Run = Engine<'static, Vec<u8>, Error>;

/// A party's records. Its sink fails at batch `room`.
fn party(plan: RlwePlan, threads: usize, mut room: usize) -> Run {
    Engine::new(move |io| async move {
        let session = Session::new(Sid::from_bytes([9; 32]));
        let session = session.with_executor(Arc::new(Threads(threads)));
        let (set, seed) = (plan.set, Seed::from_bytes([u8::from(plan.we_are_initiator); 32]));
        let mut context = Context::new(&session, seed);
        let party = protocol::RlweRun::set_up(&io, &mut context, plan).await?;
        let mut records = Vec::new();
        let sink = |shares: &Shares| {
            let start = records.len();
            records.resize(start + shares.len() * record_len(set.bits()), 0);
            write_records(shares, &mut records[start..]);
            room -= 1;
            if room == 0 { Err(Abandoned) } else { Ok(()) }
        };
        party.run(&io, sink).await?;
        Ok(records)
    })
}

/// The initiator and the responder.
fn parties(set: &'static Set, batches: &Range<u64>, threads: [usize; 2]) -> [Run; 2] {
    let plan = |we_are_initiator| RlwePlan { set, we_are_initiator, batches: batches.clone() };
    let [ours, theirs] = threads;
    [party(plan(true), ours, usize::MAX), party(plan(false), theirs, usize::MAX)]
}

/// The initiator as the pair's sender, and the responder.
fn pair(
    set: &'static Set,
    batches: &Range<u64>,
    threads: [usize; 2],
) -> Pair<'static, Vec<u8>, Vec<u8>, Error> {
    let [ours, theirs] = parties(set, batches, threads);
    Pair::new(ours, theirs)
}

/// All batches, over a connection that has no more room than the limits.
fn run(set: &'static Set, batches: Range<u64>, threads: [usize; 2]) {
    let [ours, theirs] = parties(set, &batches, threads);
    let (ours, theirs) = narrow::run(ours, theirs);
    let all = usize::try_from(batches.end - batches.start).unwrap() * set.usable();
    assert_eq!(ours.len(), all * record_len(set.bits()));
    assert_eq!(wrong_records(set.bits(), &ours, &theirs).next(), None, "{set:?}, {batches:?}");
}

#[test]
fn both_get_shares_of_the_same_triples_for_every_length() {
    for bits in [8, 16, 32, 64] {
        run(set(bits), 0..3, [1, 1]);
    }
    run(lift(), 0..3, [1, 1]);
}

#[test]
fn a_run_may_start_at_any_batch() {
    for batches in [0..0, 0..1, 1..2, 5..7, 8..26, 3..44, 1..132] {
        run(set(8), batches, [1, 1]);
    }
    run(lift(), 3..44, [1, 1]);
}

#[test]
fn the_parties_may_have_different_numbers_of_threads() {
    for threads in [[1, 8], [3, 1], [5, 2], [100, 4]] {
        run(set(8), 0..137, threads);
        run(lift(), 0..37, threads);
    }
}

/// Returns the bounds of what is on its way.
fn limits(set: &'static Set) -> Limits {
    let mut party = party(RlwePlan { set, we_are_initiator: true, batches: 0..1 }, 1, usize::MAX);
    party.advance().unwrap();
    party.limits()
}

fn depth(set: &'static Set) -> usize {
    limits(set).messages / 2
}

/// Checks that at 100 Mbit/s a depth takes longer than there and back on a line of 100 ms; and that it is as
/// short as that allows.
#[test]
fn a_depth_fills_a_link_of_100_ms_and_has_room_in_a_lane() {
    for set in params::registry() {
        let Limits { messages, len, .. } = limits(set);
        assert!(messages * (len + 64) <= 64 << 20, "{set:?}");
        let (bytes, depth) = (set.batch_bytes(), messages / 2);
        let bits = 8 * depth * bytes.iter().sum::<usize>();
        assert!(bits >= 30_000_000, "{set:?}");
        assert!(depth == 8 || bits < 60_000_000, "{set:?}");
        assert!(bytes[1].max(set.correction_len()) < set.request_len(), "{set:?}");
    }
    assert_eq!([8, 16, 32, 64].map(|bits| depth(set(bits))), [32, 16, 8, 8]);
}

/// Withholds answers without the fix, and corrections with it: then one depth more is on its way.
#[test]
fn a_party_runs_ahead_by_two_or_three_depths_and_a_group_and_no_more() {
    for set in [lift(), set(8)] {
        for group in [1, 8] {
            stands_still(set, group);
        }
    }
}

fn stands_still(set: &'static Set, group: usize) {
    let (depth, with_fix) = (depth(set), set.fix().is_some());
    // Answers that the party, the responder, gets; its own requests, answers and corrections then.
    let answered = if with_fix { depth + group } else { 0 };
    let requests = if with_fix { 3 * depth + group } else { 2 * depth + group };
    let (responses, corrections) = (requests - depth, answered);
    // The first batch is the peer's, and of a set without fix it is done; the next one is not.
    let opened = if with_fix { 0 } else { record_len(set.bits()) };
    // What comes from the peer by stream: a key and requests, answers, base OTs, base OTs and corrections of OTs.
    let mut room = [1 + responses, answered, 1, 2 + answered, 0];
    if !with_fix {
        room = [1 + responses, 0, 0, 0, 0];
    }
    let mut sent = 0;
    let stands = pair(set, &(0..400), [1, group]).run_over(|from, stream, message| {
        let room = &mut room[usize::from(stream)];
        match from {
            PairParty::Receiver => sent += message.len(),
            PairParty::Sender if *room == 0 => return Vec::new(),
            PairParty::Sender => *room -= 1,
        }
        vec![(stream, message)]
    });
    assert_eq!(stands, Err(Failed::Stalled));
    assert_eq!(room, [0; 5], "the peer has sent all that the party gets");
    let base = Endemic.info();
    let (mut set_up, mut ots) = (0, 0);
    if let Some(fix) = set.fix() {
        set_up = (base.receiver_bytes)(ROWS) + (base.sender_bytes)(ROWS) + fix.setup_len();
        ots = responses * fix.corrections_len(Shape::random(set.n()));
    }
    let all = set.public_key_len()
        + set_up
        + requests * set.request_len()
        + responses * set.response_len()
        + ots
        + corrections * set.correction_len()
        + opened;
    assert_eq!(sent, all, "{set:?}, {group}");
}

/// Returns the end of the responder when message i of that stream of the initiator is another one.
fn against(set: &'static Set, (of, i): (Stream, usize), other: Vec<u8>) -> Error {
    let mut number = 0..;
    let ended = pair(set, &(0..4), [1, 1]).run_over(|from, stream, mut message| {
        if (from, stream) == (PairParty::Sender, of) && number.next() == Some(i) {
            message.clone_from(&other);
        }
        vec![(stream, message)]
    });
    match ended {
        Err(Failed::Party(PairParty::Receiver, error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn malformed_messages_are_the_peers_fault() {
    let base = Endemic.info();
    let [blinded, reply] = [base.receiver_bytes, base.sender_bytes].map(|len| len(ROWS));
    let fix = set(8).fix().unwrap();
    for (set, message, expected, may_be_noise) in [
        (lift(), (0, 0), lift().public_key_len(), false),
        (lift(), (0, 1), lift().request_len(), false),
        (lift(), (1, 0), lift().response_len(), false),
        (lift(), (2, 0), record_len(8), true),
        (set(8), (2, 0), blinded, false),
        (set(8), (3, 0), reply, true),
        (set(8), (3, 1), fix.setup_len(), true),
        (set(8), (3, 2), fix.corrections_len(Shape::random(set(8).n())), true),
        (set(8), (2, 1), set(8).correction_len(), true),
        (set(8), (4, 0), record_len(8), true),
    ] {
        for got in [0, 5] {
            let error = against(set, message, vec![0; got]);
            let length = |error: &Error| match error {
                Error::Protocol(foxtrot_ot::Error::Decode(Decode::Length {
                    expected,
                    got,
                    ..
                })) => Some((*expected, *got)),
                _ => None,
            };
            assert_eq!(length(&error), Some((expected, got)), "{set:?}, {message:?}: {error}");
        }
        if !may_be_noise {
            let error = against(set, message, vec![0xff; expected]);
            assert!(matches!(error, Error::Protocol(foxtrot_ot::Error::Decode(_))), "{error}");
        }
    }
}

#[test]
fn a_sink_that_has_no_room_ends_the_run() {
    let plan = |we_are_initiator| RlwePlan { set: set(8), we_are_initiator, batches: 0..40 };
    let ended = Pair::new(party(plan(true), 1, usize::MAX), party(plan(false), 1, 3)).run();
    assert_eq!(ended, Err((PairParty::Receiver, Usage::Abandoned.into())));
}
