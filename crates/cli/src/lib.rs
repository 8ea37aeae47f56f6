//! The `foxtrot` command: what its program runs, and what fuzz targets reach of it.
#![forbid(unsafe_code)]

mod args;
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod bench;
mod clock;
mod cmd;
mod failure;
mod files;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod host;
mod identity;
mod interrupt;
mod keys;
mod lines;
mod link;
mod local;
mod memory;
mod method;
mod normalise;
mod output;
mod peers;
mod places;
mod reach;
mod record;
mod report;
mod secure;
mod table;
mod workers;

use std::process::ExitCode;

use clap::Parser;
use foxtrot_ot::Backend;

use args::{Args, Command};
use failure::Failure;

/// Runs the command that the process was started with.
#[must_use = "the process ends with it"]
pub fn main() -> ExitCode {
    start(|args: &Args| perform(&args.command))
}

/// Reads the process's command line, and does what it says.
fn start<A: Parser>(run: impl FnOnce(&A) -> Result<(), Failure>) -> ExitCode {
    if let Err(failure) = check_backend() {
        return output::report(failure);
    }
    let args = match A::try_parse() {
        Ok(args) => args,
        Err(e) => return wrong_usage(&e),
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::report(failure),
    }
}

fn perform(command: &Command) -> Result<(), Failure> {
    if command.serves() {
        memory::share_one_heap();
    }
    interrupt::catch();
    memory::keep_what_is_freed();
    places::check(command)?;
    run(command)
}

fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Ot(command) => cmd::ot::run(command),
        Command::Rot(command) => cmd::rot::run(command),
        Command::Psi(command) => cmd::psi::run(command),
        Command::Triples(command) => cmd::triples::run(command),
        Command::Protocols(options) => cmd::protocols::run(options),
        Command::Keygen(args) => cmd::keygen::run(args),
        Command::Peers(command) => cmd::peers::run(command),
        Command::Generate(command) => cmd::generate::run(command),
    }
}

/// Help where it was asked for; else what is wrong, in our own form.
fn wrong_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match error.print() {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => output::report(Failure::stdout(&e)),
        };
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).replace("  tip: ", "hint: ");
    output::say(text.trim_end());
    ExitCode::from(2)
}

/// The library ignores a backend that it cannot honour; whoever asked for it here is told.
fn check_backend() -> Result<(), Failure> {
    Backend::from_env().map(drop).map_err(|e| {
        let value = std::env::var_os("FOXTROT_BACKEND").unwrap_or_default();
        Failure::usage(format!("FOXTROT_BACKEND={}: {e}", value.to_string_lossy()))
    })
}
