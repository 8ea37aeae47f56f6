//! The states against vectors of the schoolbook implementation (`tests/vectors/vole_psi.json`), and against itself. Sets so
//! small have one bucket in a session, hence a test in here.

use foxtrot_reference::{oracle::sub_session_id, vole_psi as schoolbook};
use serde_json::Value;

use super::*;
use crate::Next;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../tests/vectors/vole_psi.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn strings(value: &Value) -> Vec<[u8; 32]> {
    bytes(value).as_chunks().0.to_vec()
}

fn elements(value: &Value) -> Vec<u128> {
    bytes(value).as_chunks().0.iter().map(|element| u128::from_le_bytes(*element)).collect()
}

fn numbers(value: &Value) -> Vec<usize> {
    let numbers = value.as_array().unwrap().iter();
    numbers.map(|it| usize::try_from(it.as_u64().unwrap()).unwrap()).collect()
}

#[test]
fn sizes_match_the_test_vectors() {
    for vector in vectors()["sizes"].as_array().unwrap() {
        let all = numbers(vector);
        let (n, m) = (all[0], all[1]);
        let ours = Parameters::of(Vole::Silent, n, m).unwrap();
        let small = Parameters::of(Vole::Small, n, m).unwrap();
        let sizes = [ours.buckets(), ours.keys(), ours.sender_load(), ours.slots()];
        assert_eq!(sizes, all[2..6], "{n} {m}");
        assert_eq!(small.tag_bits() as usize, all[6], "{n} {m}");
    }
}

/// Our sender answers the schoolbook receiver's messages with the tags of the vectors; the schoolbook's sender answers ours,
/// and our receiver finds what is common.
#[test]
fn runs_match_the_test_vectors_and_the_schoolbook_in_both_roles() {
    for vector in vectors()["runs"].as_array().unwrap() {
        let small = vector["small"].as_bool().unwrap();
        let buckets = usize::try_from(vector["buckets"].as_u64().unwrap()).unwrap();
        let (ours, theirs) = (strings(&vector["receiver_items"]), strings(&vector["sender_items"]));
        let vole = if small { Vole::Small } else { Vole::Silent };
        let parameters = Parameters::with_buckets(vole, ours.len(), theirs.len(), buckets).unwrap();
        let sid = strings(&vector["sid"])[0];
        let session = || Session::new(Sid::from_bytes(sid)).sub("vole-psi", 0, Default::default());
        let seeds = strings(&vector["coin_seeds"]);
        let joint = (buckets > 1).then(|| {
            let seeds = [seeds[0], seeds[1]].map(Seed::from_bytes);
            let [joint, _] = toss(&session(), seeds, |_, message| message).unwrap();
            joint
        });
        let m = parameters.slots();
        let delta = elements(&vector["delta"])[0];
        let (u, w) = (elements(&vector["u"]), elements(&vector["w"]));
        let (row_seeds, sums) = (strings(&vector["row_seeds"]), bytes(&vector["sums"]));

        let mut sender =
            Sender::new(session(), parameters, theirs.clone(), joint, seed(2)).unwrap();
        let mut messages = row_seeds.iter().zip(sums.chunks(sums.len() / buckets)).zip(w.chunks(m));
        let sent = loop {
            let ((row_seed, sums), w) = messages.next().unwrap();
            let mut opened = sender.open(row_seed).unwrap();
            opened.take(sums).unwrap();
            match opened.finish(&delta, Secret(w.to_vec())).unwrap() {
                Next::Bucket(next) => sender = next,
                Next::Done(sent) => break sent,
            }
        };
        let tags = bytes(&vector["tags"]);
        assert_eq!(sent.frames().collect::<Vec<_>>().concat(), tags);

        let protocol = schoolbook::Protocol {
            id: sub_session_id(&sid, 0, 0, "vole-psi"),
            small,
            receiver_items: ours.len(),
            sender_items: theirs.len(),
            buckets,
        };
        let coin = protocol.joint_coin([&seeds[0], &seeds[1]]);
        let receivers_seed = Seed::from_bytes(strings(&vector["receiver_seed"])[0]);
        let mut receiver =
            Receiver::new(session(), parameters, ours.clone(), joint, receivers_seed).unwrap();
        let mut senders_tags = Vec::new();
        let mut bucket = 0;
        let mut received = loop {
            let part = bucket * m..(bucket + 1) * m;
            let (u, w) = (&u[part.clone()], &w[part]);
            let v = u.iter().zip(w).map(|(&u, w)| w ^ protocol.product(u, delta)).collect();
            let mask = match small {
                true => Mask::Small(Secret(u.iter().map(|&u| u64::try_from(u).unwrap()).collect())),
                false => Mask::Large(Secret(u.to_vec())),
            };
            let (masked, row_seed, sums) =
                receiver.plan().unwrap().encode().unwrap().mask(mask, Secret(v)).unwrap();
            assert_eq!(row_seed.as_bytes(), &row_seeds[bucket]);
            let message = (row_seed.as_bytes(), &*sums);
            senders_tags.extend(protocol.sender_tags(
                (&coin, bucket),
                &theirs,
                message,
                (delta, w),
            ));
            bucket += 1;
            match masked.finish().unwrap() {
                Next::Bucket(next) => receiver = next,
                Next::Done(received) => break received,
            }
        };
        received.take(&protocol.tags(senders_tags)).unwrap();
        assert_eq!(received.intersect().unwrap(), numbers(&vector["common"]));
    }
}
