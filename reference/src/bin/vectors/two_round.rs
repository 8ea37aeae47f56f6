//! The contents of `two_round.json`: of `kos-two-round`.
//!
//! * `field`: elements of GF(2^128), 16 bytes each.
//! * `runs`: `messages_blake3` are those on the wire in their order; `invitation_and_proof` is the
//!   first 64 bytes of the first and the last 64 of the second; keys are as in `roted.json`, here as
//!   hashes.

use super::{array, bytes, object, seeds, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::bytes_from_bits;
use foxtrot_reference::two_round::{Base, Sender, multiply, respond};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors two_round > \
    crates/ot/tests/vectors/two_round.json";

pub(super) fn vectors() -> String {
    let drawn =
        [0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834, 0xd1b5_4a32_d192_ed03_aaaa_5555_0f0f_3c3c];
    let pairs = [(1, drawn[0]), (2, 1 << 127), (u128::MAX, u128::MAX), (drawn[0], drawn[1])];
    let field = pairs.map(|(a, b)| {
        let element = |x: u128| bytes(&x.to_le_bytes());
        object(&[("a", element(a)), ("b", element(b)), ("product", element(multiply(a, b)))])
    });
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("field", array(field)),
        ("runs", array(Base::ALL.iter().flat_map(|base| [1, 130, 256].map(|n| run(*base, n))))),
    ]);
    file + "\n"
}

/// Returns one honest run.
fn run(base: Base, n: usize) -> String {
    let [id, receiver_seed, sender_seed] = seeds(n % 32);
    let choices: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
    let (sender, invitation) = Sender::invite(base, &id, n, &sender_seed);
    let (keys, response) = respond(base, &id, &invitation, &choices, &receiver_seed);
    let pairs = sender.finish(&response).expect("an honest run");
    for (key, (pair, &choice)) in keys.iter().zip(pairs.iter().zip(&choices)) {
        assert_eq!(key, &pair[usize::from(choice)]);
    }
    let blocks = |keys: &[u128]| keys.iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<_>>();
    let ends = [&invitation[..64], &response[response.len() - 64..]].concat();
    object(&[
        ("name", string(&base.extension_name())),
        ("n", n.to_string()),
        ("id", bytes(&id)),
        ("receiver_seed", bytes(&receiver_seed)),
        ("sender_seed", bytes(&sender_seed)),
        ("choices", bytes(&bytes_from_bits(&choices))),
        ("messages_blake3", array([&invitation, &response].map(|it| bytes(&hash(it))))),
        ("invitation_and_proof", bytes(&ends)),
        ("receiver_keys_blake3", bytes(&hash(&blocks(&keys)))),
        ("sender_keys_blake3", bytes(&hash(&blocks(pairs.as_flattened())))),
    ])
}
