//! The joint coin, and runs with several buckets, against the vectors of the schoolbook implementation
//! (`tests/vectors/paxos.json`). Sets so small have one bucket in a session, hence a test in here.

use foxtrot_ot::Bits;
use foxtrot_reference::{oracle::sub_session_id, paxos as schoolbook};
use serde_json::Value;

use super::*;
use crate::{Digest, Joint, Next, items::buckets_of};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../tests/vectors/paxos.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn strings(value: &Value) -> Vec<[u8; 32]> {
    bytes(value).as_chunks().0.to_vec()
}

fn seed_of(value: &Value) -> Seed {
    Seed::from_bytes(strings(value)[0])
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// The sid of every run.
const SID: [u8; 32] = {
    let (mut sid, mut k) = ([0; 32], 0_u8);
    while k < 32 {
        sid[k as usize] = k;
        k += 1;
    }
    sid
};

fn session() -> Session {
    Session::new(Sid::from_bytes(SID)).sub("paxos", 0, Default::default())
}

/// Tosses the coin, message by message.
fn joint(vector: &Value) -> Joint {
    let seeds = ["receiver_seed", "sender_seed"].map(|name| seed_of(&vector[name]));
    let mut messages = Vec::new();
    let [receivers, senders] = toss(&session(), seeds, |_, message| {
        messages.push(message.clone());
        message
    })
    .unwrap();
    assert_eq!(messages, ["commitment", "coin", "opening"].map(|name| bytes(&vector[name])));
    assert_eq!(receivers.0.as_slice(), bytes(&vector["joint_coin"]));
    assert_eq!(senders, receivers);
    receivers
}

#[test]
fn coin_and_buckets_match_the_test_vectors() {
    let vector = &vectors()["coin"];
    let (joint, items) = (joint(vector), strings(&vector["items"]));
    for vector in vector["bucket_of"].as_array().unwrap() {
        let of = buckets_of(&session(), &joint, &items, number(&vector[0]));
        let of: Vec<usize> = of.0.iter().map(|&bucket| bucket as usize).collect();
        assert_eq!(of, numbers(&vector[1]));
    }
}

/// A run of the vectors, as far as both sides have it in common.
struct Run {
    parameters: Parameters,
    sets: [Vec<Digest>; 2],
    base: (SenderKeys, ReceiverKeys),
}

impl Run {
    fn of(vector: &Value) -> Self {
        let checked = vector["checked"].as_bool().unwrap();
        let adversary = if checked { Adversary::Malicious } else { Adversary::SemiHonest };
        let sets = ["receiver_items", "sender_items"].map(|name| strings(&vector[name]));
        let [ours, theirs] = [sets[0].len(), sets[1].len()];
        let buckets = number(&vector["buckets"]);
        let parameters = Parameters::with_buckets(adversary, ours, theirs, buckets).unwrap();
        let delta = Bits::decode("delta", &bytes(&vector["delta"]), parameters.base_ots());
        let base = ideal::of_keys(delta.unwrap(), |j, b| {
            let mut key = [b; 16];
            key[..8].copy_from_slice(&(j as u64).to_le_bytes());
            key
        });
        Self { parameters, sets, base }
    }
}

fn assert_hash(value: &[u8], hash: &Value) {
    assert_eq!(blake3::hash(value).as_bytes().as_slice(), bytes(hash));
}

/// The schoolbook's slots are its own, so it computes what it sent once more.
#[test]
fn the_sender_answers_messages_with_the_hashes_of_the_vectors_as_they_say() {
    let vectors = vectors();
    for vector in vectors["several"].as_array().unwrap() {
        let Run { parameters, sets: [ours, theirs], base } = Run::of(vector);
        let joint = joint(&vectors["coin"]);
        let protocol = schoolbook::Protocol {
            id: sub_session_id(&SID, 0, 0, "paxos"),
            checked: parameters.checked(),
            receiver_items: ours.len(),
            sender_items: theirs.len(),
            buckets: parameters.buckets(),
        };
        let (pairs, seeds) = (base.0.pairs().to_vec(), ["receiver_seed", "sender_seed"]);
        let seed = strings(&vector[seeds[0]])[0];
        let mut receiver = schoolbook::Receiver::new(&protocol, pairs, &ours, joint.0, seed);
        let seed = seed_of(&vector[seeds[1]]);
        let mut ots = parameters.ots_sender(&session(), base.1, &seed).unwrap();
        let sender = Sender::new(session(), parameters, theirs, Some(joint), seed);
        let mut next = Next::Bucket(sender.unwrap());
        for (bucket, vector) in vector["steps"].as_array().unwrap().iter().enumerate() {
            let Next::Bucket(sender) = next else { panic!("another bucket") };
            let (row_seed, batches) = receiver.bucket(bucket);
            assert_eq!(row_seed.as_slice(), bytes(&vector["row_seed"]));
            let [(batch, corrections)] = &batches[..] else { panic!("one batch") };
            assert_hash(corrections, &vector["corrections_blake3"]);
            let opened = sender.open(&row_seed).unwrap();
            let (unverified, challenge) = ots.absorb(parameters.slots(), corrections).unwrap();
            let challenge = challenge.map_or_else(Vec::new, |u| u.to_vec());
            assert_eq!(challenge, bytes(&vector["challenge"]));
            let proof = if challenge.is_empty() { Vec::new() } else { batch.proof(&challenge) };
            assert_hash(&proof, &vector["proof_blake3"]);
            let mut rows = Secret::zeroed(parameters.rows_len());
            ots.finish(unverified, &proof, Places::Rows(&mut rows)).unwrap();
            next = opened.finish(&ots, rows).unwrap();
        }
        let Next::Done(sent) = next else { panic!("no further bucket") };
        assert_eq!(sent.frames().flatten().collect::<Vec<_>>(), bytes(&vector["tags"]));
    }
}

/// Tags do not depend on slots: those of the vectors match with ours, whatever our slots are.
#[test]
fn the_receiver_draws_the_row_seeds_and_finds_the_tags_of_the_vectors() {
    let vectors = vectors();
    for vector in vectors["several"].as_array().unwrap() {
        let Run { parameters, sets: [ours, _], base } = Run::of(vector);
        let (joint, seed) = (joint(&vectors["coin"]), seed_of(&vector["receiver_seed"]));
        let mut ots = parameters.ots_receiver(&session(), base.0, &seed).unwrap();
        let receiver = Receiver::new(session(), parameters, ours, Some(joint), seed);
        let mut next = Next::Bucket(receiver.unwrap());
        for vector in vector["steps"].as_array().unwrap() {
            let Next::Bucket(receiver) = next else { panic!("another bucket") };
            let (encoded, row_seed) = receiver.encode().unwrap();
            assert_eq!(row_seed.as_bytes().as_slice(), bytes(&vector["row_seed"]));
            let mut corrections = Vec::new();
            let batch = ots.extend(parameters.slots(), encoded.words(), &mut corrections);
            let mut rows = Secret::zeroed(parameters.rows_len());
            let challenge = bytes(&vector["challenge"]);
            ots.finish_rows(batch.unwrap(), &challenge, &mut rows).unwrap();
            next = encoded.finish(rows).unwrap();
        }
        let Next::Done(mut received) = next else { panic!("no further bucket") };
        received.take(&bytes(&vector["tags"])).unwrap();
        assert_eq!(received.intersect().unwrap(), numbers(&vector["common"]));
    }
}
