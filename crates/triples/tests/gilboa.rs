//! Triples from oblivious transfer: the laws of a run, and what a peer can send.

use std::{sync::Arc, thread};

use foxtrot_ot::{
    Backend, Decode, Error, Seed, Session, Sid, Usage,
    base::{ReceiverKeys, SenderKeys},
    ideal,
    tasks::{Executor, Task, only},
};
use foxtrot_triples::{
    Shares,
    gilboa::{self, DEFAULT_K, Extended, GilboaParty, Multiplied, Set},
    wrong_in_batch,
};

/// An executor that starts that many threads for each task.
#[derive(Clone, Debug)]
struct Threads(usize);

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        thread::scope(|scope| tasks.into_iter().for_each(|task| drop(scope.spawn(task))));
    }
}

fn set(bits: u32) -> &'static Set {
    gilboa::of_bits(bits, DEFAULT_K).unwrap()
}

fn session(backend: Backend) -> Session {
    Session::new(Sid::from_bytes([7; 32])).with_backend(backend)
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn base_ots() -> (SenderKeys, ReceiverKeys) {
    ideal::random(128, &seed(3))
}

/// Initiator and responder.
fn parties(set: &'static Set, backend: Backend) -> [GilboaParty; 2] {
    parties_of([(); 2].map(|()| session(backend)), set)
}

fn parties_of([ours, theirs]: [Session; 2], set: &'static Set) -> [GilboaParty; 2] {
    let (pairs, chosen) = base_ots();
    let (one, opening) = GilboaParty::responder(&theirs, set, pairs, seed(2)).unwrap();
    let (zero, setup) = GilboaParty::initiator(&ours, set, chosen, seed(1), &opening).unwrap();
    assert_eq!((opening.len(), setup.len()), (set.opening_len(), set.setup_len()));
    [zero, one(&setup).unwrap()]
}

/// Batches of those sizes at once: each party's shares, and all it sends.
fn run(parties: &mut [GilboaParty; 2], sizes: &[usize]) -> [(Vec<Shares>, Vec<u8>); 2] {
    let set = parties[0].set();
    let begin = |party: &mut GilboaParty| {
        let mut messages = vec![vec![9; 3]; sizes.len()];
        let batches = sizes.iter().map(|n| set.shares(*n)).zip(&mut messages);
        (party.extend(batches.collect()).unwrap(), messages)
    };
    let [(ours, from_zero), (theirs, from_one)] = parties.each_mut().map(begin);
    let answer = |party: &mut GilboaParty, batches: Vec<Extended>, received: &[Vec<u8>]| {
        let mut messages = vec![vec![9; 3]; sizes.len()];
        let received = received.iter().map(Vec::as_slice);
        let batches = batches.into_iter().zip(received).zip(&mut messages);
        let batches = batches.map(|((batch, received), message)| (batch, received, message));
        (party.multiply(batches.collect()).unwrap(), messages)
    };
    let [zero, one] = parties;
    let (ours, products_0) = answer(zero, ours, &from_one);
    let (theirs, products_1) = answer(one, theirs, &from_zero);
    let end = |party: &mut GilboaParty, batches: Vec<Multiplied>, received: &[Vec<u8>]| {
        let batches = batches.into_iter().zip(received.iter().map(Vec::as_slice));
        party.add(batches.collect()).unwrap()
    };
    let (ours, theirs) = (end(zero, ours, &products_1), end(one, theirs, &products_0));
    for (k, n) in sizes.iter().enumerate() {
        for corrections in [&from_zero[k], &from_one[k]] {
            assert_eq!(corrections.len(), set.corrections_len(*n));
        }
        for products in [&products_0[k], &products_1[k]] {
            assert_eq!(products.len(), set.products_len(*n));
        }
    }
    let sent = |first: Vec<Vec<u8>>, second: Vec<Vec<u8>>| [first, second].concat().concat();
    [(ours, sent(from_zero, products_0)), (theirs, sent(from_one, products_1))]
}

fn flat(shares: &Shares) -> Vec<u8> {
    [shares.a(), shares.b(), shares.c()].concat()
}

#[test]
fn triples_are_right_for_every_set_on_every_backend() {
    for backend in Backend::all() {
        for set in gilboa::registry() {
            let mut parties = parties(set, backend);
            for sizes in [[set.n(), 100], [0, 1]] {
                let [(ours, _), (theirs, _)] = run(&mut parties, &sizes);
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    assert_eq!(wrong_in_batch(ours, theirs), 0, "{set:?}, {}", backend.name());
                }
            }
        }
    }
}

