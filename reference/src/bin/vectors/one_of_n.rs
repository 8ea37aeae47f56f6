//! The contents of `one_of_n.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::one_of_n::code::Code;
use foxtrot_reference::one_of_n::{Protocol, Receiver, Sender};
use foxtrot_reference::oracle::{Id, oracle, sub_session_id};
use foxtrot_reference::{bits_from_bytes, bytes_from_bits};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors one_of_n \
    > crates/ot/tests/vectors/one_of_n.json";

const ABOUT: [&str; 6] = [
    "All byte strings are hexadecimal; a name that ends in _blake3 is the plain BLAKE3 hash of \
     what its beginning names.",
    "codes: a word and its codeword. runs: one sub-sid each, batch after batch.",
    "The base OT's keys are key_j^b = Oracle('foxtrot v1 test base key', id, j, b), 16 bytes each, \
     no fields. delta: bit j is the choice in base OT j.",
    "words: the receiver's, one after another, Oracle('foxtrot v1 test words', id, batch, 0), spare \
     bits cleared. corrections, challenge, proof: the messages, empty where there is none.",
    "sender_rows, receiver_rows: q and t. receiver_keys: 16 bytes per OT.",
    "sender_keys: 16 bytes per OT, of the words 0, 1 (and 2, if there is such a word) each.",
];

const NAMES: [&str; 7] = [
    "oos",
    "oos-802",
    "oos-128",
    "oos-semi-honest",
    "oos-802-semi-honest",
    "oos-128-semi-honest",
    "kkrt",
];

const SIZES: [usize; 3] = [5, 448, 600];

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("codes", array(["oos", "oos-802", "oos-128", "kkrt"].map(code_vector))),
        ("runs", array(NAMES.map(run))),
    ]);
    file + "\n"
}

fn id_of(name: &str) -> Id {
    sub_session_id(&pattern(7), 0, 0, name)
}

fn test_words(id: &Id, batch: usize, n: usize, bits: usize) -> Vec<Vec<bool>> {
    let len = bits.div_ceil(8);
    let words = oracle("foxtrot v1 test words", id, batch, 0, &[], n * len);
    words.chunks(len).map(|word| bits_from_bytes(word, bits)).collect()
}

fn code_vector(name: &str) -> String {
    let id = id_of(name);
    let code = Code::of(name, &id);
    let word = test_words(&id, 1000, 1, code.word_bits()).remove(0);
    object(&[
        ("protocol", string(name)),
        ("id", bytes(&id)),
        ("word", bytes(&bytes_from_bits(&word))),
        ("codeword", bytes(&bytes_from_bits(&code.encode(&word)))),
    ])
}

fn run(name: &str) -> String {
    let id = id_of(name);
    let protocol = Protocol::named(name, &id);
    let (length, bits) = (protocol.code().length(), protocol.code().word_bits());
    let key = |j: usize, b: u8| -> [u8; 16] {
        let key = oracle("foxtrot v1 test base key", &id, j, b, &[], 16);
        key.try_into().expect("16 bytes")
    };
    let delta = bits_from_bytes(&oracle("foxtrot v1 test delta", &id, 0, 0, &[], 101), length);
    let pairs = (0..length).map(|j| [key(j, 0), key(j, 1)]).collect();
    let chosen = (0..length).map(|j| key(j, delta[j].into())).collect();
    let (receiver_seed, sender_seed) = (pattern(40), pattern(80));
    let mut receiver = Receiver::new(protocol.clone(), pairs, receiver_seed);
    let mut sender = Sender::new(protocol, delta.clone(), chosen, sender_seed);
    let mut batches = Vec::new();
    for (number, n) in SIZES.into_iter().enumerate() {
        let words = test_words(&id, number, n, bits);
        let (of_receiver, corrections) = receiver.begin(&words);
        let (of_sender, u) = sender.begin(n, &corrections);
        let proof = if u.is_empty() { Vec::new() } else { of_receiver.proof(&u) };
        of_sender.check(&proof).expect("an honest receiver");
        let received = of_receiver.finish(&u);
        for (i, (_, key)) in received.iter().enumerate() {
            assert_eq!(&of_sender.key(i, &words[i]), key);
        }
        let choices = if bits == 1 { 2 } else { 3 };
        let word =
            |j: usize| -> Vec<bool> { (0..bits).map(|k| k < 2 && j >> k & 1 == 1).collect() };
        let keys = (0..n).flat_map(|i| (0..choices).map(move |j| (i, j)));
        let sender_keys: Vec<u8> = keys.flat_map(|(i, j)| of_sender.key(i, &word(j))).collect();
        let rows = |rows: Vec<Vec<bool>>| -> Vec<u8> {
            rows.iter().flat_map(|row| bytes_from_bits(row)).collect()
        };
        let receiver_keys: Vec<u8> = received.iter().flat_map(|(_, key)| key.clone()).collect();
        let receiver_rows = rows(received.into_iter().map(|(row, _)| row).collect());
        let hashed = |value: &[u8]| bytes(&hash(value));
        batches.push(object(&[
            ("n", n.to_string()),
            ("corrections_blake3", hashed(&corrections)),
            ("challenge", bytes(&u)),
            ("proof_blake3", hashed(&proof)),
            ("sender_rows_blake3", hashed(&rows(of_sender.rows()))),
            ("receiver_rows_blake3", hashed(&receiver_rows)),
            ("first_receiver_row", bytes(&receiver_rows[..length.div_ceil(8)])),
            ("receiver_keys_blake3", hashed(&receiver_keys)),
            ("first_receiver_key", bytes(&receiver_keys[..16])),
            ("sender_keys_blake3", hashed(&sender_keys)),
        ]));
    }
    object(&[
        ("protocol", string(name)),
        ("id", bytes(&id)),
        ("receiver_seed", bytes(&receiver_seed)),
        ("sender_seed", bytes(&sender_seed)),
        ("delta", bytes(&bytes_from_bits(&delta))),
        ("batches", array(batches)),
    ])
}
