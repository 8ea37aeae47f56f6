//! `ext/<extension>`: random OTs from nothing, base OTs included. Hashed keys are written batch by
//! batch into buffers that are used again, one per thread.

pub(super) mod memory;
mod over;

use std::{
    io::{self, Write},
    time::Duration,
};

use foxtrot_cli::shared::{Extension, Failure, Method, params, security};
use foxtrot_ot::{
    Backend,
    base::{BaseOt, roted},
    extension::{self, ROWS},
};

pub(super) use super::sample::{RECEIVER, SENDER, Sample};
use super::{Measured, Setting, Yardsticks, effort, over::Over};
use crate::args::BenchOptions;

/// Transfers of a run.
pub(super) const SIZES: [usize; 3] = [1 << 20, 1 << 22, 1 << 24];

/// Sizes of an extension that sends all of them in one message.
pub(super) const SIZES_OF_ONE_MESSAGE: [usize; 2] = [1 << 16, 1 << 20];

/// The base OT under all of them, if no other is asked for.
pub(super) const BASE: &dyn BaseOt = &roted::Endemic;

/// The time to measure one size for, and the least number of runs.
pub(super) const MEASURE_FOR: Duration = Duration::from_secs(1);
pub(super) const AT_LEAST: usize = 3;

pub(super) fn run(
    extension: extension::Extension,
    setting: &Setting<'_>,
) -> Result<Measured, Failure> {
    let Setting { n, over, base, .. } = *setting;
    let samples = effort::repeat(setting.effort, (MEASURE_FOR, AT_LEAST), || {
        let sample = match over {
            Over::Memory => memory::sample(extension, setting)?,
            _ => over::sample(extension, setting)?,
        };
        let announced = [extension.sender_bytes(n), extension.receiver_bytes(n)];
        check_bytes(extension.info().name, (base, ROWS), announced, sample.bytes)?;
        Ok(sample)
    })?;
    let method = Method { base, extension: Extension::OneOfTwo(extension) };
    let (params, security) = (params(&method), security(&method));
    Ok(Measured::of_both(format!("ext/{}", method.name()), params, security, setting, samples))
}

/// Checks that a run sends the bytes that the protocols announce: the base OTs, and the bytes of sender and
/// receiver on top.
pub(super) fn check_bytes(
    name: &str,
    (base, base_ots): (&dyn BaseOt, usize),
    [sender, receiver]: [usize; 2],
    measured: [u64; 2],
) -> Result<(), Failure> {
    let base = base.info();
    // The base OTs go the other way.
    let announced =
        [sender + (base.receiver_bytes)(base_ots), receiver + (base.sender_bytes)(base_ots)];
    let announced = announced.map(|bytes| bytes as u64);
    if measured == announced {
        return Ok(());
    }
    Err(Failure::run(format!("{name} sent {measured:?} bytes where {announced:?} are announced")))
}

pub(super) fn print_head(out: &mut impl Write, options: &BenchOptions) -> io::Result<()> {
    let (backend, threads) = (Backend::best().name(), options.threads);
    let parties = Over::new(options.transport, options.net).words();
    writeln!(
        out,
        "CPU time per OT, medians, base OTs included, {parties}, threads: {threads}, \
         backend {backend}"
    )?;
    writeln!(
        out,
        "{:<28} {:>9} {:>9} {:>11} {:>8} {:>8} {:>6}",
        "name", "n", "sender ns", "receiver ns", "Mio OT/s", "bytes/OT", "/ aes"
    )
}

pub(super) fn print_row(
    out: &mut impl Write,
    measured: &Measured,
    yardsticks: &Yardsticks,
) -> io::Result<()> {
    let Measured { report, slower, .. } = measured;
    let n = report.n as f64;
    let per_ot = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64() * 1e9 / n;
    let (sender, receiver) = (per_ot(report.cpu_sender), per_ot(report.cpu_receiver));
    let bytes = report.bytes_sender.unwrap_or(0) + report.bytes_receiver.unwrap_or(0);
    writeln!(
        out,
        "{:<28} {:>9} {sender:>9.2} {receiver:>11.2} {:>8.1} {:>8.3} {:>6.2}",
        report.name,
        report.n,
        n / slower.as_secs_f64() / 1e6,
        bytes as f64 / n,
        sender.max(receiver) / yardsticks.aes_block_ns
    )
}
