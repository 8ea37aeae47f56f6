//! The program `foxtrot-bench`: figures of this machine, with yardsticks of the same run beside them, and the tables of
//! the papers.
#![forbid(unsafe_code)]

mod args;
mod base;
#[cfg(target_os = "linux")]
mod beside;
mod correlation;
mod effort;
mod ext;
mod kernel;
mod link;
mod module768;
mod one_of_n;
mod over;
mod paper;
mod psi;
mod rns;
mod sample;
mod silent;
mod triples;
mod yardsticks;

use std::{
    env,
    io::{self, Write},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use foxtrot_cli::shared::{
    Failure, Report, Workers, catch_interrupts, keep_what_is_freed, say, start,
};
use foxtrot_ot::{
    base::BaseOt,
    extension::{self, Extension, one_of_n as words, two_round},
};
use foxtrot_papers::base_ots;

use args::{Args, BenchCommand, BenchOptions};
use effort::Effort;
use over::Over;
use sample::{RECEIVER, SENDER, Sample};
use yardsticks::Yardsticks;

/// Something to measure.
#[derive(Clone, Copy)]
enum Benchmark {
    Base(&'static dyn BaseOt),
    Ext(Extension),
    TwoRound(&'static dyn BaseOt),
    OneOfN(words::Extension),
    Correlation(correlation::Protocol),
    Psi(psi::Psi),
    Triples(triples::Protocol),
    Kernel(kernel::Operation),
    Module(module768::Operation),
    Rns(rns::Operation),
    Silent(silent::Operation),
}

/// The settings of a measurement.
#[derive(Clone, Copy)]
struct Setting<'a> {
    n: usize,
    over: Over,
    workers: &'a Workers,
    /// The base OT under extensions and set intersection.
    base: &'static dyn BaseOt,
    effort: Effort,
}

/// Its figures.
struct Measured {
    report: Report,
    /// Time of the slower party for all transfers.
    slower: Duration,
    /// All runs that the figures are medians of.
    samples: Vec<Sample>,
}

impl Measured {
    /// The medians of runs of both parties.
    fn of_both(
        name: String,
        params: String,
        security: String,
        setting: &Setting<'_>,
        samples: Vec<Sample>,
    ) -> Self {
        let report = Report {
            name,
            params,
            security,
            parties: "both",
            transport: setting.over.name(),
            n: setting.n,
            threads: setting.workers.threads(),
            wall: median(&samples, |sample| sample.wall),
            cpu_sender: Some(median(&samples, |sample| sample.cpu[SENDER])),
            cpu_receiver: Some(median(&samples, |sample| sample.cpu[RECEIVER])),
            bytes_sender: Some(samples[0].bytes[SENDER]),
            bytes_receiver: Some(samples[0].bytes[RECEIVER]),
            rounds: samples[0].flows,
        };
        Self::new(report, samples)
    }

    fn new(report: Report, samples: Vec<Sample>) -> Self {
        let slower = median(&samples, |sample| sample.slower);
        Self { report, slower, samples }
    }
}

/// Runs the program with the arguments that the process was started with.
#[must_use = "the process ends with it"]
pub fn main() -> ExitCode {
    let mut arguments = env::args_os().peekable();
    let program = arguments.next();
    // Hidden: the command, for measurements in processes of their own.
    if arguments.peek().is_some_and(|first| first == paper::COMMAND) {
        return foxtrot_cli::run(arguments);
    }
    start(program.into_iter().chain(arguments), |args: &Args, _| {
        catch_interrupts();
        keep_what_is_freed();
        run(&args.command)
    })
}

/// Puts the summary of the records in that folder between the markers of a file, as `foxtrot-bench summary --splice` does.
///
/// # Errors
/// The words that the user would read.
pub fn splice_summary(records: &Path, file: &Path) -> Result<(), String> {
    paper::summary::run(records, Some(file)).map_err(|failure| failure.message().to_owned())
}

fn run(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::List => list().map_err(|e| Failure::stdout(&e)),
        BenchCommand::Paper(options) => paper::run(options),
        BenchCommand::Beside(options) => {
            #[cfg(target_os = "linux")]
            return beside::run(options);
            #[cfg(not(target_os = "linux"))]
            Err(Failure::usage(format!(
                "this system does not tell the time of processes, as {} needs it",
                options.files[0].display()
            )))
        }
        BenchCommand::Summary { records, splice } => {
            paper::summary::run(records, splice.as_deref())
        }
        BenchCommand::Run { names, options, json, samples } => {
            let selected = runnable(select(names)?, names, options)?;
            let workers = Workers::new(options.threads)?;
            if let Some(runs) = options.runs {
                return selected.iter().try_for_each(|benchmark| {
                    benchmark.sizes(options)?.into_iter().try_for_each(|n| {
                        let setting = setting(n, options, &workers, Effort::Exactly(runs))?;
                        benchmark.run(&setting).map(drop)
                    })
                });
            }
            let effort = if options.quick { Effort::Quick } else { Effort::Usual };
            let yardsticks = Yardsticks::measure()?;
            let mut out = io::stdout().lock();
            let mut headed = None;
            for benchmark in selected {
                for n in benchmark.sizes(options)? {
                    let measured = benchmark.run(&setting(n, options, &workers, effort)?)?;
                    let written = if *json {
                        benchmark.print_json(&mut out, &measured, *samples, &yardsticks)
                    } else {
                        let table = Some(benchmark.table());
                        let head = if headed == table {
                            Ok(())
                        } else {
                            benchmark.head(&mut out, options)
                        };
                        headed = table;
                        head.and_then(|()| benchmark.row(&mut out, &measured, &yardsticks))
                    };
                    written.map_err(|e| Failure::stdout(&e))?;
                }
            }
            if *json { Ok(()) } else { yardsticks.print(&mut out).map_err(|e| Failure::stdout(&e)) }
        }
    }
}

fn setting<'a>(
    n: usize,
    options: &BenchOptions,
    workers: &'a Workers,
    effort: Effort,
) -> Result<Setting<'a>, Failure> {
    Ok(Setting {
        n,
        over: Over::new(options.transport, options.net),
        workers,
        base: options.base.as_deref().map_or(Ok(ext::BASE), base_named)?,
        effort,
    })
}

