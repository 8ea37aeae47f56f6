//! The beginning of a program: its backend, its arguments.

use std::{env, ffi::OsString, process::ExitCode};

use clap::{
    ArgMatches, Command, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};
use foxtrot_ot::Backend;

use crate::{failure::Failure, output};

/// Parses the arguments, of which the first is the program's name, and does what they say. `perform` also gets them by their
/// ids.
pub fn start<A: Parser>(
    arguments: impl IntoIterator<Item = OsString>,
    perform: impl FnOnce(&A, &ArgMatches) -> Result<(), Failure>,
) -> ExitCode {
    if let Err(failure) = check_backend() {
        return output::report(failure);
    }
    let arguments: Vec<_> = arguments.into_iter().collect();
    let parsed = A::command().try_get_matches_from(&arguments);
    let parsed = parsed.and_then(|ids| Ok((A::from_arg_matches(&ids)?, ids)));
    let (args, ids) = match parsed {
        Ok(parsed) => parsed,
        Err(e) => return wrong_usage(e, &A::command(), &arguments),
    };
    match perform(&args, &ids) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::report(failure),
    }
}

/// Help where it was asked for; else what is wrong, in our own form.
fn wrong_usage(mut error: clap::Error, program: &Command, arguments: &[OsString]) -> ExitCode {
    if !error.use_stderr() {
        return match error.print() {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => output::report(Failure::stdout(&e)),
        };
    }
    let hint = explain(&error, program, arguments);
    if hint.is_some() {
        // For an option that others have, clap says how to pass it as a file's name.
        error.remove(ContextKind::Suggested);
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).replace("  tip: ", "hint: ");
    let (text, hint) = (text.trim_end(), hint.map(|it| format!("\nhint: {it}")));
    output::say(&format!("{text}{}", hint.unwrap_or_default()));
    ExitCode::from(2)
}

/// A hint that clap does not have.
fn explain(error: &clap::Error, program: &Command, arguments: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    match error.kind() {
        ErrorKind::ArgumentConflict => {
            let other = match error.get(ContextKind::PriorArg) {
                Some(ContextValue::String(other)) => other.as_str(),
                Some(ContextValue::Strings(others)) => others.first().map_or("", String::as_str),
                _ => "",
            };
            let is_of_keys = |it: &str| it.starts_with("--peer") || it.starts_with("--identity");
            let both = [option, other];
            let clash = both.contains(&"--insecure") && both.into_iter().any(is_of_keys);
            clash.then(|| {
                "--insecure uses no keys: leave out --insecure, or --identity and --peer".into()
            })
        }
        ErrorKind::UnknownArgument => {
            let group = arguments.get(1)?.to_str()?;
            let group = program.find_subcommand(group)?;
            let long = option.strip_prefix("--")?;
            let takes = |it: &&Command| it.get_opts().any(|it| it.get_long() == Some(long));
            let name = |it: &Command| format!("`{} {}`", group.get_name(), it.get_name());
            let names: Vec<_> = group.get_subcommands().filter(takes).map(name).collect();
            (!names.is_empty()).then(|| format!("{option} works with {}", names.join(", ")))
        }
        _ => None,
    }
}

/// Refuses a backend that this machine does not have. The library alone would ignore it.
fn check_backend() -> Result<(), Failure> {
    Backend::from_env().map(drop).map_err(|e| {
        let value = env::var_os("FOXTROT_BACKEND").unwrap_or_default();
        Failure::usage(format!("FOXTROT_BACKEND={}: {e}", value.to_string_lossy()))
    })
}
