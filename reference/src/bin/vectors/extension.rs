//! The contents of `extension.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::extension::{
    Block, DELTA_BITS, Protocol, Receiver, Sender, check, output_hash,
};
use foxtrot_reference::oracle::{Id, oracle, oracle32, sub_session_id};
use foxtrot_reference::{aes, bits_from_bytes, bytes_from_bits};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors extension \
    > crates/ot/tests/vectors/extension.json";

const ABOUT: [&str; 8] = [
    "All byte strings are hexadecimal; a name that ends in _blake3 is the plain BLAKE3 hash of \
     what its beginning names.",
    "aes, output_hash (TMMO, by key, index i and input v): blocks of 16 bytes. field: elements of \
     GF(2^64), 8 bytes each.",
    "runs: one sub-sid each. The base OT's keys are key_r^b = Oracle('foxtrot v1 test base key', \
     id, r, b), 16 bytes each, no fields; base_keys is key_0^0, key_0^1, key_1^0 and so on.",
    "delta: bit r is the choice in base OT r. given: whether the receiver's choices are given.",
    "setup, corrections, challenge, proof: the messages, empty where there is none; setup as its \
     hash if it is longer than 256 bytes.",
    "choices: the receiver's at the end, bit i for OT i, and so the given ones if given.",
    "sender_rows, receiver_rows: q and t, 16 bytes per OT. sender_keys: key 0, key 1 per OT. \
     receiver_keys: 16 bytes per OT.",
    "first_sender_row, first_receiver_row, last_receiver_key: of OT 0 and of OT n - 1.",
];

/// Every k, and so every depth of a last tree, and some of the unchecked ones; in full.
const NAMES: [&str; 12] = [
    "iknp",
    "kos",
    "softspoken-1",
    "softspoken-2",
    "softspoken-3",
    "softspoken-4",
    "softspoken-5",
    "softspoken-6",
    "softspoken-7",
    "softspoken-8",
    "softspoken-1-semi-honest",
    "softspoken-4-semi-honest",
];

/// The last has two output keys.
const SIZES: [usize; 3] = [5, 700, 1100];

/// The others, in short.
const MORE_NAMES: [&str; 6] = [
    "softspoken-2-semi-honest",
    "softspoken-3-semi-honest",
    "softspoken-5-semi-honest",
    "softspoken-6-semi-honest",
    "softspoken-7-semi-honest",
    "softspoken-8-semi-honest",
];

const MORE_SIZES: [usize; 2] = [1100, 5];

pub(super) fn vectors() -> String {
    let full = NAMES.iter().map(|name| (name, &SIZES[..]));
    let short = MORE_NAMES.iter().map(|name| (name, &MORE_SIZES[..]));
    let runs = full.chain(short);
    let runs = runs.flat_map(|(name, sizes)| [false, true].map(|given| run(name, sizes, given)));
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("aes", array([0, 1].map(aes_vector))),
        ("output_hash", array([0, 1, 1023, 65535].map(output_hash_vector))),
        ("field", array(field_vectors())),
        ("runs", array(runs)),
    ]);
    file + "\n"
}

fn aes_vector(number: usize) -> String {
    let [key, input] = [0, 1].map(|branch| test_block("foxtrot v1 test aes", number, branch));
    object(&[
        ("key", block(key)),
        ("input", block(input)),
        ("output", block(aes::encrypt(key, input))),
    ])
}

fn output_hash_vector(i: usize) -> String {
    let [key, v] = [0, 1].map(|branch| test_block("foxtrot v1 test output hash", i, branch));
    object(&[
        ("key", block(key)),
        ("i", i.to_string()),
        ("v", block(v)),
        ("output", block(output_hash(key, i, v))),
    ])
}

fn field_vectors() -> Vec<String> {
    let drawn = |branch| {
        let bytes = oracle("foxtrot v1 test field", &pattern(0), 0, branch, &[], 8);
        bytes.iter().rev().fold(0, |x, &byte| x << 8 | u64::from(byte))
    };
    let [a, b] = [0, 1].map(drawn);
    let pairs = [(1, a), (2, 1 << 63), (1 << 63, 1 << 63), (u64::MAX, u64::MAX), (a, b), (a, 0)];
    let vector = |(a, b): (u64, u64)| {
        object(&[
            ("a", bytes(&a.to_le_bytes())),
            ("b", bytes(&b.to_le_bytes())),
            ("product", bytes(&check::multiply(a, b).to_le_bytes())),
        ])
    };
    pairs.map(vector).to_vec()
}

