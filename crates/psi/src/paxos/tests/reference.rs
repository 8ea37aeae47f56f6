//! The states against the schoolbook implementation, each as the other's peer, with one bucket and with
//! several.

use foxtrot_reference::{
    one_of_n::{ReceiverBatch, SenderBatch},
    oracle::sub_session_id,
    paxos as schoolbook,
};

use super::*;
use crate::{Digest, Error, Next, receivers_coin, senders_coin};

const SEEDS: [[u8; 32]; 2] = [[0x11; 32], [0x22; 32]];

/// Adversary, buckets, the receiver's items from 0 on, and the sender's.
const CASES: [(Adversary, usize, u64, core::ops::Range<u64>); 11] = [
    (Adversary::Malicious, 1, 12, 5..20),
    (Adversary::Malicious, 1, 1, 0..2),
    (Adversary::Malicious, 1, 0, 0..3),
    (Adversary::SemiHonest, 1, 9, 3..15),
    (Adversary::SemiHonest, 1, 2, 5..5),
    (Adversary::Malicious, 2, 12, 5..20),
    // More than a bucket may have of either side.
    (Adversary::Malicious, 3, 150, 100..260),
    (Adversary::Malicious, 2, 3, 7..7),
    (Adversary::SemiHonest, 3, 15, 2..30),
    (Adversary::SemiHonest, 4, 1, 0..40),
    (Adversary::SemiHonest, 2, 0, 0..5),
];

/// One case for both implementations.
struct Case {
    parameters: Parameters,
    protocol: schoolbook::Protocol,
    ours: Vec<Digest>,
    theirs: Vec<Digest>,
    /// The base OTs of [`base`] for the schoolbook.
    pairs: Vec<[[u8; 16]; 2]>,
    delta: Vec<bool>,
    chosen: Vec<[u8; 16]>,
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        CASES.into_iter().map(|(adversary, buckets, n, range)| {
            let (ours, theirs) = (digests(0..n), digests(range));
            let (n, m) = (ours.len(), theirs.len());
            let parameters = Parameters::with_buckets(adversary, n, m, buckets).unwrap();
            let protocol = schoolbook::Protocol {
                id: sub_session_id(&[7; 32], 0, 0, "paxos"),
                checked: adversary == Adversary::Malicious,
                receiver_items: n,
                sender_items: m,
                buckets,
            };
            let (sent, received) = base(&parameters);
            let (pairs, chosen) = (sent.pairs().to_vec(), received.keys().to_vec());
            let bits = received.choices();
            let delta = (0..bits.len()).map(|j| bool::from(bits.get(j))).collect();
            Self { parameters, protocol, ours, theirs, pairs, delta, chosen }
        })
    }

    fn expected(&self) -> Vec<usize> {
        naive(&self.ours, &self.theirs)
    }

    fn has_coin(&self) -> bool {
        self.parameters.buckets() > 1
    }

    fn assert_tags(&self, tags: &[u8]) {
        let n = if self.ours.is_empty() { 0 } else { self.theirs.len() };
        let tags = self.protocol.read(n, tags);
        assert!(tags.is_sorted() && tags.len() == n, "{:?}", self.parameters);
    }
}

fn rows_of_receiver(
    batches: &[(ReceiverBatch, Vec<u8>)],
    challenges: &[Vec<u8>],
) -> Vec<Vec<bool>> {
    let rows = batches.iter().zip(challenges).flat_map(|((batch, _), u)| batch.finish(u));
    rows.map(|(row, _)| row).collect()
}

