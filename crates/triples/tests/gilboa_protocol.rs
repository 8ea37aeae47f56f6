//! The protocol of triples from OTs, both parties in one thread: shares, bytes, how far a party runs ahead, and what
//! comes in place of messages.

use crate::support::narrow;

use std::{sync::Arc, thread};

use foxtrot_ot::{
    Context, Decode, Seed, Session, Sid, Usage,
    base::{self, BaseOt, roted::Endemic},
    engine::{Abandoned, Engine, Limits, Stream},
    extension::{ROWS, compatible},
    pair::{Failed, Pair, PairParty},
    tasks::{Executor, Task},
};
use foxtrot_triples::{
    Error, Shares,
    formats::{record_len, write_records, wrong_records},
    gilboa::{
        DEFAULT_K, Set, of_bits,
        protocol::{self, GilboaPlan, bytes_of_run},
        registry,
    },
};

fn set(bits: u32) -> &'static Set {
    of_bits(bits, DEFAULT_K).unwrap()
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
fn party(plan: GilboaPlan<'static>, threads: usize, mut room: usize) -> Run {
    Engine::new(move |io| async move {
        let session = Session::new(Sid::from_bytes([9; 32]));
        let session = session.with_executor(Arc::new(Threads(threads)));
        let (set, seed) = (plan.set, Seed::from_bytes([u8::from(plan.we_are_initiator); 32]));
        let mut context = Context::new(&session, seed);
        let party = protocol::GilboaRun::set_up(&io, &mut context, plan).await?;
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
fn parties(
    (set, base): (&'static Set, &'static dyn BaseOt),
    count: u64,
    threads: [usize; 2],
) -> [Run; 2] {
    let plan = |we_are_initiator| GilboaPlan { set, base, we_are_initiator, count };
    let [ours, theirs] = threads;
    [party(plan(true), ours, usize::MAX), party(plan(false), theirs, usize::MAX)]
}

/// The initiator as the pair's sender, and the responder.
fn pair(
    of: (&'static Set, &'static dyn BaseOt),
    count: u64,
    threads: [usize; 2],
) -> Pair<'static, Vec<u8>, Vec<u8>, Error> {
    let [ours, theirs] = parties(of, count, threads);
    Pair::new(ours, theirs)
}

fn run(set: &'static Set, base: &'static dyn BaseOt, count: u64, threads: [usize; 2]) {
    let mut sent = [0; 2];
    let ended = pair((set, base), count, threads).run_through(|from, message| {
        sent[usize::from(from == PairParty::Receiver)] += message.len() as u64;
        message
    });
    let (ours, theirs) = ended.unwrap();
    assert_eq!(ours.len() as u64, count * record_len(set.bits()) as u64);
    assert_eq!(wrong_records(set.bits(), &ours, &theirs).next(), None, "{set:?}, {count}");
    assert_eq!(sent, bytes_of_run(set, base, count), "{set:?}, {count}");
}

#[test]
fn both_get_shares_of_the_same_triples_for_every_set() {
    for set in registry() {
        run(set, &Endemic, set.n() as u64 + 77, [1, 1]);
    }
}

#[test]
fn a_run_may_make_any_number_of_triples() {
    let n = set(64).n() as u64;
    for count in [0, 1, 2, 9, n - 1, n, n + 1, 37 * n + 5] {
        run(set(64), &Endemic, count, [1, 1]);
    }
    run(set(8), &Endemic, 1, [1, 1]);
}

#[test]
fn the_parties_may_have_different_numbers_of_threads() {
    for threads in [[1, 8], [3, 1], [5, 2], [100, 4]] {
        let count = 37 * 1024 + 5;
        run(set(64), &Endemic, count, threads);
        // The same over a connection that has no more room than the limits.
        let [ours, theirs] = parties((set(64), &Endemic), count, threads);
        let (ours, theirs) = narrow::run(ours, theirs);
        assert_eq!(ours.len() as u64, count * record_len(64) as u64);
        assert_eq!(wrong_records(64, &ours, &theirs).next(), None, "{threads:?}");
    }
}

/// Base OTs in which the receiver speaks first, the sender does, and in any number of messages.
#[test]
fn base_ots_may_be_of_any_form() {
    let extension = set(16).extension().info();
    let bases = base::registry().iter().copied();
    let mut flows: Vec<_> = bases
        .filter(|base| compatible(base.info(), extension).is_ok())
        .map(|base| {
            run(set(16), base, 3, [1, 1]);
            base.info().flows
        })
        .collect();
    flows.sort_unstable();
    flows.dedup();
    assert!(flows.len() > 2, "{flows:?}");
}

/// Returns the bounds of what is on its way.
fn limits(set: &'static Set) -> Limits {
    let plan = GilboaPlan { set, base: &Endemic, we_are_initiator: true, count: 1 };
    let mut party = party(plan, 1, usize::MAX);
    party.advance().unwrap();
    party.limits()
}

#[test]
fn two_depths_find_room_in_a_lane() {
    for set in registry() {
        let Limits { messages, len, .. } = limits(set);
        assert!(messages * (len + 64) <= 64 << 20, "{set:?}");
        let turn = set.corrections_len(set.n()) + set.products_len(set.n());
        let depth = messages / 2;
        assert!(depth * turn >= 3_750_000, "{set:?}");
        assert!(depth == 8 || depth * turn < 2 * 3_750_000, "{set:?}");
    }
}

#[test]
fn corrections_of_a_depth_and_a_group_wait_for_an_answer_and_no_more() {
    let set = set(64);
    for group in [1, 8] {
        // What comes from the initiator by stream: base OTs, and a set-up.
        let mut room = [1, 1, 0];
        let mut sent = Vec::new();
        let count = 100 * set.n() as u64;
        let stands = pair((set, &Endemic), count, [1, group]).run_over(|from, stream, message| {
            let room = &mut room[usize::from(stream)];
            match from {
                PairParty::Receiver => sent.push((stream, message.len())),
                PairParty::Sender if *room == 0 => return Vec::new(),
                PairParty::Sender => *room -= 1,
            }
            vec![(stream, message)]
        });
        assert_eq!(stands, Err(Failed::Stalled));
        let reply = (Endemic.info().sender_bytes)(ROWS);
        let corrections = (0, set.corrections_len(set.n()));
        let mut expected = vec![(0, reply), (0, set.opening_len())];
        expected.resize(2 + limits(set).messages / 2 + group, corrections);
        assert_eq!(sent, expected);
    }
}

/// Returns the end of a party when message i of that stream of its peer is another one, of a batch of three.
fn against(peer: PairParty, (of, i): (Stream, usize), other: &[u8]) -> Error {
    let mut number = 0..;
    let ended = pair((set(8), &Endemic), 2, [1, 1]).run_over(|from, stream, mut message| {
        if (from, stream) == (peer, of) && number.next() == Some(i) {
            message = other.to_vec();
        }
        vec![(stream, message)]
    });
    match ended {
        Err(Failed::Party(party, error)) if party != peer => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn malformed_messages_are_the_peers_fault() {
    let (set, peer) = (set(8), PairParty::Sender);
    let [corrections, products] = [set.corrections_len(3), set.products_len(3)];
    for (peer, message, expected) in [
        (peer, (1, 0), set.setup_len()),
        (peer, (1, 1), corrections),
        (peer, (0, 1), products),
        (peer, (2, 0), record_len(8)),
        // The responder's opening follows its reply.
        (PairParty::Receiver, (0, 1), set.opening_len()),
        (PairParty::Receiver, (0, 2), corrections),
        (PairParty::Receiver, (1, 0), products),
    ] {
        for got in [0, 4] {
            let error = against(peer, message, &[0; 4][..got]);
            match error {
                Error::Protocol(foxtrot_ot::Error::Decode(Decode::Length {
                    expected: len,
                    got: is,
                    ..
                })) => {
                    assert_eq!((len, is), (expected, got), "{message:?}");
                }
                _ => panic!("{message:?}: {error}"),
            }
        }
    }
    let spare_bits = against(peer, (0, 1), &vec![0xff; products]);
    let decode = |error: &Error| matches!(error, Error::Protocol(foxtrot_ot::Error::Decode(_)));
    assert!(decode(&spare_bits), "{spare_bits}");
}

#[test]
fn a_sink_that_has_no_room_ends_the_run() {
    let plan = |we_are_initiator| GilboaPlan {
        set: set(64),
        base: &Endemic,
        we_are_initiator,
        count: 40 * 1024,
    };
    let ended = Pair::new(party(plan(true), 1, usize::MAX), party(plan(false), 1, 3)).run();
    assert_eq!(ended, Err((PairParty::Receiver, Usage::Abandoned.into())));
}

#[test]
fn more_batches_than_the_extension_has_are_refused_before_anything_is_sent() {
    let (set, base) = (set(64), &Endemic);
    let max = set.most_batches();
    let count = max * set.usable() as u64 + 1;
    for we_are_initiator in [true, false] {
        let mut party = party(GilboaPlan { set, base, we_are_initiator, count }, 1, usize::MAX);
        assert_eq!(party.advance(), Err(Usage::TooManyBatches { max }.into()));
        assert_eq!(party.outgoing(), None);
    }
}
