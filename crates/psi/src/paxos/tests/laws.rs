//! Results of honest parties.

use alloc::sync::Arc;

use foxtrot_ot::tasks::{Executor, Task};

use super::*;
use crate::{Digest, Error, MAX_ITEMS, items::Items};

fn parameters(adversary: Adversary, ours: &[Digest], theirs: &[Digest]) -> Parameters {
    Parameters::new(adversary, ours.len(), theirs.len()).unwrap()
}

fn assert_naive(ours: &[Digest], theirs: &[Digest]) {
    for adversary in BOTH {
        let found = run(&parameters(adversary, ours, theirs), ours, theirs);
        assert_eq!(found, naive(ours, theirs), "{adversary:?} {} {}", ours.len(), theirs.len());
    }
}

#[test]
fn the_protocol_outputs_the_intersection() {
    for (ours, theirs) in [
        (digests(0..0), digests(0..0)),
        (digests(0..0), digests(0..5)),
        (digests(0..5), digests(0..0)),
        (digests(0..1), digests(0..1)),
        (digests(0..1), digests(1..2)),
        (digests(0..300), digests(0..300)),
        (digests(0..300), digests(300..500)),
        (digests(0..300), digests((0..300).rev())),
        (digests((0..5000).map(|k| 3 * k)), digests((0..4000).map(|k| 7 * k))),
    ] {
        assert_naive(&ours, &theirs);
    }
}

#[test]
fn the_protocol_outputs_the_intersection_of_random_sets() {
    let oracle = session().oracle("foxtrot test sizes");
    for round in 0..12 {
        let [a, b, c, d]: [u8; 4] = oracle.query(round, 0).finish();
        let (ours, theirs) = (u64::from(a) * 5, u64::from(b) * 9);
        let spread = 1 + u64::from(c) / 60;
        let ours = digests((0..ours).map(|k| k * spread));
        assert_naive(&ours, &digests(u64::from(d)..u64::from(d) + theirs));
    }
}

/// Digests are hashed, so that whatever they have in common does no harm.
#[test]
fn items_that_differ_in_one_bit_are_distinguished() {
    let one_bit = |k: usize| {
        let mut digest = [0; 32];
        digest[k / 8] = 1 << (k % 8);
        digest
    };
    let ours: Vec<_> = (0..256).map(one_bit).collect();
    let theirs: Vec<_> = (128..256).map(one_bit).chain([[0; 32], [0xff; 32]]).collect();
    assert_naive(&ours, &theirs);
}

#[test]
fn sizes_may_differ_by_a_million() {
    let (one, many) = (digests([77_777]), digests(0..1_000_001));
    for (ours, theirs) in [(&one, &many), (&many, &one)] {
        let parameters = parameters(Adversary::Malicious, ours, theirs);
        assert_eq!(run(&parameters, ours, theirs), naive(ours, theirs));
    }
}

#[test]
fn stores_of_four_slots_serve_large_sets() {
    let (ours, theirs) = (digests(0..1 << 17), digests(131_000..132_000));
    for adversary in BOTH {
        let parameters = parameters(adversary, &ours, &theirs);
        assert_eq!(parameters.store.sparse(), 4);
        assert_eq!(run(&parameters, &ours, &theirs), naive(&ours, &theirs));
    }
}

/// `docs/wire/paxos.md`, section 13; no vector has several buckets.
#[test]
fn padding_depends_on_the_party_and_the_bucket() {
    let items = digests(0..40);
    let parameters = Parameters::with_buckets(Adversary::Malicious, 40, 40, 2).unwrap();
    let shape = (parameters.receiver_items(), parameters.keys());
    let all = Items::new(&session(), parameters.buckets(), shape, items.clone(), coin(&parameters))
        .unwrap();
    for bucket in 0..2 {
        let filled = all.filled(&session(), &seed(1), bucket);
        assert_eq!(filled.len(), parameters.keys());
        let (own, others): (Vec<Digest>, Vec<Digest>) =
            filled.iter().partition(|item| items.contains(item));
        let mut expected = vec![[0; 32]; others.len()];
        let oracle = session().oracle("foxtrot v1 paxos others");
        oracle.query(bucket as u64, 0).field(&[1; 32]).fill(expected.as_flattened_mut());
        assert!(own.len() < 40 && !others.is_empty());
        assert_eq!(others, expected);
    }
}

/// The rows of `docs/wire/paxos.md`, section 13, from the receiver's half to the joint coin.
#[test]
fn the_joint_coin_matches_the_wire_document() {
    let session = session();
    let answer = |context, fields: &[&[u8; 32]]| -> [u8; 32] {
        let query = session.oracle(context).query(0, 0);
        fields.iter().fold(query, |query, field| query.field(*field)).finish()
    };
    let r = answer("foxtrot v1 paxos receiver coin", &[&[5; 32]]);
    let s = answer("foxtrot v1 paxos sender coin", &[&[6; 32]]);
    let mut messages = Vec::new();
    let [receivers, senders] = toss(&session, [seed(5), seed(6)], |_, message| {
        messages.push(message.clone());
        message
    })
    .unwrap();
    assert_eq!(messages, [answer("foxtrot v1 paxos commitment", &[&r]), s, r]);
    assert_eq!(receivers.0, answer("foxtrot v1 paxos joint coin", &[&r, &s]));
    assert_eq!(senders, receivers);
}

