//! Hashes against vectors of the schoolbook implementation (`tests/vectors/join.json`).

use serde_json::Value;

use super::*;
use crate::{RowSeed, hashes::Keyed, items::bucket_session, tags::Answers};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../tests/vectors/join.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn string(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

fn session(protocol: &str) -> Session {
    Session::new(Sid::from_bytes(string(&vectors()["sid"]))).sub(protocol, 0, Default::default())
}

#[test]
fn keys_of_items_match_the_test_vectors() {
    for vector in vectors()["keys"].as_array().unwrap() {
        let session = bucket_session(&session(vector["protocol"].as_str().unwrap()), 2);
        let row_seed = RowSeed::decode(&string(&vector["row_seed"])).unwrap();
        let input = [bytes(&vector["item"]), bytes(&vector["value"])].concat();
        let answers = Answers::compute(session.executor(), 1, true, |_, mut answers| {
            answers.fill(128, |len, to| {
                Keyed::tags(&session, &row_seed).hash(input.len(), &input, len, to);
            });
            Ok(())
        });
        assert_eq!(answers.unwrap().keys.unwrap()[0], string(&vector["key"]));
    }
}

#[test]
fn payloads_match_the_test_vectors() {
    for vector in vectors()["payloads"].as_array().unwrap() {
        let (text, record) = (bytes(&vector["payload"]), bytes(&vector["record"]));
        let terms = JoinTerms::NONE.payload(text.len()).unwrap();
        let join = Join::new(&session("vole-psi"), terms);
        let key = string(&vector["key"]);
        let keys = Keys { keys: Secret(vec![key]), owners: Secret(vec![0]) };
        let fill = |_: usize, to: &mut [u8]| {
            to.copy_from_slice(&text);
            Ok(())
        };
        assert_eq!(join.seal(&keys, 0..1, fill).unwrap(), record);
        let (places, owners) = (Secret(vec![0]), Secret(vec![0]));
        let matches = Matches { places, owners, keys: Secret(vec![key]) };
        join.open(&matches, &mut record.clone(), |_, read| assert_eq!(read, text)).unwrap();
    }
}

#[test]
fn claims_match_the_test_vectors() {
    let vector = &vectors()["claims"];
    let all = bytes(&vector["keys"]).as_chunks::<32>().0.to_vec();
    let places: Vec<usize> = vector["places"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| usize::try_from(it.as_u64().unwrap()).unwrap())
        .collect();
    let join = Join::new(&session("vole-psi"), JoinTerms::NONE.both());
    let of_matches: Vec<u32> = places.iter().map(|&k| u32::try_from(k).unwrap()).collect();
    let matches = Matches {
        keys: Secret(places.iter().map(|&k| all[k]).collect()),
        places: Secret(of_matches.clone()),
        owners: Secret(of_matches),
    };
    let messages: Vec<Vec<u8>> = join.claim(&matches).collect();
    assert_eq!(messages.concat(), bytes(&vector["message"]));
    let owners = Secret((0..u32::try_from(all.len()).unwrap()).collect());
    let keys = Keys { keys: Secret(all.clone()), owners };
    let mut claimed = Claimed::new(&join, &keys, &messages[0], all.len()).unwrap();
    claimed.take(&messages[1]).unwrap();
    assert_eq!(claimed.finish().unwrap(), places);
}
