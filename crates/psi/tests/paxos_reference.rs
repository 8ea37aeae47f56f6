//! The states against the schoolbook implementation, each as the other's peer, and against its
//! vectors (`vectors/paxos.json`).
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use foxtrot_ot::{
    Bits, Seed, Session, Sid,
    base::{Adversary, ReceiverKeys, SenderKeys},
    ideal,
};
use foxtrot_psi::paxos::{self, Digest, Next, Parameters};
use foxtrot_reference::{
    bits_from_bytes,
    one_of_n::{ReceiverBatch, SenderBatch},
    oracle::sub_session_id,
    paxos as reference,
};

const SID: [u8; 32] = [0x42; 32];
const SEEDS: [[u8; 32]; 2] = [[0x11; 32], [0x22; 32]];

fn session() -> Session {
    Session::new(Sid::from_bytes(SID)).sub("paxos", 0, Default::default())
}

/// The same parameters on both sides.
fn parameters(adversary: Adversary, n: usize, m: usize) -> (Parameters, reference::Protocol) {
    let protocol = reference::Protocol {
        id: sub_session_id(&SID, 0, 0, "paxos"),
        checked: adversary == Adversary::Malicious,
        receiver_items: n,
        sender_items: m,
        buckets: reference::Protocol::buckets_for(n),
    };
    (Parameters::new(adversary, n, m).unwrap(), protocol)
}

fn digests(range: core::ops::Range<u8>) -> Vec<Digest> {
    range.map(|k| [k; 32]).collect()
}

/// Both parties' base OTs, and the same for the reference.
struct Base {
    sent: SenderKeys,
    received: ReceiverKeys,
    pairs: Vec<[[u8; 16]; 2]>,
    delta: Vec<bool>,
    chosen: Vec<[u8; 16]>,
}

fn base(n: usize) -> Base {
    let (sent, received) = ideal::random(n, &Seed::from_bytes([3; 32]));
    let pairs = sent.pairs().to_vec();
    let bits: &Bits = received.choices();
    let delta = (0..n).map(|j| bool::from(bits.get(j))).collect();
    let chosen = received.keys().to_vec();
    Base { sent, received, pairs, delta, chosen }
}

const CASES: [(Adversary, u8, u8, u8); 5] = [
    (Adversary::Malicious, 12, 5, 20),
    (Adversary::Malicious, 1, 0, 2),
    (Adversary::Malicious, 0, 0, 3),
    (Adversary::SemiHonest, 9, 3, 15),
    (Adversary::SemiHonest, 2, 5, 5),
];

fn rows_of_receiver(
    batches: &[(ReceiverBatch, Vec<u8>)],
    challenges: &[Vec<u8>],
) -> Vec<Vec<bool>> {
    let rows = batches.iter().zip(challenges).flat_map(|((batch, _), u)| batch.finish(u));
    rows.map(|(row, _)| row).collect()
}

#[test]
fn the_sender_serves_the_schoolbook_receiver() {
    for (adversary, n, first, end) in CASES {
        let (ours, theirs) = (digests(0..n), digests(first..end));
        let (parameters, protocol) = parameters(adversary, ours.len(), theirs.len());
        let Base { received, pairs, .. } = base(parameters.base_ots());
        let mut receiver = reference::Receiver::new(&protocol, pairs, &ours, [0; 32], SEEDS[0]);
        let seed = Seed::from_bytes(SEEDS[1]);
        let sender =
            paxos::Sender::new(session(), parameters, received, theirs.clone(), None, seed);

        let (row_seed, batches) = receiver.bucket(0);
        let mut absorbing = sender.unwrap().open(&row_seed).unwrap();
        let mut challenges = Vec::new();
        for ((batch, corrections), n) in batches.iter().zip(parameters.batches()) {
            let (unverified, challenge) = absorbing.absorb(n, corrections).unwrap();
            let challenge = challenge.map_or_else(Vec::new, |u| u.to_vec());
            let proof = if challenge.is_empty() { Vec::new() } else { batch.proof(&challenge) };
            absorbing.verify(unverified, &proof).unwrap();
            challenges.push(challenge);
        }
        let Next::Done(sent) = absorbing.finish().unwrap() else { panic!("one bucket") };
        let frames: Vec<u8> = sent.frames().flatten().collect();
        let tags: Vec<Vec<u8>> = frames.chunks(parameters.tag_len()).map(<[u8]>::to_vec).collect();
        assert!(tags.is_sorted() && tags.len() == theirs.len());
        receiver.finish(0, &row_seed, &rows_of_receiver(&batches, &challenges));
        let expected: Vec<usize> = (0..ours.len()).filter(|&k| theirs.contains(&ours[k])).collect();
        assert_eq!(receiver.intersect(&tags), expected);
    }
}

