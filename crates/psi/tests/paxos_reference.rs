//! The states against vectors of the schoolbook implementation (`vectors/paxos.json`).

use foxtrot_ot::{
    Bits, Seed, Session, Sid, base::Adversary, erase::Secret, extension::one_of_n::Places, ideal,
};
use foxtrot_psi::{
    Next,
    paxos::{self, Parameters},
};
use foxtrot_reference::bits_from_bytes;

#[test]
fn sizes_match_the_test_vectors() {
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
        let tags = [ours.tag_bits(), of(Adversary::SemiHonest).tag_bits()];
        assert_eq!(tags.map(|bits| bits as usize), [malicious, semi_honest], "{n} {m}");
    }
}

/// A whole run against a schoolbook receiver whose messages the vectors have.
#[test]
fn tags_match_the_test_vectors() {
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
        let mut ots = parameters.ots_sender(&session, received, &seed).unwrap();
        let sender = paxos::Sender::new(session, parameters, theirs.clone(), None, seed);
        let opened = sender.unwrap().open(&strings("row_seed")[0]).unwrap();
        let corrections = bytes(&vector["corrections"]);
        let (unverified, challenge) = ots.absorb(parameters.slots(), &corrections).unwrap();
        let challenge = challenge.map_or_else(Vec::new, |u| u.to_vec());
        assert_eq!(challenge, bytes(&vector["challenge"]));
        let mut rows = Secret::zeroed(parameters.rows_len());
        let proof = bytes(&vector["proof"]);
        ots.finish(unverified, &proof, Places::Rows(&mut rows)).unwrap();
        let Next::Done(sent) = opened.finish(&ots, rows).unwrap() else { panic!("one bucket") };
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
