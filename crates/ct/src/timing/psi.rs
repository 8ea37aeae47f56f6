//! Private set intersection: the sender by Δ. Items are public here, as in `memcheck`.

use std::{hint::black_box, time::Instant};

use foxtrot_ot::{Bits, base::Adversary, ideal};
use foxtrot_psi::paxos::{Digest, Next, Parameters, Receiver, Sender};

use super::{Step, nanoseconds, seed, session};

/// Items of either party.
const N: usize = 64;

pub(super) fn steps() -> impl Iterator<Item = Step> {
    [Adversary::Malicious, Adversary::SemiHonest].into_iter().map(step)
}

fn step(adversary: Adversary) -> Step {
    let run = move |backend, run, secret: &[u8; 128]| {
        let digests = |first: usize| -> Vec<Digest> {
            (first..first + N).map(|k| [u8::try_from(k).expect("few"); 32]).collect()
        };
        let parameters = Parameters::new(adversary, N, N).expect("small sets");
        let rows = parameters.base_ots();
        let delta = Bits::from_bytes(&secret[..rows.div_ceil(8)], rows);
        let (sent, received) = ideal::given(delta, &seed(1, run));
        let session = || session(backend, "paxos");
        let receiver = Receiver::new(session(), parameters, sent, digests(0), None, seed(2, run));
        let (mut encoded, row_seed) =
            receiver.expect("distinct items").encode().expect("slots for all");

        let start = Instant::now();
        let sender =
            Sender::new(session(), parameters, received, digests(N / 2), None, seed(3, run));
        let opened = sender.expect("distinct items").open(row_seed.as_bytes());
        let mut time = nanoseconds(start);
        let mut absorbing = opened.expect("a seed of rows");
        for n in parameters.batches() {
            let mut corrections = Vec::new();
            let unanswered = encoded.extend(n, &mut corrections).expect("a batch");
            let start = Instant::now();
            let (unverified, challenge) = absorbing.absorb(n, &corrections).expect("corrections");
            time += nanoseconds(start);
            let challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
            let proof = encoded.answer(unanswered, &challenge).expect("a challenge");
            let start = Instant::now();
            absorbing.verify(unverified, &proof).expect("a proof");
            time += nanoseconds(start);
        }
        let start = Instant::now();
        let Next::Done(sent) = absorbing.finish().expect("all batches") else {
            unreachable!("one bucket")
        };
        time += nanoseconds(start);
        black_box(&sent);
        time
    };
    Step { name: format!("paxos, {adversary}: Δ"), run: Box::new(run) }
}