#[test]
fn a_batch_may_have_any_number() {
    for bits in [8, 16, 32, 64] {
        let mut parties = parties(set(bits), Backend::best());
        for n in [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 65, 127, 129, 511, 513, 1000, 1023] {
            let [(ours, _), (theirs, _)] = run(&mut parties, &[n]);
            assert_eq!((ours[0].len(), theirs[0].len()), (n, n));
            assert_eq!(wrong_in_batch(&ours[0], &theirs[0]), 0, "{bits} bits, {n}");
        }
    }
}

#[test]
fn shares_and_messages_are_the_same_on_every_backend_and_for_any_number_of_threads() {
    for bits in [8, 64] {
        let set = set(bits);
        let sizes = [set.n(), 17, set.n(), 0, 600];
        let outcome = |backend, threads: [usize; 2]| {
            let on = |threads| session(backend).with_executor(Arc::new(Threads(threads)));
            let mut parties = parties_of(threads.map(on), set);
            run(&mut parties, &sizes)
                .map(|(shares, sent)| (shares.iter().map(flat).collect::<Vec<_>>(), sent))
        };
        let first = outcome(Backend::best(), [1, 1]);
        for backend in Backend::all() {
            assert_eq!(first, outcome(backend, [1, 1]), "{}", backend.name());
        }
        for threads in [[2, 1], [3, 8], [5, 5]] {
            assert_eq!(first, outcome(Backend::best(), threads), "{threads:?}");
        }
    }
}

/// Neither shares nor messages come twice, in other batches, of the other party, or in another session.
#[test]
fn everything_is_fresh_in_every_batch() {
    let set = set(64);
    let (corrections, products) = (set.corrections_len(64), set.products_len(64));
    let mut all = Vec::new();
    // The same seeds and base OTs in both.
    for sid in [[7; 32], [8; 32]] {
        let mut parties = parties_of([(); 2].map(|()| Session::new(Sid::from_bytes(sid))), set);
        for (shares, sent) in run(&mut parties, &[64, 64]) {
            let parts = |it: &Shares| [it.a().to_vec(), it.b().to_vec(), it.c().to_vec()];
            all.extend(shares.iter().flat_map(parts));
            let (first, second) = sent.split_at(2 * corrections);
            all.extend(first.chunks(corrections).map(<[u8]>::to_vec));
            all.extend(second.chunks(products).map(<[u8]>::to_vec));
        }
    }
    assert_eq!(all.len(), 2 * 2 * 2 * 5);
    for (at, part) in all.iter().enumerate() {
        assert!(!all[..at].contains(part), "{at}");
        assert!(part.iter().any(|byte| *byte != 0));
    }
}

fn begun(set: &'static Set, n: usize) -> (GilboaParty, Extended, Vec<u8>) {
    let [mut zero, mut one] = parties(set, Backend::best());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let batch = only(zero.extend(vec![(set.shares(n), &mut ours)]).unwrap());
    let _ = only(one.extend(vec![(set.shares(n), &mut theirs)]).unwrap());
    (zero, batch, theirs)
}

#[test]
fn messages_of_the_wrong_length_are_refused() {
    for bits in [8, 16, 32, 64] {
        let set = set(bits);
        let n = 5;
        let expected = set.corrections_len(n);
        for got in [0, 1, expected - 1, expected + 1, 2 * expected] {
            let (mut party, batch, _) = begun(set, n);
            let error = party.multiply(vec![(batch, &vec![0; got], &mut Vec::new())]).unwrap_err();
            assert_eq!(error, Decode::Length { message: "Corrections", expected, got }.into());
        }
        let expected = set.products_len(n);
        for got in [0, 1, expected - 1, expected + 1, 2 * expected] {
            let (mut party, batch, corrections) = begun(set, n);
            let batch = only(party.multiply(vec![(batch, &corrections, &mut Vec::new())]).unwrap());
            let error = party.add(vec![(batch, &vec![0; got])]).unwrap_err();
            assert_eq!(error, Decode::Length { message: "Products", expected, got }.into());
        }
    }
}

