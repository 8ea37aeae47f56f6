//! The vectors that `reference/` generated for `kos-two-round`, on every backend
//! (`vectors/two_round.json`).

use foxtrot_kernel::gf::gf128;
use foxtrot_ot::{
    Backend, Bits, Seed, Session, Sid, base::Choice, extension::two_round::registry, pair::Pair,
};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/two_round.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn array<const L: usize>(value: &Value) -> [u8; L] {
    bytes(value).try_into().unwrap()
}

#[test]
fn products_in_the_field_match_the_test_vectors() {
    for (vector, backend) in vectors()["field"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|vector| Backend::all().map(move |backend| (vector, backend)))
    {
        let [a, b, product] =
            ["a", "b", "product"].map(|name| u128::from_le_bytes(array(&vector[name])));
        assert_eq!(gf128::mul(backend, a, b), product);
    }
}

#[test]
fn runs_match_the_test_vectors_on_every_backend() {
    let file = vectors();
    let runs = file["runs"].as_array().unwrap();
    for protocol in registry() {
        let of_it = runs.iter().filter(|run| run["name"] == protocol.info().name);
        let counts: Vec<_> = of_it.map(|run| run["n"].as_u64().unwrap()).collect();
        assert_eq!(counts, [1, 130, 256], "{}", protocol.info().name);
    }
    for (run, backend) in runs.iter().flat_map(|run| Backend::all().map(move |b| (run, b))) {
        let session = || Session::new(Sid::from_bytes(array(&run["id"]))).with_backend(backend);
        let seed = |name: &str| Seed::from_bytes(array(&run[name]));
        let n = usize::try_from(run["n"].as_u64().unwrap()).unwrap();
        let choices = Bits::decode("choices", &bytes(&run["choices"]), n).unwrap();
        let protocol = registry().iter().find(|it| run["name"] == it.info().name).unwrap();
        let sender = protocol.sender(session(), n, seed("sender_seed")).unwrap();
        let receiver =
            protocol.receiver(session(), Choice::Given(choices), seed("receiver_seed")).unwrap();
        let mut messages = Vec::new();
        let (sent, received) = Pair::new(sender, receiver)
            .run_through(|_, message| {
                messages.push(message.clone());
                message
            })
            .unwrap();
        let [invitation, response] = messages.try_into().unwrap();
        let ends = [&invitation[..64], &response[response.len() - 64..]].concat();
        assert_eq!(ends, bytes(&run["invitation_and_proof"]));
        for (message, hash) in
            [invitation, response].iter().zip(run["messages_blake3"].as_array().unwrap())
        {
            assert_eq!(blake3::hash(message).as_bytes(), &array(hash));
        }
        let hash = |keys: &[u8]| *blake3::hash(keys).as_bytes();
        assert_eq!(hash(received.keys().as_flattened()), array(&run["receiver_keys_blake3"]));
        let pairs = sent.pairs().as_flattened().as_flattened();
        assert_eq!(hash(pairs), array(&run["sender_keys_blake3"]));
    }
}
