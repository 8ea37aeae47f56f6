//! The contents of `roted_figure1.json`. `gaussian` is the polynomial of `gaussian_input`; `signals`
//! and `parities` are tables over all x in `0..q`, one bit each, for coin 0 and for coin 1.

use super::{array, bytes, object, pattern, seeds, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::bytes_from_bits;
use foxtrot_reference::oracle::oracle;
use foxtrot_reference::ring::Ring;
use foxtrot_reference::roted_figure1;

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors roted_figure1 \
    > crates/papers/tests/vectors/roted_figure1.json";

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("ring", ring_vector()),
        ("roted_figure1", array([1, 2, 17].map(batch_vector))),
    ]);
    file + "\n"
}

/// Returns noise, and signals and parities of all elements of the ring's field.
fn ring_vector() -> String {
    let ring = Ring::paper512();
    let input = oracle("foxtrot v1 test", &pattern(0), 8, 0, &[], 1024);
    let all: Vec<u64> = (0..ring.q).collect();
    let signals = [0, 1].map(|coin| roted_figure1::sig(&ring, &all, coin));
    let parities = signals.each_ref().map(|signals| roted_figure1::mod_2(&ring, &all, signals));
    let tables =
        |tables: [Vec<bool>; 2]| bytes(&hash(&tables.map(|bits| bytes_from_bits(&bits)).concat()));
    object(&[
        ("gaussian_input", bytes(&input)),
        ("gaussian", bytes(&ring.pack(&[roted_figure1::gaussian(&ring, &input)]))),
        ("signals_blake3", tables(signals)),
        ("parities_blake3", tables(parities)),
    ])
}

/// Returns one honest run of Figure 1, with whole messages if it is short.
fn batch_vector(n: usize) -> String {
    let [id, receiver_seed, sender_seed] = seeds(n);
    let (receiver, blinded) = roted_figure1::receiver_blind(&id, n, &receiver_seed);
    let (sender, reply) = roted_figure1::sender_reply(&id, n, &blinded, &sender_seed);
    let received = roted_figure1::receiver_finish(receiver, &reply);
    let pairs = roted_figure1::sender_finish(sender, &received.opening);
    let mut fields = vec![
        ("n", n.to_string()),
        ("id", bytes(&id)),
        ("receiver_seed", bytes(&receiver_seed)),
        ("sender_seed", bytes(&sender_seed)),
        ("blinded_blake3", bytes(&hash(&blinded))),
        ("reply_blake3", bytes(&hash(&reply))),
        ("opening", bytes(&received.opening)),
        ("choices", bytes(&bytes_from_bits(&received.choices))),
        ("receiver_keys", bytes(received.keys.as_flattened())),
        ("sender_keys", bytes(pairs.as_flattened().as_flattened())),
    ];
    if n <= 2 {
        fields.extend([("blinded", bytes(&blinded)), ("reply", bytes(&reply))]);
    }
    object(&fields)
}
