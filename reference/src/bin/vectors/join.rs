//! The contents of `join.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::join::{claimed, claims, item_key, payload, record};
use foxtrot_reference::oracle::{oracle, sub_session_id};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire/join.md: \
    cargo run --release -p foxtrot-reference --bin vectors join \
    > crates/psi/tests/vectors/join.json";

const ABOUT: [&str; 4] = [
    "All byte strings are hexadecimal.",
    "keys: of an item and its value (16 bytes) or row (64, 101 bytes) in bucket 2 of the sub-session 0 of the protocol vole-psi, \
     or paxos, under sid.",
    "payloads: records of payloads under keys, in the sub-session 0 of the protocol vole-psi under sid.",
    "claims: the message for some of the keys, which are those at these places.",
];

pub(super) fn vectors() -> String {
    let keys = [("vole-psi", 16), ("paxos", 64), ("paxos", 101)].map(key_vector);
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sid", bytes(&pattern(0))),
        ("keys", array(keys)),
        ("payloads", array([0, 1, 21, 100, 2017].map(payload_vector))),
        ("claims", claim_vector()),
    ]);
    file + "\n"
}

fn key_vector((protocol, len): (&str, usize)) -> String {
    let id = sub_session_id(&pattern(0), 0, 0, protocol);
    let bucket_id = sub_session_id(&id, 2, 0, "paxos bucket");
    let (row_seed, item, value) = (pattern(1), pattern(2), random(len));
    object(&[
        ("protocol", string(protocol)),
        ("row_seed", bytes(&row_seed)),
        ("item", bytes(&item)),
        ("value", bytes(&value)),
        ("key", bytes(&item_key(&bucket_id, &row_seed, &item, &value))),
    ])
}

fn payload_vector(len: usize) -> String {
    let id = sub_session_id(&pattern(0), 0, 0, "vole-psi");
    let (key, text) = (pattern(3), random(len));
    let sealed = record(&id, &key, &text);
    assert_eq!(payload(&id, &key, &sealed).as_ref(), Some(&text));
    assert_eq!(payload(&id, &pattern(4), &sealed), None);
    object(&[("key", bytes(&key)), ("payload", bytes(&text)), ("record", bytes(&sealed))])
}

fn claim_vector() -> String {
    let id = sub_session_id(&pattern(0), 0, 0, "vole-psi");
    let (all, places) = ((10..18).map(pattern).collect::<Vec<_>>(), [1, 2, 5, 6, 7]);
    let message = claims(&id, &places.map(|k| all[k]));
    assert_eq!(claimed(&id, &all, &message), places);
    object(&[
        ("keys", bytes(all.as_flattened())),
        ("places", array(places.map(|k| k.to_string()))),
        ("message", bytes(&message)),
    ])
}

fn random(len: usize) -> Vec<u8> {
    oracle("foxtrot v1 test join", &pattern(0), len, 0, &[], len)
}
