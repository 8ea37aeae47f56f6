//! The contents of `rlwe.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::oracle::sub_session_id;
use foxtrot_reference::rlwe::{P0, P1, Shares, stream_seed, toy};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md alone: \
    cargo run --release -p foxtrot-reference --bin vectors rlwe \
    > crates/triples/tests/vectors/rlwe.json";

const ABOUT: [&str; 4] = [
    "All byte strings are hexadecimal. The set has no security: l = 8, n = 128, primes 125441, 120833 of p, then \
     16770049, 16769537; t0 = 1, t1 = 10.",
    "A party's stream seed comes from its seed, in the sub-session 0 of the protocol rlwe-toy under sid, whose \
     direction is 0 where the initiator is P0 and 1 where it is not.",
    "streams: public_key, and per batch request and response as on the wire.",
    "p0 and p1 are their shares of a, b and c, one after another, a byte each.",
];

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "2".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sid", bytes(&pattern(0))),
        ("initiator_seed", bytes(&pattern(100))),
        ("responder_seed", bytes(&pattern(101))),
        ("streams", array([0, 1].map(stream_vector))),
    ]);
    file + "\n"
}

fn stream_vector(direction: u8) -> String {
    let set = toy();
    let id = sub_session_id(&pattern(0), 0, direction, "rlwe-toy");
    let seeds = [100 + direction, 101 - direction].map(|k| stream_seed(&id, &pattern(k)));
    let (p0, public_key) = P0::new(&set, &id, seeds[0]);
    let p1 = P1::new(&set, &id, &public_key, seeds[1]);
    let batch = |number: usize| {
        let request = p0.request(number);
        let (theirs, response) = p1.respond(number, &request);
        let ours = p0.receive(number, &response);
        object(&[
            ("number", number.to_string()),
            ("request", bytes(&request)),
            ("response", bytes(&response)),
            ("p0", bytes(&flat(&ours))),
            ("p1", bytes(&flat(&theirs))),
        ])
    };
    object(&[
        ("direction", direction.to_string()),
        ("public_key", bytes(&public_key)),
        ("batches", array([0, 1].map(batch))),
    ])
}

fn flat(shares: &Shares) -> Vec<u8> {
    shares.iter().flatten().map(|x| u8::try_from(*x).expect("a byte")).collect()
}
