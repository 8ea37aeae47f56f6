//! Extensions: the receiver by its choices, the sender by Δ.

use std::{hint::black_box, time::Instant};

use foxtrot_ot::{
    Bits,
    base::Choice,
    extension::{OtKind, Places, ROWS, Receiver, Sender, Shape, registry},
    ideal,
    pair::PairParty,
    tasks::only,
};

use super::{Step, nanoseconds, seed, session};

const NAMES: [&str; 5] =
    ["softspoken-2", "softspoken-8", "kos", "softspoken-6-semi-honest", "iknp"];

/// The extension's receiver by its choices, and its sender by Δ.
pub(super) fn steps() -> impl Iterator<Item = Step> {
    const N: usize = 512;
    let all = registry().filter(|it| NAMES.contains(&it.info().name));
    all.flat_map(|extension| {
        [PairParty::Receiver, PairParty::Sender].map(|timed| {
            let name = extension.info().name;
            let run = move |backend, run, secret: &[u8; 128]| {
                // One of the two is the secret.
                let (delta, choices) = match timed {
                    PairParty::Sender => (secret, &[0x35; 128]),
                    PairParty::Receiver => (&[0x35; 128], secret),
                };
                let delta = Bits::from_bytes(&delta[..ROWS / 8], ROWS);
                let (sent, received) = ideal::given(delta, &seed(1, run));
                let session = || session(backend, name);
                let (mut receiver, setup) =
                    Receiver::new(session(), extension, sent, seed(2, run)).expect("128 base OTs");
                let choice = Choice::Given(Bits::from_bytes(&choices[..N / 8], N));
                let shape = Shape::of(&choice);
                let (mut keys, mut pairs) = (vec![[0; 16]; N], vec![[[0; 16]; 2]; N]);
                let mut corrections = Vec::new();
                let mut times = [0.0; 2];

                let start = Instant::now();
                let mut sender = Sender::new(session(), extension, received, &setup, seed(3, run))
                    .expect("a setup");
                times[0] += nanoseconds(start);
                let start = Instant::now();
                let batch = receiver.extend(vec![(choice, &mut corrections)]);
                times[1] += nanoseconds(start);
                let start = Instant::now();
                let absorbed = sender.absorb(&[(shape, &corrections)]);
                times[0] += nanoseconds(start);
                let (absorbed, challenge) = only(absorbed.expect("corrections"));
                let challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
                let batch = (only(batch.expect("a batch")), challenge.as_slice(), &mut keys[..]);
                let start = Instant::now();
                let finished = receiver.finish(OtKind::Random, vec![batch]);
                times[1] += nanoseconds(start);
                let (_, proof) = only(finished.expect("a challenge"));
                let batch = (absorbed, proof.as_slice(), Places::Random(&mut pairs));
                let start = Instant::now();
                sender.finish(vec![batch]).expect("a proof");
                times[0] += nanoseconds(start);
                black_box((&keys, &pairs));
                times[usize::from(timed == PairParty::Receiver)]
            };
            let what = if timed == PairParty::Sender { "Δ" } else { "choices" };
            Step { name: format!("{name}: {what}"), run: Box::new(run) }
        })
    })
}
