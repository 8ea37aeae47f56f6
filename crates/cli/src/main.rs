//! The `foxtrot` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    foxtrot_cli::main()
}
