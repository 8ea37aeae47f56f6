//! The states against the schoolbook implementation: against its vectors (`vectors/rlwe.json`), and each
//! with a schoolbook peer.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "support/ots.rs"]
mod support;

use foxtrot_ot::{Backend, Bits, Direction, Seed, Session, Sid, base::Block};
use foxtrot_reference::{oracle::sub_session_id, rlwe as reference};
use foxtrot_triples::{
    Shares,
    params::{Set, TOY, TOY_LIFT},
    rlwe::{Chosen, Duplex, P0, P1},
};
use serde_json::Value;
use support::{chosen, ots};

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn strings(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

fn flat(shares: &Shares) -> Vec<u8> {
    [shares.a(), shares.b(), shares.c()].concat()
}

/// The OTs of a batch of the vectors: both keys of each, P₁'s choices and keys.
fn of_vector(value: &Value) -> (Vec<[Block; 2]>, Bits, Vec<Block>) {
    let keys = bytes(&value["keys"]);
    let pairs: Vec<[Block; 2]> = keys.as_chunks().0.as_chunks().0.to_vec();
    let choices = Bits::decode("choices", &bytes(&value["choices"]), pairs.len()).unwrap();
    let chosen = pairs.iter().enumerate();
    let chosen = chosen.map(|(j, pair)| pair[usize::from(choices.get(j).unwrap_u8())]).collect();
    (pairs, choices, chosen)
}

#[test]
fn both_streams_of_a_run_are_those_of_the_vectors_on_every_backend() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/rlwe.json")).unwrap();
    for (backend, (k, set)) in Backend::all().flat_map(|it| [(it, (0, &TOY)), (it, (1, &TOY_LIFT))])
    {
        let of_set = &vectors["sets"][k];
        assert_eq!(of_set["name"], set.name());
        let session = Session::new(Sid::from_bytes(strings(&vectors["sid"]))).with_backend(backend);
        let join = |direction, seed: &str| {
            let seed = Seed::from_bytes(strings(&vectors[seed]));
            Duplex::new(&session, set, direction, &seed)
        };
        let (initiator, first_key) = join(Direction::InitiatorSends, "initiator_seed");
        let (responder, second_key) = join(Direction::ResponderSends, "responder_seed");
        let mut initiator = initiator.finish(&second_key).unwrap();
        let mut responder = responder.finish(&first_key).unwrap();

        let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
        let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
        for (direction, key) in [first_key, second_key].into_iter().enumerate() {
            let vector = &of_set["streams"][direction];
            assert_eq!(key, bytes(&vector["public_key"]), "{}", backend.name());
            let (asking, answering) = match direction {
                0 => (&mut initiator, &mut responder),
                _ => (&mut responder, &mut initiator),
            };
            for vector in vector["batches"].as_array().unwrap() {
                let (pairs, choices, keys) = of_vector(&vector["ots"]);
                let ots = set.fix().map(|_| Chosen { choices: &choices, keys: &keys });
                let requested = asking.request(&mut request);
                assert_eq!(request, bytes(&vector["request"]), "{}", backend.name());
                let responded =
                    answering.respond(&request, ots, &mut theirs, &mut response).unwrap();
                assert_eq!(response, bytes(&vector["response"]), "{}", backend.name());
                asking
                    .receive(requested, &response, Some(&pairs), &mut ours, &mut correction)
                    .unwrap();
                assert_eq!(correction, bytes(&vector["correction"]), "{}", backend.name());
                answering.finish(responded, &correction, &mut theirs).unwrap();
                assert_eq!(flat(&ours), bytes(&vector["p0"]));
                assert_eq!(flat(&theirs), bytes(&vector["p1"]));
            }
        }
    }
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

/// How many triples of the two are wrong.
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
            let requested = p0.request(&mut request);
            let (responded, response) = p1.respond(batch.into(), &request, &keys);
            p0.receive(requested, &response, Some(pairs.pairs()), &mut shares, &mut correction)
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
            let responded = p1.respond(&request, ots, &mut shares, &mut response).unwrap();
            let (theirs, correction) = p0.receive(batch.into(), &response, &pairs.pairs().to_vec());
            p1.finish(responded, &correction, &mut shares).unwrap();
            assert_eq!(wrong(&shares, &theirs), 0);
        }
    }
}
