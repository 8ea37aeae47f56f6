//! The contents of `chosen.json`: of `bdgm`, `pvw`, `rot-from-ot` and `mcquoid-rosulek-roy`.
//!
//! * `p256`: `points` are the first points of the reference string, `product` is the first one times
//!   the scalar of `coins`.
//! * `runs`: `messages` are those on the wire in their order; keys are as in `roted.json`.

use super::{array, bytes, object, pattern, seeds, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::oracle::Id;
use foxtrot_reference::p256::scalar;
use foxtrot_reference::{bdgm, bytes_from_bits, mcquoid_rosulek_roy as mrr, pvw, rot_from_ot};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md alone: \
    cargo run --release -p foxtrot-reference --bin vectors -- chosen > \
    crates/ot/tests/vectors/chosen.json";

pub(super) fn vectors() -> String {
    let mut runs = vec![];
    for ot in ["bdgm", "pvw"] {
        runs.extend([1, 3].map(|n| chosen_vector(ot, n)));
        runs.extend([1, 9].map(|n| figure2_vector(ot, n)));
    }
    runs.extend([1, 3, 17].map(endemic_vector));
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "2".to_string()),
        ("p256", p256_vector()),
        ("runs", array(runs)),
    ]);
    file + "\n"
}

fn p256_vector() -> String {
    let id = pattern(0);
    let crs = pvw::reference_string(&id);
    let points: Vec<_> = crs.as_flattened().iter().map(|point| bytes(&point.encode())).collect();
    let coins: Vec<u8> = (200..248).collect();
    object(&[
        ("id", bytes(&id)),
        ("points", array(points)),
        ("coins", bytes(&coins)),
        ("product", bytes(&crs[0][0].times(&scalar(&coins)).encode())),
    ])
}

/// Runs that OT; returns the messages on the wire and what the receiver gets.
fn run_ot(
    ot: &str,
    id: &Id,
    choices: &[bool],
    pairs: &[[[u8; 16]; 2]],
    [receiver_seed, sender_seed]: [&[u8; 32]; 2],
) -> (Vec<Vec<u8>>, Vec<[u8; 16]>) {
    if ot == "pvw" {
        let (receiver, keys) = pvw::receiver_keys(id, choices, receiver_seed);
        let ciphertexts = pvw::sender_encrypt(id, &keys, pairs, sender_seed);
        let received = pvw::receiver_decrypt(receiver, &ciphertexts);
        return (vec![keys, ciphertexts], received);
    }
    let (receiver, blinded) = bdgm::receiver_blind(id, choices, receiver_seed);
    let (sender, challenge) = bdgm::sender_challenge(id, &blinded, pairs, sender_seed);
    let (receiver, response) = bdgm::receiver_respond(receiver, &challenge);
    let ciphertexts = bdgm::sender_encrypt(sender, &response);
    let received = bdgm::receiver_decrypt(receiver, &ciphertexts);
    (vec![blinded, challenge, response, ciphertexts], received)
}

/// Returns one honest run of an OT of drawn messages.
fn chosen_vector(ot: &str, n: usize) -> String {
    let [id, seeds @ ..] = seeds(n);
    let choices: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
    let pairs = rot_from_ot::drawn_messages(&id, n, &seeds[1]);
    let (messages, received) = run_ot(ot, &id, &choices, &pairs, seeds.each_ref());
    run_vector(ot, n, &messages, &choices, &received, &pairs)
}

/// Returns one honest run of `mcquoid-rosulek-roy`.
fn endemic_vector(n: usize) -> String {
    let [id, receiver_seed, sender_seed] = seeds(n);
    let choices: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
    let (sender, share) = mrr::sender_share(&id, &sender_seed);
    let (receiver, blinded) = mrr::receiver_blind(&id, &choices, &receiver_seed);
    let pairs = mrr::sender_finish(&sender, &blinded);
    let keys = mrr::receiver_finish(&receiver, &share);
    let name = "mcquoid-rosulek-roy:feistel2:ristretto";
    run_vector(name, n, &[share, blinded], &choices, &keys, &pairs)
}

/// Returns one honest run of Figure 2 over that OT.
fn figure2_vector(ot: &str, n: usize) -> String {
    let [id, seeds @ ..] = seeds(n);
    let (receiver, commitment, b) = rot_from_ot::receiver_commit(&id, n, &seeds[0]);
    let (sender, swap) = rot_from_ot::sender_swap(&id, n, &commitment, &seeds[1]);
    let ot_id = rot_from_ot::ot_id(&id, ot);
    let pairs = rot_from_ot::drawn_messages(&ot_id, n, &seeds[1]);
    let (mut messages, received) = run_ot(ot, &ot_id, &b, &pairs, seeds.each_ref());
    let (choices, keys, opening) = rot_from_ot::receiver_open(receiver, &b, &received, &swap);
    let pairs = rot_from_ot::sender_finish(sender, &pairs, &opening);
    messages.insert(0, commitment);
    messages.extend([swap, opening]);
    run_vector(&format!("rot-from-ot:{ot}"), n, &messages, &choices, &keys, &pairs)
}

fn run_vector(
    name: &str,
    n: usize,
    messages: &[Vec<u8>],
    choices: &[bool],
    keys: &[[u8; 16]],
    pairs: &[[[u8; 16]; 2]],
) -> String {
    for (key, (pair, &choice)) in keys.iter().zip(pairs.iter().zip(choices)) {
        assert_eq!(key, &pair[usize::from(choice)]);
    }
    let [id, receiver_seed, sender_seed] = seeds(n);
    let mut fields = vec![
        ("name", string(name)),
        ("n", n.to_string()),
        ("id", bytes(&id)),
        ("receiver_seed", bytes(&receiver_seed)),
        ("sender_seed", bytes(&sender_seed)),
        ("messages_blake3", array(messages.iter().map(|message| bytes(&hash(message))))),
        ("choices", bytes(&bytes_from_bits(choices))),
        ("receiver_keys", bytes(keys.as_flattened())),
        ("sender_keys", bytes(pairs.as_flattened().as_flattened())),
    ];
    if n == 1 {
        fields.push(("messages", array(messages.iter().map(|message| bytes(message)))));
    }
    object(&fields)
}