/// Checks spare bits: only numbers of 8 bits have some, and only of an odd number of triples.
#[test]
fn bits_behind_the_last_product_are_zero() {
    for (n, spare) in [(1, true), (2, false), (5, true), (6, false)] {
        let set = set(8);
        for bit in 4..8 {
            let (mut party, batch, corrections) = begun(set, n);
            let batch = only(party.multiply(vec![(batch, &corrections, &mut Vec::new())]).unwrap());
            let mut products = vec![0; set.products_len(n)];
            *products.last_mut().unwrap() = 1 << bit;
            let result = party.add(vec![(batch, &products)]).map(drop);
            let refused = Err(Decode::SpareBits { message: "Products" }.into());
            assert_eq!(result, if spare { refused } else { Ok(()) }, "{n}, bit {bit}");
        }
    }
    let set = set(8);
    let (mut party, batch, corrections) = begun(set, 1);
    let batch = only(party.multiply(vec![(batch, &corrections, &mut Vec::new())]).unwrap());
    assert!(party.add(vec![(batch, &[0xff, 0xff, 0xff, 0xff, 0x0f])]).is_ok());
}

#[test]
fn a_set_up_of_the_wrong_length_is_refused() {
    let (set, session) = (set(8), session(Backend::best()));
    let expected = set.setup_len();
    for got in [0, expected - 1, expected + 1] {
        let (joining, _) = GilboaParty::responder(&session, set, base_ots().0, seed(1)).unwrap();
        let error = joining(&vec![0; got]).unwrap_err();
        assert_eq!(error, Decode::Length { message: "Setup", expected, got }.into());
    }
    let expected = set.opening_len();
    for got in [0, set.setup_len(), expected - 1, expected + 1] {
        let message = vec![0; got];
        let error =
            GilboaParty::initiator(&session, set, base_ots().1, seed(1), &message).unwrap_err();
        assert_eq!(error, Decode::Length { message: "Opening", expected, got }.into());
    }
}

/// An attack that is not defended against: nobody finds out that the triples are wrong.
#[test]
fn a_peer_that_deviates_spoils_triples_only() {
    let set = set(16);
    let [mut zero, mut one] = parties(set, Backend::best());
    let (mut from_zero, mut from_one) = (Vec::new(), Vec::new());
    let ours = only(zero.extend(vec![(set.shares(4), &mut from_zero)]).unwrap());
    let theirs = only(one.extend(vec![(set.shares(4), &mut from_one)]).unwrap());
    let (mut products_0, mut products_1) = (Vec::new(), Vec::new());
    let ours = only(zero.multiply(vec![(ours, &from_one, &mut products_0)]).unwrap());
    let theirs = only(one.multiply(vec![(theirs, &from_zero, &mut products_1)]).unwrap());
    let flipped: Vec<_> = products_1.iter().map(|byte| !byte).collect();
    let ours = only(zero.add(vec![(ours, &flipped)]).unwrap());
    let theirs = only(one.add(vec![(theirs, &products_0)]).unwrap());
    assert_ne!(wrong_in_batch(&ours, &theirs), 0);
    // The next batch is right again.
    let mut parties = [zero, one];
    let [(ours, _), (theirs, _)] = run(&mut parties, &[4]);
    assert_eq!(wrong_in_batch(&ours[0], &theirs[0]), 0);
}

