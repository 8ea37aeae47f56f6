//! The extensions' vectors that `reference/` generated, on every backend
//! (`vectors/extension.json`).

use foxtrot_kernel::{
    aes::{Aes128, tmmo},
    gf::gf64,
};
use foxtrot_ot::{
    Backend, Bits, Seed, Session, Sid,
    base::{Adversary, Choice},
    extension::{OtKind, Places, Receiver, Sender, Shape, find, registry},
    ideal,
    tasks::only,
};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/extension.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn array<const L: usize>(value: &Value) -> [u8; L] {
    bytes(value).try_into().unwrap()
}

fn assert_is(value: &[u8], vector: &Value, name: &str) {
    match vector.get(name) {
        Some(whole) => assert_eq!(value, bytes(whole), "{name}"),
        None => {
            let hash = &vector[format!("{name}_blake3")];
            assert_eq!(blake3::hash(value).as_bytes().as_slice(), bytes(hash), "{name}");
        }
    }
}

#[test]
fn permutation_hash_and_field_match_the_test_vectors() {
    let vectors = vectors();
    for backend in Backend::all() {
        for vector in vectors["output_hash"].as_array().unwrap() {
            let pi = Aes128::new(backend, &array(&vector["key"]));
            let mut key = [[0; 16]];
            tmmo(&pi, vector["i"].as_u64().unwrap(), &[array(&vector["v"])], &mut key);
            assert_eq!(key[0].as_slice(), bytes(&vector["output"]));
        }
        for vector in vectors["field"].as_array().unwrap() {
            let [a, b, product] =
                ["a", "b", "product"].map(|name| u64::from_le_bytes(array(&vector[name])));
            assert_eq!(gf64::mul(backend, a, b), product);
        }
    }
}

#[test]
fn runs_match_the_test_vectors_on_every_backend() {
    let file = vectors();
    let runs = file["runs"].as_array().unwrap();
    for extension in registry() {
        let name = extension.info().name;
        let given: Vec<_> = runs
            .iter()
            .filter(|run| run["protocol"] == name)
            .map(|run| run["given"].as_bool().unwrap())
            .collect();
        assert_eq!(given, [false, true], "{name}");
    }
    for vector in runs {
        for backend in Backend::all() {
            run(vector, backend);
        }
    }
}

fn run(vector: &Value, backend: Backend) {
    // A fresh session has the sid itself as its namespace.
    let session = || Session::new(Sid::from_bytes(array(&vector["id"]))).with_backend(backend);
    let oracle = session().oracle("foxtrot v1 test base key");
    let delta = Bits::decode("delta", &bytes(&vector["delta"]), 128).unwrap();
    let (base, chosen) = ideal::of_keys(delta, |r, b| oracle.query(r as u64, b).finish());
    assert_is(base.pairs().as_flattened().as_flattened(), vector, "base_keys");

    let name = vector["protocol"].as_str().unwrap();
    let [malicious, semi_honest] =
        [Adversary::Malicious, Adversary::SemiHonest].map(|adversary| find(name, adversary));
    let extension = malicious.or(semi_honest).unwrap();
    assert_eq!(extension.info().name, name);
    let seed = |name: &str| Seed::from_bytes(array(&vector[name]));
    let (mut receiver, setup) =
        Receiver::new(session(), extension, base, seed("receiver_seed")).unwrap();
    assert_is(&setup, vector, "setup");
    let mut sender =
        Sender::new(session(), extension, chosen, &setup, seed("sender_seed")).unwrap();

    let given = vector["given"].as_bool().unwrap();
    for (kind, batch) in [OtKind::Random, OtKind::Correlated, OtKind::Random]
        .into_iter()
        .zip(vector["batches"].as_array().unwrap())
    {
        let n = usize::try_from(batch["n"].as_u64().unwrap()).unwrap();
        let choices = Bits::decode("choices", &bytes(&batch["choices"]), n).unwrap();
        let choice = if given { Choice::Given(choices.slice(0..n)) } else { Choice::Random(n) };
        let shape = Shape::of(&choice);
        let mut corrections = Vec::new();
        let unanswered = only(receiver.extend(vec![(choice, &mut corrections)]).unwrap());
        assert_is(&corrections, batch, "corrections");
        let (unverified, challenge) = only(sender.absorb(&[(shape, &corrections)]).unwrap());
        let challenge = challenge.map_or(Vec::new(), Vec::from);
        assert_is(&challenge, batch, "challenge");
        let mut keys = vec![[0; 16]; n];
        let all = vec![(unanswered, challenge.as_slice(), keys.as_mut_slice())];
        let (b, proof) = only(receiver.finish(kind, all).unwrap());
        assert_is(&proof, batch, "proof");
        assert_eq!(b, choices);
        match kind {
            OtKind::Random => {
                let mut pairs = vec![[[0; 16]; 2]; n];
                sender.finish(vec![(unverified, &proof, Places::Random(&mut pairs))]).unwrap();
                assert_is(pairs.as_flattened().as_flattened(), batch, "sender_keys");
                assert_is(keys.as_flattened(), batch, "receiver_keys");
            }
            OtKind::Correlated => {
                let mut rows = vec![[0; 16]; n];
                sender.finish(vec![(unverified, &proof, Places::Correlated(&mut rows))]).unwrap();
                assert_is(rows.as_flattened(), batch, "sender_rows");
                assert_is(keys.as_flattened(), batch, "receiver_rows");
            }
        }
    }
}
