//! `base/<protocol>`: one batch, both parties in one thread, in memory.

use std::time::{Duration, Instant};

use foxtrot_ot::{
    Bits, Direction, Error, Seed, Session, Sid, Usage,
    base::{BaseOt, Choice, Functionality, registry},
    pair::{Event, Pair, Party},
};

use crate::{clock::thread_cpu, failure::Failure, report::Report};

/// Instances of a batch.
pub(super) const SIZES: [usize; 2] = [128, 1024];

/// How long to measure one size, and how often at least.
const MEASURE_FOR: Duration = Duration::from_millis(700);
const AT_LEAST: u64 = 9;

/// One run of a batch.
#[derive(Default)]
struct Sample {
    wall: Duration,
    cpu: [Duration; 2],
    bytes: [u64; 2],
    flows: u64,
}

pub(super) fn run(name: &str, n: usize) -> Result<Report, Failure> {
    let base = registry()
        .iter()
        .find(|base| name.strip_prefix("base/") == Some(base.info().name))
        .ok_or_else(|| Failure::usage(format!("there is no benchmark named {name}")))?;
    let started = Instant::now();
    let mut samples = vec![sample(*base, n, 0)?];
    while started.elapsed() < MEASURE_FOR || samples.len() as u64 <= AT_LEAST {
        samples.push(sample(*base, n, samples.len() as u64)?);
    }
    // The first one pays for page faults and cold caches.
    samples.remove(0);
    let [sender, receiver] = samples[0].bytes;
    Ok(Report {
        name: name.to_owned(),
        base: base.info(),
        parties: "both",
        transport: "memory",
        n,
        wall: median(&samples, |sample| sample.wall),
        cpu_sender: Some(median(&samples, |sample| sample.cpu[0])),
        cpu_receiver: Some(median(&samples, |sample| sample.cpu[1])),
        bytes_sender: Some(sender),
        bytes_receiver: Some(receiver),
        rounds: samples[0].flows,
    })
}

fn median(samples: &[Sample], figure: impl Fn(&Sample) -> Duration) -> Duration {
    let mut figures: Vec<_> = samples.iter().map(figure).collect();
    figures.sort_unstable();
    figures[figures.len() / 2]
}

/// One batch; everything counts, from the seeds to the keys.
fn sample(base: &dyn BaseOt, n: usize, counter: u64) -> Result<Sample, Failure> {
    let wall = Instant::now();
    let mut sample = Sample::default();
    let mut pair = pair(base, n, counter)?;
    loop {
        let start = thread_cpu();
        let event = pair.step().map_err(|(_, error): (Party, Error)| error)?;
        let Some(Event { party, message }) = event else { break };
        let side = match party {
            Party::Sender => 0,
            Party::Receiver => 1,
        };
        sample.cpu[side] += thread_cpu() - start;
        if let Some(message) = message {
            sample.bytes[side] += message.len() as u64;
            sample.flows += 1;
            pair.deliver(party, message);
        }
    }
    sample.wall = wall.elapsed();
    Ok(sample)
}

fn pair(base: &dyn BaseOt, n: usize, counter: u64) -> Result<Pair, Usage> {
    let session =
        || Session::new(Sid::from_bytes([0; 32])).sub("bench", counter, Direction::InitiatorSends);
    let choice = match base.info().functionality {
        Functionality::Random => Choice::Random(n),
        _ => Choice::Given(Bits::from_bools((0..n).map(|i| i % 3 == 0))),
    };
    let sender = base.sender(session(), n, Seed::from_bytes([1; 32]))?;
    Ok(Pair::new(sender, base.receiver(session(), choice, Seed::from_bytes([2; 32]))?))
}
