//! `ext/<1-of-N extension>`: the key of a random word for the receiver, and of the same word for the
//! sender, base OTs included. Keys are written batch by batch into a buffer that is used again.

use std::{hint::black_box, time::Instant};

use foxtrot_cli::shared::{Extension, Failure, Method, params, security};
use foxtrot_ot::{
    Direction,
    extension::one_of_n::{self, Places, Receiver, Sender},
};
use zeroize::Zeroizing;

use super::{
    Measured, Setting, effort,
    ext::{
        AT_LEAST, MEASURE_FOR, RECEIVER, SENDER, Sample, check_bytes,
        memory::{Meter, base_ots, seed, session},
    },
};

/// Transfers of a run.
pub(super) const SIZES: [usize; 2] = [1 << 20, 1 << 22];

pub(super) fn run(
    extension: one_of_n::Extension,
    setting: &Setting<'_>,
) -> Result<Measured, Failure> {
    let Setting { n, base, .. } = *setting;
    let samples = effort::repeat(setting.effort, (MEASURE_FOR, AT_LEAST), || {
        let sample = sample(extension, setting)?;
        let announced = [extension.sender_bytes(n), extension.receiver_bytes(n)];
        let base_ots = extension.parameters().length;
        check_bytes(extension.info().name, (base, base_ots), announced, sample.bytes)?;
        Ok(sample)
    })?;
    let method = Method { base, extension: Extension::OneOfN(extension) };
    let (params, security) = (params(&method), security(&method));
    Ok(Measured::of_both(format!("ext/{}", method.name()), params, security, setting, samples))
}

fn sample(extension: one_of_n::Extension, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let started = Instant::now();
    let Setting { n, workers, base, .. } = *setting;
    let workers = [workers.for_another(), workers.for_another()];
    let mut meter = Meter::start();
    let parameters = extension.parameters();
    let (base_sent, base_received) = base_ots(&mut meter, base, parameters.length, &workers)?;

    let session =
        |party: usize| workers[party].in_session(session("bench", Direction::InitiatorSends));
    let mut receiver =
        meter.step(RECEIVER, || Receiver::new(session(RECEIVER), extension, base_sent, seed(3)))?;
    let mut sender =
        meter.step(SENDER, || Sender::new(session(SENDER), extension, base_received, seed(4)))?;

    // The words of the largest batch, begun elsewhere every time.
    let word_len = parameters.word_len();
    let mut words = vec![0; 2 * extension.max_batch() * word_len];
    session(SENDER).oracle("foxtrot bench words").query(0, 0).fill(&mut words);
    let mut keys = [(); 2].map(|()| Zeroizing::new(Vec::new()));
    let mut corrections = Vec::new();
    for (number, n) in extension.batches(n).enumerate() {
        let words = &words[number % extension.max_batch() * word_len..][..n * word_len];
        let begun = meter.step(RECEIVER, || receiver.extend(n, words, &mut corrections))?;
        meter.sent(RECEIVER, corrections.len());
        let (absorbed, challenge) = meter.step(SENDER, || sender.absorb(n, &corrections))?;
        let challenge = challenge.as_slice().as_flattened();
        meter.sent(SENDER, challenge.len());
        keys.iter_mut().for_each(|keys| keys.resize(n, [0; 16]));
        let [of_sender, of_receiver] = &mut keys;
        let proof = meter.step(RECEIVER, || receiver.finish(begun, challenge, of_receiver))?;
        meter.sent(RECEIVER, proof.len());
        let places = Places::Words(words, of_sender);
        meter.step(SENDER, || sender.finish(absorbed, &proof, places))?;
        if of_sender != of_receiver {
            return Err(Failure::run("the parties have different keys"));
        }
        black_box(&keys);
    }
    Ok(meter.sample(started, &workers))
}
