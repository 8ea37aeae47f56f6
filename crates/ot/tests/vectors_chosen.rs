//! The vectors that `reference/` generated for `bdgm`, `pvw`, `rot-from-ot` and all protocols over
//! Curve25519, byte for byte (`vectors/chosen.json`).

use foxtrot_ot::{
    Backend, Bits, Seed, Session, Sid,
    base::{Choice, Functionality, registry},
    pair::Pair,
};
use serde_json::Value;

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn array(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

#[test]
fn runs_match_the_test_vectors_on_every_backend() {
    let file: Value = serde_json::from_str(include_str!("vectors/chosen.json")).unwrap();
    let runs = file["runs"].as_array().unwrap();
    // All but those of `roted.json` and `roted_figure1.json`.
    for base in registry().iter().filter(|base| !base.info().name.starts_with("roted")) {
        let name = base.info().name;
        assert!(runs.iter().filter(|run| run["name"] == name).count() >= 2, "{name}");
    }
    for (run, backend) in runs.iter().flat_map(|run| Backend::all().map(move |b| (run, b))) {
        let session = || Session::new(Sid::from_bytes(array(&run["id"]))).with_backend(backend);
        let seed = |name: &str| Seed::from_bytes(array(&run[name]));
        let n = usize::try_from(run["n"].as_u64().unwrap()).unwrap();
        let choices = || Bits::decode("choices", &bytes(&run["choices"]), n).unwrap();
        let base = registry().iter().find(|base| run["name"] == base.info().name).unwrap();
        let choice = match base.info().functionality {
            Functionality::Random => Choice::Random(n),
            _ => Choice::Given(choices()),
        };

        let sender = base.sender(session(), n, seed("sender_seed")).unwrap();
        let receiver = base.receiver(session(), choice, seed("receiver_seed")).unwrap();
        let mut messages = Vec::new();
        let (sent, received) = Pair::new(sender, receiver)
            .run_through(|_, message| {
                messages.push(message.clone());
                message
            })
            .unwrap();

        let hashes = run["messages_blake3"].as_array().unwrap();
        assert_eq!(messages.len(), hashes.len());
        for (k, (message, hash)) in messages.iter().zip(hashes).enumerate() {
            let name = &run["name"];
            if let Some(whole) = run.get("messages") {
                assert_eq!(message, &bytes(&whole[k]), "message {k} of {name}");
            }
            assert_eq!(blake3::hash(message).as_bytes(), &array(hash), "message {k} of {name}");
        }
        assert_eq!(received.choices(), &choices());
        assert_eq!(received.keys().as_flattened(), bytes(&run["receiver_keys"]));
        assert_eq!(sent.pairs().as_flattened().as_flattened(), bytes(&run["sender_keys"]));
    }
}
