//! `foxtrot-bench beside`: other programs' command lines and ours in turns, by the CPU time of their processes.

mod file;
#[cfg(target_os = "linux")]
mod group;
mod report;

use std::{
    io::{self, Write},
    time::Duration,
};

use foxtrot_cli::shared::{Failure, on_interrupt, say};

use crate::{args::BesideOptions, paper::Machine, yardsticks::load};
use file::{Comparison, File, Program};
use group::{TICK, Times};

/// Runs shorter than so many ticks of the system's clock are not worth their digits.
const SHORT: u32 = 50;

/// The result of a comparison.
struct Measured<'a> {
    comparison: &'a Comparison,
    /// The system's load before the first run and after the last.
    load: [Option<f64>; 2],
    /// Runs of each program, ours first.
    runs: Vec<Vec<Times>>,
}

/// A program's time for each operation, in the comparison's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figure {
    median: f64,
    low: f64,
    high: f64,
}

pub(super) fn run(options: &BesideOptions) -> Result<(), Failure> {
    let files = options.files.iter().map(|path| File::read(path));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    if let Some(folder) = &options.record {
        report::prepare(folder)?;
    }
    group::adopt_orphans().map_err(|e| Failure::run(format!("cannot run programs: {e}")))?;
    on_interrupt(group::end_running);
    let names: Vec<_> = options.files.iter().map(|path| path.display().to_string()).collect();
    let machine = Machine::of_this_run(format!("foxtrot-bench beside {}", names.join(" ")));
    let mut out = io::stdout().lock();
    let mut measured = Vec::new();
    let mut begin = || match (options.json, options.csv) {
        (true, _) => Ok(()),
        (_, true) => write!(out, "{}", report::HEAD),
        _ => report::print_head(&mut out, &machine),
    };
    begin().map_err(|e| Failure::stdout(&e))?;
    for file in &files {
        let rounds = options.rounds.unwrap_or(file.rounds);
        for comparison in &file.comparisons {
            let next = measure(comparison, file, rounds, options.quiet)?;
            let written = match (options.json, options.csv) {
                (true, _) => report::print_json(&mut out, &next, &machine),
                (_, true) => write!(out, "{}", report::csv(&next)),
                _ => report::print(&mut out, &next),
            };
            written.and_then(|()| out.flush()).map_err(|e| Failure::stdout(&e))?;
            measured.push(next);
        }
    }
    match &options.record {
        Some(folder) => report::write(folder, &files, &measured, &machine),
        None => Ok(()),
    }
}

/// Runs all programs of a comparison in turns.
fn measure<'a>(
    comparison: &'a Comparison,
    file: &File,
    rounds: usize,
    quiet: bool,
) -> Result<Measured<'a>, Failure> {
    let timeout = Duration::from_secs(file.timeout);
    let programs: Vec<&Program> = comparison.programs().collect();
    let mut runs = vec![Vec::with_capacity(rounds); programs.len()];
    let before = load();
    for round in 0..file.warm_up + rounds {
        for (program, runs) in programs.iter().zip(&mut runs) {
            let times = group::run(program, timeout).map_err(|why| {
                Failure::run(format!("{}, {}: {why}", comparison.what, program.name))
            })?;
            if round >= file.warm_up {
                runs.push(times);
            }
        }
    }
    let measured = Measured { comparison, load: [before, load()], runs };
    for (program, runs) in programs.iter().zip(&measured.runs) {
        let what = format!("{}, {}", comparison.what, program.name);
        if runs.iter().any(|times| times.cpu.is_zero()) {
            return Err(Failure::run(format!(
                "{what}: a run takes no CPU time that the system counts"
            ))
            .hint("let a run do more work"));
        }
        let short = runs.iter().any(|times| times.cpu < SHORT * TICK);
        if short && !quiet {
            say(&format!(
                "warning: {what}: a run takes less than {:?} of CPU time, which is counted in steps of {TICK:?}",
                SHORT * TICK
            ));
        }
    }
    Ok(measured)
}

impl Measured<'_> {
    /// Returns programs with their figures, ours first.
    fn figures(&self) -> Vec<(&Program, Figure)> {
        let programs = self.comparison.programs().zip(&self.runs);
        programs.map(|(program, runs)| (program, self.figure(runs))).collect()
    }

    fn figure(&self, runs: &[Times]) -> Figure {
        let work = self.comparison.work;
        let of = |time: Duration| time.as_secs_f64() * self.comparison.unit.per_second / work;
        let all = || runs.iter().map(|times| times.cpu);
        Figure {
            median: of(super::median(runs, |times| times.cpu)),
            low: of(all().min().unwrap_or_default()),
            high: of(all().max().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_median_for_each_operation_with_its_bounds() {
        let text = "table = 't'\nwhat = 'w'\nunit = 'ns per OT'\nwork = 1e6\n\
                    ours = { name = 'a', command = '' }\n\
                    peer = [{ name = 'b', command = '' }]\n";
        let comparison: Comparison = toml::from_str(text).unwrap();
        let runs = |all: [u64; 3]| {
            let times =
                all.map(|ms| Times { cpu: Duration::from_millis(ms), wall: Duration::ZERO });
            times.to_vec()
        };
        let runs = vec![runs([30, 10, 20]), runs([15, 5, 10])];
        let measured = Measured { comparison: &comparison, load: [None; 2], runs };
        let figures: Vec<_> = measured.figures().into_iter().map(|(_, figure)| figure).collect();
        let figure = |median, low, high| Figure { median, low, high };
        assert_eq!(figures, [figure(20.0, 10.0, 30.0), figure(10.0, 5.0, 15.0)]);
    }
}