impl Benchmark {
    fn all() -> impl Iterator<Item = Self> {
        let base = base_ots().map(Self::Base);
        let two_round = two_round::registry().iter().copied().map(Self::TwoRound);
        let extensions = extension::registry().map(Self::Ext).chain(two_round);
        let one_of_n = words::registry().map(Self::OneOfN);
        let correlations = correlation::Protocol::ALL.map(Self::Correlation);
        let psi = psi::Psi::ALL.map(Self::Psi);
        let triples = triples::Protocol::all().map(Self::Triples);
        let kernel = kernel::Operation::ALL.map(Self::Kernel);
        let module = module768::Operation::ALL.map(Self::Module);
        let silent = silent::Operation::ALL.map(Self::Silent);
        let rns = rns::Operation::ALL.map(Self::Rns);
        let ots = base.chain(extensions).chain(one_of_n).chain(correlations);
        ots.chain(psi).chain(triples).chain(kernel).chain(module).chain(silent).chain(rns)
    }

    /// Returns the table, whose rows have the same columns.
    fn table(&self) -> &'static str {
        match self {
            Self::Base(_) => "base",
            Self::Ext(_) | Self::TwoRound(_) | Self::OneOfN(_) => "ext",
            Self::Correlation(_) => "silent",
            Self::Psi(_) => "psi",
            Self::Triples(_) => "triples",
            Self::Kernel(_) | Self::Module(_) | Self::Silent(_) => "kernel",
            Self::Rns(_) => "kernel/rns",
        }
    }

    fn name(&self) -> String {
        let name = match self {
            Self::Base(protocol) | Self::TwoRound(protocol) => protocol.info().name,
            Self::Ext(extension) => extension.info().name,
            Self::OneOfN(extension) => extension.info().name,
            Self::Correlation(protocol) => protocol.name(),
            Self::Psi(psi) => psi.name(),
            Self::Triples(protocol) => protocol.name(),
            Self::Kernel(operation) => operation.name(),
            Self::Module(operation) => operation.name(),
            Self::Rns(operation) => operation.name(),
            Self::Silent(operation) => operation.name(),
        };
        format!("{}/{name}", self.table())
    }

    /// Fewer than these cost as much.
    fn least(&self) -> usize {
        match self {
            Self::Triples(protocol) => protocol.least(),
            _ => 1,
        }
    }

    fn usual_sizes(&self) -> &'static [usize] {
        match self {
            Self::Base(_) => &base::SIZES,
            Self::Ext(_) => &ext::SIZES,
            Self::TwoRound(_) => &ext::SIZES_OF_ONE_MESSAGE,
            Self::OneOfN(_) => &one_of_n::SIZES,
            Self::Correlation(protocol) => protocol.sizes(),
            Self::Psi(_) => &psi::SIZES,
            Self::Triples(_) => &triples::SIZES,
            Self::Kernel(operation) => operation.usual_sizes(),
            Self::Module(_) => &module768::SIZES,
            Self::Rns(_) => &rns::SIZES,
            Self::Silent(_) => &silent::SIZES,
        }
    }

    fn sizes(&self, options: &BenchOptions) -> Result<Vec<usize>, Failure> {
        let Some(n) = options.n else { return Ok(self.usual_sizes().to_vec()) };
        let too_many = |_| Failure::run(format!("not enough memory for {n} transfers"));
        Ok(vec![usize::try_from(n).map_err(too_many)?])
    }

    /// Checks that the benchmark can run with these settings.
    fn check(&self, threads: usize, over: Over) -> Result<(), Failure> {
        let kernel = self.table().starts_with("kernel");
        let one_thread = match self {
            Self::TwoRound(_) => true,
            Self::Triples(protocol) => matches!(protocol, triples::Protocol::Paper(_)),
            _ => kernel,
        };
        if one_thread && threads != 1 {
            return Err(Failure::usage(format!("{} runs in one thread", self.name()))
                .hint("--threads is for base/, psi/, and the other ext/ and triples/"));
        }
        let in_memory = kernel
            || matches!(
                self,
                Self::TwoRound(_) | Self::OneOfN(_) | Self::Psi(psi::Psi::Count | psi::Psi::Sum)
            );
        if in_memory && over != Over::Memory {
            return Err(Failure::usage(format!("{} runs in memory", self.name()))
                .hint("--transport and --net are for base/, psi/, triples/ and the other ext/"));
        }
        Ok(())
    }

    fn run(&self, setting: &Setting<'_>) -> Result<Measured, Failure> {
        match self {
            Self::Base(base) | Self::TwoRound(base) => base::run(*base, self.name(), setting),
            Self::Ext(extension) => ext::run(*extension, setting),
            Self::OneOfN(extension) => one_of_n::run(*extension, setting),
            Self::Correlation(protocol) => correlation::run(*protocol, setting),
            Self::Psi(psi) => psi::run(*psi, setting),
            Self::Triples(protocol) => triples::run(*protocol, setting),
            Self::Kernel(operation) => kernel::run(*operation, setting.n),
            Self::Module(operation) => Ok(module768::run(*operation, setting.n)),
            Self::Rns(operation) => rns::run(*operation, setting.n),
            Self::Silent(operation) => silent::run(*operation, setting.n),
        }
    }

    fn head(&self, out: &mut impl Write, options: &BenchOptions) -> io::Result<()> {
        match self {
            Self::Base(_) => base::print_head(out, options),
            Self::Ext(_) | Self::TwoRound(_) | Self::OneOfN(_) | Self::Correlation(_) => {
                ext::print_head(out, options)
            }
            Self::Psi(_) => psi::print_head(out, options),
            Self::Triples(_) => triples::print_head(out, options),
            Self::Kernel(_) | Self::Module(_) | Self::Silent(_) => kernel::print_head(out),
            Self::Rns(_) => rns::print_head(out),
        }
    }

    fn print_json(
        &self,
        out: &mut impl Write,
        measured: &Measured,
        samples: bool,
        yardsticks: &Yardsticks,
    ) -> io::Result<()> {
        let mut object = measured.report.json();
        object.extend(yardsticks.json());
        if samples {
            object.insert("samples".into(), paper::to_json(&measured.samples));
        }
        match self {
            Self::Kernel(_) | Self::Module(_) | Self::Silent(_) => {
                object.extend(kernel::json(measured, yardsticks));
            }
            Self::Rns(_) => object.extend(rns::json(measured, yardsticks)),
            _ => {}
        }
        writeln!(out, "{}", serde_json::Value::Object(object))
    }

    fn row(
        &self,
        out: &mut impl Write,
        measured: &Measured,
        yardsticks: &Yardsticks,
    ) -> io::Result<()> {
        match self {
            Self::Base(_) => base::print_row(out, &measured.report, yardsticks),
            Self::Ext(_) | Self::TwoRound(_) | Self::OneOfN(_) | Self::Correlation(_) => {
                ext::print_row(out, measured, yardsticks)
            }
            Self::Psi(_) => psi::print_row(out, measured, yardsticks),
            Self::Triples(_) => triples::print_row(out, measured, yardsticks),
            Self::Kernel(_) | Self::Module(_) | Self::Silent(_) => {
                kernel::print_row(out, measured, yardsticks)
            }
            Self::Rns(_) => rns::print_row(out, measured, yardsticks),
        }
    }
}

