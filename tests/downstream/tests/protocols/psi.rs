//! Private set intersection.

use foxtrot_downstream::{ALL_SIZES, on_small_stacks, seed, session};
use foxtrot_ot::{base::Adversary, ideal};
use foxtrot_psi::paxos::{Digest, Next, Parameters, Receiver, Sender};

/// The digests of so many multiples of a number.
fn multiples(of: usize, n: usize) -> Vec<Digest> {
    let digest = |k: usize| {
        let mut digest = [0x21; 32];
        digest[..8].copy_from_slice(&((k * of) as u64).to_le_bytes());
        digest
    };
    (0..n).map(digest).collect()
}

#[test]
fn private_set_intersection_runs_on_a_small_stack() {
    for adversary in [Adversary::Malicious, Adversary::SemiHonest] {
        for n in ALL_SIZES {
            on_small_stacks(&format!("paxos, {adversary}, {n} items"), move |backend| {
                let parameters = Parameters::new(adversary, n, n).expect("sizes");
                let (pairs, chosen) = ideal::random(parameters.base_ots(), &seed(3));
                let (ours, theirs) = (multiples(2, n), multiples(3, n));
                let receiver =
                    Receiver::new(session(backend), parameters, pairs, ours, None, seed(2))
                        .expect("a receiver");
                let sender =
                    Sender::new(session(backend), parameters, chosen, theirs, None, seed(1))
                        .expect("a sender");
                let (mut encoded, row_seed) = receiver.encode().expect("slots");
                let mut absorbing = sender.open(row_seed.as_bytes()).expect("a row seed");
                for n in parameters.batches() {
                    let mut corrections = Vec::new();
                    let unanswered = encoded.extend(n, &mut corrections).expect("a batch");
                    let (unverified, challenge) =
                        absorbing.absorb(n, &corrections).expect("corrections");
                    let challenge = challenge.map_or_else(Vec::new, Vec::from);
                    let proof = encoded.answer(unanswered, &challenge).expect("a proof");
                    absorbing.verify(unverified, &proof).expect("an honest proof");
                }
                let (Next::Done(mut received), Next::Done(sent)) =
                    (encoded.finish().expect("rows"), absorbing.finish().expect("rows"))
                else {
                    panic!("one bucket");
                };
                sent.frames().try_for_each(|tags| received.take(&tags)).expect("tags");
                // 2·i = 3·k has a k below n wherever 3 divides i.
                let both: Vec<usize> = (0..n).step_by(3).collect();
                assert_eq!(received.intersect().expect("tags"), both);
            });
        }
    }
}
