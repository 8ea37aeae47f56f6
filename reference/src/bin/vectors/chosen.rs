//! The contents of `chosen.json`: of `bdgm`, `pvw`, `rot-from-ot`, and all over Curve25519.
//!
//! * `p256`: `points` are the first points of the reference string, `product` is the first one times
//!   the scalar of `coins`.
//! * `runs`: `messages` are those on the wire in their order; keys are as in `roted.json`.

use super::{array, bytes, object, pattern, seeds, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::oracle::Id;
use foxtrot_reference::p256::scalar;
use foxtrot_reference::{
    bdgm, bytes_from_bits, chou_orlandi, csw, masny_rindal, mcquoid_rosulek_roy as mrr,
    naor_pinkas, pvw, rot_from_ot,
};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors -- chosen > \
    crates/ot/tests/vectors/chosen.json";

pub(super) fn vectors() -> String {
    let mut runs = vec![];
    for ot in ["bdgm", "pvw"] {
        runs.extend([1, 3].map(|n| chosen_vector(ot, n)));
        runs.extend([1, 9].map(|n| figure2_vector(ot, n)));
    }
    for (name, pair) in mrr::pairs() {
        runs.extend([1, 3, 17].map(|n| endemic_vector(&name, pair, n)));
    }
    let reuse = (mrr::Popf::MasnyRindal, mrr::Agreement::Ristretto);
    runs.extend([1, 17].map(|n| endemic_vector("masny-rindal-reuse", reuse, n)));
    runs.extend([1, 17].map(masny_rindal_vector));
    runs.extend([1, 17].map(csw_vector));
    runs.extend([1, 17].map(chou_orlandi_vector));
    runs.extend([1, 17].map(chou_orlandi_chosen_vector));
    runs.extend([1, 17].map(naor_pinkas_vector));
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
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

/// Returns one honest run of `mcquoid-rosulek-roy` with that pair.
fn endemic_vector(name: &str, pair: mrr::Pair, n: usize) -> String {
    let [id, receiver_seed, sender_seed] = seeds(n);
    let choices: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
    let (sender, share) = mrr::sender_share(pair, &id, &sender_seed);
    let (receiver, blinded) = mrr::receiver_blind(pair, &id, &choices, &receiver_seed);
    let pairs = mrr::sender_finish(&sender, &blinded);
    let keys = mrr::receiver_finish(&receiver, &share);
    run_vector(name, n, &[share, blinded], &choices, &keys, &pairs)
}

/// Returns one honest run of `masny-rindal`.
fn masny_rindal_vector(n: usize) -> String {
    let [id, receiver_seed, sender_seed] = seeds(n);
    let choices: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
    let (scalars, blinded) = masny_rindal::receiver_blind(&id, &choices, &receiver_seed);
    let (pairs, shares) = masny_rindal::sender_respond(&id, &blinded, &sender_seed);
    let keys = masny_rindal::receiver_finish(&id, &choices, &scalars, &shares);
    run_vector("masny-rindal", n, &[blinded, shares], &choices, &keys, &pairs)
}

/// Returns one honest run of `csw`.
fn csw_vector(n: usize) -> String {
    let [id, receiver_seed, sender_seed] = seeds(n);
    let choices: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
    let (scalars, points) = csw::receiver_points(&id, &choices, &receiver_seed);
    let (pairs, expected, challenge) = csw::sender_challenge(&id, &points, &sender_seed);
    let (keys, response) = csw::receiver_respond(&id, &choices, &scalars, &points, &challenge);
    assert_eq!(response, expected);
    run_vector("csw", n, &[points, challenge, response], &choices, &keys, &pairs)
}

/// Returns one honest run of `naor-pinkas`.
fn naor_pinkas_vector(n: usize) -> String {
    let [id, receiver_seed, sender_seed] = seeds(n);
    let choices: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
    let (r, setup) = naor_pinkas::sender_setup(&id, &sender_seed);
    let (keys, answer) = naor_pinkas::receiver_choose(&id, &choices, &setup, &receiver_seed);
    let pairs = naor_pinkas::sender_finish(&id, &r, &setup, &answer);
    run_vector("naor-pinkas", n, &[setup, answer], &choices, &keys, &pairs)
}

/// Returns one honest run of `chou-orlandi`.
fn chou_orlandi_vector(n: usize) -> String {
    let (choices, messages, keys, pairs) = chou_orlandi_run(n);
    let block = |key: &[u8; 32]| -> [u8; 16] { key[..16].try_into().expect("16 bytes") };
    let keys: Vec<_> = keys.iter().map(block).collect();
    let pairs: Vec<_> = pairs.iter().map(|pair| pair.each_ref().map(block)).collect();
    run_vector("chou-orlandi", n, &messages, &choices, &keys, &pairs)
}

/// Returns one honest run of `chou-orlandi:chosen`.
fn chou_orlandi_chosen_vector(n: usize) -> String {
    let [id, _, sender_seed] = seeds(n);
    let (choices, mut messages, keys, pairs) = chou_orlandi_run(n);
    let drawn = rot_from_ot::drawn_messages(&id, n, &sender_seed);
    let ciphertexts = chou_orlandi::encrypt(&pairs, &drawn);
    let received = chou_orlandi::decrypt(&keys, &choices, &ciphertexts);
    messages.push(ciphertexts);
    run_vector("chou-orlandi:chosen", n, &messages, &choices, &received, &drawn)
}

/// Choices, the first two messages, and the keys.
type ChouOrlandi = (Vec<bool>, Vec<Vec<u8>>, Vec<[u8; 32]>, Vec<[[u8; 32]; 2]>);

fn chou_orlandi_run(n: usize) -> ChouOrlandi {
    let [id, receiver_seed, sender_seed] = seeds(n);
    let choices: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
    let (y, share) = chou_orlandi::sender_share(&id, &sender_seed);
    let (keys, points) = chou_orlandi::receiver_choose(&id, &choices, &share, &receiver_seed);
    let pairs = chou_orlandi::sender_finish(&id, &y, &points);
    (choices, vec![share.to_vec(), points], keys, pairs)
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
