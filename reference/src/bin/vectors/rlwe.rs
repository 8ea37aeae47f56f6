//! The contents of `rlwe.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::bytes_from_bits;
use foxtrot_reference::oracle::{oracle, sub_session_id};
use foxtrot_reference::rlwe::{
    Chosen, P0, P1, Pairs, Set, Shares, rlwe_8, stream_seed, toy, toy_lift,
};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors rlwe \
    > crates/triples/tests/vectors/rlwe.json";

const ABOUT: [&str; 9] = [
    "All byte strings are hexadecimal; a name that ends in _blake3 is the plain BLAKE3 hash of what its beginning names.",
    "sets: toys, which have no security: l = 8, n = 128, primes 147457 of p (rlwe-toy) or \
     125441, 120833 (rlwe-lift-toy, without the MSB fix), then 16770049, 16769537; t0 = 1, t1 = 10.",
    "real: rlwe-8, the only set of docs/wire.md whose products the schoolbook's integers of 127 bits hold; one batch. The \
     numbers of all others are held to the table of docs/wire.md by crates/triples/tests/table.rs.",
    "A party's stream seed comes from its seed, in the sub-session 0 of the protocol that the set's name is under sid, \
     whose direction is 0 where the initiator is P0 and 1 where it is not.",
    "streams: public_key, and per batch request, response and correction as on the wire.",
    "ots: the random OTs of a batch, given to both: P1's choices as bits, and keys, both of every OT one after \
     another.",
    "Key b of OT j of a batch is Oracle('vectors of rlwe', id, batch n + j, b), 16 bytes, no fields; its choice is the least \
     bit of the first byte for b = 2.",
    "p0 and p1 are their shares of a, b and c, one after another, a byte each.",
    "Without the fix there are no OTs, and the correction is empty.",
];

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sid", bytes(&pattern(0))),
        ("initiator_seed", bytes(&pattern(100))),
        ("responder_seed", bytes(&pattern(101))),
        ("sets", array([toy_vector("rlwe-toy", &toy()), toy_vector("rlwe-lift-toy", &toy_lift())])),
        ("real", array([set_vector("rlwe-8", [stream_vector("rlwe-8", &rlwe_8(), 0, 1)])])),
    ]);
    file + "\n"
}

fn toy_vector(name: &str, set: &Set) -> String {
    set_vector(name, [0, 1].map(|direction| stream_vector(name, set, direction, 2)))
}

fn set_vector<const N: usize>(name: &str, streams: [String; N]) -> String {
    object(&[("name", string(name)), ("streams", array(streams))])
}

/// Prints a stream of `batches` batches; long strings as hashes.
fn stream_vector(name: &str, set: &Set, direction: u8, batches: usize) -> String {
    let id = sub_session_id(&pattern(0), 0, direction, name);
    let seeds = [100 + direction, 101 - direction].map(|k| stream_seed(&id, &pattern(k)));
    let (p0, public_key) = P0::new(set, &id, seeds[0]);
    let p1 = P1::new(set, &id, &public_key, seeds[1]);
    let short = set.n == toy().n;
    let part = |name, hashed, value: &[u8]| {
        if short { (name, bytes(value)) } else { (hashed, bytes(&hash(value))) }
    };
    let batch = |number: usize| {
        let (pairs, chosen) = ots(set, &id, number);
        let request = p0.request(number);
        let (responded, response) = p1.respond(number, &request, &chosen);
        let (ours, correction) = p0.receive(number, &response, &pairs);
        let theirs = p1.finish(responded, &correction);
        let choices: Vec<bool> = chosen.iter().map(|(choice, _)| *choice).collect();
        let ots = object(&[
            part("choices", "choices_blake3", &bytes_from_bits(&choices)),
            part("keys", "keys_blake3", pairs.as_flattened().as_flattened()),
        ]);
        object(&[
            ("number", number.to_string()),
            ("ots", ots),
            part("request", "request_blake3", &request),
            part("response", "response_blake3", &response),
            part("correction", "correction_blake3", &correction),
            part("p0", "p0_blake3", &flat(&ours)),
            part("p1", "p1_blake3", &flat(&theirs)),
        ])
    };
    object(&[
        ("direction", direction.to_string()),
        part("public_key", "public_key_blake3", &public_key),
        ("batches", array((0..batches).map(batch))),
    ])
}

/// Makes the OTs that an ideal functionality might give.
fn ots(set: &Set, id: &[u8; 32], batch: usize) -> (Pairs, Chosen) {
    let n = if set.fix { set.n } else { 0 };
    let string = |j: usize, branch| {
        let bytes = oracle("vectors of rlwe", id, batch * n + j, branch, &[], 16);
        core::array::from_fn(|k| bytes[k])
    };
    let pairs: Pairs = (0..n).map(|j| [0, 1].map(|branch| string(j, branch))).collect();
    let choose = |j: usize| {
        let [first, ..]: [u8; 16] = string(j, 2);
        let choice = first & 1;
        (choice == 1, pairs[j][usize::from(choice)])
    };
    let chosen = (0..n).map(choose).collect();
    (pairs, chosen)
}

fn flat(shares: &Shares) -> Vec<u8> {
    shares.iter().flatten().map(|x| u8::try_from(*x).expect("a byte")).collect()
}
