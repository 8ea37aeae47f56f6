//! The states against the schoolbook implementation: against its vectors (`vectors/rlwe.json`), and each
//! with a schoolbook peer.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use foxtrot_ot::{Backend, Direction, Seed, Session, Sid};
use foxtrot_reference::{oracle::sub_session_id, rlwe as reference};
use foxtrot_triples::{
    Shares,
    params::TOY,
    rlwe::{Duplex, P0, P1},
};
use serde_json::Value;

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

#[test]
fn both_streams_of_a_run_are_those_of_the_vectors_on_every_backend() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/rlwe.json")).unwrap();
    for backend in Backend::all() {
        let session = Session::new(Sid::from_bytes(strings(&vectors["sid"]))).with_backend(backend);
        let join = |direction, seed: &str| {
            let seed = Seed::from_bytes(strings(&vectors[seed]));
            Duplex::new(&session, &TOY, direction, &seed)
        };
        let (initiator, first_key) = join(Direction::InitiatorSends, "initiator_seed");
        let (responder, second_key) = join(Direction::ResponderSends, "responder_seed");
        let mut initiator = initiator.finish(&second_key).unwrap();
        let mut responder = responder.finish(&first_key).unwrap();

        let (mut ours, mut theirs) = (Shares::new(&TOY), Shares::new(&TOY));
        let (mut request, mut response) = (Vec::new(), Vec::new());
        for (direction, key) in [first_key, second_key].into_iter().enumerate() {
            let vector = &vectors["streams"][direction];
            assert_eq!(key, bytes(&vector["public_key"]), "{}", backend.name());
            let (asking, answering) = match direction {
                0 => (&mut initiator, &mut responder),
                _ => (&mut responder, &mut initiator),
            };
            for vector in vector["batches"].as_array().unwrap() {
                let requested = asking.request(&mut request);
                assert_eq!(request, bytes(&vector["request"]), "{}", backend.name());
                answering.respond(&request, &mut theirs, &mut response).unwrap();
                assert_eq!(response, bytes(&vector["response"]), "{}", backend.name());
                asking.receive(requested, &response, &mut ours).unwrap();
                assert_eq!(flat(&ours), bytes(&vector["p0"]));
                assert_eq!(flat(&theirs), bytes(&vector["p1"]));
            }
        }
    }
}

const SID: [u8; 32] = [0x42; 32];
const SEEDS: [[u8; 32]; 2] = [[0x11; 32], [0x22; 32]];

fn session() -> Session {
    Session::new(Sid::from_bytes(SID)).sub(TOY.name(), 0, Direction::InitiatorSends)
}

fn id() -> [u8; 32] {
    sub_session_id(&SID, 0, 0, TOY.name())
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
    let (mut p0, public_key) = P0::new(session(), &TOY, Seed::from_bytes(SEEDS[0]));
    let p1 = reference::P1::new(&reference::toy(), &id(), &public_key, SEEDS[1]);
    let (mut request, mut shares) = (Vec::new(), Shares::new(&TOY));
    for batch in 0..3 {
        let requested = p0.request(&mut request);
        let (theirs, response) = p1.respond(batch, &request);
        p0.receive(requested, &response, &mut shares).unwrap();
        assert_eq!(wrong(&shares, &theirs), 0);
    }
}

#[test]
fn p1_serves_the_schoolbook_p0() {
    let (p0, public_key) = reference::P0::new(&reference::toy(), &id(), SEEDS[0]);
    let mut p1 = P1::new(session(), &TOY, &public_key, Seed::from_bytes(SEEDS[1])).unwrap();
    let (mut response, mut shares) = (Vec::new(), Shares::new(&TOY));
    for batch in 0..3 {
        p1.respond(&p0.request(batch), &mut shares, &mut response).unwrap();
        assert_eq!(wrong(&shares, &p0.receive(batch, &response)), 0);
    }
}
