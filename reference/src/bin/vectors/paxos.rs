//! The contents of `paxos.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::oracle::{oracle, sub_session_id};
use foxtrot_reference::paxos::{Item, Protocol, Receiver, Sender, load};
use foxtrot_reference::{bits_from_bytes, bytes_from_bits};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors paxos \
    > crates/psi/tests/vectors/paxos.json";

const ABOUT: [&str; 9] = [
    "All byte strings are hexadecimal.",
    "sizes: items of receiver and sender, buckets, keys of a bucket, the sender's load, slots of a \
     bucket, bits of a tag against malicious and against semi-honest peers.",
    "runs: in the sub-session 0 of the protocol paxos under sid. Key b of base OT j is j, 8 bytes little \
     endian, and 8 bytes b; bit j of delta is the sender's choice.",
    "row_seed to proof are what a receiver sent, tags what the sender answers.",
    "coin: the joint coin of runs with several buckets, in the same sub-session, from a seed of each party; the messages \
     commitment, coin and opening.",
    "bucket_of: a number of buckets, and the bucket of every one of the coin's items under the joint coin.",
    "several: runs as above with that coin and three buckets, of sets far smaller than those for which a session has \
     several (2^20 + 1 items and more), as the schoolbook encodes by elimination.",
    "Base keys are as in runs, delta too. steps: bucket after bucket, one batch each; corrections_blake3 and proof_blake3 are \
     the plain BLAKE3 hashes of the messages, of slots that the schoolbook chose.",
    "common: places of the receiver's items that are the sender's, too.",
];

/// Sizes of sets at which a rule changes or rounds.
const SIZES: [(usize, usize); 16] = [
    (0, 0),
    (1, 1),
    (1, 1_000_000),
    (1_000_000, 1),
    (2048, 2048),
    (65_536, 65_537),
    (131_071, 131_071),
    (131_072, 131_072),
    (262_144, 262_143),
    (524_289, 1),
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
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sizes", array(SIZES.map(size_vector))),
        ("runs", array([run_vector(true), run_vector(false)])),
        ("coin", coin_vector()),
        ("several", array([several_vector(true), several_vector(false)])),
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
    let tags = [checked.tag_bits(), protocol(false, n, m).tag_bits()];
    let numbers =
        [n, m, checked.buckets, shape.n, load(m, checked.buckets), shape.slots(), tags[0], tags[1]];
    format!("[{}]", numbers.map(|number| number.to_string()).join(", "))
}

fn items(range: core::ops::Range<u8>) -> Vec<Item> {
    range.map(pattern).collect()
}

type Pairs = Vec<[[u8; 16]; 2]>;

/// Both keys of every base OT, and Δ with the chosen ones.
fn base(protocol: &Protocol) -> (Pairs, (Vec<bool>, Vec<[u8; 16]>)) {
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
    (pairs, (delta, chosen))
}

fn run_vector(checked: bool) -> String {
    let (ours, theirs) = (items(0..6), items(3..10));
    let protocol = protocol(checked, ours.len(), theirs.len());
    let (pairs, (delta, chosen)) = base(&protocol);
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
        ("tags", bytes(&tags)),
    ])
}

const COIN_SEEDS: [u8; 2] = [110, 111];

/// r, s and the joint coin of them.
fn coin(protocol: &Protocol) -> [[u8; 32]; 3] {
    let [first, second] = COIN_SEEDS.map(pattern);
    let (r, s) = (protocol.receiver_coin(&first), protocol.sender_coin(&second));
    [r, s, protocol.joint_coin(&r, &s)]
}

fn coin_vector() -> String {
    // The coin comes before anything that depends on the sizes.
    let protocol = protocol(true, 1, 1);
    let [r, s, joint] = coin(&protocol);
    let divided = items(0..16);
    let divide = |buckets: usize| {
        let protocol = Protocol { buckets, ..protocol.clone() };
        let of = divided.iter().map(|item| protocol.bucket_of(&joint, item).to_string());
        format!("[{buckets}, [{}]]", of.collect::<Vec<_>>().join(", "))
    };
    let [receiver_seed, sender_seed] = COIN_SEEDS.map(|seed| bytes(&pattern(seed)));
    object(&[
        ("receiver_seed", receiver_seed),
        ("sender_seed", sender_seed),
        ("commitment", bytes(&protocol.commitment(&r))),
        ("coin", bytes(&s)),
        ("opening", bytes(&r)),
        ("joint_coin", bytes(&joint)),
        ("items", bytes(divided.as_flattened())),
        ("bucket_of", array([2, 3, 10, 1024].map(divide))),
    ])
}

fn several_vector(checked: bool) -> String {
    let (ours, theirs) = (items(0..12), items(5..20));
    let protocol = Protocol { buckets: 3, ..protocol(checked, ours.len(), theirs.len()) };
    let (pairs, (delta, chosen)) = base(&protocol);
    let [_, _, joint] = coin(&protocol);
    let seeds = [pattern(100), pattern(101)];
    let mut receiver = Receiver::new(&protocol, pairs, &ours, joint, seeds[0]);
    let mut sender = Sender::new(&protocol, (delta.clone(), chosen), &theirs, joint, seeds[1]);
    let mut steps = Vec::new();
    for bucket in 0..protocol.buckets {
        let (row_seed, batches) = receiver.bucket(bucket);
        let [(batch, corrections)] = &batches[..] else { panic!("one batch") };
        let (answered, challenge) = sender.batch(protocol.shape().slots(), corrections);
        let proof = if checked { batch.proof(&challenge) } else { Vec::new() };
        answered.check(&proof).expect("an honest receiver");
        sender.finish(bucket, &row_seed, &answered.rows());
        let rows: Vec<_> = batch.finish(&challenge).into_iter().map(|(row, _)| row).collect();
        receiver.finish(bucket, &row_seed, &rows);
        steps.push(object(&[
            ("row_seed", bytes(&row_seed)),
            ("corrections_blake3", bytes(&hash(corrections))),
            ("challenge", bytes(&challenge)),
            ("proof_blake3", bytes(&hash(&proof))),
        ]));
    }
    let tags = sender.tags();
    let common = receiver.intersect(&tags);
    assert_eq!(common, [5, 6, 7, 8, 9, 10, 11]);
    let common: Vec<_> = common.iter().map(ToString::to_string).collect();
    object(&[
        ("checked", checked.to_string()),
        ("buckets", protocol.buckets.to_string()),
        ("sid", bytes(&pattern(0))),
        ("receiver_items", bytes(ours.as_flattened())),
        ("sender_items", bytes(theirs.as_flattened())),
        ("delta", bytes(&bytes_from_bits(&delta))),
        ("receiver_seed", bytes(&seeds[0])),
        ("sender_seed", bytes(&seeds[1])),
        ("steps", array(steps)),
        ("tags", bytes(&tags)),
        ("common", format!("[{}]", common.join(", "))),
    ])
}
