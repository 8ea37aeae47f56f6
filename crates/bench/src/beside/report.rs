//! Comparisons as text, JSON lines, CSV, and a record.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Write},
    path::Path,
};

use foxtrot_cli::shared::Failure;
use serde_json::json;

use super::{Measured, file::File};
use crate::paper::{
    Machine, SIDE_BY_SIDE,
    numbers::{number, ratio},
    quoted,
};

const RUNS: &str = "runs.csv";

/// The head of [`SIDE_BY_SIDE`].
pub(super) const HEAD: &str = "table,what,unit,peer,theirs,ours,headline,theirs_low,theirs_high,ours_low,ours_high,rounds,load_before,load_after\n";

pub(super) fn print_head(out: &mut impl Write, machine: &Machine) -> io::Result<()> {
    writeln!(out, "CPU time of all processes of a run, medians of alternating runs")?;
    writeln!(out, "{}, {}, backend {}", machine.processor, machine.system, machine.backend)
}

pub(super) fn print(out: &mut impl Write, measured: &Measured<'_>) -> io::Result<()> {
    let comparison = measured.comparison;
    let rounds = measured.runs[0].len();
    let [before, after] = measured.load.map(|load| load.map_or("?".into(), number));
    let (what, unit) = (&comparison.what, &comparison.unit.words);
    writeln!(out, "\n{what}: {unit}, rounds: {rounds}, load {before} to {after}")?;
    let figures = measured.figures();
    let width = figures.iter().map(|(program, _)| program.name.chars().count()).max().unwrap_or(0);
    let ours = figures[0].1.median;
    for (i, (program, figure)) in figures.iter().enumerate() {
        let spread = format!("{} to {}", number(figure.low), number(figure.high));
        let quotient = if i > 0 { ratio(figure.median / ours) } else { String::new() };
        let (name, median) = (&program.name, number(figure.median));
        writeln!(out, "  {name:<width$} {median:>9}  {spread:<20} {quotient}")?;
    }
    Ok(())
}

pub(super) fn print_json(
    out: &mut impl Write,
    measured: &Measured<'_>,
    machine: &Machine,
) -> io::Result<()> {
    let comparison = measured.comparison;
    let figures = measured.figures();
    let ours = figures[0].1.median;
    for (i, ((program, figure), runs)) in figures.iter().zip(&measured.runs).enumerate() {
        let seconds = |of: fn(&super::Times) -> f64| runs.iter().map(of).collect::<Vec<_>>();
        let line = json!({
            "table": comparison.table,
            "what": comparison.what,
            "unit": comparison.unit.words,
            "program": program.name,
            "ours": i == 0,
            "median": figure.median,
            "low": figure.low,
            "high": figure.high,
            "ratio": figure.median / ours,
            "work": comparison.work,
            "cpu_seconds": seconds(|times| times.cpu.as_secs_f64()),
            "wall_seconds": seconds(|times| times.wall.as_secs_f64()),
            "load_before": measured.load[0],
            "load_after": measured.load[1],
            "processor": machine.processor,
            "backend": machine.backend,
            "commit": machine.commit,
            "date": machine.date,
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The lines of [`SIDE_BY_SIDE`], one for each peer.
pub(super) fn csv(measured: &Measured<'_>) -> String {
    let comparison = measured.comparison;
    let figures = measured.figures();
    let (_, ours) = figures[0];
    let load = measured.load.map(|load| load.map(|load| load.to_string()).unwrap_or_default());
    let mut text = String::new();
    for (program, theirs) in &figures[1..] {
        let words = [&comparison.table, &comparison.what, &comparison.unit.words, &program.name];
        let headline = if comparison.headline { "yes" } else { "" };
        let words = words.map(|word| quoted(word)).join(",");
        // Ticks have no more digits than this.
        let digits = |x: f64| format!("{x:.4e}").parse::<f64>().unwrap_or(x).to_string();
        let numbers = [theirs.median, ours.median].map(digits).join(",");
        let spread = [theirs.low, theirs.high, ours.low, ours.high].map(digits).join(",");
        let rounds = measured.runs[0].len();
        let _ = writeln!(text, "{words},{numbers},{headline},{spread},{rounds},{}", load.join(","));
    }
    text
}

/// Makes the folder, with a first file in it, so that one can see that it may be written to.
pub(super) fn prepare(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
    let path = folder.join(RUNS);
    let file = fs::OpenOptions::new().append(true).create(true).open(&path);
    file.map(drop).map_err(|e| Failure::writing(&path, &e))
}

/// Writes the record to a folder that is there: [`prepare`].
pub(super) fn write(
    folder: &Path,
    files: &[File],
    measured: &[Measured<'_>],
    machine: &Machine,
) -> Result<(), Failure> {
    let put = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|e| Failure::writing(&path, &e))
    };
    put(RUNS, runs(measured))?;
    put(SIDE_BY_SIDE, HEAD.to_owned() + &measured.iter().map(csv).collect::<String>())?;
    put("README.md", readme(files, measured, machine))
}

fn runs(measured: &[Measured<'_>]) -> String {
    let mut text = String::from("table,what,program,work,round,cpu_seconds,wall_seconds\n");
    for Measured { comparison, runs, .. } in measured {
        for (program, runs) in comparison.programs().zip(runs) {
            let words = [&comparison.table, &comparison.what, &program.name];
            let words = words.map(|word| quoted(word)).join(",");
            let work = comparison.work;
            for (round, times) in runs.iter().enumerate() {
                let [cpu, wall] = [times.cpu, times.wall].map(|time| time.as_secs_f64());
                let _ = writeln!(text, "{words},{work},{round},{cpu:.2},{wall:.3}");
            }
        }
    }
    text
}

fn readme(files: &[File], measured: &[Measured<'_>], machine: &Machine) -> String {
    let titles: Vec<_> = files.iter().map(|file| file.title.as_str()).collect();
    let mut text =
        format!("# Record of {}: {}\n\n| | |\n|---|---|\n", machine.date, titles.join("; "));
    for (name, value) in machine.rows() {
        let _ = writeln!(text, "| {name} | {value} |");
    }
    let loads = || measured.iter().flat_map(|it| it.load).flatten();
    if let (Some(low), Some(high)) = (loads().reduce(f64::min), loads().reduce(f64::max)) {
        let _ = writeln!(text, "| load average | {} to {} |", number(low), number(high));
    }
    let _ = write!(
        text,
        "\n`{SIDE_BY_SIDE}` has the CPU time of each peer and of Foxtrot, divided by the work: medians of alternating runs \
         with the least and the greatest, the load before and after. `{RUNS}` has every run. CPU time is user and system \
         time of all processes of a command line, the start of processes included.\n"
    );
    for note in files.iter().flat_map(|file| &file.notes) {
        let _ = write!(text, "\n* {note}");
    }
    if files.iter().any(|file| !file.notes.is_empty()) {
        text.push('\n');
    }
    text.push_str("\n## Command lines\n");
    for Measured { comparison, .. } in measured {
        let _ = write!(text, "\n{}:\n\n", comparison.what);
        for program in comparison.programs() {
            let environment = program.environment.iter();
            let set: String = environment.map(|(name, value)| format!("{name}={value} ")).collect();
            let command = program.command.trim().replace('\n', "\n    ");
            let _ = writeln!(text, "    {set}{command}    # {}", program.name);
        }
    }
    text
}
