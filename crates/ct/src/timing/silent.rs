//! Silent VOLE and silent OT: the receiver by the seed from which its choices come, and of these places and values of
//! noise and U; the sender by Δ.

use std::{hint::black_box, time::Instant};

use foxtrot_ot::{
    Bits,
    base::Choice,
    erase::Secret,
    extension::{self, OtKind, Places, ROWS, Shape},
    ideal,
    pair::PairParty,
    silent::{self, Field, Received, Receiver, Sender, Sent, Silent},
    tasks::only,
};

use super::{Step, nanoseconds, secret_seed, seed, session};

/// Outputs.
const M: usize = 300;

/// Steps after the last message: those of OTs.
type Finish<F> = fn((&mut Sender<F>, Sent<F>), (&mut Receiver<F>, Received<F>)) -> [f64; 2];

pub(super) fn steps() -> impl Iterator<Item = Step> {
    let parties = [PairParty::Receiver, PairParty::Sender];
    let vole = parties.map(|timed| step(silent::vole(), timed, |_, _| [0.0; 2]));
    vole.into_iter().chain(parties.map(|timed| step(silent::ot(), timed, keys)))
}

/// Hashes rows to keys.
fn keys(
    (sender, sent): (&mut Sender<silent::Gf2>, Sent<silent::Gf2>),
    (receiver, received): (&mut Receiver<silent::Gf2>, Received<silent::Gf2>),
) -> [f64; 2] {
    let (mut pairs, mut keys) = (vec![[[0; 16]; 2]; M], vec![[0; 16]; M]);
    let start = Instant::now();
    sender.pairs(&sent, 0, &mut pairs).expect("places for all");
    let of_sender = nanoseconds(start);
    let start = Instant::now();
    receiver.keys(&received, 0, &mut keys).expect("places for all");
    let times = [of_sender, nanoseconds(start)];
    black_box((&pairs, &keys));
    times
}

fn step<F: Field>(silent: Silent<F>, timed: PairParty, finish: Finish<F>) -> Step {
    let run = move |backend, run, secret: &[u8; 128]| {
        // One of the two is the secret.
        let (delta, of_choices) = match timed {
            PairParty::Sender => (secret, seed(2, run)),
            PairParty::Receiver => (&[0x35; 128], secret_seed(secret)),
        };
        let delta = Bits::from_bytes(&delta[..ROWS / 8], ROWS);
        let (pairs, chosen) = ideal::given(delta, &seed(1, run));
        let (extension, session) = (silent.extension(), |name| session(backend, name));
        let below = || session(extension.info().name);
        let (receiver, setup) =
            extension::Receiver::new(below(), extension, pairs, of_choices).expect("128 base OTs");
        let sender = extension::Sender::new(below(), extension, chosen, &setup, seed(3, run))
            .expect("a setup");
        let mut sender = Sender::new(session(silent.name()), silent, sender, seed(4, run))
            .expect("its extension");
        let mut receiver = Receiver::new(session(silent.name()), silent, receiver, seed(5, run))
            .expect("its extension");
        let n = silent.size(M).expect("a batch").ots;
        let mut corrections = Vec::new();
        let ots = receiver.ots().expect("a session that goes on");
        let begun = ots.extend(vec![(Choice::Random(n), &mut corrections)]).expect("a batch");
        let of_sender = sender.ots().expect("a session that goes on");
        let absorbed = of_sender.absorb(&[(Shape::random(n), &corrections)]);
        let (unverified, challenge) = only(absorbed.expect("corrections"));
        let challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
        let (mut q, mut t) = (vec![[0; 16]; n], vec![[0; 16]; n]);
        let batch = (only(begun), challenge.as_slice(), t.as_mut_slice());
        let finished = ots.finish(OtKind::Correlated, vec![batch]).expect("a challenge");
        let (choices, proof) = only(finished);
        let places = Places::Correlated(&mut q);
        of_sender.finish(vec![(unverified, &proof, places)]).expect("a proof");
        let mut times = [0.0; 2];

        let start = Instant::now();
        let (planted, trees) = sender.plant(M, Secret(q)).expect("enough OTs");
        times[0] += nanoseconds(start);
        let start = Instant::now();
        let (grown, challenge) = receiver.grow(M, choices, Secret(t), &trees).expect("trees");
        let (unverified, check) = receiver.encode(grown).expect("its own batch");
        times[1] += nanoseconds(start);
        let start = Instant::now();
        let encoded = sender.encode(planted, &challenge).expect("a challenge");
        let (sent, answer) = sender.answer(encoded, &check).expect("a check");
        times[0] += nanoseconds(start);
        let start = Instant::now();
        let received = receiver.verify(unverified, &answer).expect("an answer");
        times[1] += nanoseconds(start);
        let last = finish((&mut sender, sent), (&mut receiver, received));
        times[usize::from(timed == PairParty::Receiver)]
            + last[usize::from(timed == PairParty::Receiver)]
    };
    let what = if timed == PairParty::Sender { "Δ" } else { "places of noise and U" };
    Step { name: format!("{}: {what}", silent.name()), run: Box::new(run) }
}
