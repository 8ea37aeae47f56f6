//! The vectors that `reference/` generated, byte for byte (`vectors/*.json`).

use foxtrot_kernel::ring::{
    Factor, NttPoly, Poly,
    module768::{self, RANK},
    vectors::{self, Room},
};
use foxtrot_ot::{
    Backend, Bits, Direction, Seed, Session, Sid,
    base::roted::{endemic, rot},
};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/roted.json")).unwrap()
}

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

/// Oracle contexts are `&'static str` so that programs cannot make them up.
fn context(value: &Value) -> &'static str {
    String::leak(value.as_str().unwrap().to_owned())
}

fn assert_is(value: &[u8], vector: &Value, name: &str) {
    if let Some(whole) = vector.get(name) {
        assert_eq!(value, bytes(whole), "{name}");
    }
    if let Some(hash) = vector.get(format!("{name}_blake3")) {
        assert_eq!(blake3::hash(value).as_bytes().as_slice(), bytes(hash), "{name}");
    }
}

#[test]
fn the_oracle_answers_as_in_the_vectors() {
    for vector in vectors()["oracle"].as_array().unwrap() {
        // A fresh session has the sid itself as its namespace.
        let session = Session::new(Sid::from_bytes(array(&vector["id"])));
        let branch = u8::try_from(number(&vector["branch"])).unwrap();
        let mut query =
            session.oracle(context(&vector["context"])).query(number(&vector["i"]), branch);
        for field in vector["fields"].as_array().unwrap() {
            query = query.field(&bytes(field));
        }
        let expected = bytes(&vector["output"]);
        let mut output = vec![0; expected.len()];
        query.fill(&mut output);
        assert_eq!(output, expected);
    }
}

#[test]
fn session_ids_match_the_test_vectors() {
    let vectors = vectors();
    for vector in vectors["sid"].as_array().unwrap() {
        let part = |name: &str| bytes(&vector[name]);
        let sid =
            Sid::derive(&part("initiator_hello"), &part("responder_hello"), &part("exporter"));
        assert_eq!(sid.as_bytes().as_slice(), part("sid"));
    }
    for vector in vectors["sub_sid"].as_array().unwrap() {
        let direction = match number(&vector["direction"]) {
            0 => Direction::InitiatorSends,
            _ => Direction::ResponderSends,
        };
        let protocol = vector["protocol"].as_str().unwrap();
        let session = Session::new(Sid::from_bytes(array(&vector["sid"])));
        let sub = session.sub(protocol, number(&vector["counter"]), direction);
        assert_eq!(sub.id().as_bytes().as_slice(), bytes(&vector["sub_sid"]));
    }
}

#[test]
fn runs_match_the_test_vectors_on_every_backend() {
    let vectors = vectors();
    let runs = vectors["roted"].as_array().unwrap();
    assert!(runs.len() >= 6);
    for (vector, backend) in runs.iter().flat_map(|v| Backend::all().map(move |b| (v, b))) {
        let session = || Session::new(Sid::from_bytes(array(&vector["id"]))).with_backend(backend);
        let seed = |name: &str| Seed::from_bytes(array(&vector[name]));
        let n = usize::try_from(number(&vector["n"])).unwrap();
        let choices = Bits::decode("choices", &bytes(&vector["choices"]), n).unwrap();

        let (sent, received) = match vector["mode"].as_str().unwrap() {
            "endemic" => {
                let (receiver, blinded) =
                    endemic::Receiver::start(session(), choices, seed("receiver_seed")).unwrap();
                let (sent, reply) = endemic::respond(session(), &blinded, seed("sender_seed"));
                assert_is(blinded.as_bytes(), vector, "blinded");
                assert_is(reply.as_bytes(), vector, "reply");
                (sent, receiver.finish(&reply).unwrap())
            }
            "rot" => {
                let (receiver, blinded) =
                    rot::Receiver::start(session(), n, seed("receiver_seed")).unwrap();
                let (sender, reply) =
                    rot::Sender::respond(session(), &blinded, seed("sender_seed"));
                let (received, opening) = receiver.finish(&reply).unwrap();
                assert_is(blinded.as_bytes(), vector, "blinded");
                assert_is(reply.as_bytes(), vector, "reply");
                let sent = sender.finish(&opening).unwrap();
                assert_is(&opening.into_bytes(), vector, "opening");
                assert_eq!(received.choices(), &choices);
                (sent, received)
            }
            mode => panic!("unknown mode {mode}"),
        };
        assert_eq!(sent.pairs().as_flattened().as_flattened(), bytes(&vector["sender_keys"]));
        assert_eq!(received.keys().as_flattened(), bytes(&vector["receiver_keys"]));
    }
}

