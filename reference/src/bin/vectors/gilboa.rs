//! The contents of `gilboa.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::gilboa::{Party, Shares, set};
use foxtrot_reference::oracle::oracle32;

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors gilboa \
    > crates/triples/tests/vectors/gilboa.json";

const ABOUT: [&str; 5] = [
    "All byte strings are hexadecimal. The sets are gilboa-8, gilboa-16, gilboa-32 and \
     gilboa-64, with k = 4, and then the same with -k2 and -k8.",
    "Base OT i has the two keys Oracle(test base, sid, i, 0 and 1), the first 16 bytes; bit i mod 8 of byte i/8 of \
     delta is the initiator's choice.",
    "opening, setup, and per batch of n triples corrections and products as on the wire, the initiator's first; what is longer \
     than 600 bytes stands there as its plain BLAKE3 hash.",
    "shares of the initiator and the responder: of a, of b, of c, one after another, as bytes.",
    "A party's seed is that of the whole session.",
];

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sid", bytes(&pattern(0))),
        ("initiator_seed", bytes(&pattern(100))),
        ("responder_seed", bytes(&pattern(101))),
        ("delta", bytes(&pattern(30)[..16])),
        ("runs", array([4, 2, 8].map(|k| [8, 16, 32, 64].map(|bits| run(bits, k))).concat())),
    ]);
    file + "\n"
}

fn run(bits: usize, k: usize) -> String {
    let set = set(bits, k);
    let sid = pattern(0);
    let key = |i: usize, j: u8| {
        let key = oracle32("test base", &sid, i, j, &[]);
        u128::from_le_bytes(key[..16].try_into().expect("16 bytes"))
    };
    let pairs: [[u128; 2]; 128] = core::array::from_fn(|i| [key(i, 0), key(i, 1)]);
    let delta: [bool; 128] = core::array::from_fn(|i| pattern(30)[i / 8] >> (i % 8) & 1 == 1);
    let chosen: [u128; 128] = core::array::from_fn(|i| pairs[i][usize::from(delta[i])]);
    let (one, opening) = Party::responder(set, &sid, &pairs, pattern(101));
    let (mut zero, setup) = Party::initiator(set, &sid, &delta, &chosen, pattern(100), &opening);
    let mut one = one.finish(&setup);
    let batches = [3, 0, 2].map(|n| {
        let (mut ours, from_zero) = zero.correct(n);
        let (mut theirs, from_one) = one.correct(n);
        let of_zero = zero.multiply(&mut ours, &from_one);
        let of_one = one.multiply(&mut theirs, &from_zero);
        let (ours, theirs) = (zero.add(ours, &of_one), one.add(theirs, &of_zero));
        object(&[
            ("n", n.to_string()),
            ("corrections", array([&from_zero, &from_one].map(|it| short(it)))),
            ("products", array([&of_zero, &of_one].map(|it| short(it)))),
            ("shares", array([&ours, &theirs].map(|it| bytes(&flat(bits, it))))),
        ])
    });
    object(&[
        ("bits", bits.to_string()),
        ("k", k.to_string()),
        ("opening", short(&opening)),
        ("setup", short(&setup)),
        ("batches", array(batches)),
    ])
}

/// The message, or its hash.
fn short(message: &[u8]) -> String {
    if message.len() > 600 {
        bytes(&foxtrot_reference::blake3::hash(message))
    } else {
        bytes(message)
    }
}

fn flat(bits: usize, shares: &Shares) -> Vec<u8> {
    shares.iter().flatten().flat_map(|x| x.to_le_bytes()[..bits / 8].to_vec()).collect()
}