/// # Errors
/// If there is none of that name.
fn base_named(name: &str) -> Result<&'static dyn BaseOt, Failure> {
    let found = base_ots().find(|base| base.info().name == name);
    found.ok_or_else(|| {
        Failure::usage(format!("unknown base OT {name}"))
            .hint("`foxtrot protocols --all` lists all names")
    })
}

fn list() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for benchmark in Benchmark::all() {
        let sizes: Vec<_> = benchmark.usual_sizes().iter().map(ToString::to_string).collect();
        writeln!(out, "{}  n = {}", benchmark.name(), sizes.join(", "))?;
    }
    Ok(())
}

/// Names as given, all that begin with one that ends in `/`, or all of a table.
fn select(wanted: &[String]) -> Result<Vec<Benchmark>, Failure> {
    let mut selected: Vec<Benchmark> = Vec::new();
    for want in wanted {
        let named = |name: &String| name == want || want.ends_with('/') && name.starts_with(want);
        let fits = |benchmark: &Benchmark| benchmark.table() == want || named(&benchmark.name());
        let mut found = Benchmark::all().filter(fits).peekable();
        if found.peek().is_none() {
            return Err(Failure::usage(format!("there is no benchmark named {want}"))
                .hint("`foxtrot-bench list` names them all"));
        }
        for benchmark in found {
            if selected.iter().all(|it| it.name() != benchmark.name()) {
                selected.push(benchmark);
            }
        }
    }
    Ok(selected)
}