#[test]
fn the_sender_serves_the_schoolbook_receiver() {
    for case in Case::all() {
        let parameters = case.parameters;
        let (mut joint, mut coin) = (None, [0; 32]);
        if case.has_coin() {
            let r = [0xc1; 32];
            let commitment = case.protocol.commitment(&r);
            let peer = Engine::new(|io| async move {
                io.send(commitment.to_vec()).await;
                let s = io.recv(32).await;
                io.send(r.to_vec()).await;
                Ok::<_, Error>(s)
            });
            let session = &session();
            let ours = Engine::new(|io| async move { senders_coin(&io, session, &seed(6)).await });
            let (toss, s) = Pair::new(ours, peer).run().unwrap();
            joint = Some(toss);
            coin = case.protocol.joint_coin(&r, &s.try_into().unwrap());
        }
        let (received, pairs) = (base(&parameters).1, case.pairs.clone());
        let mut receiver =
            schoolbook::Receiver::new(&case.protocol, pairs, &case.ours, coin, SEEDS[0]);
        let (theirs, seed) = (case.theirs.clone(), Seed::from_bytes(SEEDS[1]));
        let mut ots = parameters.ots_sender(&session(), received, &seed).unwrap();
        let mut sender = Sender::new(session(), parameters, theirs, joint, seed).unwrap();
        let mut bucket = 0;
        let sent = loop {
            let (row_seed, batches) = receiver.bucket(bucket);
            let opened = sender.open(&row_seed).unwrap();
            let (mut challenges, mut rows) = (Vec::new(), Secret::default());
            for ((batch, corrections), n) in batches.iter().zip(parameters.batches()) {
                let (unverified, challenge) = ots.absorb(n, corrections).unwrap();
                let challenge = challenge.map_or_else(Vec::new, |u| u.to_vec());
                let proof = if challenge.is_empty() { Vec::new() } else { batch.proof(&challenge) };
                let places = Places::Rows(room(&parameters, &mut rows, n));
                ots.finish(unverified, &proof, places).unwrap();
                challenges.push(challenge);
            }
            receiver.finish(bucket, &row_seed, &rows_of_receiver(&batches, &challenges));
            bucket += 1;
            match opened.finish(&ots, rows).unwrap() {
                Next::Bucket(next) => sender = next,
                Next::Done(sent) => break sent,
            }
        };
        assert_eq!(bucket, parameters.buckets());
        let tags: Vec<u8> = sent.frames().flatten().collect();
        case.assert_tags(&tags);
        assert_eq!(receiver.intersect(&tags), case.expected(), "{parameters:?}");
    }
}

#[test]
fn the_receiver_is_served_by_the_schoolbook_sender() {
    for case in Case::all() {
        let parameters = case.parameters;
        let (mut joint, mut coin) = (None, [0; 32]);
        if case.has_coin() {
            let s = [0xc2; 32];
            let peer = Engine::new(|io| async move {
                let commitment = io.recv(32).await;
                io.send(s.to_vec()).await;
                Ok::<_, Error>([commitment, io.recv(32).await])
            });
            let session = &session();
            let ours =
                Engine::new(|io| async move { receivers_coin(&io, session, &seed(5)).await });
            let ([commitment, r], toss) = Pair::new(peer, ours).run().unwrap();
            let r = r.try_into().unwrap();
            assert_eq!(case.protocol.commitment(&r).as_slice(), commitment);
            (joint, coin) = (Some(toss), case.protocol.joint_coin(&r, &s));
        }
        let (sent, keys) = (base(&parameters).0, (case.delta.clone(), case.chosen.clone()));
        let mut sender =
            schoolbook::Sender::new(&case.protocol, keys, &case.theirs, coin, SEEDS[1]);
        let (ours, seed) = (case.ours.clone(), Seed::from_bytes(SEEDS[0]));
        let mut ots = parameters.ots_receiver(&session(), sent, &seed).unwrap();
        let mut receiver = Receiver::new(session(), parameters, ours, joint, seed).unwrap();
        let mut bucket = 0;
        let mut received = loop {
            let (encoded, row_seed) = receiver.encode().unwrap();
            let (mut of_sender, mut rows) = (Vec::new(), Secret::default());
            let mut words = encoded.words();
            for n in parameters.batches() {
                let (of_batch, rest) = words.split_at(n * parameters.lengths().word_len());
                words = rest;
                let mut corrections = Vec::new();
                let unanswered = ots.extend(n, of_batch, &mut corrections).unwrap();
                let (batch, challenge): (SenderBatch, _) = sender.batch(n, &corrections);
                let places = room(&parameters, &mut rows, n);
                let proof = ots.finish_rows(unanswered, &challenge, places).unwrap();
                batch.check(&proof).unwrap();
                of_sender.extend(batch.rows());
            }
            sender.finish(bucket, row_seed.as_bytes(), &of_sender);
            bucket += 1;
            match encoded.finish(rows).unwrap() {
                Next::Bucket(next) => receiver = next,
                Next::Done(received) => break received,
            }
        };
        assert_eq!(bucket, parameters.buckets());
        let tags = sender.tags();
        case.assert_tags(&tags);
        if !tags.is_empty() {
            received.take(&tags).unwrap();
        }
        assert_eq!(received.intersect().unwrap(), case.expected(), "{parameters:?}");
    }
}
