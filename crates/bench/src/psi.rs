//! `psi/symmetric` and `psi/lpn`, `psi/count` and `psi/sum`: two sets of n items that share half of them, base OTs included. Numbers of a sum are below 2²⁰.

mod circuit;
mod memory;
mod over;

use std::{
    io::{self, Write},
    mem,
    ops::Range,
};

use foxtrot_cli::shared::Failure;
use foxtrot_ot::{Backend, base::Adversary, erase::Secret};
use foxtrot_psi::{
    Digest,
    circuit::{self as count, CircuitTerms},
    paxos::Parameters,
    vole_psi,
};

use super::{
    Measured, Setting, effort,
    ext::{AT_LEAST, MEASURE_FOR, RECEIVER, SENDER, Sample, check_bytes},
    over::Over,
    yardsticks::Yardsticks,
};
use crate::args::BenchOptions;

/// Items of each side.
pub(super) const SIZES: [usize; 3] = [1 << 11, 1 << 16, 1 << 20];

/// An assumption, and an adversary; or what is computed, between semi-honest parties.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Psi {
    Symmetric(Adversary),
    Lpn(Adversary),
    Count,
    Sum,
}

impl Psi {
    pub(super) const ALL: [Self; 6] = [
        Self::Symmetric(Adversary::Malicious),
        Self::Symmetric(Adversary::SemiHonest),
        Self::Lpn(Adversary::Malicious),
        Self::Lpn(Adversary::SemiHonest),
        Self::Count,
        Self::Sum,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Symmetric(Adversary::SemiHonest) => "symmetric-semi-honest",
            Self::Symmetric(_) => "symmetric",
            Self::Lpn(Adversary::SemiHonest) => "lpn-semi-honest",
            Self::Lpn(_) => "lpn",
            Self::Count => "count",
            Self::Sum => "sum",
        }
    }
}

pub(super) fn run(psi: Psi, setting: &Setting<'_>) -> Result<Measured, Failure> {
    match psi {
        Psi::Symmetric(adversary) => {
            let parameters = Parameters::new(adversary, setting.n, setting.n)?;
            let announced = [parameters.sender_bytes(), parameters.receiver_bytes()];
            let ots = (parameters.extension().info().name, parameters.base_ots());
            measure(psi, adversary, setting, (ots, announced), || match setting.over {
                Over::Memory => memory::sample(parameters.into(), setting),
                _ => over::sample(parameters.into(), setting),
            })
        }
        Psi::Lpn(adversary) => {
            let parameters = vole_psi::Parameters::new(adversary, setting.n, setting.n)?;
            let announced = [parameters.sender_bytes(), parameters.receiver_bytes()];
            let ots = (parameters.vole().name(), parameters.base_ots());
            measure(psi, adversary, setting, (ots, announced), || match setting.over {
                Over::Memory => memory::sample(parameters.into(), setting),
                _ => over::sample(parameters.into(), setting),
            })
        }
        Psi::Count | Psi::Sum => {
            let terms = match psi {
                // The same largest number for every n.
                Psi::Sum => CircuitTerms {
                    largest: Some(count::MAX_ITEMS as u64 - 1),
                    ..CircuitTerms::default()
                },
                _ => CircuitTerms::default(),
            };
            let parameters = count::Parameters::new(terms, setting.n, setting.n)?;
            let info = setting.base.info();
            let [receiver, sender] = [(info.receiver_bytes)(128), (info.sender_bytes)(128)];
            // Base OTs of the VOLE, of the look-ups and of the other OTs of either direction; those of the first are counted below.
            let back = usize::from(psi == Psi::Sum);
            let announced = [
                parameters.sender_bytes() + 2 * receiver + back * sender,
                parameters.receiver_bytes() + 2 * sender + back * receiver,
            ];
            measure(
                psi,
                Adversary::SemiHonest,
                setting,
                (("silent-16-semi-honest", 128), announced),
                || circuit::in_memory(parameters, setting),
            )
        }
    }
}

fn measure(
    psi: Psi,
    adversary: Adversary,
    setting: &Setting<'_>,
    ((below, base_ots), announced): ((&str, usize), [usize; 2]),
    mut sample: impl FnMut() -> Result<Sample, Failure>,
) -> Result<Measured, Failure> {
    let base = setting.base;
    let samples = effort::repeat(setting.effort, (MEASURE_FOR, AT_LEAST), || {
        let sample = sample()?;
        check_bytes(psi.name(), (base, base_ots), announced, sample.bytes)?;
        Ok(sample)
    })?;
    let params = format!("{below}, base {}", base.info().name);
    Ok(Measured::of_both(
        format!("psi/{}", psi.name()),
        params,
        adversary.to_string(),
        setting,
        samples,
    ))
}

/// The sets of both, the receiver's first, and which of its items they have in common.
fn sets(n: usize) -> ([Vec<Digest>; 2], Range<usize>) {
    let common = n - n / 2..n;
    let sets = [0, common.start].map(|first| {
        // On huge pages, as the library keeps sets.
        let mut set = Secret::with_capacity(n);
        set.0.extend((first..first + n).map(digest));
        mem::take(&mut set.0)
    });
    (sets, common)
}

/// Digests of items: any distinct strings do.
fn digest(k: usize) -> Digest {
    let mut digest = [0x5a; 32];
    digest[..8].copy_from_slice(&(k as u64).to_le_bytes());
    digest
}

pub(super) fn print_head(out: &mut impl Write, options: &BenchOptions) -> io::Result<()> {
    let (backend, threads) = (Backend::best().name(), options.threads);
    let parties = Over::new(options.transport, options.net).words();
    writeln!(
        out,
        "CPU time of two sets of n items, half of them shared, medians, base OTs included, {parties}, \
         threads: {threads}, backend {backend}"
    )?;
    writeln!(
        out,
        "{:<28} {:>9} {:>10} {:>12} {:>10} {:>10} {:>7}",
        "name", "n", "sender ms", "receiver ms", "both ms", "bytes/item", "/ aes"
    )
}

pub(super) fn print_row(
    out: &mut impl Write,
    measured: &Measured,
    yardsticks: &Yardsticks,
) -> io::Result<()> {
    let Measured { report, .. } = measured;
    let sender = report.cpu_sender.unwrap_or_default().as_secs_f64();
    let receiver = report.cpu_receiver.unwrap_or_default().as_secs_f64();
    let bytes = report.bytes_sender.unwrap_or(0) + report.bytes_receiver.unwrap_or(0);
    writeln!(
        out,
        "{:<28} {:>9} {:>10.2} {:>12.2} {:>10.2} {:>10.1} {:>7.1}",
        report.name,
        report.n,
        sender * 1e3,
        receiver * 1e3,
        (sender + receiver) * 1e3,
        bytes as f64 / report.n as f64,
        (sender + receiver) * 1e9 / report.n as f64 / yardsticks.aes_block_ns,
    )
}
