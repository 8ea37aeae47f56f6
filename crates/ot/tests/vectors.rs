//! The vectors that `reference/` generated, byte for byte (`vectors/roted.json`).
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use foxtrot_ot::{
    Backend, Bits, Direction, Seed, Session, Sid,
    base::roted::{endemic, rot},
};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/roted.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn array(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// Oracle contexts are `&'static str` so that programs cannot make them up.
fn context(value: &Value) -> &'static str {
    String::leak(value.as_str().unwrap().to_owned())
}

fn assert_is(value: &[u8], vector: &Value, name: &str) {
    if let Some(whole) = vector.get(name) {
        assert_eq!(value, bytes(whole), "{name}");
    }
    if let Some(hash) = vector.get(format!("{name}_blake3")) {
        assert_eq!(blake3::hash(value).as_bytes().as_slice(), bytes(hash), "{name}");
    }
}

#[test]
fn the_oracle_answers_as_in_the_vectors() {
    for vector in vectors()["oracle"].as_array().unwrap() {
        // A fresh session has the sid itself as its namespace.
        let session = Session::new(Sid::from_bytes(array(&vector["id"])));
        let branch = u8::try_from(number(&vector["branch"])).unwrap();
        let mut query =
            session.oracle(context(&vector["context"])).query(number(&vector["i"]), branch);
        for field in vector["fields"].as_array().unwrap() {
            query = query.field(&bytes(field));
        }
        let expected = bytes(&vector["output"]);
        let mut output = vec![0; expected.len()];
        query.fill(&mut output);
        assert_eq!(output, expected);
    }
}

#[test]
fn session_ids_are_those_of_the_vectors() {
    let vectors = vectors();
    for vector in vectors["sid"].as_array().unwrap() {
        let part = |name: &str| bytes(&vector[name]);
        let sid =
            Sid::derive(&part("initiator_hello"), &part("responder_hello"), &part("exporter"));
        assert_eq!(sid.as_bytes().as_slice(), part("sid"));
    }
    for vector in vectors["sub_sid"].as_array().unwrap() {
        let direction = match number(&vector["direction"]) {
            0 => Direction::InitiatorSends,
            _ => Direction::ResponderSends,
        };
        let protocol = vector["protocol"].as_str().unwrap();
        let session = Session::new(Sid::from_bytes(array(&vector["sid"])));
        let sub = session.sub(protocol, number(&vector["counter"]), direction);
        assert_eq!(sub.id().as_bytes().as_slice(), bytes(&vector["sub_sid"]));
    }
}

#[test]
fn runs_are_those_of_the_vectors_on_every_backend() {
    let vectors = vectors();
    let runs = vectors["roted"].as_array().unwrap();
    assert!(runs.len() >= 6);
    for (vector, backend) in runs.iter().flat_map(|v| Backend::all().map(move |b| (v, b))) {
        let session = || Session::new(Sid::from_bytes(array(&vector["id"]))).with_backend(backend);
        let seed = |name: &str| Seed::from_bytes(array(&vector[name]));
        let n = usize::try_from(number(&vector["n"])).unwrap();
        let choices = Bits::decode("choices", &bytes(&vector["choices"]), n).unwrap();

        let (sent, received) = match vector["mode"].as_str().unwrap() {
            "endemic" => {
                let (receiver, blinded) =
                    endemic::Receiver::start(session(), choices, seed("receiver_seed")).unwrap();
                let (sent, reply) = endemic::respond(session(), &blinded, seed("sender_seed"));
                assert_is(blinded.as_bytes(), vector, "blinded");
                assert_is(reply.as_bytes(), vector, "reply");
                (sent, receiver.finish(&reply).unwrap())
            }
            "rot" => {
                let (receiver, blinded) =
                    rot::Receiver::start(session(), n, seed("receiver_seed")).unwrap();
                let (sender, reply) =
                    rot::Sender::respond(session(), &blinded, seed("sender_seed"));
                let (received, opening) = receiver.finish(&reply).unwrap();
                assert_is(blinded.as_bytes(), vector, "blinded");
                assert_is(reply.as_bytes(), vector, "reply");
                let sent = sender.finish(&opening).unwrap();
                assert_is(&opening.into_bytes(), vector, "opening");
                assert_eq!(received.choices(), &choices);
                (sent, received)
            }
            mode => panic!("unknown mode {mode}"),
        };
        assert_eq!(sent.pairs().as_flattened().as_flattened(), bytes(&vector["sender_keys"]));
        assert_eq!(received.keys().as_flattened(), bytes(&vector["receiver_keys"]));
    }
}
