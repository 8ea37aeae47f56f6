//! Private set intersection.

use foxtrot_downstream::{ALL_SIZES, on_small_stacks, seed, session};
use foxtrot_ot::{base::Adversary, erase::Secret, extension::one_of_n::Places, ideal};
use foxtrot_psi::{
    Digest, Next,
    paxos::{Parameters, Receiver, Sender},
};

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
                let (of_sender, of_receiver) = (seed(1), seed(2));
                let mut receivers = parameters
                    .ots_receiver(&session(backend), pairs, &of_receiver)
                    .expect("base OTs for all");
                let mut senders = parameters
                    .ots_sender(&session(backend), chosen, &of_sender)
                    .expect("base OTs for all");
                let receiver = Receiver::new(session(backend), parameters, ours, None, of_receiver)
                    .expect("a receiver");
                let sender = Sender::new(session(backend), parameters, theirs, None, of_sender)
                    .expect("a sender");
                let (encoded, row_seed) = receiver.encode().expect("slots");
                let opened = sender.open(row_seed.as_bytes()).expect("a row seed");
                let [mut t, mut q] = [(); 2].map(|()| Secret::zeroed(parameters.rows_len()));
                let word_len = encoded.words().len() / parameters.slots();
                let row_len = parameters.rows_len() / parameters.slots();
                let mut first = 0;
                for n in parameters.batches() {
                    let mut corrections = Vec::new();
                    let words = &encoded.words()[first * word_len..][..n * word_len];
                    let unanswered = receivers.extend(n, words, &mut corrections).expect("a batch");
                    let (unverified, challenge) =
                        senders.absorb(n, &corrections).expect("corrections");
                    let challenge = challenge.map_or_else(Vec::new, Vec::from);
                    let rows = first * row_len..(first + n) * row_len;
                    let proof = receivers
                        .finish_rows(unanswered, &challenge, &mut t[rows.clone()])
                        .expect("a proof");
                    let places = Places::Rows(&mut q[rows]);
                    senders.finish(unverified, &proof, places).expect("an honest proof");
                    first += n;
                }
                let (Next::Done(mut received), Next::Done(sent)) =
                    (encoded.finish(t).expect("rows"), opened.finish(&senders, q).expect("rows"))
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