/// Drops the benchmarks that cannot run so, unless they were named themselves.
///
/// # Errors
/// Why not, of one that was named, or if none is left.
fn runnable(
    selected: Vec<Benchmark>,
    names: &[String],
    options: &BenchOptions,
) -> Result<Vec<Benchmark>, Failure> {
    let mut fitting = Vec::new();
    let mut refused = None;
    for benchmark in selected {
        match benchmark.check(options.threads, Over::new(options.transport, options.net)) {
            Ok(()) => fitting.push(benchmark),
            Err(why) if names.contains(&benchmark.name()) => return Err(why),
            Err(why) => {
                say(&format!("left out: {}", why.message()));
                refused.get_or_insert(why);
            }
        }
    }
    match refused {
        Some(why) if fitting.is_empty() => Err(why),
        _ => Ok(fitting),
    }
}

/// The one in the middle; of an even number, the mean of both.
///
/// # Panics
/// If there is none.
fn median<T>(samples: &[T], figure: impl Fn(&T) -> Duration) -> Duration {
    let mut figures: Vec<_> = samples.iter().map(figure).collect();
    figures.sort_unstable();
    let middle = figures.len() / 2;
    match figures.len() % 2 {
        0 => (figures[middle - 1] + figures[middle]) / 2,
        _ => figures[middle],
    }
}

/// The Rust of the repository's README, compiled as a dependent's.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        let of = |times: &[u64]| median(times, |ms| Duration::from_millis(*ms)).as_micros();
        assert_eq!(of(&[8, 1]), 4500);
        assert_eq!(of(&[9, 4, 1, 2]), 3000);
        assert_eq!(of(&[9, 2, 1]), 2000);
    }
}
