//! Attacks by a peer, or by the network: every test is an attack that fails, or shows what is not
//! defended against.

use crate::support::{
    ots::{chosen, ots},
    single,
};
use foxtrot_ot::{Decode, Direction, Error, Seed, Session, Sid, Usage};
use foxtrot_triples::{
    Shares,
    params::{self, Set, TOY, TOY_LIFT, width_of},
    rlwe::{Answering, P0, P1, Receiving, Requested, Responded},
    wrong_in_batch,
};

fn session(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn parties(set: &'static Set) -> (P0, P1) {
    let (p0, public_key) = P0::new(session(0), set, seed(1));
    (p0, P1::new(session(0), set, &public_key, seed(2)).unwrap())
}

/// P₁'s step, with the OTs number 0.
#[allow(clippy::panic_in_result_fn, reason = "a failed assertion is a failed test")]
fn of_p1(p1: &mut P1, request: &[u8]) -> Result<(Responded, Shares, Vec<u8>), Error> {
    let (mut shares, mut response) = (Shares::new(p1.set()), vec![7; 5]);
    let (_, keys) = ots(p1.set(), 0);
    let result = single::respond(p1, request, chosen(p1.set(), &keys), &mut shares, &mut response);
    if result.is_err() {
        assert!(response.is_empty(), "nothing to send");
        assert_no_output(&shares);
    }
    result.map(|responded| (responded, shares, response))
}

/// P₀'s step, with the OTs number 0: its shares and correction.
#[allow(clippy::panic_in_result_fn, reason = "a failed assertion is a failed test")]
fn of_p0(p0: &mut P0, requested: Requested, response: &[u8]) -> Result<(Shares, Vec<u8>), Error> {
    let (mut shares, mut correction) = (Shares::new(p0.set()), vec![7; 5]);
    let (pairs, _) = ots(p0.set(), 0);
    let result =
        single::receive(p0, requested, response, pairs.pairs(), &mut shares, &mut correction);
    if result.is_err() {
        assert!(correction.is_empty(), "nothing to send");
        assert_no_output(&shares);
    }
    result.map(|()| (shares, correction))
}

fn assert_no_output(shares: &Shares) {
    assert!([shares.a(), shares.b(), shares.c()].concat().iter().all(|byte| *byte == 0));
}

/// Returns, for every polynomial of a message, in order, its prime, or 2^t for low bits, and its
/// beginning.
fn polynomials(set: &Set, moduli: &[u64]) -> Vec<(u64, usize)> {
    let mut at = 0;
    let begin = |modulus: &u64| {
        let start = at;
        let bits = if modulus.is_power_of_two() { modulus.ilog2() } else { width_of(*modulus) };
        at += set.n() / 8 * bits as usize;
        (*modulus, start)
    };
    moduli.iter().map(begin).collect()
}

/// Sets word `index` of a polynomial that begins at byte `start`.
fn set_word(message: &mut [u8], start: usize, bits: usize, index: usize, word: u64) {
    for k in 0..bits {
        let at = 8 * start + index * bits + k;
        message[at / 8] &= !(1 << (at % 8));
        message[at / 8] |= u8::from(word >> k & 1 == 1) << (at % 8);
    }
}

/// The message with each residue out of range in turn: its prime itself, and all ones.
fn out_of_range(set: &Set, message: &[u8], moduli: &[u64]) -> Vec<Vec<u8>> {
    let mut tampered = Vec::new();
    for (prime, start) in polynomials(set, moduli) {
        if prime.is_power_of_two() {
            continue;
        }
        let bits = width_of(prime) as usize;
        for index in [0, 1, set.n() / 2, set.n() - 1] {
            for word in [prime, u64::MAX >> (64 - bits)] {
                let mut message = message.to_vec();
                set_word(&mut message, start, bits, index, word);
                tampered.push(message);
            }
            // The largest one that there is can be decoded.
            let mut message = message.to_vec();
            set_word(&mut message, start, bits, index, prime - 1);
            tampered.insert(0, message);
        }
    }
    tampered
}

fn is_out_of_range(error: &Error, name: &str, batch: usize) -> bool {
    matches!(error, Error::Decode(Decode::Coefficient { message, instance })
        if *message == name && *instance == batch)
}

fn is_wrong_length(error: &Error, name: &str, wanted: usize) -> bool {
    matches!(error, Error::Decode(Decode::Length { message, expected, .. })
        if *message == name && *expected == wanted)
}

#[test]
fn messages_of_any_other_length_are_refused() {
    for set in [&TOY, &TOY_LIFT, params::of_bits(8).unwrap()] {
        let (mut p0, mut p1) = parties(set);
        let mut request = Vec::new();
        for len in [0, 1, set.request_len() - 1, set.request_len() + 1] {
            let _ = single::request(&mut p0, &mut request);
            request.resize(len, 0);
            let error = of_p1(&mut p1, &request).map(drop).unwrap_err();
            assert!(is_wrong_length(&error, "Request", set.request_len()), "{error}");
        }
        for len in [0, 1, set.response_len() - 1, set.response_len() + 1] {
            let requested = single::request(&mut p0, &mut request);
            let (_, _, mut response) = of_p1(&mut p1, &request).unwrap();
            response.resize(len, 0);
            let error = of_p0(&mut p0, requested, &response).map(drop).unwrap_err();
            assert!(is_wrong_length(&error, "Response", set.response_len()), "{error}");
        }
        let len = set.correction_len();
        let lengths = [len.checked_sub(1), Some(len + 1), set.fix().map(|_| 0), Some(1)];
        for len in lengths.into_iter().flatten() {
            let _ = single::request(&mut p0, &mut request);
            let (responded, mut shares, _) = of_p1(&mut p1, &request).unwrap();
            let error = single::finish(&mut p1, responded, &vec![0; len], &mut shares).unwrap_err();
            assert!(is_wrong_length(&error, "Correction", set.correction_len()), "{error}");
            assert_no_output(&shares);
        }
        for len in [0, 1, set.public_key_len() - 1, set.public_key_len() + 1] {
            let error = P1::new(session(0), set, &vec![0; len], seed(2)).unwrap_err();
            assert!(is_wrong_length(&error, "PublicKey", set.public_key_len()), "{error}");
        }
    }
}

#[test]
fn residues_that_are_not_below_their_prime_are_refused() {
    // docs/wire: R18-1.
    let rest = TOY.rest;
    let (_, public_key) = P0::new(session(0), &TOY, seed(1));
    let tampered = out_of_range(&TOY, &public_key, rest);
    let whole = 4 * rest.len();
    for (k, message) in tampered.iter().enumerate() {
        match P1::new(session(0), &TOY, message, seed(2)) {
            Ok(_) => assert!(k < whole, "{k}"),
            Err(error) => assert!(k >= whole && is_out_of_range(&error, "PublicKey", 0), "{error}"),
        }
    }

    let primes: Vec<u64> = TOY.primes().chain(TOY.primes()).collect();
    let (mut p0, mut p1) = parties(&TOY);
    let mut request = Vec::new();
    let requested = single::request(&mut p0, &mut request);
    let whole = 4 * primes.len();
    for (k, message) in out_of_range(&TOY, &request, &primes).iter().enumerate() {
        match of_p1(&mut p1, message) {
            Ok(_) => assert!(k < whole, "{k}"),
            Err(error) => assert!(k >= whole && is_out_of_range(&error, "Request", k), "{error}"),
        }
    }

    let (_, mut p1) = parties(&TOY);
    let (_, _, response) = of_p1(&mut p1, &request).unwrap();
    let plain = TOY.plain;
    let moduli = [&[1 << TOY.t[0]], plain, &[1 << TOY.t[1]]].concat();
    let whole = 4 * plain.len();
    drop(requested);
    for (k, message) in out_of_range(&TOY, &response, &moduli).iter().enumerate() {
        let requested = single::request(&mut p0, &mut request);
        match of_p0(&mut p0, requested, message) {
            Ok(_) => assert!(k < whole, "{k}"),
            Err(error) => {
                assert!(k >= whole && is_out_of_range(&error, "Response", k + 1), "{error}");
            }
        }
    }
}

/// P₁ answers a request sent twice with fresh coins, so that the difference of
/// the two responses is not one of products under one mask. The triples of the second are wrong, and nobody is told.
#[test]
fn a_request_that_is_replayed_gets_a_response_of_its_own() {
    let (mut p0, mut p1) = parties(&TOY);
    let mut request = Vec::new();
    let requested = single::request(&mut p0, &mut request);
    let (first_batch, mut first_shares, first) = of_p1(&mut p1, &request).unwrap();
    let (second_batch, mut second_shares, second) = of_p1(&mut p1, &request).unwrap();
    for (one, other) in [
        (first_shares.a(), second_shares.a()),
        (first_shares.b(), second_shares.b()),
        (first_shares.c(), second_shares.c()),
    ] {
        let equal = one.iter().zip(other).filter(|(x, y)| x == y).count();
        assert!(equal < 12, "{equal} of 128 bytes");
    }
    let equal = first.iter().zip(&second).filter(|(x, y)| x == y).count();
    assert!(equal < first.len() / 32, "{equal} bytes of the responses");

    let (shares, correction) = of_p0(&mut p0, requested, &first).unwrap();
    single::finish(&mut p1, first_batch, &correction, &mut first_shares).unwrap();
    assert_eq!(wrong_in_batch(&shares, &first_shares), 0);
    let requested = single::request(&mut p0, &mut request);
    let (shares, correction) = of_p0(&mut p0, requested, &second).unwrap();
    single::finish(&mut p1, second_batch, &correction, &mut second_shares).unwrap();
    assert!(wrong_in_batch(&shares, &second_shares) > 64);
}

#[test]
fn no_two_batches_streams_or_sessions_have_anything_in_common() {
    let mut requests = Vec::new();
    for (counter, byte) in [(0, 1), (1, 1), (0, 2)] {
        let (mut p0, _) = P0::new(session(counter), &TOY, seed(byte));
        for _ in 0..2 {
            let mut request = Vec::new();
            let _ = single::request(&mut p0, &mut request);
            let (a, b) = request.split_at(request.len() / 2);
            requests.extend([a.to_vec(), b.to_vec()]);
        }
    }
    for (k, one) in requests.iter().enumerate() {
        for other in &requests[..k] {
            let equal = one.iter().zip(other).filter(|(x, y)| x == y).count();
            assert!(equal < one.len() / 32, "{equal} bytes");
        }
    }
}

#[test]
fn a_batch_of_another_session_is_refused() {
    let (mut p0, mut p1) = parties(&TOY);
    let (mut other, _) = P0::new(session(1), &TOY, seed(1));
    let mut request = Vec::new();
    let foreign = single::request(&mut other, &mut request);
    let _ = single::request(&mut p0, &mut request);
    let (responded, mut shares, response) = of_p1(&mut p1, &request).unwrap();
    let error = of_p0(&mut p0, foreign, &response).map(drop).unwrap_err();
    assert_eq!(error, Error::Usage(Usage::ForeignBatch));
    let (_, public_key) = P0::new(session(1), &TOY, seed(1));
    let mut other = P1::new(session(1), &TOY, &public_key, seed(2)).unwrap();
    let correction = vec![0; TOY.correction_len()];
    let error = single::finish(&mut other, responded, &correction, &mut shares).unwrap_err();
    assert_eq!(error, Error::Usage(Usage::ForeignBatch));
}

#[test]
fn shares_of_another_set_and_a_wrong_number_of_ots_are_refused() {
    let (mut p0, mut p1) = parties(&TOY);
    let (mut request, mut response) = (Vec::new(), Vec::new());
    let (pairs, keys) = ots(&TOY, 0);
    let refused = |error| matches!(error, Error::Usage(Usage::CountMismatch { .. }));
    let requested = [0; 3].map(|_| single::request(&mut p0, &mut request));
    let (mut others, mut ours) = (Shares::new(params::of_bits(8).unwrap()), Shares::new(&TOY));
    for (ots, shares) in [(chosen(&TOY, &keys), &mut others), (None, &mut ours)] {
        let result = single::respond(&mut p1, &request, ots, shares, &mut response);
        assert!(refused(result.map(drop).unwrap_err()) && response.is_empty());
    }
    let (responded, _, answer) = of_p1(&mut p1, &request).unwrap();
    let correction = vec![0; TOY.correction_len()];
    assert!(refused(single::finish(&mut p1, responded, &correction, &mut others).unwrap_err()));
    let (pairs, fewer) = (pairs.pairs(), &pairs.pairs()[1..]);
    let (mut many, _) = parties(&TOY_LIFT);
    for (requested, (pairs, shares)) in
        requested.into_iter().zip([(pairs, &mut others), (fewer, &mut ours)])
    {
        let result = single::receive(&mut p0, requested, &answer, pairs, shares, &mut response);
        assert!(refused(result.unwrap_err()) && response.is_empty());
    }
    // Without the fix there are none.
    let requested = single::request(&mut many, &mut request);
    let answer = vec![0; TOY_LIFT.response_len()];
    let mut shares = Shares::new(&TOY_LIFT);
    let result = single::receive(&mut many, requested, &answer, pairs, &mut shares, &mut response);
    assert!(refused(result.unwrap_err()));
}

/// Well-formed batches have their output beside malformed ones; only P₁, who could not finish any, has none.
#[test]
fn a_malformed_message_spoils_its_own_batch_only() {
    let (mut p0, mut p1) = parties(&TOY);
    let mut requests = [0; 3].map(|_| Vec::new());
    let requested = p0.request(requests.iter_mut().collect());
    let (mut theirs, mut responses) =
        ([0; 3].map(|_| Shares::new(&TOY)), [0; 3].map(|_| Vec::new()));
    let (pairs, keys) = ots(&TOY, 0);
    let batches = requests.iter().zip(&mut theirs).zip(&mut responses);
    let batches = batches.map(|((request, shares), response)| Answering {
        request,
        ots: chosen(&TOY, &keys),
        shares,
        response,
    });
    let responded = p1.respond(batches.collect()).unwrap();
    responses[1].pop();
    let mut ours = [0; 3].map(|_| Shares::new(&TOY));
    let mut corrections = [0; 3].map(|_| vec![0]);
    let batches = requested.into_iter().zip(&responses).zip(ours.iter_mut().zip(&mut corrections));
    let batches = batches.map(|((requested, response), (shares, correction))| Receiving {
        requested,
        response,
        ots: Some(pairs.pairs()),
        shares,
        correction,
    });
    let error = p0.receive(batches.collect()).unwrap_err();
    assert!(is_wrong_length(&error, "Response", TOY.response_len()), "{error}");
    assert!(corrections[1].is_empty());
    assert_no_output(&ours[1]);
    let batches = responded.into_iter().zip(&corrections).zip(&mut theirs);
    let batches =
        batches.map(|((responded, correction), shares)| (responded, &**correction, shares));
    let error = p1.finish(batches.collect()).unwrap_err();
    assert!(is_wrong_length(&error, "Correction", TOY.correction_len()), "{error}");
    assert_no_output(&theirs[1]);
    for k in [0, 2] {
        assert_eq!(wrong_in_batch(&ours[k], &theirs[k]), 0);
    }

    requests[1].pop();
    let batches = requests.iter().zip(&mut theirs).zip(&mut responses);
    let batches = batches.map(|((request, shares), response)| Answering {
        request,
        ots: chosen(&TOY, &keys),
        shares,
        response,
    });
    let error = p1.respond(batches.collect()).map(drop).unwrap_err();
    assert!(is_wrong_length(&error, "Request", TOY.request_len()), "{error}");
    assert!(responses.iter().all(Vec::is_empty), "nothing to send");
    theirs.iter().for_each(assert_no_output);
}

#[test]
fn secrets_are_not_printed() {
    let (mut p0, mut p1) = parties(&TOY);
    let mut request = Vec::new();
    let requested = single::request(&mut p0, &mut request);
    let (responded, shares, _) = of_p1(&mut p1, &request).unwrap();
    let (_, keys) = ots(&TOY, 0);
    let ots = chosen(&TOY, &keys).unwrap();
    let printed = format!("{p0:?} {p1:?} {requested:?} {responded:?} {ots:?} {shares:?}");
    let expected = "P0(rlwe-toy, 1 batches, <redacted>) P1(rlwe-toy, 1 batches, <redacted>) \
                    Requested(batch 0) Responded(batch 0, <redacted>) Chosen(<128 redacted>) \
                    Shares(128 of 1 bytes, <redacted>)";
    assert_eq!(printed, expected);
}
