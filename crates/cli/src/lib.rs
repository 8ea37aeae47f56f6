//! The `foxtrot` command: what its program runs, what `foxtrot-bench` shares with it, and what fuzz targets reach.
#![forbid(unsafe_code)]

mod args;
mod audit;
mod browsers;
mod clock;
mod cmd;
mod confirm;
mod failure;
mod files;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod host;
mod identity;
mod interrupt;
mod lines;
mod link;
mod local;
mod memory;
mod method;
mod output;
mod peers;
mod places;
mod policy;
mod reach;
mod record;
mod refusals;
mod report;
mod secure;
mod serial;
#[doc(hidden)]
pub mod shared;
mod start;
mod table;
mod transfers;
mod workers;

use std::{env, ffi::OsString, process::ExitCode};

use args::{Args, Command};
use failure::Failure;
use places::Places;
use start::start;

/// Runs the command that the process was started with.
#[must_use = "the process ends with it"]
pub fn main() -> ExitCode {
    run(env::args_os())
}

/// Runs the command with these arguments, of which the first is the program's name.
#[must_use = "the process ends with it"]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    start(arguments, |args: &Args, ids| perform(&args.command, &Places::of(ids)))
}

fn perform(command: &Command, places: &Places) -> Result<(), Failure> {
    if places.serves {
        memory::share_one_heap();
    }
    interrupt::catch();
    memory::keep_what_is_freed();
    places.check(command)?;
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
