//! `ext/<1-of-N extension>`: the key of a random word for the receiver, and of the same word for the
//! sender, base OTs included. Keys are written batch by batch into a buffer that is used again.

use std::{hint::black_box, time::Instant};

use foxtrot_ot::{
    Direction,
    base::BaseOt,
    extension::one_of_n::{Any, Places},
};
use zeroize::Zeroizing;

use super::{
    Measured, Setting, effort,
    ext::{
        AT_LEAST, MEASURE_FOR, RECEIVER, SENDER, Sample,
        memory::{Meter, base_ots, seed, session},
    },
    median,
};
use crate::{
    failure::Failure,
    method::{Extension, Method},
    report::Report,
    workers::Workers,
};

/// Transfers of a run.
pub(super) const SIZES: [usize; 2] = [1 << 20, 1 << 22];

pub(super) fn run(extension: Any, setting: &Setting<'_>) -> Result<Measured, Failure> {
    let Setting { n, workers, base, .. } = *setting;
    let samples = effort::repeat(setting.effort, (MEASURE_FOR, AT_LEAST), || {
        let sample = sample(extension, setting)?;
        check_bytes(extension, base, n, sample.bytes)?;
        Ok(sample)
    })?;
    let method = Method { base, extension: Extension::OneOfN(extension) };
    let report = Report {
        name: format!("ext/{}", method.name()),
        params: method.params(),
        security: method.security(),
        parties: "both",
        transport: "memory",
        n,
        threads: workers.threads(),
        wall: median(&samples, |sample| sample.wall),
        cpu_sender: Some(median(&samples, |sample| sample.cpu[SENDER])),
        cpu_receiver: Some(median(&samples, |sample| sample.cpu[RECEIVER])),
        bytes_sender: Some(samples[0].bytes[SENDER]),
        bytes_receiver: Some(samples[0].bytes[RECEIVER]),
        rounds: samples[0].flows,
    };
    Ok(Measured::new(report, samples))
}

fn sample(extension: Any, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let started = Instant::now();
    let Setting { n, workers, base, .. } = *setting;
    let workers = [workers.for_another(), workers.for_another()];
    let mut meter = Meter::start();
    let parameters = extension.parameters();
    let (base_sent, base_received) = base_ots(&mut meter, base, parameters.length)?;

    let session = || session("bench", Direction::InitiatorSends);
    let receiver = meter.step(RECEIVER, || extension.receiver(session(), base_sent, seed(3)))?;
    let sender = meter.step(SENDER, || extension.sender(session(), base_received, seed(4)))?;
    let (mut sender, mut receiver) = match workers.each_ref().map(Workers::executor) {
        [Some(first), Some(second)] => {
            (sender.with_executor(first), receiver.with_executor(second))
        }
        _ => (sender, receiver),
    };

    // The words of the largest batch, begun elsewhere every time.
    let word_len = parameters.word_len();
    let mut words = vec![0; 2 * extension.max_batch() * word_len];
    session().oracle("foxtrot bench words").query(0, 0).fill(&mut words);
    let mut keys = [(); 2].map(|()| Zeroizing::new(Vec::new()));
    let mut corrections = Vec::new();
    for (number, n) in extension.batches(n).enumerate() {
        let words = &words[number % extension.max_batch() * word_len..][..n * word_len];
        let begun = meter.step(RECEIVER, || receiver.extend(n, words, &mut corrections))?;
        meter.sent(RECEIVER, corrections.len());
        let (absorbed, challenge) = meter.step(SENDER, || sender.absorb(n, &corrections))?;
        let challenge = challenge.as_ref().map_or(&[][..], |challenge| challenge);
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

/// That a run sends what the protocols say.
fn check_bytes(
    extension: Any,
    base: &dyn BaseOt,
    n: usize,
    measured: [u64; 2],
) -> Result<(), Failure> {
    let (base, rows) = (base.info(), extension.parameters().length);
    // The base OTs go the other way.
    let announced = [
        extension.sender_bytes(n) + (base.receiver_bytes)(rows),
        extension.receiver_bytes(n) + (base.sender_bytes)(rows),
    ]
    .map(|bytes| bytes as u64);
    if measured == announced {
        return Ok(());
    }
    let name = extension.info().name;
    Err(Failure::run(format!("{name} sent {measured:?} bytes where {announced:?} are announced")))
}
