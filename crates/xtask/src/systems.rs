//! Tests on other processors and systems than this machine's: emulated, or as far as they can be had here.

use std::{fs, path::Path};

use crate::tools::{self, Failure, Result};

/// Options of `systems`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Names of systems; all, if none is named
    #[arg(value_parser = SYSTEMS.map(|it| it.name))]
    names: Vec<String>,
}

/// A system on which tests run.
struct System {
    name: &'static str,
    target: &'static str,
    /// The C compiler, which also links; but for musl, whose start-up files Rust brings along.
    compiler: &'static str,
    /// The program that runs its programs; none where this machine does.
    runner: &'static str,
    /// Packages and filters of `cargo test`.
    tests: &'static [&'static str],
}

/// Laws of the kernel, the bytes of every protocol, and what the schoolbook implementations computed. An emulator takes minutes for them.
const PROTOCOLS: &[&str] = &[
    "--package foxtrot-kernel --lib",
    "--package foxtrot-ot --package foxtrot-psi --package foxtrot-triples --test all -- vectors traces::",
];

/// All tests, without examples, of which some read clocks that only Unix has.
const ALL: &[&str] = &[
    "--tests --package foxtrot-kernel --package foxtrot-ot --package foxtrot-psi --package foxtrot-triples",
    "--tests --package foxtrot-net --package foxtrot-mpc --package foxtrot-cli",
];

/// Parts of names of tests that do not pass under Wine, and why.
const NOT_UNDER_WINE: &[&str] = &[
    // They expect names and messages as Unix writes them, or write to `/dev/null`.
    "table::tests::a_nul_byte",
    "table::tests::a_parquet_file",
    "table::tests::errors_in_a_file",
    "table::tests::long_fields",
    "cmd::commands_print",
    "library::keys_of_several_columns",
    "outputs::a_place_that_cannot_be",
    "outputs::no_result_replaces_our_key",
    "peers::the_names_are_not_written_over",
    "places_that_cannot_be_written",
    "tcp::tests::errors_name",
    // A file that is open cannot be replaced.
    "replacing_the_file_while_it_is_open",
    // A connection is refused after two seconds. One that is shut down does not wake who reads from it.
    "a_missing_peer_is_an_error",
    "connecting_reports_once",
    "a_second_connection_ends_before",
    "a_drip_does_not_outlast",
    "no_connection_is_left",
    "results_that_nobody_asks_for",
    "strangers::",
];

const SYSTEMS: [System; 6] = [
    System {
        name: "aarch64",
        target: "aarch64-unknown-linux-gnu",
        compiler: "aarch64-linux-gnu-gcc",
        runner: "qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu",
        tests: PROTOCOLS,
    },
    System {
        name: "armv7",
        target: "armv7-unknown-linux-gnueabihf",
        compiler: "arm-linux-gnueabihf-gcc",
        runner: "qemu-arm -cpu max -L /usr/arm-linux-gnueabihf",
        tests: PROTOCOLS,
    },
    System {
        name: "big-endian",
        target: "s390x-unknown-linux-gnu",
        compiler: "s390x-linux-gnu-gcc",
        runner: "qemu-s390x -L /usr/s390x-linux-gnu",
        tests: PROTOCOLS,
    },
    System {
        name: "i686",
        target: "i686-unknown-linux-gnu",
        compiler: "i686-linux-gnu-gcc",
        runner: "/usr/i686-linux-gnu/lib/ld-linux.so.2 --library-path /usr/i686-linux-gnu/lib",
        tests: PROTOCOLS,
    },
    System {
        name: "musl",
        target: "x86_64-unknown-linux-musl",
        compiler: "musl-gcc",
        runner: "",
        tests: ALL,
    },
    System {
        name: "windows",
        target: "x86_64-pc-windows-gnu",
        compiler: "x86_64-w64-mingw32-gcc",
        runner: "wine",
        tests: ALL,
    },
];

/// Targets of macOS, for which the crates without C compile here.
const MACOS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-apple-darwin"];

/// Tests on the systems that are there, and names the others.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let named = |it: &&System| {
        arguments.names.is_empty() || arguments.names.iter().any(|name| name == it.name)
    };
    let mut missing = Vec::new();
    for system in SYSTEMS.iter().filter(named) {
        println!("== {}", system.name);
        match system.run(system.tests) {
            Err(Failure::NotHere(why)) => missing.push(format!("{}: {why}", system.name)),
            result => result?,
        }
    }
    if arguments.names.is_empty() {
        for target in MACOS {
            println!("== {target}");
            match are_there(&[], target) {
                Err(Failure::NotHere(why)) => missing.push(format!("{target}: {why}")),
                result => {
                    result?;
                    check(target)?;
                }
            }
        }
    }
    tools::needs(missing.is_empty(), &missing.join("; "))
}

/// Compiles the crates without C for a target.
fn check(target: &str) -> Result {
    let crates = "--package foxtrot-kernel --package foxtrot-ot --package foxtrot-psi --package foxtrot-triples";
    tools::run(&mut tools::cargo(&format!(
        "check --quiet --locked --lib {crates} --target {target}"
    )))
}

/// Runs tests on one of the systems.
pub(crate) fn test(name: &str, tests: &[&str]) -> Result {
    match SYSTEMS.iter().find(|it| it.name == name) {
        Some(system) => system.run(tests),
        None => tools::failed(format_args!("there is no system {name}")),
    }
}

impl System {
    fn run(&self, tests: &[&str]) -> Result {
        let runner = self.runner.split(' ').next().filter(|it| !it.is_empty());
        let programs: Vec<_> = [self.compiler].into_iter().chain(runner).collect();
        are_there(&programs, self.target)?;
        let target = self.target.replace('-', "_");
        let libraries = tools::target().join("wine");
        if self.runner == "wine" {
            fs::create_dir_all(&libraries).or_else(tools::failed)?;
            let mut compile = tools::command(self.compiler, "-shared -O1 -o");
            compile.arg(libraries.join("bcryptprimitives.dll"));
            compile.arg(tools::root().join("crates/xtask/src/systems/bcryptprimitives.c"));
            tools::run(compile.arg("-ladvapi32"))?;
        }
        for tests in tests {
            let mut test =
                tools::cargo(&format!("test --quiet --locked --target {} {tests}", self.target));
            test.env(format!("CC_{target}"), self.compiler)
                .env("PROPTEST_CASES", "8")
                .env("WINEDEBUG", "-all")
                .env(
                    "WINEPATH",
                    format!("Z:{}", libraries.display().to_string().replace('/', "\\")),
                );
            if self.name != "musl" {
                test.env(format!("CARGO_TARGET_{}_LINKER", target.to_uppercase()), self.compiler);
            }
            if self.runner == "wine" {
                test.arg("--").args(NOT_UNDER_WINE.iter().flat_map(|name| ["--skip", name]));
            }
            if !self.runner.is_empty() {
                test.env(format!("CARGO_TARGET_{}_RUNNER", target.to_uppercase()), self.runner);
            }
            tools::run(&mut test)?;
        }
        Ok(())
    }
}

/// Says what is missing of programs and the target.
pub(crate) fn are_there(programs: &[&str], target: &str) -> Result {
    for program in programs {
        let there = tools::succeeds(&mut tools::command(program, "--version"));
        tools::needs(there, &format!("there is no {program}"))?;
    }
    let print = format!("--print target-libdir --target {target}");
    let folder = tools::stdout(&mut tools::command("rustc", &print))?;
    let there = Path::new(String::from_utf8_lossy(&folder).trim()).is_dir();
    tools::needs(there, &format!("rustup target add {target}"))
}
