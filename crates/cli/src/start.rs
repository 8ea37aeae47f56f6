//! The beginning of a program: its backend, its arguments.

use std::{env, ffi::OsString, process::ExitCode};

use clap::Parser;
use foxtrot_ot::Backend;

use crate::{failure::Failure, output};

/// Parses the arguments, of which the first is the program's name, and does what they say.
pub fn start<A: Parser>(
    arguments: impl IntoIterator<Item = OsString>,
    perform: impl FnOnce(&A) -> Result<(), Failure>,
) -> ExitCode {
    if let Err(failure) = check_backend() {
        return output::report(failure);
    }
    let args = match A::try_parse_from(arguments) {
        Ok(args) => args,
        Err(e) => return wrong_usage(&e),
    };
    match perform(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::report(failure),
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

/// Refuses a backend that this machine does not have. The library alone would ignore it.
fn check_backend() -> Result<(), Failure> {
    Backend::from_env().map(drop).map_err(|e| {
        let value = env::var_os("FOXTROT_BACKEND").unwrap_or_default();
        Failure::usage(format!("FOXTROT_BACKEND={}: {e}", value.to_string_lossy()))
    })
}