/// Returns one honest run of batches of these sizes.
fn run(name: &str, sizes: &[usize], given: bool) -> String {
    let protocol = Protocol::named(name);
    let id = sub_session_id(&pattern(0), usize::from(given), 0, name);
    let keys: [[Block; 2]; DELTA_BITS] = core::array::from_fn(|r| {
        [0, 1].map(|b| le(&oracle("foxtrot v1 test base key", &id, r, b, &[], 16)))
    });
    let delta = oracle("foxtrot v1 test delta", &id, 0, 0, &[], 16);
    let delta_bits = bits_from_bytes(&delta, DELTA_BITS);
    let delta_bits: [bool; DELTA_BITS] = core::array::from_fn(|r| delta_bits[r]);
    let chosen = core::array::from_fn(|r| keys[r][usize::from(delta_bits[r])]);
    let [receiver_seed, sender_seed] =
        [0, 1].map(|branch| oracle32("foxtrot v1 test seed", &id, 0, branch, &[]));

    let (mut receiver, setup) = Receiver::setup(protocol, &id, &keys, &receiver_seed);
    let mut sender = Sender::setup(protocol, &id, &delta_bits, &chosen, &sender_seed, &setup)
        .expect("an honest run");
    let batches: Vec<String> = (0..)
        .zip(sizes)
        .map(|(batch, &n)| {
            let choices = given.then(|| given_choices(&id, batch, n));
            batch_vector(&mut receiver, &mut sender, n, choices.as_deref())
        })
        .collect();
    let setup = if setup.len() <= 256 {
        ("setup", bytes(&setup))
    } else {
        ("setup_blake3", bytes(&hash(&setup)))
    };
    object(&[
        ("protocol", string(name)),
        ("given", given.to_string()),
        ("id", bytes(&id)),
        ("delta", bytes(&delta)),
        ("base_keys_blake3", bytes(&hash(&blocks(keys.as_flattened())))),
        ("receiver_seed", bytes(&receiver_seed)),
        ("sender_seed", bytes(&sender_seed)),
        setup,
        ("batches", array(batches)),
    ])
}

fn batch_vector(
    receiver: &mut Receiver,
    sender: &mut Sender,
    n: usize,
    choices: Option<&[bool]>,
) -> String {
    let (receiver, corrections) = receiver.correct(n, choices);
    let (sender, challenge) = sender.challenge(n, choices.is_some(), &corrections);
    let (received, proof) = receiver.finish(&challenge);
    let sent = sender.finish(&proof).expect("an honest run");
    object(&[
        ("n", n.to_string()),
        ("corrections_blake3", bytes(&hash(&corrections))),
        ("challenge", bytes(&challenge)),
        ("proof_blake3", bytes(&hash(&proof))),
        ("choices", bytes(&bytes_from_bits(&received.choices))),
        ("first_sender_row", block(sent.rows[0])),
        ("first_receiver_row", block(received.rows[0])),
        ("last_receiver_key", block(received.keys[n - 1])),
        ("sender_rows_blake3", bytes(&hash(&blocks(&sent.rows)))),
        ("receiver_rows_blake3", bytes(&hash(&blocks(&received.rows)))),
        ("sender_keys_blake3", bytes(&hash(&blocks(sent.keys.as_flattened())))),
        ("receiver_keys_blake3", bytes(&hash(&blocks(&received.keys)))),
    ])
}

fn given_choices(id: &Id, batch: usize, n: usize) -> Vec<bool> {
    let bytes = oracle("foxtrot v1 test choices", id, batch, 0, &[], n.div_ceil(8));
    bits_from_bytes(&bytes, n)
}

fn test_block(context: &str, i: usize, branch: u8) -> Block {
    le(&oracle(context, &pattern(0), i, branch, &[], 16))
}

fn le(bytes: &[u8]) -> Block {
    Block::from_le_bytes(bytes.try_into().expect("16 bytes"))
}

fn block(block: Block) -> String {
    bytes(&block.to_le_bytes())
}

fn blocks(blocks: &[Block]) -> Vec<u8> {
    blocks.iter().flat_map(|block| block.to_le_bytes()).collect()
}
