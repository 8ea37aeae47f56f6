//! The vectors of `roted-figure1` that `reference/` generated, byte for byte.

use foxtrot_ot::{Backend, Seed, Session, Sid};
use foxtrot_papers::roted_figure1::{
    self as figure1,
    ring::{self, Poly},
};
use serde_json::Value;

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn array(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn assert_is(value: &[u8], vector: &Value, name: &str) {
    if let Some(whole) = vector.get(name) {
        assert_eq!(value, bytes(whole), "{name}");
    }
    if let Some(hash) = vector.get(format!("{name}_blake3")) {
        assert_eq!(blake3::hash(value).as_bytes().as_slice(), bytes(hash), "{name}");
    }
}

fn figure1_vectors() -> Value {
    serde_json::from_str(include_str!("vectors/roted_figure1.json")).unwrap()
}

#[test]
fn runs_of_figure_1_match_the_test_vectors_on_every_backend() {
    let vectors = figure1_vectors();
    let runs = vectors["roted_figure1"].as_array().unwrap();
    assert!(runs.len() >= 3);
    for (vector, backend) in runs.iter().flat_map(|v| Backend::all().map(move |b| (v, b))) {
        let session = || Session::new(Sid::from_bytes(array(&vector["id"]))).with_backend(backend);
        let seed = |name: &str| Seed::from_bytes(array(&vector[name]));
        let n = usize::try_from(number(&vector["n"])).unwrap();
        let (receiver, blinded) =
            figure1::Receiver::start(session(), n, seed("receiver_seed")).unwrap();
        let (sender, reply) = figure1::Sender::respond(session(), &blinded, seed("sender_seed"));
        assert_is(blinded.as_bytes(), vector, "blinded");
        assert_is(reply.as_bytes(), vector, "reply");
        let (received, opening) = receiver.finish(&reply).unwrap();
        assert_is(opening.as_bytes(), vector, "opening");
        assert_eq!(received.choices().as_bytes(), bytes(&vector["choices"]));
        assert_eq!(received.keys().as_flattened(), bytes(&vector["receiver_keys"]));
        let sent = sender.finish(&opening).unwrap();
        assert_eq!(sent.pairs().as_flattened().as_flattened(), bytes(&vector["sender_keys"]));
    }
}

#[test]
fn noise_signals_and_parities_of_figure_1_match_the_test_vectors_on_every_backend() {
    const Q: u16 = 13313;
    let vector = &figure1_vectors()["ring"];
    for backend in Backend::all() {
        let mut noise = Poly::ZERO;
        noise.set_signed(backend, ring::gaussian::<1>(&bytes(&vector["gaussian_input"])));
        assert_is(&packed_coefficients::<14>(noise.coefficients()), vector, "gaussian");
        let (mut all_signals, mut all_parities) = (Vec::new(), Vec::new());
        for coin in [0, 1] {
            let (mut signals, mut parities) = (Vec::new(), Vec::new());
            for start in (0..Q).step_by(512) {
                let x = |i: usize| (start + u16::try_from(i).unwrap()).min(Q - 1);
                let poly = Poly::new(core::array::from_fn(x)).unwrap();
                let (mut signal, mut parity) = ([0; 64], [0; 64]);
                ring::signal(backend, &poly, coin, &mut signal);
                ring::parities(backend, &poly, &signal, &mut parity);
                signals.extend(signal);
                parities.extend(parity);
            }
            all_signals.extend(truncated(signals, Q.into()));
            all_parities.extend(truncated(parities, Q.into()));
        }
        assert_is(&all_signals, vector, "signals");
        assert_is(&all_parities, vector, "parities");
    }
}

/// The first n bits.
fn truncated(mut bytes: Vec<u8>, n: usize) -> Vec<u8> {
    bytes.truncate(n.div_ceil(8));
    *bytes.last_mut().unwrap() &= u8::MAX >> ((8 - n % 8) % 8);
    bytes
}

fn packed_coefficients<const BITS: usize>(values: &[u16]) -> Vec<u8> {
    let bit = |k: usize| u8::try_from(values[k / BITS] >> (k % BITS) & 1).unwrap();
    (0..values.len() * BITS / 8).map(|i| (0..8).map(|k| bit(8 * i + k) << k).sum()).collect()
}