#[test]
fn several_buckets_give_the_same_intersection() {
    let ours = digests((0..9000).map(|k| 2 * k));
    let theirs = digests((0..7000).map(|k| 3 * k));
    for adversary in BOTH {
        for buckets in [2, 7] {
            let sizes = (ours.len(), theirs.len());
            let parameters =
                Parameters::with_buckets(adversary, sizes.0, sizes.1, buckets).unwrap();
            assert_eq!(run(&parameters, &ours, &theirs), naive(&ours, &theirs));
            // Also where one has next to nothing, or nothing.
            for few in [0, 1, 3] {
                let parameters = Parameters::with_buckets(adversary, few, 7000, buckets).unwrap();
                assert_eq!(run(&parameters, &ours[..few], &theirs), naive(&ours[..few], &theirs));
                let parameters = Parameters::with_buckets(adversary, 9000, few, buckets).unwrap();
                assert_eq!(run(&parameters, &ours, &theirs[..few]), naive(&ours, &theirs[..few]));
            }
        }
    }
}

#[test]
fn more_batches_than_one_and_more_frames_than_one_arrive_in_order() {
    let (ours, theirs) = (digests(0..40_000), digests(30_000..110_000));
    let parameters = parameters(Adversary::Malicious, &ours, &theirs);
    assert!(parameters.batches().count() > 2 && parameters.tag_frames().count() == 2);
    assert_eq!(run(&parameters, &ours, &theirs), naive(&ours, &theirs));
}

#[test]
fn messages_have_the_sizes_that_are_announced_whatever_the_sets_are() {
    for (adversary, buckets) in [(BOTH[0], 1), (BOTH[1], 1), (BOTH[0], 3), (BOTH[1], 3)] {
        for first in [0, 500, 100_000] {
            let parameters = Parameters::with_buckets(adversary, 1000, 700, buckets).unwrap();
            let (sent, received) = (core::cell::Cell::new(0), core::cell::Cell::new(0));
            let add = |_: usize, message: &mut Vec<u8>| sent.set(sent.get() + message.len());
            let messages = Messages {
                row_seed: &mut |k, m| add(k, m),
                corrections: &mut |k, m| add(k, m),
                proof: &mut |k, m| add(k, m),
                tags: &mut |frames: &mut Vec<Vec<u8>>| {
                    assert!(frames.iter().map(Vec::len).eq(parameters.tag_frames()));
                    received.set(frames.iter().map(Vec::len).sum());
                },
            };
            let (ours, theirs) = (digests(0..1000), digests(first..first + 700));
            run_through(&parameters, &ours, &theirs, messages).unwrap();
            let coins = if buckets > 1 { 64 } else { 0 };
            assert_eq!(sent.get() + coins, parameters.receiver_bytes());
            let challenges = parameters.extension().challenge_len() * buckets;
            assert_eq!(received.get() + challenges + coins / 2, parameters.sender_bytes());
        }
    }
}

/// Every task on a thread of its own.
#[derive(Debug)]
struct Many;

impl Executor for Many {
    fn threads(&self) -> usize {
        3
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        std::thread::scope(|scope| tasks.into_iter().for_each(|task| drop(scope.spawn(task))));
    }
}

#[test]
fn several_threads_give_the_same_tags() {
    let (ours, theirs) = (digests(0..20_000), digests(15_000..36_000));
    let parameters = Parameters::with_buckets(Adversary::Malicious, 20_000, 21_000, 2).unwrap();
    let tags = |threads: bool| {
        let (sent, received) = base(&parameters);
        let joint = coin(&parameters);
        let session = || if threads { session().with_executor(Arc::new(Many)) } else { session() };
        let receiver = Receiving::new(&session, &parameters, sent, &ours, joint).unwrap();
        let sender = Sending::new(&session, &parameters, received, &theirs, joint).unwrap();
        let mut tags = Vec::new();
        let keep = &mut |frames: &mut Vec<Vec<u8>>| tags = frames.clone();
        let messages = Messages { tags: keep, ..Messages::honest() };
        let found = play(&parameters, receiver, sender, messages).unwrap();
        assert!(found.into_iter().eq(15_000..20_000));
        tags
    };
    assert_eq!(tags(true), tags(false));
}

