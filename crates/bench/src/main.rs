//! The program `foxtrot-bench`: figures of this machine, and the tables of the papers.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use foxtrot_cli::bench::{self, Built};

fn main() -> ExitCode {
    bench::main(Built { commit: env!("FOXTROT_COMMIT"), compiler: env!("FOXTROT_COMPILER") })
}
