//! 1-of-N extensions: the receiver by its words, the sender by Δ.

use std::{hint::black_box, time::Instant};

use foxtrot_ot::{
    Bits,
    extension::one_of_n::{Extension, Places, Receiver, Sender, registry},
    ideal,
    pair::PairParty,
};

use super::{Step, nanoseconds, seed, session};

const N: usize = 128;

pub(super) fn steps() -> impl Iterator<Item = Step> {
    let all = registry().filter(|it| ["oos", "oos-802", "kkrt"].contains(&it.info().name));
    all.flat_map(|extension| {
        [PairParty::Receiver, PairParty::Sender].map(|timed| step(extension, timed))
    })
}

fn step(extension: Extension, timed: PairParty) -> Step {
    let name = extension.info().name;
    let (rows, word_len) = (extension.parameters().length, extension.parameters().word_len());
    let run = move |backend, run, secret: &[u8; 128]| {
        // One of the two is the secret, again and again.
        let (delta, words) = match timed {
            PairParty::Sender => (secret, &[0x35; 128]),
            PairParty::Receiver => (&[0x35; 128], secret),
        };
        let words: Vec<u8> = words.iter().copied().cycle().take(N * word_len).collect();
        let (sent, received) =
            ideal::given(Bits::from_bytes(&delta[..rows.div_ceil(8)], rows), &seed(1, run));
        let session = || session(backend, name);
        let mut receiver =
            Receiver::new(session(), extension, sent, seed(2, run)).expect("base OTs");
        let mut sender =
            Sender::new(session(), extension, received, seed(3, run)).expect("base OTs");
        let (mut ours, mut theirs) = (vec![[0; 16]; N], vec![[0; 16]; N]);
        let mut corrections = Vec::new();
        let mut times = [0.0; 2];

        let start = Instant::now();
        let batch = receiver.extend(N, &words, &mut corrections).expect("a word for each");
        times[1] += nanoseconds(start);
        let start = Instant::now();
        let (absorbed, challenge) = sender.absorb(N, &corrections).expect("corrections");
        times[0] += nanoseconds(start);
        let challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
        let start = Instant::now();
        let proof = receiver.finish(batch, &challenge, &mut theirs).expect("a challenge");
        times[1] += nanoseconds(start);
        let start = Instant::now();
        sender.finish(absorbed, &proof, Places::Words(&words, &mut ours)).expect("a proof");
        times[0] += nanoseconds(start);
        black_box((&ours, &theirs));
        times[usize::from(timed == PairParty::Receiver)]
    };
    let what = if timed == PairParty::Sender { "Δ" } else { "words" };
    Step { name: format!("{name}: {what}"), run: Box::new(run) }
}