/// The order of the items is not in the messages: tags are sorted.
#[test]
fn tags_do_not_depend_on_item_order() {
    let (ours, theirs) = (digests(0..50), digests(20..90));
    let reversed: Vec<_> = theirs.iter().rev().copied().collect();
    let parameters = parameters(Adversary::Malicious, &ours, &theirs);
    let [one, another] = [&theirs, &reversed].map(|theirs| {
        let mut tags = Vec::new();
        let keep = &mut |frames: &mut Vec<Vec<u8>>| tags = frames.clone();
        let messages = Messages { tags: keep, ..Messages::honest() };
        run_through(&parameters, &ours, theirs, messages).unwrap();
        tags
    });
    assert_eq!(one, another);
}

#[test]
fn items_that_repeat_are_refused_without_panic() {
    let parameters = Parameters::new(Adversary::Malicious, 3, 1).unwrap();
    let ours = [digest(1), digest(2), digest(1)];
    let failed = run_through(&parameters, &ours, &[digest(1)], Messages::honest());
    assert_eq!(failed, Err((PairParty::Receiver, Error::Unlucky)));
}

/// The sender's own fault is not one of which the peer would accuse it.
#[test]
fn items_of_the_sender_that_repeat_are_its_own_mistake() {
    let ours = digests(0..3000);
    for buckets in [1, 3] {
        // Next to each other or not, common to both or not.
        for (at, twice) in [(1, 0), (2999, 0), (1500, 2500)] {
            let mut theirs = digests(1000..4000);
            theirs[at] = theirs[twice];
            let of = |adversary| Parameters::with_buckets(adversary, 3000, 3000, buckets).unwrap();
            let failed = run_through(&of(BOTH[0]), &ours, &theirs, Messages::honest());
            assert_eq!(failed, Err((PairParty::Sender, Usage::RepeatedItem.into())));
            // Where both follow the protocol it does no harm.
            let found = run_through(&of(BOTH[1]), &ours, &theirs, Messages::honest());
            assert_eq!(found, Ok(naive(&ours, &theirs)));
        }
    }
}

/// A receiver without items gets no tags: so there is nothing that a receiver that cheats could
/// use.
#[test]
fn a_receiver_without_items_gets_no_tags() {
    for adversary in BOTH {
        for buckets in [1, 2] {
            let parameters = Parameters::with_buckets(adversary, 0, 500, buckets).unwrap();
            let none = &mut |frames: &mut Vec<Vec<u8>>| assert!(frames.is_empty());
            let messages = Messages { tags: none, ..Messages::honest() };
            let found = run_through(&parameters, &[], &digests(0..500), messages);
            assert_eq!(found, Ok(Vec::new()));
            assert_eq!((parameters.tags(), parameters.tag_frames().count()), (0, 0));
            let most = (adversary == Adversary::Malicious).then_some(0);
            assert_eq!(parameters.largest_set(), most);
            // Nor does it take any.
            let more = &mut |frames: &mut Vec<Vec<u8>>| frames.push(vec_of(500 * 32, 0));
            let messages = Messages { tags: more, ..Messages::honest() };
            let refused = run_through(&parameters, &[], &digests(0..500), messages);
            assert_eq!(refused, Err((PairParty::Receiver, Usage::SessionEnded.into())));
        }
    }
}

#[test]
fn parameters_follow_from_the_sizes() {
    let million = Parameters::new(Adversary::Malicious, 1 << 20, 1 << 20).unwrap();
    assert_eq!((million.buckets(), million.keys()), (1, 1 << 20));
    assert_eq!((million.base_ots(), million.tag_bits()), (802, 128));
    let total = million.receiver_bytes() + million.sender_bytes();
    assert!(total < (131 - 3) << 20, "with 2.8 MB of base OTs 131 B per item: {total}");
    let most = million.largest_set().unwrap();
    assert!(most > 1 << 20 && most < 2 << 20, "{most}");

    let many = Parameters::new(Adversary::Malicious, 10_000_000, 100).unwrap();
    assert_eq!(many.buckets(), 10);
    assert!(many.keys() < 1_010_000 && many.sender_load() <= 100);
    assert!(many.largest_set().unwrap() < 20_000_000);

    let few = Parameters::new(Adversary::SemiHonest, 1 << 10, 1 << 20).unwrap();
    assert_eq!((few.base_ots(), few.tag_bits(), few.largest_set()), (512, 70, None));
    let twenty = Parameters::new(Adversary::Malicious, 20, 20).unwrap();
    assert_eq!((twenty.slots(), twenty.largest_set()), (89, Some(133)));
    let none = Parameters::new(Adversary::SemiHonest, 0, 0).unwrap();
    assert_eq!(none.tag_bits(), 40);
    let too_many = Parameters::new(Adversary::Malicious, 0, MAX_ITEMS + 1).unwrap_err();
    assert_eq!(too_many, Usage::BatchTooLarge { n: MAX_ITEMS + 1, max: MAX_ITEMS });
    assert!(Parameters::new(Adversary::Malicious, MAX_ITEMS, MAX_ITEMS).is_ok());
}