#[test]
fn batches_come_in_their_order_and_to_their_own_state() {
    let set = set(32);
    let [mut zero, mut one] = parties(set, Backend::best());
    let (mut ignored, mut corrections) = (Vec::new(), Vec::new());
    let first = only(zero.extend(vec![(set.shares(2), &mut ignored)]).unwrap());
    let second = only(zero.extend(vec![(set.shares(2), &mut ignored)]).unwrap());
    let foreign = only(one.extend(vec![(set.shares(2), &mut corrections)]).unwrap());
    for batch in [second, foreign] {
        let error = zero.multiply(vec![(batch, &corrections, &mut Vec::new())]).unwrap_err();
        assert_eq!(error, Usage::ForeignBatch.into());
    }
    let first = only(zero.multiply(vec![(first, &corrections, &mut Vec::new())]).unwrap());
    let error = one.add(vec![(first, &vec![0; set.products_len(2)])]).unwrap_err();
    assert_eq!(error, Usage::ForeignBatch.into());
}

#[test]
fn misuse_has_an_error() {
    let set = set(32);
    let [mut party, _] = parties(set, Backend::best());
    let error = party.extend(vec![(set.shares(set.n() + 1), &mut Vec::new())]).unwrap_err();
    assert!(matches!(error, Error::Usage(Usage::BatchTooLarge { .. })), "{error}");
    let of_other = gilboa::of_bits(16, DEFAULT_K).unwrap().shares(3);
    let error = party.extend(vec![(of_other, &mut Vec::new())]).unwrap_err();
    let wrong = Usage::CountMismatch { what: "bytes of a share", expected: 4, got: 2 };
    assert_eq!(error, wrong.into());
    let few = ideal::random(127, &seed(3));
    let session = session(Backend::best());
    let error = GilboaParty::responder(&session, set, few.0, seed(1)).map(drop).unwrap_err();
    let wrong = Usage::CountMismatch { what: "base OTs", expected: 128, got: 127 };
    assert_eq!(error, wrong.into());
    let opening = vec![0; set.opening_len()];
    let error = GilboaParty::initiator(&session, set, few.1, seed(1), &opening).unwrap_err();
    assert!(
        matches!(error, Error::Usage(Usage::CountMismatch { what: "base OTs", .. })),
        "{error}"
    );
}

#[test]
fn secrets_are_not_printed() {
    let set = set(8);
    let (mut party, batch, corrections) = begun(set, 3);
    assert_eq!(format!("{batch:?}"), "Extended(batch 0, <redacted>)");
    let batch = only(party.multiply(vec![(batch, &corrections, &mut Vec::new())]).unwrap());
    assert_eq!(format!("{batch:?}"), "Multiplied(batch 0, <redacted>)");
    assert_eq!(format!("{party:?}"), "GilboaParty(gilboa-8, 1 batches, <redacted>)");
}

mod reference {
    //! The states against the schoolbook implementation: against its vectors, and each with a schoolbook peer.

    use foxtrot_ot::{base::Block, ideal};
    use foxtrot_reference::{gilboa as schoolbook, oracle::oracle32};
    use serde_json::Value;

    use super::*;

