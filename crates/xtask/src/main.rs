//! `cargo xtask`: the checks that need more than one command of cargo. A check that cannot be run here says why and exits
//! with status 77.

mod book;
mod browser;
mod callgrind;
mod capi;
mod chart;
mod check;
mod contexts;
mod coverage;
mod dependencies;
#[cfg(unix)]
mod device;
#[cfg(test)]
mod documents;
mod drawings;
mod features;
mod inlined;
mod memcheck;
mod miri;
#[cfg(test)]
mod modules;
mod msrv;
mod npm;
mod package;
mod packages;
mod published;
mod python;
mod reproducible;
mod sanitize;
mod semver;
mod smoke;
mod systems;
mod tools;
mod vectors;
mod words;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Foxtrot's checks that need more than one command of cargo
///
/// Exit status: 0 if the check passes, 1 if it fails, 77 if it cannot be run here.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    check: Check,
}

#[derive(Debug, Subcommand)]
enum Check {
    /// Check the links of all documents, and build the site from `docs` into `target/book`
    Book,
    /// Test the npm package in Node, and the page in Chromium against the command
    Browser(browser::Arguments),
    /// Count the instructions of two fixed workloads, on valgrind
    Callgrind,
    /// Make the header of the C library, build it, and run the examples in C and C++ in all ways
    Capi(capi::Arguments),
    /// Draw the chart of the README from the newest record
    Chart,
    /// Run the checks that a change needs, by the files that changed since it left main
    #[command(name = "check")]
    Changed(check::Arguments),
    /// Change one context of an oracle after another, and name those whose change the tests let pass
    Contexts(contexts::Arguments),
    /// Measure which share of the lines of the library crates their tests run; 90 % or less fails
    Coverage,
    /// Build the Debian package, and test it in a clean root without Rust
    Deb(packages::Options),
    /// Compare the number of dependencies with the budget in ARCHITECTURE.md
    Dependencies,
    /// Build the firmware of `examples/device`, count what it takes, and let it talk with the command, on QEMU
    #[cfg(unix)]
    Device(device::Arguments),
    /// Draw the modules of each crate on its page, `crates/*/README.md`, from the paths in its code
    Drawings,
    /// Compile each published crate without features, with each alone, and with all
    Features,
    /// Fail if a vector instruction is a call: part of a kernel was not inlined
    Inlined,
    /// Check that the release build is constant-time, on valgrind
    Memcheck(memcheck::Arguments),
    /// Run tests of the portable code in Miri, which finds undefined behaviour
    Miri,
    /// Check the published crates with the oldest Rust that they promise
    Msrv,
    /// Build the static binary and a container of it, and test both in empty roots
    Musl(packages::Options),
    /// Build the npm package and the page for browsers into `target/npm`
    Npm,
    /// Package the published crates without a network, and build them from their packages
    Package(package::Arguments),
    /// Build the Python package, install it into a fresh environment, and run its tests
    Python(python::Arguments),
    /// Build what is given away in two folders, and compare it byte for byte
    Reproducible(reproducible::Arguments),
    /// Run the tests of the kernel and of `foxtrot-ot` with the address sanitizer, on every backend
    Sanitize,
    /// Compare the published crates' interfaces with the last release
    Semver,
    /// Run every fuzz target for some seconds
    Smoke(smoke::Arguments),
    /// Run tests on other processors and systems: emulated, under Wine, or as far as they can be had here
    Systems(systems::Arguments),
    /// Compare the files of test vectors with what the reference implementations print
    Vectors,
    /// Build the wheel that is given away into `target/wheel`
    Wheel,
    /// Name the lines of documents, comments and tests that break the rules of plain words; check spelling
    Words,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().check {
        Check::Book => book::run(),
        Check::Browser(arguments) => browser::run(&arguments),
        Check::Callgrind => callgrind::run(),
        Check::Capi(arguments) => capi::run(&arguments),
        Check::Chart => chart::run(),
        Check::Changed(arguments) => check::run(&arguments),
        Check::Contexts(arguments) => contexts::run(&arguments),
        Check::Coverage => coverage::run(),
        Check::Deb(options) => packages::deb(&options),
        Check::Dependencies => dependencies::run(),
        #[cfg(unix)]
        Check::Device(arguments) => device::run(&arguments),
        Check::Drawings => drawings::run(),
        Check::Features => features::run(),
        Check::Inlined => inlined::run(),
        Check::Memcheck(arguments) => memcheck::run(&arguments),
        Check::Miri => miri::run(),
        Check::Msrv => msrv::run(),
        Check::Musl(options) => packages::musl(&options),
        Check::Npm => npm::run(),
        Check::Package(arguments) => package::run(&arguments),
        Check::Python(arguments) => python::run(&arguments),
        Check::Reproducible(arguments) => reproducible::run(&arguments),
        Check::Sanitize => sanitize::run(),
        Check::Semver => semver::run(),
        Check::Smoke(arguments) => smoke::run(&arguments),
        Check::Systems(arguments) => systems::run(&arguments),
        Check::Vectors => vectors::run(),
        Check::Wheel => packages::wheel(),
        Check::Words => words::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(tools::Failure::NotHere(why)) => {
            println!("skipped: {why}");
            ExitCode::from(77)
        }
        Err(tools::Failure::Failed(why)) => {
            eprintln!("failed: {why}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::CommandFactory;

    use super::{Arguments, tools};

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn ci_runs_the_test_command_of_the_readme() {
        let readme = fs::read_to_string(tools::root().join("README.md")).unwrap();
        let (_, install) = readme.split_once("## Install and test").unwrap();
        let command = install.lines().find(|line| line.starts_with("cargo test")).unwrap();
        let (command, _) = command.split_once('#').unwrap();
        let ci = fs::read_to_string(tools::root().join(".ci/run")).unwrap();
        assert!(ci.lines().any(|line| line == command.trim_end()), "{command}");
    }

    #[test]
    fn every_check_that_a_document_names_exists() {
        let checks: Vec<_> =
            Arguments::command().get_subcommands().map(|it| it.get_name().to_owned()).collect();
        let documents = [
            "CONTRIBUTING.md",
            "RELEASING.md",
            "SECURITY.md",
            ".ci/run",
            "docs/claims.md",
            "fuzz/README.md",
        ];
        for document in documents {
            let text = fs::read_to_string(tools::root().join(document)).unwrap();
            let mut named = text.split("cargo xtask ").skip(1).peekable();
            assert!(named.peek().is_some(), "{document}");
            for rest in named {
                let name: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
                assert!(checks.contains(&name) || name == "help", "{document}: {name}");
            }
        }
    }
}