/// Checks the vectors of one ring, of K polynomials expanded together, packed to BITS bits.
fn check_ring<const N: usize, const Q: u16, const BITS: usize, const K: usize>(
    vector: &Value,
    backend: Backend,
) {
    let input = &vector["uniform_input"];
    let session = Session::new(Sid::from_bytes(array(&input["id"])));
    let query = session.oracle(context(&input["context"])).query(number(&input["i"]), 0);
    let mut uniform = vec![0; usize::try_from(number(&input["length"])).unwrap()];
    query.fill(&mut uniform);

    let packed = |poly: &NttPoly<N, Q>| {
        let mut bytes = vec![0; N * BITS / 8];
        poly.pack::<BITS>(backend, &mut bytes);
        bytes
    };
    let mut polys = [[const { NttPoly::<N, Q>::ZERO }; K]];
    NttPoly::uniform_all::<BITS, K>(backend, &uniform, &mut polys);
    let [polys] = polys;
    assert_is(&polys.each_ref().map(packed).concat(), vector, "uniform");

    // The values of the first polynomial, taken for coefficients.
    let values = packed(&polys[0]);
    let bit = |k: usize| u16::from(values[k / 8] >> (k % 8) & 1);
    let coefficients = core::array::from_fn(|i| (0..BITS).map(|k| bit(BITS * i + k) << k).sum());
    let first = Poly::<N, Q>::new(coefficients).unwrap();
    let transformed = first.into_ntt(backend);
    assert_is(&packed(&transformed), vector, "ntt_of_first");
    let square = NttPoly::inner_product(backend, [&transformed], [&transformed]);
    let square = square.into_poly(backend);
    assert_is(&packed_coefficients::<BITS>(square.coefficients()), vector, "square_of_first");

    // Tables over all of Z_q, N values at a time. The factor 1 is also noise.
    let (mut one, mut noise) = ([Factor::<N, Q>::ZERO], vec![0; N / 2]);
    noise[0] = 1;
    vectors::set_noise(backend, &noise, &mut one);
    let (mut bits, mut hints, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for start in (0..usize::from(Q)).step_by(N) {
        let x = |i: usize| u16::try_from(start + i).unwrap();
        let poly = Poly::<N, Q>::new(core::array::from_fn(|i| x(i).min(Q - 1))).unwrap();
        let (mut hint, mut key, mut bit) = (vec![0; N / 8], vec![0; N / 8], vec![0; N / 8]);
        // Of BITS bits each x is what some number is unrounded to.
        let rounded = poly.coefficients().map(|x| {
            let scaled = (u32::from(x) << BITS) + u32::from(Q / 2);
            u16::try_from(scaled / u32::from(Q)).unwrap()
        });
        let (mut room, none) = (Room::<N, 1>::empty(), vec![0; N / 2]);
        let values = [poly.into_ntt(backend)];
        vectors::reconcile(backend, &mut room, &one, &values, &none, &mut hint, &mut key);
        let (rounded, no_hints) = (packed_coefficients::<BITS>(&rounded), vec![0; N / 8]);
        vectors::key_bits::<_, _, BITS, 1>(backend, &mut room, &one, &rounded, &no_hints, &mut bit);
        bits.extend(bit);
        hints.extend(hint);
        keys.extend(key);
    }
    for (table, name) in [(bits, "bits"), (hints, "hints"), (keys, "key_bits_own_hint")] {
        assert_is(&truncated(table, usize::from(Q)), vector, name);
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

#[test]
fn rings_match_the_test_vectors_on_every_backend() {
    let vectors = vectors();
    for backend in Backend::all() {
        check_ring::<256, 7681, 13, 3>(&vectors["rings"][0], backend);
        check_ring::<512, 13313, 14, 1>(&vectors["rings"][1], backend);

        let vector = &vectors["rings"][0];
        let mut none = [[const { module768::NttPoly::ZERO }; RANK]];
        NttPoly::uniform_all::<13, RANK>(backend, &[0xff; 1560], &mut none);
        let [none] = none;
        let packed: Vec<u8> = none.iter().flat_map(|_| [0; 416]).collect();
        assert!(none.iter().all(|poly| *poly == NttPoly::ZERO));
        assert_is(&packed, vector, "uniform_too_few");
        let mut noise = module768::NttPoly::ZERO;
        noise.add_noise(backend, &bytes(&vector["noise_input"]));
        let noise = noise.into_poly(backend);
        assert_is(&packed_coefficients::<13>(noise.coefficients()), vector, "noise");
        for sample in vector["rounding"]["samples"].as_array().unwrap() {
            // What is unrounded does not leave the kernel, whose own tests have the other numbers.
            let [x, rounded] = [0, 1].map(|k| u16::try_from(number(&sample[k])).unwrap());
            let mut values = Poly::<256, 7681>::new([x; 256]).unwrap().into_ntt(backend);
            let mut packed = [0; 352];
            vectors::round_noisy::<_, _, 11>(backend, &mut values, &[0; 128], &mut packed);
            assert_eq!(packed.as_slice(), packed_coefficients::<11>(&[rounded; 256]));
        }
    }
}
