//! The states against the schoolbook implementation: against its vectors (`vectors/rlwe.json`), and each
//! with a schoolbook peer.

use crate::support::{
    ots::{chosen, ots},
    single,
};
use foxtrot_ot::{Backend, Bits, Direction, Seed, Session, Sid, base::Block};
use foxtrot_reference::{oracle::sub_session_id, rlwe as reference};
use foxtrot_triples::{
    Shares,
    params::{Set, TOY, TOY_LIFT, find},
    rlwe::{Chosen, Duplex, P0, P1},
};
use serde_json::Value;

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

/// Asserts that bytes are those of a vector, or have the hash that the vector gives instead.
fn assert_is(value: &[u8], vector: &Value, name: &str) {
    match vector.get(name) {
        Some(whole) => assert_eq!(value, bytes(whole), "{name}"),
        None => {
            let hash = &vector[format!("{name}_blake3")];
            assert_eq!(blake3::hash(value).as_bytes().as_slice(), bytes(hash), "{name}");
        }
    }
}

fn strings(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

fn flat(shares: &Shares) -> Vec<u8> {
    [shares.a(), shares.b(), shares.c()].concat()
}

/// The OTs of a batch of the vectors: both keys of each, P₁'s choices and keys.
fn of_vector(
    set: &Set,
    stream: &Session,
    batch: usize,
    vector: &Value,
) -> (Vec<[Block; 2]>, Bits, Vec<Block>) {
    let n = set.ots();
    let oracle = stream.oracle("vectors of rlwe");
    let key = |j: usize, b| oracle.query((batch * n + j) as u64, b).finish();
    let pairs: Vec<[Block; 2]> = (0..n).map(|j| [key(j, 0), key(j, 1)]).collect();
    let choices: Vec<bool> = (0..n).map(|j| key(j, 2)[0] & 1 == 1).collect();
    let chosen = pairs.iter().zip(&choices).map(|(pair, &c)| pair[usize::from(c)]).collect();
    let choices = Bits::from_bools(choices);
    assert_is(pairs.as_flattened().as_flattened(), vector, "keys");
    assert_is(choices.as_bytes(), vector, "choices");
    (pairs, choices, chosen)
}

/// Streams of a run that has those of the vectors, and no more batches.
fn check(backend: Backend, set: &'static Set, vectors: &Value, streams: &Value) {
    let session = Session::new(Sid::from_bytes(strings(&vectors["sid"]))).with_backend(backend);
    let join = |direction, seed: &str| {
        let seed = Seed::from_bytes(strings(&vectors[seed]));
        Duplex::new(&session, set, direction, &seed, 0)
    };
    let (initiator, first_key) = join(Direction::InitiatorSends, "initiator_seed");
    let (responder, second_key) = join(Direction::ResponderSends, "responder_seed");
    let mut initiator = initiator(&second_key).unwrap();
    let mut responder = responder(&first_key).unwrap();

    let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
    let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
    for vector in streams.as_array().unwrap() {
        let (key, asking, answering, direction) = match vector["direction"].as_u64().unwrap() {
            0 => (&first_key, &mut initiator, &mut responder, Direction::InitiatorSends),
            _ => (&second_key, &mut responder, &mut initiator, Direction::ResponderSends),
        };
        assert_is(key, vector, "public_key");
        let stream = session.sub(set.name(), 0, direction);
        for (batch, vector) in vector["batches"].as_array().unwrap().iter().enumerate() {
            let (pairs, choices, keys) = of_vector(set, &stream, batch, &vector["ots"]);
            let ots = set.fix().map(|_| Chosen { choices: &choices, keys: &keys });
            let requested = single::request(&mut asking.p0, &mut request);
            assert_is(&request, vector, "request");
            let responded =
                single::respond(&mut answering.p1, &request, ots, &mut theirs, &mut response)
                    .unwrap();
            assert_is(&response, vector, "response");
            single::receive(
                &mut asking.p0,
                requested,
                &response,
                &pairs,
                &mut ours,
                &mut correction,
            )
            .unwrap();
            assert_is(&correction, vector, "correction");
            single::finish(&mut answering.p1, responded, &correction, &mut theirs).unwrap();
            assert_is(&flat(&ours), vector, "p0");
            assert_is(&flat(&theirs), vector, "p1");
        }
    }
}

#[test]
fn both_streams_of_a_run_match_the_test_vectors_on_every_backend() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/rlwe.json")).unwrap();
    for (k, set) in [&TOY, &TOY_LIFT].into_iter().enumerate() {
        let of_set = &vectors["sets"][k];
        assert_eq!(of_set["name"], set.name());
        assert_eq!(of_set["streams"].as_array().unwrap().len(), 2);
        Backend::all().for_each(|backend| check(backend, set, &vectors, &of_set["streams"]));
    }
}

