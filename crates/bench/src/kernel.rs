//! `kernel/<operation>`: batches of Curve25519 in one thread, of the backend in use; and what measures all kernels.

use std::{
    hint::black_box,
    io::{self, Write},
    time::{Duration, Instant},
};

use foxtrot_cli::shared::{Failure, Report, thread_cpu};
use foxtrot_kernel::{
    Backend,
    curve::{
        self, CURVE_GENERATOR, Point, Sixteen, TWIST_GENERATOR, Table, TwinTable, elligator,
        ladder, ristretto,
    },
};

use serde_json::Value;

use super::{Measured, Yardsticks, ext::Sample, median};

/// Operations of a batch.
pub(super) const SIZES: [usize; 2] = [128, 1024];

/// The time to measure one size for, and the least number of runs.
const MEASURE_FOR: Duration = Duration::from_millis(300);
const AT_LEAST: usize = 15;

/// An operation to be measured.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    Ladder,
    LadderEither,
    TwinTable,
    TwinTableNew,
    Mul,
    Table,
    TableNew,
    Add,
    Compress,
    Decompress,
    Cofactor,
    Elligator,
    ElligatorInverse,
    RistrettoEncode,
    RistrettoDecode,
    RistrettoFromUniform,
}

impl Operation {
    pub(super) const ALL: [Self; 16] = [
        Self::Ladder,
        Self::LadderEither,
        Self::TwinTable,
        Self::TwinTableNew,
        Self::Mul,
        Self::Table,
        Self::TableNew,
        Self::Add,
        Self::Compress,
        Self::Decompress,
        Self::Cofactor,
        Self::Elligator,
        Self::ElligatorInverse,
        Self::RistrettoEncode,
        Self::RistrettoDecode,
        Self::RistrettoFromUniform,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ladder => "ladder",
            Self::LadderEither => "ladder-either",
            Self::TwinTable => "twin-table",
            Self::TwinTableNew => "twin-table-new",
            Self::Mul => "mul",
            Self::Table => "table",
            Self::TableNew => "table-new",
            Self::Add => "add",
            Self::Compress => "compress",
            Self::Decompress => "decompress",
            Self::Cofactor => "cofactor",
            Self::Elligator => "elligator",
            Self::ElligatorInverse => "elligator-inverse",
            Self::RistrettoEncode => "ristretto-encode",
            Self::RistrettoDecode => "ristretto-decode",
            Self::RistrettoFromUniform => "ristretto-from-uniform",
        }
    }

    /// Returns the sizes: one for the two operations that make tables, however many multiplications
    /// a table is for.
    pub(super) const fn usual_sizes(self) -> &'static [usize] {
        match self {
            Self::TwinTableNew | Self::TableNew => &[1],
            _ => &SIZES,
        }
    }

    /// n of them at a time, on inputs that are made before.
    fn prepare(self, n: usize) -> Box<dyn FnMut()> {
        let backend = Backend::best();
        let strings: Vec<[u8; 32]> = (0..n as u64).map(|i| expand(b"strings", i)).collect();
        let wide: Vec<[u8; 64]> = (0..n as u64).map(|i| expand(b"wide", i)).collect();
        let bits: Vec<u8> = (0..n as u64).map(|i| expand::<1>(b"bits", i)[0]).collect();
        let mut points = vec![Point::IDENTITY; n];
        ristretto::from_uniform(backend, &wide, &mut points);
        let (mut out, mut found) = (vec![[0; 32]; n], vec![0; n]);
        let pair = [CURVE_GENERATOR, TWIST_GENERATOR];
        let memory = |len| vec![Sixteen::ZERO; len].leak();
        let mut sums = vec![Point::IDENTITY; n];
        match self {
            Self::Ladder => {
                Box::new(move || ladder::mul(backend, &strings, &strings, black_box(&mut out)))
            }
            Self::LadderEither => Box::new(move || {
                ladder::mul_either(backend, &strings, &pair, &bits, black_box(&mut out));
            }),
            Self::TwinTable => {
                let table = twin_table(backend, memory(TwinTable::LEN));
                Box::new(move || {
                    if let Some(table) = &table {
                        table.mul(backend, &strings, &bits, black_box(&mut out));
                    }
                })
            }
            Self::TwinTableNew => {
                let memory = memory(TwinTable::LEN);
                Box::new(move || (0..n).for_each(|_| drop(black_box(twin_table(backend, memory)))))
            }
            Self::Mul => {
                Box::new(move || curve::mul(backend, &strings, &points, black_box(&mut sums)))
            }
            Self::Table => {
                let table = table(backend, memory(Table::LEN));
                Box::new(move || table.mul(backend, &strings, black_box(&mut sums)))
            }
            Self::TableNew => {
                let memory = memory(Table::LEN);
                Box::new(move || (0..n).for_each(|_| drop(black_box(table(backend, memory)))))
            }
            Self::Add => Box::new(move || {
                curve::add(backend, &points, &points[..1], black_box(&mut sums));
            }),
            Self::Compress => {
                Box::new(move || curve::compress(backend, &points, black_box(&mut out)))
            }
            Self::Decompress => {
                curve::compress(backend, &points, &mut out);
                Box::new(move || {
                    let _ = black_box(curve::decompress(backend, &out, black_box(&mut points)));
                })
            }
            Self::Cofactor => {
                Box::new(move || curve::mul_by_cofactor(backend, black_box(&mut points)))
            }
            Self::Elligator => {
                Box::new(move || elligator::map(backend, &strings, black_box(&mut out)))
            }
            Self::ElligatorInverse => Box::new(move || {
                elligator::inverse(backend, &strings, &bits, black_box(&mut out), &mut found);
            }),
            Self::RistrettoEncode => {
                Box::new(move || ristretto::encode(backend, &points, black_box(&mut out)))
            }
            Self::RistrettoDecode => {
                ristretto::encode(backend, &points, &mut out);
                Box::new(move || {
                    let _ = black_box(ristretto::decode(backend, &out, black_box(&mut points)));
                })
            }
            Self::RistrettoFromUniform => {
                Box::new(move || ristretto::from_uniform(backend, &wide, black_box(&mut points)))
            }
        }
    }
}

