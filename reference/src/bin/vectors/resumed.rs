//! The contents of `resumed.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::oracle::{Id, oracle, oracle32, sub_session_id};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors resumed \
    > crates/ot/tests/vectors/resumed.json";

const ABOUT: [&str; 4] = [
    "All byte strings are hexadecimal. Sessions have the sub-sid base_id for the base OTs of both runs: the second takes up what \
     the first one has kept.",
    "choices: of the base OTs' receiver, bit i of the byte. keys: both of each base OT, of the first run as it made them, of the second \
     as they follow. secrets: what a run keeps, both of each base OT.",
    "ticket: the id after a session with this sid in which the sender and the receiver of psi have the fingerprints sender and \
     receiver, over base, for n base OTs that have served so many uses.",
    "A party has of keys and secrets what its role in the base OTs gives.",
];

const N: usize = 5;

type Pairs = Vec<[Vec<u8>; 2]>;

pub(super) fn vectors() -> String {
    let ids = [0, 32].map(|first| sub_session_id(&pattern(first), 0, 1, "roted-endemic"));
    let key = |i: usize, b: u8| oracle("foxtrot v1 test key", &ids[0], i, b, &[], 16);
    let made: Pairs = (0..N).map(|i| [key(i, 0), key(i, 1)]).collect();
    let kept = hashed("foxtrot v1 kept base secret", &ids[0], &made);
    let taken_up = hashed("foxtrot v1 resumed base key", &ids[1], &kept);
    let kept_again = hashed("foxtrot v1 kept base secret", &ids[1], &kept);
    let run = |id: &Id, keys: &Pairs, secrets: &Pairs| {
        let [keys, secrets] = [keys, secrets]
            .map(|it| bytes(&it.iter().flatten().flatten().copied().collect::<Vec<_>>()));
        object(&[("base_id", bytes(id)), ("keys", keys), ("secrets", secrets)])
    };
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("n", N.to_string()),
        ("choices", bytes(&[0b1_0110])),
        ("runs", array([run(&ids[0], &made, &kept), run(&ids[1], &taken_up, &kept_again)])),
        ("tickets", array([(1, 128), (7, 802)].map(ticket_vector))),
    ]);
    file + "\n"
}

fn hashed(context: &str, base_id: &Id, pairs: &Pairs) -> Pairs {
    let id = sub_session_id(base_id, 0, 0, "kept-base");
    let hash = |i: usize, b: u8, secret: &[u8]| oracle(context, &id, i, b, &[secret], 16);
    pairs.iter().enumerate().map(|(i, [zero, one])| [hash(i, 0, zero), hash(i, 1, one)]).collect()
}

fn ticket_vector((uses, n): (usize, u64)) -> String {
    let [sid, sender, receiver] = [64, 96, 128].map(pattern);
    let base = "roted-endemic";
    let fields = [&sender[..], &receiver, base.as_bytes(), &n.to_le_bytes()];
    let id = oracle32("foxtrot v1 base ticket", &sid, uses, 0, &fields);
    object(&[
        ("sid", bytes(&sid)),
        ("sender", bytes(&sender)),
        ("receiver", bytes(&receiver)),
        ("base", string(base)),
        ("n", n.to_string()),
        ("uses", uses.to_string()),
        ("ticket", bytes(&id)),
    ])
}
