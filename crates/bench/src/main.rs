//! The program `foxtrot-bench`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    foxtrot_bench::main()
}