/// A table of the generators of curve and twist.
fn twin_table(backend: Backend, memory: &mut [Sixteen]) -> Option<TwinTable<'_>> {
    TwinTable::new(backend, black_box(&[CURVE_GENERATOR, TWIST_GENERATOR]), memory)
}

/// A table of the base point.
fn table(backend: Backend, memory: &mut [Sixteen]) -> Table<'_> {
    Table::new(backend, black_box(&Point::BASE), memory)
}

/// Bytes that look random.
pub(super) fn expand<const N: usize>(purpose: &[u8], i: u64) -> [u8; N] {
    let mut bytes = [0; N];
    blake3::Hasher::new().update(purpose).update(&i.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

pub(super) fn run(operation: Operation, n: usize) -> Result<Measured, Failure> {
    let run = operation.prepare(n);
    Ok(measure(format!("kernel/{}", operation.name()), "Curve25519".to_owned(), (n, 1), run))
}

/// The medians of one call on n elements, measured `calls` calls at a time.
pub(super) fn measure(
    name: String,
    params: String,
    (n, calls): (usize, u32),
    mut run: impl FnMut(),
) -> Measured {
    // The first one pays for page faults and cold caches.
    run();
    let started = Instant::now();
    let mut samples = Vec::new();
    while started.elapsed() < MEASURE_FOR || samples.len() < AT_LEAST {
        let (wall, cpu) = (Instant::now(), thread_cpu());
        (0..calls).for_each(|_| run());
        let (wall, cpu) = (wall.elapsed() / calls, (thread_cpu() - cpu) / calls);
        samples.push(Sample { wall, cpu: [cpu, Duration::ZERO], slower: cpu, ..Sample::default() });
    }
    let report = Report {
        name,
        params,
        security: "none by itself".to_owned(),
        parties: "none",
        transport: "memory",
        n,
        threads: 1,
        wall: median(&samples, |sample| sample.wall),
        cpu_sender: None,
        cpu_receiver: None,
        bytes_sender: None,
        bytes_receiver: None,
        rounds: 0,
    };
    Measured::new(report, samples)
}

/// Nanoseconds of CPU for one element, and the ratio to the yardstick.
fn figures(measured: &Measured, yardsticks: &Yardsticks) -> (f64, f64) {
    of_call(measured, yardsticks, measured.report.n as f64)
}

/// Returns both figures of a part of a call that has `parts` parts.
pub(super) fn of_call(measured: &Measured, yardsticks: &Yardsticks, parts: f64) -> (f64, f64) {
    let ns = measured.slower.as_secs_f64() * 1e9 / parts;
    (ns, ns / 1e3 / yardsticks.x25519_us)
}

/// Returns the figures of kernels beside the usual ones.
pub(super) fn json(measured: &Measured, yardsticks: &Yardsticks) -> [(String, Value); 2] {
    json_of(figures(measured, yardsticks))
}

/// Returns these nanoseconds and this ratio as JSON.
pub(super) fn json_of((ns, ratio): (f64, f64)) -> [(String, Value); 2] {
    [("cpu_ns_per_operation".to_owned(), ns.into()), ("per_x25519".to_owned(), ratio.into())]
}

pub(super) fn print_head(out: &mut impl Write) -> io::Result<()> {
    let backend = Backend::best().name();
    writeln!(out, "CPU time per operation, medians, one thread, backend {backend}")?;
    writeln!(out, "{:<30} {:>7} {:>10} {:>10} {:>9}", "name", "n", "ns", "per s", "/ x25519")
}

pub(super) fn print_row(
    out: &mut impl Write,
    measured: &Measured,
    yardsticks: &Yardsticks,
) -> io::Result<()> {
    let Report { name, n, .. } = &measured.report;
    let (ns, ratio) = figures(measured, yardsticks);
    writeln!(out, "{name:<30} {n:>7} {ns:>10.1} {:>10.0} {ratio:>9.4}", 1e9 / ns)
}
