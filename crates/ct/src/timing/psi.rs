//! Private set intersection: the sender by Δ. Items are public here, as in `memcheck`.

use std::{hint::black_box, time::Instant};

use foxtrot_ot::{Bits, base::Adversary, erase::Secret, extension::one_of_n::Places, ideal};
use foxtrot_psi::{
    Digest, Next,
    paxos::{Parameters, Receiver, Sender},
};

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
        let receiver = Receiver::new(session(), parameters, digests(0), None, seed(2, run));
        let (encoded, row_seed) =
            receiver.expect("distinct items").encode().expect("slots for all");
        let mut ots =
            parameters.ots_receiver(&session(), sent, &seed(2, run)).expect("base OTs for all");
        // So few slots are one batch.
        let (n, mut corrections) = (parameters.slots(), Vec::new());
        let unanswered = ots.extend(n, encoded.words(), &mut corrections).expect("a batch");

        let start = Instant::now();
        let of_sender = parameters.ots_sender(&session(), received, &seed(3, run));
        let sender = Sender::new(session(), parameters, digests(N / 2), None, seed(3, run));
        let opened = sender.expect("distinct items").open(row_seed.as_bytes());
        let mut of_sender = of_sender.expect("base OTs for all");
        let (unverified, challenge) = of_sender.absorb(n, &corrections).expect("corrections");
        let mut time = nanoseconds(start);
        let challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
        let mut rows = Secret::zeroed(parameters.rows_len());
        let proof = ots.finish_rows(unanswered, &challenge, &mut rows).expect("a challenge");
        let start = Instant::now();
        let mut rows = Secret::zeroed(parameters.rows_len());
        of_sender.finish(unverified, &proof, Places::Rows(&mut rows)).expect("a proof");
        let finished = opened.expect("a seed of rows").finish(&of_sender, rows);
        let Next::Done(sent) = finished.expect("all rows") else { unreachable!("one bucket") };
        time += nanoseconds(start);
        black_box(&sent);
        time
    };
    Step { name: format!("paxos, {adversary}: Δ"), run: Box::new(run) }
}
