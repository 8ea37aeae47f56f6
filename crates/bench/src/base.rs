//! `base/<protocol>`, and extensions that are one message each way: one batch, both parties in one
//! thread, in memory; or over a link.

use std::{
    hint::black_box,
    io::{self, Write},
    time::{Duration, Instant},
};

use foxtrot_cli::shared::{
    Extension, Failure, Method, Report, Workers, params, security, thread_cpu,
};
use foxtrot_net::drive;
use foxtrot_ot::{
    Backend, Bits, Direction, Error, Seed, Session, Sid,
    base::{BaseOt, Choice, Functionality, ReceiverKeys, Run, SenderKeys},
    pair::{Event, Pair, PairParty},
};

use super::{
    Measured, Setting, Yardsticks, effort,
    ext::Sample,
    over::{Over, both},
};
use crate::args::BenchOptions;

/// Instances of a batch.
pub(super) const SIZES: [usize; 2] = [128, 1024];

/// The time to measure one size for, and the least number of runs.
const MEASURE_FOR: Duration = Duration::from_millis(700);
const AT_LEAST: usize = 9;

pub(super) fn run(
    base: &'static dyn BaseOt,
    name: String,
    setting: &Setting<'_>,
) -> Result<Measured, Failure> {
    let Setting { n, over, workers, .. } = *setting;
    let both = [workers.clone(), workers.for_another()];
    let mut counter = 0;
    let samples = effort::repeat(setting.effort, (MEASURE_FOR, AT_LEAST), || {
        counter += 1;
        match over {
            Over::Memory => sample(base, n, &both, counter),
            _ => sample_over(base, setting, counter),
        }
    })?;
    let info = base.info();
    let announced = [(info.sender_bytes)(n), (info.receiver_bytes)(n)].map(|bytes| bytes as u64);
    if samples[0].bytes != announced {
        let measured = samples[0].bytes;
        let why = format!("{name} sent {measured:?} bytes where {announced:?} are announced");
        return Err(Failure::run(why));
    }
    let method = Method { base, extension: Extension::None };
    let (params, security) = (params(&method), security(&method));
    Ok(Measured::of_both(name, params, security, setting, samples))
}

/// One batch; everything counts, from the seeds to the keys.
fn sample(
    base: &dyn BaseOt,
    n: usize,
    workers: &[Workers; 2],
    counter: u64,
) -> Result<Sample, Failure> {
    let wall = Instant::now();
    let mut sample = Sample::default();
    let busy = workers.each_ref().map(Workers::busy);
    let [ours, theirs] = workers;
    let sender = sender(base, n, ours, counter)?;
    let mut pair = Pair::new(sender, receiver(base, n, theirs, counter)?);
    loop {
        let start = thread_cpu();
        let event = pair.step().map_err(|(_, error): (PairParty, Error)| error)?;
        let Some(Event { party, stream, message }) = event else { break };
        let side = match party {
            PairParty::Sender => 0,
            PairParty::Receiver => 1,
        };
        sample.cpu[side] += thread_cpu() - start;
        if let Some(message) = message {
            sample.bytes[side] += message.len() as u64;
            pair.deliver(party, stream, message);
        }
    }
    for (cpu, (workers, before)) in sample.cpu.iter_mut().zip(workers.iter().zip(busy)) {
        *cpu += workers.busy() - before;
    }
    sample.wall = wall.elapsed();
    sample.slower = sample.cpu[0].max(sample.cpu[1]);
    sample.flows = pair.flows() as u64;
    Ok(sample)
}

/// Runs a sample with a thread for each party, and a channel between them.
fn sample_over(base: &dyn BaseOt, setting: &Setting<'_>, counter: u64) -> Result<Sample, Failure> {
    let (n, workers) = (setting.n, setting.workers);
    let sample = both(
        setting.over,
        workers,
        |end| {
            let role = sender(base, n, end.workers, counter)?;
            drive::run(end.channel, role).map(|keys| drop(black_box(keys)))
        },
        |end| {
            let role = receiver(base, n, end.workers, counter)?;
            drive::run(end.channel, role).map(|keys| drop(black_box(keys)))
        },
    )?;
    // A channel sees two where both parties speak at once.
    Ok(Sample { flows: base.info().flows as u64, ..sample })
}

fn session(workers: &Workers, counter: u64) -> Session {
    let session = Session::new(Sid::from_bytes([0; 32]));
    workers.in_session(session.sub("bench", counter, Direction::InitiatorSends))
}

fn sender(base: &dyn BaseOt, n: usize, workers: &Workers, counter: u64) -> Run<SenderKeys> {
    base.sender(session(workers, counter), n, Seed::from_bytes([1; 32]))
}

fn receiver(base: &dyn BaseOt, n: usize, workers: &Workers, counter: u64) -> Run<ReceiverKeys> {
    let choice = match base.info().functionality {
        Functionality::Random => Choice::Random(n),
        _ => Choice::Given(Bits::from_bools((0..n).map(|i| i % 3 == 0))),
    };
    base.receiver(session(workers, counter), choice, Seed::from_bytes([2; 32]))
}

pub(super) fn print_head(out: &mut impl Write, options: &BenchOptions) -> io::Result<()> {
    let backend = Backend::best().name();
    let parties = match Over::new(options.transport, options.net) {
        Over::Memory => "both parties in one thread".into(),
        over => over.words(),
    };
    writeln!(out, "CPU time per OT, medians, {parties}, backend {backend}")?;
    writeln!(
        out,
        "{:<46} {:>5} {:>9} {:>10} {:>12} {:>9} {:>9} {:>9}",
        "name", "n", "both µs", "sender µs", "receiver µs", "OT/s", "bytes/OT", "/ x25519"
    )
}

pub(super) fn print_row(
    out: &mut impl Write,
    report: &Report,
    yardsticks: &Yardsticks,
) -> io::Result<()> {
    let per_ot =
        |time: Option<Duration>| time.unwrap_or_default().as_secs_f64() * 1e6 / report.n as f64;
    let (sender, receiver) = (per_ot(report.cpu_sender), per_ot(report.cpu_receiver));
    let bytes = report.bytes_sender.unwrap_or(0) + report.bytes_receiver.unwrap_or(0);
    let both = sender + receiver;
    writeln!(
        out,
        "{:<46} {:>5} {both:>9.2} {sender:>10.2} {receiver:>12.2} {:>9.0} {:>9.1} {:>9.3}",
        report.name,
        report.n,
        1e6 / both,
        bytes as f64 / report.n as f64,
        both / yardsticks.x25519_us
    )
}
