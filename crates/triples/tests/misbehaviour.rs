//! What a peer, or the network, can send: every test is an attack that fails, or shows what is not
//! defended against.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use foxtrot_ot::{Decode, Direction, Error, Seed, Session, Sid, Usage};
use foxtrot_triples::{
    Shares,
    params::{self, Set, TOY, width_of},
    rlwe::{P0, P1},
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

#[allow(clippy::panic_in_result_fn, reason = "a failed assertion is a failed test")]
fn of_p1(p1: &mut P1, request: &[u8]) -> Result<(Shares, Vec<u8>), Error> {
    let (mut shares, mut response) = (Shares::new(p1.set()), vec![7; 5]);
    let result = p1.respond(request, &mut shares, &mut response);
    if result.is_err() {
        assert!(response.is_empty(), "nothing to send");
        assert_no_output(&shares);
    }
    result.map(|()| (shares, response))
}

fn assert_no_output(shares: &Shares) {
    assert!([shares.a(), shares.b(), shares.c()].concat().iter().all(|byte| *byte == 0));
}

/// For every polynomial of a message, in order: its prime, or 2^t for low bits, and where it begins.
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
    for set in [&TOY, params::of_bits(8).unwrap()] {
        let (mut p0, mut p1) = parties(set);
        let mut request = Vec::new();
        for len in [0, 1, set.request_len() - 1, set.request_len() + 1] {
            let _ = p0.request(&mut request);
            request.resize(len, 0);
            let error = of_p1(&mut p1, &request).unwrap_err();
            assert!(is_wrong_length(&error, "Request", set.request_len()), "{error}");
        }
        for len in [0, 1, set.response_len() - 1, set.response_len() + 1] {
            let (requested, mut shares) = (p0.request(&mut request), Shares::new(set));
            let (_, mut response) = of_p1(&mut p1, &request).unwrap();
            response.resize(len, 0);
            let error = p0.receive(requested, &response, &mut shares).unwrap_err();
            assert!(is_wrong_length(&error, "Response", set.response_len()), "{error}");
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
    let rest = TOY.rest();
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
    let requested = p0.request(&mut request);
    let whole = 4 * primes.len();
    for (k, message) in out_of_range(&TOY, &request, &primes).iter().enumerate() {
        match of_p1(&mut p1, message) {
            Ok(_) => assert!(k < whole, "{k}"),
            Err(error) => assert!(k >= whole && is_out_of_range(&error, "Request", k), "{error}"),
        }
    }

    let (_, mut p1) = parties(&TOY);
    let (_, response) = of_p1(&mut p1, &request).unwrap();
    let plain = TOY.plain();
    let moduli = [plain, &[1 << TOY.t()[0]], plain, &[1 << TOY.t()[1]]].concat();
    let whole = 4 * 2 * plain.len();
    drop(requested);
    for (k, message) in out_of_range(&TOY, &response, &moduli).iter().enumerate() {
        let (requested, mut shares) = (p0.request(&mut request), Shares::new(&TOY));
        match p0.receive(requested, message, &mut shares) {
            Ok(()) => assert!(k < whole, "{k}"),
            Err(error) => {
                assert!(k >= whole && is_out_of_range(&error, "Response", k + 1), "{error}");
                assert_no_output(&shares);
            }
        }
    }
}

/// What P₁ does with a request sent twice: everything of its own is fresh, so that the difference of
/// the two responses is not one of products under one mask. The triples of the second are wrong, and nobody is told.
#[test]
fn a_request_that_is_replayed_gets_a_response_of_its_own() {
    let (mut p0, mut p1) = parties(&TOY);
    let mut request = Vec::new();
    let requested = p0.request(&mut request);
    let (first_shares, first) = of_p1(&mut p1, &request).unwrap();
    let (second_shares, second) = of_p1(&mut p1, &request).unwrap();
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

    let mut shares = Shares::new(&TOY);
    p0.receive(requested, &first, &mut shares).unwrap();
    assert_eq!(wrong_in_batch(&shares, &first_shares), 0);
    let requested = p0.request(&mut request);
    p0.receive(requested, &second, &mut shares).unwrap();
    assert!(wrong_in_batch(&shares, &second_shares) > 64);
}

#[test]
fn no_two_batches_streams_or_sessions_have_anything_in_common() {
    let mut requests = Vec::new();
    for (counter, byte) in [(0, 1), (1, 1), (0, 2)] {
        let (mut p0, _) = P0::new(session(counter), &TOY, seed(byte));
        for _ in 0..2 {
            let mut request = Vec::new();
            let _ = p0.request(&mut request);
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
    let foreign = other.request(&mut request);
    let _ = p0.request(&mut request);
    let (_, response) = of_p1(&mut p1, &request).unwrap();
    let mut shares = Shares::new(&TOY);
    let error = p0.receive(foreign, &response, &mut shares).unwrap_err();
    assert_eq!(error, Error::Usage(Usage::ForeignBatch));
}

#[test]
fn shares_of_another_set_are_refused() {
    let (mut p0, mut p1) = parties(&TOY);
    let (mut request, mut response) = (Vec::new(), Vec::new());
    let requested = p0.request(&mut request);
    let mut shares = Shares::new(params::of_bits(8).unwrap());
    let refused = |error| matches!(error, Error::Usage(Usage::CountMismatch { .. }));
    assert!(refused(p1.respond(&request, &mut shares, &mut response).unwrap_err()));
    let (_, response) = of_p1(&mut p1, &request).unwrap();
    assert!(refused(p0.receive(requested, &response, &mut shares).unwrap_err()));
}

/// Of several batches at once those that are well formed have their output.
#[test]
fn a_malformed_message_spoils_its_own_batch_only() {
    let (mut p0, mut p1) = parties(&TOY);
    let mut requests = [Vec::new(), Vec::new(), Vec::new()];
    let requested = p0.request_all(requests.iter_mut().collect());
    requests[1].pop();
    let (mut theirs, mut responses) =
        ([0; 3].map(|_| Shares::new(&TOY)), [0; 3].map(|_| Vec::new()));
    let batches = requests.iter().zip(&mut theirs).zip(&mut responses);
    let batches = batches.map(|((request, shares), response)| (&**request, shares, response));
    let error = p1.respond_all(batches.collect()).unwrap_err();
    assert!(is_wrong_length(&error, "Request", TOY.request_len()), "{error}");
    assert!(responses[1].is_empty());
    assert_no_output(&theirs[1]);
    let mut ours = [0; 3].map(|_| Shares::new(&TOY));
    let batches = requested.into_iter().zip(&responses).zip(&mut ours);
    let batches = batches.map(|((requested, response), shares)| (requested, &**response, shares));
    let error = p0.receive_all(batches.collect()).unwrap_err();
    assert!(is_wrong_length(&error, "Response", TOY.response_len()), "{error}");
    for (k, wrong) in [(0, 0), (2, 0)] {
        assert_eq!(wrong_in_batch(&ours[k], &theirs[k]), wrong);
    }
}

#[test]
fn secrets_are_not_printed() {
    let (mut p0, p1) = parties(&TOY);
    let requested = p0.request(&mut Vec::new());
    let shares = Shares::new(&TOY);
    let printed = format!("{p0:?} {p1:?} {requested:?} {shares:?}");
    let expected = "P0(rlwe-toy, 1 batches, <redacted>) P1(rlwe-toy, 0 batches, <redacted>) \
                    Requested(batch 0) Shares(128 of 1 bytes, <redacted>)";
    assert_eq!(printed, expected);
}