#[test]
fn the_receiver_is_served_by_the_schoolbook_sender() {
    for (adversary, n, first, end) in CASES {
        let (ours, theirs) = (digests(0..n), digests(first..end));
        let (parameters, protocol) = parameters(adversary, ours.len(), theirs.len());
        let Base { sent, delta, chosen, .. } = base(parameters.base_ots());
        let mut sender =
            reference::Sender::new(&protocol, (delta, chosen), &theirs, [0; 32], SEEDS[1]);
        let seed = Seed::from_bytes(SEEDS[0]);
        let receiver = paxos::Receiver::new(session(), parameters, sent, ours.clone(), None, seed);

        let (mut encoded, row_seed) = receiver.unwrap().encode().unwrap();
        let mut rows = Vec::new();
        for n in parameters.batches() {
            let mut corrections = Vec::new();
            let unanswered = encoded.extend(n, &mut corrections).unwrap();
            let (batch, challenge): (SenderBatch, _) = sender.batch(n, &corrections);
            let proof = encoded.answer(unanswered, &challenge).unwrap();
            batch.check(&proof).unwrap();
            rows.extend(batch.rows());
        }
        let Next::Done(mut received) = encoded.finish().unwrap() else { panic!("one bucket") };
        sender.finish(0, row_seed.as_bytes(), &rows);
        let tags = sender.tags();
        if !tags.is_empty() {
            received.take(&tags.concat()).unwrap();
        }
        let expected: Vec<usize> = (0..ours.len()).filter(|&k| theirs.contains(&ours[k])).collect();
        assert_eq!(received.intersect().unwrap(), expected);
    }
}

/// Both schoolbook parties, with several buckets: what the states are measured against is right.
#[test]
fn schoolbook_parties_understand_each_other() {
    let (ours, theirs) = (digests(0..12), digests(4..20));
    let (_, protocol) = parameters(Adversary::SemiHonest, 12, 16);
    let protocol = reference::Protocol { buckets: 2, ..protocol };
    let Base { pairs, delta, chosen, .. } = base(512);
    let coin = protocol.joint_coin(&[1; 32], &[2; 32]);
    let mut receiver = reference::Receiver::new(&protocol, pairs, &ours, coin, SEEDS[0]);
    let mut sender = reference::Sender::new(&protocol, (delta, chosen), &theirs, coin, SEEDS[1]);
    for bucket in 0..2 {
        let (row_seed, batches) = receiver.bucket(bucket);
        let mut rows = Vec::new();
        for ((_, corrections), n) in batches.iter().zip(protocol.batches()) {
            rows.extend(sender.batch(n, corrections).0.rows());
        }
        sender.finish(bucket, &row_seed, &rows);
        receiver.finish(bucket, &row_seed, &rows_of_receiver(&batches, &[Vec::new()]));
    }
    assert_eq!(receiver.intersect(&sender.tags()), (4..12).collect::<Vec<_>>());
}

#[test]
fn sizes_are_those_of_the_vectors() {
    let vectors: serde_json::Value =
        serde_json::from_str(include_str!("vectors/paxos.json")).unwrap();
    for vector in vectors["sizes"].as_array().unwrap() {
        let numbers: Vec<usize> = vector.as_array().unwrap().iter().map(number).collect();
        let [n, m, buckets, keys, sender_load, slots, malicious, semi_honest] = numbers[..] else {
            panic!("eight numbers")
        };
        let of = |adversary| Parameters::new(adversary, n, m).unwrap();
        let ours = of(Adversary::Malicious);
        let sizes = [ours.buckets(), ours.keys(), ours.sender_load(), ours.slots()];
        assert_eq!(sizes, [buckets, keys, sender_load, slots], "{n} {m}");
        let tags = [ours.tag_len(), of(Adversary::SemiHonest).tag_len()];
        assert_eq!(tags, [malicious, semi_honest], "{n} {m}");
    }
}

/// A whole run against a schoolbook receiver whose messages the vectors have.
#[test]
fn tags_are_those_of_the_vectors() {
    let vectors: serde_json::Value =
        serde_json::from_str(include_str!("vectors/paxos.json")).unwrap();
    for vector in vectors["runs"].as_array().unwrap() {
        let adversary = match vector["checked"].as_bool().unwrap() {
            true => Adversary::Malicious,
            false => Adversary::SemiHonest,
        };
        let strings = |name: &str| -> Vec<[u8; 32]> { bytes(&vector[name]).as_chunks().0.to_vec() };
        let (ours, theirs) = (strings("receiver_items"), strings("sender_items"));
        let parameters = Parameters::new(adversary, ours.len(), theirs.len()).unwrap();
        let session = Session::new(Sid::from_bytes(strings("sid")[0]));
        let session = session.sub("paxos", 0, Default::default());
        // Base keys are counted through: key b of row j is j ‖ b.
        let key = |j: usize, b: u8| {
            let mut key = [b; 16];
            key[..8].copy_from_slice(&(j as u64).to_le_bytes());
            key
        };
        let n = parameters.base_ots();
        let delta = Bits::from_bools(bits_from_bytes(&bytes(&vector["delta"]), n));
        let (_, received) = ideal::of_keys(delta, key);
        let seed = Seed::from_bytes(strings("sender_seed")[0]);
        let sender = paxos::Sender::new(session, parameters, received, theirs.clone(), None, seed);
        let mut absorbing = sender.unwrap().open(&strings("row_seed")[0]).unwrap();
        let corrections = bytes(&vector["corrections"]);
        let (unverified, challenge) = absorbing.absorb(parameters.slots(), &corrections).unwrap();
        let challenge = challenge.map_or_else(Vec::new, |u| u.to_vec());
        assert_eq!(challenge, bytes(&vector["challenge"]));
        absorbing.verify(unverified, &bytes(&vector["proof"])).unwrap();
        let Next::Done(sent) = absorbing.finish().unwrap() else { panic!("one bucket") };
        assert_eq!(sent.frames().flatten().collect::<Vec<_>>(), bytes(&vector["tags"]));
    }
}

fn number(value: &serde_json::Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn bytes(value: &serde_json::Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}
