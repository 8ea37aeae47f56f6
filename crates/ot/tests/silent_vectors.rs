//! The vectors of silent VOLE and silent OT that `reference/` generated, byte for byte (`vectors/silent.json`).

use foxtrot_ot::{
    Backend, Bits, Seed, Session, Sid,
    base::{Block, Choice},
    erase::Secret,
    extension::{self, OtKind, Places, Shape},
    ideal,
    silent::{self, Field, Gf2, Received, Receiver, Sender, Sent, Silent},
    tasks::only,
};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/silent.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn array<const N: usize>(value: &Value) -> [u8; N] {
    bytes(value).try_into().unwrap()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// Compares bytes, or their hash, to a field of the vector; there must be one.
fn assert_is(value: &[u8], vector: &Value, name: &str) {
    let hash = vector.get(format!("{name}_blake3"));
    match (vector.get(name), hash) {
        (Some(whole), _) => assert_eq!(value, bytes(whole), "{name}"),
        (None, Some(hash)) => {
            assert_eq!(blake3::hash(value).as_bytes().as_slice(), bytes(hash), "{name}");
        }
        (None, None) => panic!("no {name}"),
    }
}

fn of_u128(elements: &[u128]) -> Vec<u8> {
    elements.iter().flat_map(|it| it.to_le_bytes()).collect()
}

/// Two to a byte, the lower half first.
fn of_nibbles(nibbles: &[u8]) -> Vec<u8> {
    nibbles.chunks(2).map(|pair| pair[0] | pair.get(1).map_or(0, |high| high << 4)).collect()
}

fn check_sizes<F: Field>(silent: Silent<F>) {
    let all = &vectors()["sizes"];
    let of_name =
        all.as_array().unwrap().iter().find(|it| it["protocol"] == silent.name()).unwrap();
    let sizes = of_name["sizes"].as_array().unwrap();
    assert!(sizes.len() > 10);
    for expected in sizes {
        let [m, t, h, n, ots, a, _bytes] = core::array::from_fn(|k| number(&expected[k]));
        let size = silent.size(m).unwrap();
        let is = (size.trees, size.height, size.leaves(), size.ots, size.accumulators);
        assert_eq!(is, (t, h, n, ots, a), "{} {m}", silent.name());
    }
}

#[test]
fn sizes_match_the_schoolbook_version() {
    check_sizes(silent::vole());
    check_sizes(silent::vole_margin());
    check_sizes(silent::vole_semi_honest());
    check_sizes(silent::ot());
    check_sizes(silent::ot_semi_honest());
    check_sizes(silent::ot_16_semi_honest());
}

/// Both parties from ideal base OTs with the keys of the vectors.
fn parties<F: Field>(
    silent: Silent<F>,
    vector: &Value,
    backend: Backend,
) -> (Sender<F>, Receiver<F>) {
    let session =
        |name: &str| Session::new(Sid::from_bytes(array(&vector[name]))).with_backend(backend);
    let seed = |name: &str| Seed::from_bytes(array(&vector[name]));
    let of_keys = session("extension_id").oracle("foxtrot v1 test base key");
    let delta = Bits::from_bytes(&bytes(&vector["delta"]), 128);
    let (pairs, chosen) = ideal::of_keys(delta, |r, b| of_keys.query(r as u64, b).finish());
    let extension = silent.extension();
    let session_of = || session("extension_id");
    let (receiver, setup) =
        extension::Receiver::new(session_of(), extension, pairs, seed("extension_receiver_seed"))
            .unwrap();
    assert_is(&setup, vector, "setup");
    let sender = extension::Sender::new(
        session_of(),
        extension,
        chosen,
        &setup,
        seed("extension_sender_seed"),
    )
    .unwrap();
    (
        Sender::new(session("id"), silent, sender, seed("sender_seed")).unwrap(),
        Receiver::new(session("id"), silent, receiver, seed("receiver_seed")).unwrap(),
    )
}

/// The OTs of a batch, whose messages are those of the extension's own vectors.
fn ots<F: Field>(
    (sender, receiver): &mut (Sender<F>, Receiver<F>),
    n: usize,
) -> (Vec<Block>, (Bits, Vec<Block>)) {
    let (sender, receiver) = (sender.ots().unwrap(), receiver.ots().unwrap());
    let mut corrections = Vec::new();
    let unanswered = only(receiver.extend(vec![(Choice::Random(n), &mut corrections)]).unwrap());
    let absorbed = sender.absorb(&[(Shape::random(n), &corrections)]).unwrap();
    let (unverified, challenge) = only(absorbed);
    let (mut q, mut t) = (vec![[0; 16]; n], vec![[0; 16]; n]);
    let batch = (unanswered, challenge.as_slice().as_flattened(), t.as_mut_slice());
    let (choices, proof) = only(receiver.finish(OtKind::Correlated, vec![batch]).unwrap());
    sender.finish(vec![(unverified, &proof, Places::Correlated(&mut q))]).unwrap();
    (q, (choices, t))
}

fn batch<F: Field>(
    parties: &mut (Sender<F>, Receiver<F>),
    vector: &Value,
) -> (Sent<F>, Received<F>) {
    let m = number(&vector["m"]);
    let (sent, (choices, received)) = ots(parties, number(&vector["ots"]));
    let (sender, receiver) = parties;
    let (planted, trees) = sender.plant(m, Secret(sent)).unwrap();
    let (grown, challenge) = receiver.grow(m, choices, Secret(received), &trees).unwrap();
    let encoded = sender.encode(planted, &challenge).unwrap();
    let (unverified, check) = receiver.encode(grown).unwrap();
    let (sent, answer) = sender.answer(encoded, &check).unwrap();
    if vector.get("check").is_some() {
        assert_is(&trees, vector, "trees");
        assert_is(&challenge, vector, "challenge");
        assert_is(&check, vector, "check");
        assert_is(&answer, vector, "answer");
    }
    (sent, receiver.verify(unverified, &answer).unwrap())
}

fn run(name: &str) -> Value {
    let all = vectors();
    all["runs"].as_array().unwrap().iter().find(|it| it["protocol"] == name).unwrap().clone()
}

fn check_vole<F: Field>(silent: Silent<F>, of_values: impl Fn(&F::Values) -> Vec<u8>) {
    let vector = run(silent.name());
    for backend in Backend::all() {
        let mut parties = parties(silent, &vector, backend);
        for vector in vector["batches"].as_array().unwrap() {
            let (sent, received) = batch(&mut parties, vector);
            let (w, (u, v)) = (sent.into_rows(), received.into_parts());
            assert_is(&of_values(&u), vector, "u");
            assert_is(&of_u128(&v), vector, "v");
            assert_is(&of_u128(&w), vector, "w");
        }
    }
}

#[test]
fn voles_match_the_schoolbook_version_on_every_backend() {
    check_vole(silent::vole(), |u| of_u128(u));
    check_vole(silent::vole_margin(), |u| of_u128(u));
    check_vole(silent::vole_semi_honest(), |u: &Secret<u64>| {
        u.iter().flat_map(|&it| u128::from(it).to_le_bytes()).collect()
    });
    check_vole(silent::vole_packed(), |u| of_u128(u));
    check_vole(silent::ot_16_semi_honest(), |u| of_nibbles(u));
}

fn check_ots(silent: Silent<Gf2>) {
    let vector = run(silent.name());
    for backend in Backend::all() {
        // The second time for choices that are given.
        for given in [false, true] {
            let mut parties = parties(silent, &vector, backend);
            for vector in vector["batches"].as_array().unwrap() {
                let (mut sent, mut received) = batch(&mut parties, vector);
                let n = sent.n();
                if given {
                    let choices = Bits::from_bytes(&bytes(&vector["given_choices"]), n);
                    let flips = received.choose(choices).unwrap();
                    assert_is(&flips, vector, "flips");
                    sent.flip(&flips).unwrap();
                }
                let names = match given {
                    true => ["given_choices", "given_sender_keys"],
                    false => ["choices", "sender_keys"],
                };
                let (mut pairs, mut keys) = (vec![[[0; 16]; 2]; n], vec![[0; 16]; n]);
                parties.0.pairs(&sent, 0, &mut pairs).unwrap();
                let choices = parties.1.keys(&received, 0, &mut keys).unwrap();
                assert_is(choices.as_bytes(), vector, names[0]);
                assert_is(pairs.as_flattened().as_flattened(), vector, names[1]);
                assert_is(keys.as_flattened(), vector, "receiver_keys");
            }
        }
    }
}

#[test]
fn keys_of_silent_ots_match_the_schoolbook_version_on_every_backend() {
    check_ots(silent::ot());
    check_ots(silent::ot_semi_honest());
}

#[test]
fn one_of_sixteen_ots_match_the_schoolbook_version_on_every_backend() {
    let silent = silent::ot_16_semi_honest();
    let vector = run(silent.name());
    for backend in Backend::all() {
        let mut parties = parties(silent, &vector, backend);
        for vector in vector["batches"].as_array().unwrap() {
            let (sent, received) = batch(&mut parties, vector);
            let n = sent.n();
            let (mut tables, mut choices) = (vec![[0xa5; 2]; n], vec![0; n]);
            parties.0.tables(&sent, 0, &mut tables).unwrap();
            parties.1.choices(&received, 0, &mut choices).unwrap();
            assert_is(tables.as_flattened(), vector, "sender_bits");
            let bits = Bits::from_bools(choices.iter().map(|choice| choice >> 4 == 1));
            assert_is(bits.as_bytes(), vector, "receiver_bits");
            choices.iter_mut().for_each(|choice| *choice &= 0xf);
            assert_is(&of_nibbles(&choices), vector, "choices");
        }
    }
}

#[test]
fn rows_of_silent_ots_match_the_schoolbook_version() {
    for silent in [silent::ot(), silent::ot_semi_honest()] {
        let vector = run(silent.name());
        let mut parties = parties(silent, &vector, Backend::best());
        for vector in vector["batches"].as_array().unwrap() {
            let (sent, received) = batch(&mut parties, vector);
            assert_is(&of_u128(&sent.into_rows()), vector, "sender_rows");
            let (choices, v) = received.into_parts();
            assert_is(choices.as_bytes(), vector, "choices");
            assert_is(&of_u128(&v), vector, "v");
        }
    }
}
