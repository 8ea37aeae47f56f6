//! The contents of `paxos.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::oracle::{oracle, sub_session_id};
use foxtrot_reference::paxos::{Item, Protocol, Receiver, Sender, load};
use foxtrot_reference::{bits_from_bytes, bytes_from_bits};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md alone: \
    cargo run --release -p foxtrot-reference --bin vectors paxos \
    > crates/psi/tests/vectors/paxos.json";

const ABOUT: [&str; 4] = [
    "All byte strings are hexadecimal.",
    "sizes: items of receiver and sender, buckets, keys of a bucket, the sender's load, slots of a \
     bucket, bytes of a tag against malicious and against semi-honest peers.",
    "runs: in the sub-session 0 of the protocol paxos under sid. Key b of base OT j is j, 8 bytes little \
     endian, and 8 bytes b; bit j of delta is the sender's choice.",
    "row_seed to proof are what a receiver sent, tags what the sender answers.",
];

/// Sizes of sets at which a rule changes or rounds.
const SIZES: [(usize, usize); 12] = [
    (0, 0),
    (1, 1),
    (1, 1_000_000),
    (1_000_000, 1),
    (2048, 2048),
    (65_536, 65_537),
    (1_048_576, 1_048_576),
    (1_048_577, 1_048_576),
    (2_097_153, 5),
    (10_000_000, 10_000_000),
    (100_000_000, 3),
    (1_000_000_000, 1_000_000_000),
];

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "4".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sizes", array(SIZES.map(size_vector))),
        ("runs", array([run_vector(true), run_vector(false)])),
    ]);
    file + "\n"
}

fn protocol(checked: bool, receiver_items: usize, sender_items: usize) -> Protocol {
    let id = sub_session_id(&pattern(0), 0, 0, "paxos");
    let buckets = Protocol::buckets_for(receiver_items);
    Protocol { id, checked, receiver_items, sender_items, buckets }
}

fn size_vector((n, m): (usize, usize)) -> String {
    let checked = protocol(true, n, m);
    let shape = checked.shape();
    let tags = [checked.tag_len(), protocol(false, n, m).tag_len()];
    let numbers =
        [n, m, checked.buckets, shape.n, load(m, checked.buckets), shape.slots(), tags[0], tags[1]];
    format!("[{}]", numbers.map(|number| number.to_string()).join(", "))
}

fn run_vector(checked: bool) -> String {
    let items = |range: core::ops::Range<u8>| -> Vec<Item> { range.map(pattern).collect() };
    let (ours, theirs) = (items(0..6), items(3..10));
    let protocol = protocol(checked, ours.len(), theirs.len());
    let n = protocol.ots().code().length();
    let delta = oracle("foxtrot v1 test paxos", &pattern(0), 0, 0, &[], n.div_ceil(8));
    let delta = bits_from_bytes(&delta, n);
    let key = |j: usize, b: u8| {
        let mut key = [b; 16];
        key[..8].copy_from_slice(&(j as u64).to_le_bytes());
        key
    };
    let pairs = (0..n).map(|j| [0, 1].map(|b| key(j, b))).collect();
    let chosen = (0..n).map(|j| key(j, u8::from(delta[j]))).collect();
    let seeds = [pattern(100), pattern(101)];
    let mut receiver = Receiver::new(&protocol, pairs, &ours, [0; 32], seeds[0]);
    let mut sender = Sender::new(&protocol, (delta.clone(), chosen), &theirs, [0; 32], seeds[1]);
    let (row_seed, batches) = receiver.bucket(0);
    let [(batch, corrections)] = &batches[..] else { panic!("one batch") };
    let (answered, challenge) = sender.batch(protocol.shape().slots(), corrections);
    let proof = if checked { batch.proof(&challenge) } else { Vec::new() };
    answered.check(&proof).expect("an honest receiver");
    sender.finish(0, &row_seed, &answered.rows());
    let rows: Vec<_> = batch.finish(&challenge).into_iter().map(|(row, _)| row).collect();
    receiver.finish(0, &row_seed, &rows);
    let tags = sender.tags();
    assert_eq!(receiver.intersect(&tags), [3, 4, 5]);
    object(&[
        ("checked", checked.to_string()),
        ("sid", bytes(&pattern(0))),
        ("receiver_items", bytes(ours.as_flattened())),
        ("sender_items", bytes(theirs.as_flattened())),
        ("delta", bytes(&bytes_from_bits(&delta))),
        ("sender_seed", bytes(&seeds[1])),
        ("row_seed", bytes(&row_seed)),
        ("corrections", bytes(corrections)),
        ("challenge", bytes(&challenge)),
        ("proof", bytes(&proof)),
        ("tags", bytes(&tags.concat())),
    ])
}