    fn bytes(value: &Value) -> Vec<u8> {
        let hex = value.as_str().unwrap();
        (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
    }

    fn string(value: &Value) -> [u8; 32] {
        bytes(value).try_into().unwrap()
    }

    fn key(sid: &[u8; 32], i: usize, j: u8) -> Block {
        *oracle32("test base", sid, i, j, &[]).first_chunk().unwrap()
    }

    /// The message as it stands in the file.
    fn short(message: &[u8]) -> Vec<u8> {
        if message.len() > 600 {
            blake3::hash(message).as_bytes().to_vec()
        } else {
            message.to_vec()
        }
    }

    #[test]
    fn runs_match_the_test_vectors_on_every_backend() {
        let vectors: Value = serde_json::from_str(include_str!("vectors/gilboa.json")).unwrap();
        let [sid, first, second] =
            ["sid", "initiator_seed", "responder_seed"].map(|key| string(&vectors[key]));
        let delta = bytes(&vectors["delta"]);
        for backend in Backend::all() {
            let mut sets = Vec::new();
            for run in vectors["runs"].as_array().unwrap() {
                let [bits, k] = ["bits", "k"].map(|key| run[key].as_u64().unwrap());
                let set =
                    gilboa::of_bits(u32::try_from(bits).unwrap(), usize::try_from(k).unwrap());
                let set = set.unwrap();
                let session = Session::new(Sid::from_bytes(sid)).with_backend(backend);
                let choices = foxtrot_ot::Bits::from_bytes(&delta, 128);
                let (pairs, chosen) = ideal::of_keys(choices, |i, j| key(&sid, i, j));
                let one = GilboaParty::responder(&session, set, pairs, Seed::from_bytes(second));
                let (one, opening) = one.unwrap();
                assert_eq!(short(&opening), bytes(&run["opening"]), "{set:?}");
                let seed = Seed::from_bytes(first);
                let zero = GilboaParty::initiator(&session, set, chosen, seed, &opening);
                let (zero, setup) = zero.unwrap();
                assert_eq!(short(&setup), bytes(&run["setup"]), "{set:?}");
                let mut parties = [zero, one(&setup).unwrap()];
                sets.push(set.name());
                for batch in run["batches"].as_array().unwrap() {
                    let n = usize::try_from(batch["n"].as_u64().unwrap()).unwrap();
                    let corrections = set.corrections_len(n);
                    for (party, (shares, sent)) in
                        super::run(&mut parties, &[n]).into_iter().enumerate()
                    {
                        let (first, second) = sent.split_at(corrections);
                        assert_eq!(short(first), bytes(&batch["corrections"][party]), "{set:?}");
                        assert_eq!(short(second), bytes(&batch["products"][party]), "{set:?}");
                        assert_eq!(flat(&shares[0]), bytes(&batch["shares"][party]), "{set:?}");
                    }
                }
            }
            assert!(sets.into_iter().eq(gilboa::registry().map(Set::name)));
        }
    }

    /// Batches of a party with a schoolbook peer.
    fn with(mut party: GilboaParty, mut peer: schoolbook::Party) {
        let set = party.set();
        for n in [9, 1] {
            let (mut corrections, mut products) = (Vec::new(), Vec::new());
            let batch = only(party.extend(vec![(set.shares(n), &mut corrections)]).unwrap());
            let (mut theirs, received) = peer.correct(n);
            let batch = only(party.multiply(vec![(batch, &received, &mut products)]).unwrap());
            let received = peer.multiply(&mut theirs, &corrections);
            let ours = only(party.add(vec![(batch, &received)]).unwrap());
            let theirs = peer.add(theirs, &products);
            for (t, theirs) in (0..n).map(|t| (t, theirs.each_ref().map(|part| part[t]))) {
                let ours = ours.triple(t).map(u128::from);
                let [a, b, c] = [0, 1, 2].map(|k| theirs[k].wrapping_add(ours[k]));
                assert_eq!(a.wrapping_mul(b).wrapping_sub(c) << (128 - set.bits()), 0);
            }
        }
    }

    #[test]
    fn either_side_has_a_schoolbook_peer() {
        let sid = [7; 32];
        for set in gilboa::registry() {
            let theirs = schoolbook::set(set.bits() as usize, set.k());
            let word = |key: &Block| u128::from_le_bytes(*key);
            let (pairs, chosen) = base_ots();
            let delta = core::array::from_fn(|i| chosen.choices().get(i).unwrap_u8() == 1);
            let in_words = core::array::from_fn(|i| word(&chosen.keys()[i]));
            let of_pairs = core::array::from_fn(|i| pairs.pairs()[i].each_ref().map(word));

            let (one, opening) = schoolbook::Party::responder(theirs, &sid, &of_pairs, [2; 32]);
            let session = session(Backend::best());
            let zero = GilboaParty::initiator(&session, set, chosen, seed(1), &opening);
            let (zero, setup) = zero.unwrap();
            with(zero, one.finish(&setup));

            let (one, opening) = GilboaParty::responder(&session, set, pairs, seed(2)).unwrap();
            let (zero, setup) =
                schoolbook::Party::initiator(theirs, &sid, &delta, &in_words, [1; 32], &opening);
            with(one(&setup).unwrap(), zero);
        }
    }
}