#[test]
fn a_batch_of_a_real_set_matches_the_test_vectors_on_every_backend() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/rlwe.json")).unwrap();
    let of_set = &vectors["real"][0];
    let set = find(of_set["name"].as_str().unwrap()).unwrap();
    assert_eq!(of_set["streams"][0]["batches"].as_array().unwrap().len(), 1);
    Backend::all().for_each(|backend| check(backend, set, &vectors, &of_set["streams"]));
}

const SID: [u8; 32] = [0x42; 32];
const SEEDS: [[u8; 32]; 2] = [[0x11; 32], [0x22; 32]];

fn session(set: &Set) -> Session {
    Session::new(Sid::from_bytes(SID)).sub(set.name(), 0, Direction::InitiatorSends)
}

fn id(set: &Set) -> [u8; 32] {
    sub_session_id(&SID, 0, 0, set.name())
}

fn sets() -> [(&'static Set, reference::Set); 2] {
    [(&TOY, reference::toy()), (&TOY_LIFT, reference::toy_lift())]
}

/// Counts the wrong triples of the two.
fn wrong(shares: &Shares, reference: &reference::Shares) -> usize {
    let is_wrong = |j: &usize| {
        let [a, b, c] = [0, 1, 2].map(|k| i128::from(shares.triple(*j)[k]) + reference[k][*j]);
        (a * b - c) % 256 != 0
    };
    (0..shares.len()).filter(is_wrong).count()
}

#[test]
fn p0_is_served_by_the_schoolbook_p1() {
    for (set, schoolbook) in sets() {
        let (mut p0, public_key) = P0::new(session(set), set, Seed::from_bytes(SEEDS[0]));
        let p1 = reference::P1::new(&schoolbook, &id(set), &public_key, SEEDS[1]);
        let (mut request, mut correction, mut shares) = (Vec::new(), Vec::new(), Shares::new(set));
        for batch in 0..3u8 {
            let (pairs, keys) = ots(set, batch);
            let choices = (0..set.ots()).map(|j| keys.choices().get(j).into());
            let keys = choices.zip(keys.keys().iter().copied()).collect();
            let requested = single::request(&mut p0, &mut request);
            let (responded, response) = p1.respond(batch.into(), &request, &keys);
            single::receive(
                &mut p0,
                requested,
                &response,
                pairs.pairs(),
                &mut shares,
                &mut correction,
            )
            .unwrap();
            assert_eq!(wrong(&shares, &p1.finish(responded, &correction)), 0);
        }
    }
}

#[test]
fn p1_serves_the_schoolbook_p0() {
    for (set, schoolbook) in sets() {
        let (p0, public_key) = reference::P0::new(&schoolbook, &id(set), SEEDS[0]);
        let seed = Seed::from_bytes(SEEDS[1]);
        let mut p1 = P1::new(session(set), set, &public_key, seed).unwrap();
        let (mut response, mut shares) = (Vec::new(), Shares::new(set));
        for batch in 0..3u8 {
            let (pairs, keys) = ots(set, batch);
            let (request, ots) = (p0.request(batch.into()), chosen(set, &keys));
            let responded =
                single::respond(&mut p1, &request, ots, &mut shares, &mut response).unwrap();
            let (theirs, correction) = p0.receive(batch.into(), &response, &pairs.pairs().to_vec());
            single::finish(&mut p1, responded, &correction, &mut shares).unwrap();
            assert_eq!(wrong(&shares, &theirs), 0);
        }
    }
}
