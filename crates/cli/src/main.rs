//! The `foxtrot` command.
#![forbid(unsafe_code)]

mod args;
mod clock;
mod cmd;
mod failure;
mod files;
mod host;
mod identity;
mod interrupt;
mod keys;
mod link;
mod output;
mod report;
mod secure;

use std::process::ExitCode;

use clap::Parser;
use foxtrot_ot::Backend;

use args::{Args, Command};
use failure::Failure;

fn main() -> ExitCode {
    let args = Args::parse();
    interrupt::catch();
    let result = check_backend().and_then(|()| match &args.command {
        Command::Ot(command) => cmd::ot::run(command),
        Command::Rot(command) => cmd::rot::run(command),
        Command::Protocols(options) => cmd::protocols::run(options),
        Command::Bench(command) => cmd::bench::run(command),
        Command::Keygen(args) => cmd::keygen::run(args),
        Command::Generate(command) => cmd::generate::run(command),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// The library ignores a backend that it cannot honour; whoever asked for it here is told.
fn check_backend() -> Result<(), Failure> {
    Backend::from_env().map(drop).map_err(|e| {
        let value = std::env::var_os("FOXTROT_BACKEND").unwrap_or_default();
        Failure::usage(format!("FOXTROT_BACKEND={}: {e}", value.to_string_lossy()))
    })
}
