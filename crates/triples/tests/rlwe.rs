//! Whole runs: triples are right for every set, on every backend, with any number of threads.

use std::{sync::Arc, thread};

use crate::support::{
    ots::{chosen, ots},
    single,
};
use foxtrot_ot::{
    Backend, Direction, Seed, Session, Sid,
    tasks::{Executor, Task},
};
use foxtrot_triples::{
    Shares,
    params::{self, Set, TOY, TOY_LIFT},
    rlwe::{Answering, Duplex, P0, P1, Receiving},
    wrong_in_batch,
};

/// A thread for every task.
#[derive(Debug)]
struct Threads(usize);

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        thread::scope(|scope| {
            for task in tasks {
                scope.spawn(task);
            }
        });
    }
}

fn session(set: &Set, backend: Backend) -> Session {
    let whole = Session::new(Sid::from_bytes([7; 32])).with_backend(backend);
    whole.sub(set.name(), 0, Direction::InitiatorSends)
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn parties(set: &'static Set, backend: Backend) -> (P0, P1) {
    parties_in(|| session(set, backend), set)
}

fn parties_in(session: impl Fn() -> Session, set: &'static Set) -> (P0, P1) {
    let (p0, public_key) = P0::new(session(), set, seed(1));
    assert_eq!(public_key.len(), set.public_key_len());
    (p0, P1::new(session(), set, &public_key, seed(2)).unwrap())
}

/// Triples of the other sets are checked where their bytes are: `traces`.
#[test]
fn triples_of_the_smallest_sets_are_right_and_the_same_on_every_backend() {
    for set in [&TOY, &TOY_LIFT] {
        let mut made = Backend::all().map(|backend| {
            let (mut p0, mut p1) = parties(set, backend);
            let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
            let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
            let mut all = Vec::new();
            for batch in 0..2 {
                let (pairs, keys) = ots(set, batch);
                let requested = single::request(&mut p0, &mut request);
                assert_eq!(request.len(), set.request_len());
                let responded = single::respond(
                    &mut p1,
                    &request,
                    chosen(set, &keys),
                    &mut theirs,
                    &mut response,
                )
                .unwrap();
                assert_eq!(response.len(), set.response_len());
                single::receive(
                    &mut p0,
                    requested,
                    &response,
                    pairs.pairs(),
                    &mut ours,
                    &mut correction,
                )
                .unwrap();
                assert_eq!(correction.len(), set.correction_len());
                if set.fix().is_some() {
                    // A part of all sums wraps around, and not before the correction is all well.
                    let wrong = wrong_in_batch(&ours, &theirs);
                    assert!(wrong * 10 > set.n(), "{set:?}: {wrong}");
                }
                single::finish(&mut p1, responded, &correction, &mut theirs).unwrap();
                assert_eq!(wrong_in_batch(&ours, &theirs), 0, "{set:?} {backend:?}");
                let messages = [&request, &response, &correction].map(Clone::clone);
                all.extend(messages.into_iter().chain([flat(&ours), flat(&theirs)]));
            }
            (backend, all)
        });
        let (_, first) = made.next().unwrap();
        made.for_each(|(backend, all)| assert!(all == first, "{set:?} {backend:?}"));
    }
}

/// A party's shares of a batch.
fn flat(shares: &Shares) -> Vec<u8> {
    [shares.a(), shares.b(), shares.c()].concat()
}

/// Requests, responses and both parties' shares of so many batches at once.
fn batches(set: &'static Set, n: usize, threads: usize) -> Vec<Vec<u8>> {
    let session = || session(set, Backend::best()).with_executor(Arc::new(Threads(threads)));
    let (mut p0, mut p1) = parties_in(session, set);
    let mut requests = vec![Vec::new(); n];
    let requested = p0.request(requests.iter_mut().collect());
    let [mut responses, mut corrections] = [0; 2].map(|_| vec![Vec::new(); n]);
    let shares = || (0..n).map(|_| Shares::new(set)).collect::<Vec<_>>();
    let (mut ours, mut theirs) = (shares(), shares());
    let (pairs, keys): (Vec<_>, Vec<_>) =
        (0..u8::try_from(n).unwrap()).map(|batch| ots(set, batch)).unzip();
    let asked = requests.iter().zip(&keys).zip(theirs.iter_mut().zip(&mut responses));
    let asked = asked.map(|((request, keys), (shares, response))| Answering {
        request,
        ots: chosen(set, keys),
        shares,
        response,
    });
    let responded = p1.respond(asked.collect()).unwrap();
    let answered = requested.into_iter().zip(&responses).zip(&pairs);
    let answered = answered.zip(ours.iter_mut().zip(&mut corrections));
    let answered = answered.map(|(((requested, response), pairs), (shares, correction))| {
        Receiving { requested, response, ots: Some(pairs.pairs()), shares, correction }
    });
    p0.receive(answered.collect()).unwrap();
    let finished = responded.into_iter().zip(&corrections).zip(&mut theirs);
    let finished =
        finished.map(|((responded, correction), shares)| (responded, &**correction, shares));
    p1.finish(finished.collect()).unwrap();
    assert!(ours.iter().zip(&theirs).all(|(ours, theirs)| wrong_in_batch(ours, theirs) == 0));
    let shares: Vec<_> = ours.iter().chain(&theirs).map(flat).collect();
    [requests, responses, corrections, shares].concat()
}

#[test]
fn messages_and_shares_are_the_same_with_any_number_of_threads() {
    for n in [0, 1, 2, 5] {
        let expected = batches(&TOY, n, 1);
        for threads in [2, 3, 8] {
            assert!(batches(&TOY, n, threads) == expected, "{n} batches, {threads} threads");
        }
    }
    for set in params::registry() {
        assert!(batches(set, 2, 2) == batches(set, 2, 1), "{set:?}");
    }
}

#[test]
fn no_batch_is_requested_twice_and_a_later_one_can_be_the_first() {
    let session = Session::new(Sid::from_bytes([7; 32]));
    let requests = |first, n| -> Vec<Vec<u8>> {
        let [ours, theirs] = [Direction::InitiatorSends, Direction::ResponderSends];
        let (one, _) = Duplex::new(&session, &TOY, ours, &seed(1), first);
        let (_, key) = Duplex::new(&session, &TOY, theirs, &seed(2), first);
        let mut one = one(&key).unwrap();
        let mut requests = vec![Vec::new(); n];
        let _ = one.p0.request(requests.iter_mut().collect());
        requests
    };
    let all = requests(0, 4);
    for (i, request) in all.iter().enumerate() {
        assert!(!all[i + 1..].contains(request), "{i}");
    }
    // Of the run's batches every other one.
    assert!(requests(6, 1) == all[3..]);
    assert!(requests(5, 1) == all[3..]);
}

/// All that a seed is spent on: the key, and of a batch request, response and shares.
fn drawn(seeds: [u8; 2], direction: Direction) -> [Vec<u8>; 7] {
    let session = Session::new(Sid::from_bytes([7; 32]));
    let (one, key_1) = Duplex::new(&session, &TOY, direction, &seed(seeds[0]), 0);
    let (other, key_2) = Duplex::new(&session, &TOY, direction.reversed(), &seed(seeds[1]), 0);
    let (mut one, mut other) = (one(&key_2).unwrap(), other(&key_1).unwrap());
    let (mut request, mut response) = (Vec::new(), Vec::new());
    let (mut ours, mut theirs) = (Shares::new(&TOY), Shares::new(&TOY));
    let (pairs, keys) = ots(&TOY, 0);
    let requested = single::request(&mut one.p0, &mut request);
    let _ =
        single::respond(&mut other.p1, &request, chosen(&TOY, &keys), &mut theirs, &mut response)
            .unwrap();
    single::receive(&mut one.p0, requested, &response, pairs.pairs(), &mut ours, &mut Vec::new())
        .unwrap();
    let [a0, b0, a1, b1] = [ours.a(), ours.b(), theirs.a(), theirs.b()].map(<[u8]>::to_vec);
    [key_1, request, response, a0, b0, a1, b1]
}

/// All of these are different.
fn apart(first: &[Vec<u8>], second: &[Vec<u8>]) -> bool {
    first.iter().zip(second).all(|(x, y)| x != y)
}

#[test]
fn a_seed_of_its_own_gives_other_coins_in_the_same_session() {
    let usual = drawn([1, 2], Direction::InitiatorSends);
    assert!(usual == drawn([1, 2], Direction::InitiatorSends), "nothing else is drawn");
    assert!(apart(&usual, &drawn([3, 4], Direction::InitiatorSends)));
    // Each party's are its own.
    let p0_alone = drawn([3, 2], Direction::InitiatorSends);
    assert!(apart(&usual[..5], &p0_alone[..5]) && usual[5..] == p0_alone[5..]);
    let p1_alone = drawn([1, 4], Direction::InitiatorSends);
    assert!(usual[..2] == p1_alone[..2] && apart(&usual[5..], &p1_alone[5..]));
}

#[test]
fn one_seed_gives_other_coins_in_the_other_direction() {
    let [one, other] = [Direction::InitiatorSends, Direction::ResponderSends];
    assert!(apart(&drawn([1, 2], one), &drawn([1, 2], other)));
    // Nor is a party's share as P₀ its share as P₁.
    let usual = drawn([1, 1], one);
    assert!(apart(&usual[3..5], &usual[5..]));
}

/// Both parties of a run of so many batches from `first` on, all that they have in order: a, b, c.
fn run(set: &'static Set, first: u64, end: u64) -> [[Vec<u8>; 3]; 2] {
    let session = || Session::new(Sid::from_bytes([7; 32]));
    let (one, key_1) = Duplex::new(&session(), set, Direction::InitiatorSends, &seed(1), first);
    let (other, key_2) = Duplex::new(&session(), set, Direction::ResponderSends, &seed(2), first);
    let mut one = one(&key_2).unwrap();
    let mut other = other(&key_1).unwrap();
    let mut all = [[const { Vec::new() }; 3], [const { Vec::new() }; 3]];
    let mut shares = [Shares::new(set), Shares::new(set)];
    let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
    for batch in first..end {
        let (pairs, keys) = ots(set, u8::try_from(batch).unwrap());
        // Exchanged for both it would be another protocol, and right all the same.
        let even = batch.is_multiple_of(2);
        assert_eq!((one.asks(batch), other.asks(batch)), (even, !even));
        let [of_one, of_other] = &mut shares;
        let (asking, answering, ours, theirs) = if one.asks(batch) {
            (&mut one, &mut other, of_one, of_other)
        } else {
            (&mut other, &mut one, of_other, of_one)
        };
        let requested = single::request(&mut asking.p0, &mut request);
        let responded =
            single::respond(&mut answering.p1, &request, chosen(set, &keys), theirs, &mut response)
                .unwrap();
        single::receive(&mut asking.p0, requested, &response, pairs.pairs(), ours, &mut correction)
            .unwrap();
        single::finish(&mut answering.p1, responded, &correction, theirs).unwrap();
        for (all, shares) in all.iter_mut().zip(&shares) {
            let parts = [shares.a(), shares.b(), shares.c()];
            all.iter_mut().zip(parts).for_each(|(all, part)| all.extend_from_slice(part));
        }
    }
    all
}

#[test]
fn any_number_of_triples_of_a_run_is_right() {
    for set in [&TOY, params::of_bits(64).unwrap()] {
        let [ours, theirs] = run(set, 0, 4);
        let w = set.width();
        for n in [0, 1, 7, set.n() - 1, set.n(), set.n() + 1, 4 * set.n() - 3] {
            let [ours, theirs] = [&ours, &theirs].map(|parts| {
                let mut shares = Shares::with(w, n);
                for (to, from) in shares.parts_mut().into_iter().zip(parts) {
                    to.copy_from_slice(&from[..n * w]);
                }
                shares
            });
            assert_eq!(wrong_in_batch(&ours, &theirs), 0, "{set:?} {n}");
        }
    }
}

#[test]
fn a_run_that_starts_at_a_later_batch_makes_the_same_batches() {
    let whole = run(&TOY, 0, 7);
    for first in 1..7 {
        let later = run(&TOY, first, 7);
        let skipped = usize::try_from(first).unwrap() * TOY.n();
        for (whole, later) in whole.iter().flatten().zip(later.iter().flatten()) {
            assert!(whole[skipped..] == later[..], "from {first}");
        }
    }
}

#[test]
fn shares_are_uniform_bytes() {
    let set = params::of_bits(64).unwrap();
    for parts in run(set, 0, 2) {
        for part in parts {
            let mut counts = [0u32; 256];
            part.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
            let mean = part.len() as f64 / 256.0;
            let chi: f64 = counts.iter().map(|c| (f64::from(*c) - mean).powi(2) / mean).sum();
            // 255 degrees of freedom: six deviations.
            assert!((chi - 255.0).abs() < 6.0 * 510f64.sqrt(), "{chi}");
        }
    }
}
