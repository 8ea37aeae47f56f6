//! The program `foxtrot-bench`, whose crate is `crates/bench`.

use std::process::ExitCode;

use crate::{
    args::{BenchArgs, BenchProgram},
    cmd, interrupt, memory, perform, start,
};

/// The commit and the compiler that the program was built from, for records.
#[derive(Clone, Copy, Debug)]
pub struct Built {
    /// The commit, marked if the sources had been changed.
    pub commit: &'static str,
    /// The compiler with its version.
    pub compiler: &'static str,
}

/// Runs the benchmarks that the process was started for.
#[must_use = "the process ends with it"]
pub fn main(built: Built) -> ExitCode {
    start(|args: &BenchArgs| match &args.program {
        BenchProgram::Bench(command) => {
            interrupt::catch();
            memory::keep_what_is_freed();
            cmd::bench::run(command, built)
        }
        BenchProgram::Foxtrot(command) => perform(command),
    })
}
