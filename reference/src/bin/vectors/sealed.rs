//! The contents of `sealed.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::oracle::{Id, oracle, sub_session_id};
use foxtrot_reference::sealed::{Key, of_n, pairs};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors sealed \
    > crates/ot/tests/vectors/sealed.json";

const ABOUT: [&str; 4] = [
    "All byte strings are hexadecimal. Runs have the sub-session 0 of the protocol chosen-messages under sid.",
    "length: L. transfers: how many. one_of: of how many messages each. pairs are as in section 6 of docs/wire.md, of_n as \
     in section 10.",
    "The key of message j of transfer i is Oracle('foxtrot v1 test key', id, i, 0, j (u64)), 16 bytes; the message \
     Oracle('foxtrot v1 test message', id, i, 0, j (u64)), (7 i + 11 j) mod (L + 1) bytes.",
    "frames: Sealed, frame by frame, if it is short; frames_blake3: plain BLAKE3 hashes of the frames. lengths: those of \
     the frames.",
];

/// L, transfers: messages without bytes, one frame, a full frame and another, and two transfers to a frame.
const PAIRS: [(usize, usize); 4] = [(0, 1), (20, 5), (0, 1030), (262_124, 3)];

/// L, transfers, N: also numbers of more than a byte, and a frame that begins in a transfer.
const OF_N: [(usize, usize, usize); 4] = [(5, 3, 2), (20, 3, 3), (1, 2, 300), (262_124, 2, 3)];

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sid", bytes(&pattern(0))),
        ("pairs", array(PAIRS.map(pairs_vector))),
        ("of_n", array(OF_N.map(of_n_vector))),
    ]);
    file + "\n"
}

fn id() -> Id {
    sub_session_id(&pattern(0), 0, 0, "chosen-messages")
}

fn drawn(context: &str, i: usize, j: usize, length: usize) -> Vec<u8> {
    oracle(context, &id(), i, 0, &[&(j as u64).to_le_bytes()], length)
}

fn key(i: usize, j: usize) -> Key {
    drawn("foxtrot v1 test key", i, j, 16).try_into().expect("16 bytes")
}

fn message(i: usize, j: usize, length: usize) -> Vec<u8> {
    drawn("foxtrot v1 test message", i, j, (7 * i + 11 * j) % (length + 1))
}

fn pairs_vector((length, n): (usize, usize)) -> String {
    let keys: Vec<_> = (0..n).map(|i| [0, 1].map(|j| key(i, j))).collect();
    let messages: Vec<_> = (0..n).map(|i| [0, 1].map(|j| message(i, j, length))).collect();
    frames_vector((length, n, 2), &pairs(&id(), length, &keys, &messages))
}

fn of_n_vector((length, n, of): (usize, usize, usize)) -> String {
    let keys: Vec<_> = (0..n).map(|i| (0..of).map(|j| key(i, j)).collect()).collect();
    let messages: Vec<_> =
        (0..n).map(|i| (0..of).map(|j| message(i, j, length)).collect()).collect();
    frames_vector((length, n, of), &of_n(&id(), length, &keys, &messages))
}

fn frames_vector((length, n, of): (usize, usize, usize), frames: &[Vec<u8>]) -> String {
    let lengths: Vec<_> = frames.iter().map(|frame| frame.len().to_string()).collect();
    let mut fields = vec![
        ("length", length.to_string()),
        ("transfers", n.to_string()),
        ("one_of", of.to_string()),
        ("lengths", format!("[{}]", lengths.join(", "))),
        ("frames_blake3", array(frames.iter().map(|frame| bytes(&hash(frame))))),
    ];
    if frames.concat().len() <= 512 {
        fields.push(("frames", array(frames.iter().map(|frame| bytes(frame)))));
    }
    object(&fields)
}
