//! `foxtrot-bench paper`: the tables and figures of the papers beside ours, in one report.

mod figure;
mod fill;
mod html;
mod machine;
mod measurement;
mod model;
pub(crate) mod numbers;
mod processes;
mod record;
mod run;
pub(crate) mod summary;
mod tables;
mod text;

use std::{
    fs,
    io::{self, Write},
    time::{Duration, Instant},
};

pub(super) use machine::Machine;
pub(super) use measurement::to_json;
pub(super) use processes::COMMAND;
pub(super) use record::quoted;
pub(super) use summary::SIDE_BY_SIDE;

use foxtrot_cli::shared::{Failure, say};

use crate::args::PaperOptions;
use fill::{Filled, fill};
use run::Runner;

/// The result of a run.
struct Report {
    machine: Machine,
    quick: bool,
    took: Duration,
    tables: Vec<Filled>,
    yardsticks: Vec<(&'static str, f64)>,
    /// The warning, if times of this run are not those of the record's machine when it is idle.
    warning: Option<String>,
}

pub(super) fn run(options: &PaperOptions) -> Result<(), Failure> {
    let mut command = vec!["foxtrot-bench paper"];
    command.extend(options.tables.iter().map(String::as_str));
    command.extend(options.quick.then_some("--quick"));
    let started = Instant::now();
    let machine = Machine::of_this_run(command.join(" "));
    let tables = tables::select(&options.tables)?;
    // What cannot be written is to fail now, not after half an hour.
    if let Some(path) = &options.html {
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.map_err(|e| Failure::writing(path, &e))?;
    }
    if let Some(folder) = &options.record {
        record::prepare(folder)?;
    }
    let mut runner = Runner::new(options.quick, options.quiet, machine.clone())?;
    let warning = runner.yardsticks.warning();
    warning.iter().for_each(|warning| say(warning));
    let (all, mut filled) = (tables.len(), Vec::new());
    for (number, table) in tables.into_iter().enumerate() {
        runner.place = format!("[{} of {all}] {}:", number + 1, table.id);
        let next = fill(table, &filled, &mut runner);
        text::print(&next, &mut io::stdout().lock()).map_err(|e| Failure::stdout(&e))?;
        filled.push(next);
    }
    let yardsticks = runner.yardsticks.figures().to_vec();
    if let Some(warning) = &warning {
        writeln!(io::stdout().lock(), "\n{warning}").map_err(|e| Failure::stdout(&e))?;
    }
    let report = Report {
        machine,
        quick: options.quick,
        took: started.elapsed(),
        tables: filled,
        yardsticks,
        warning,
    };
    if let Some(path) = &options.html {
        fs::write(path, html::page(&report)).map_err(|e| Failure::writing(path, &e))?;
        say(&format!("wrote {}", path.display()));
    }
    if let Some(folder) = &options.record {
        record::write(folder, &report, &runner)?;
        say(&format!("wrote {}", folder.display()));
    }
    match runner.failed {
        0 => Ok(()),
        1 => Err(Failure::run("a measurement failed, and the tables say why")),
        n => Err(Failure::run(format!("{n} measurements failed, and the tables say why"))),
    }
}
