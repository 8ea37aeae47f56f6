//! The npm package in Node, and the page in Chromium against the command: tests and measurements.

use std::{env, fs, path::PathBuf};

use crate::{
    npm,
    tools::{self, Failure, Result},
};

/// Options of `browser`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// In place of the tests measure seconds and memory of the page beside the native command, for 10^4, 10^5 and 10^6 rows
    /// (minutes, gigabytes); the variable SIZES names others
    #[arg(long)]
    measure: bool,
}

/// Builds both and runs all tests, or measures.
pub(crate) fn run(arguments: &Arguments) -> Result {
    for program in ["node", "npm"] {
        let there = tools::succeeds(&mut tools::command(program, "--version"));
        tools::needs(there, &format!("there is no {program}"))?;
    }
    npm::run()?;
    let (target, tests) = (tools::target(), tools::root().join("crates/wasm/tests"));
    // The packages of npm stay below the target folder.
    let folder = target.join("npm/tests/wasm/tests");
    fs::create_dir_all(&folder).map_err(failed)?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(tests.join(name), folder.join(name)).map_err(failed)?;
    }
    let mut install = tools::command("npm", "ci --no-audit --no-fund --loglevel=error");
    tools::run(install.current_dir(&folder))?;
    let (build, script) = match arguments.measure {
        true => ("build --quiet --release --package foxtrot-cli --features page", "measure.mjs"),
        false => {
            let mut node = tools::command("node", "--test --test-reporter=spec");
            node.arg(tests.join("node.test.mjs"))
                .env("FOXTROT_PACKAGE", target.join("npm/package"))
                .env("FOXTROT_DOORS", tools::test_program("doors")?);
            tools::run(&mut node)?;
            tools::run(node.env("PORTABLE", "1"))?;
            // The command of the other tests but for the page.
            let build = "test --quiet --workspace --test soak --no-run --features foxtrot-cli/page";
            (build, "browser.test.mjs")
        }
    };
    let chromium = chromium();
    tools::needs(chromium.is_some(), "there is no chromium")?;
    tools::run(&mut tools::cargo(build))?;
    let options = if arguments.measure { "" } else { "--test --test-reporter=spec" };
    let mut browser = tools::command("node", options);
    let command = if arguments.measure { "release/foxtrot" } else { "debug/foxtrot" };
    browser.arg(tests.join(script)).env("FOXTROT", target.join(command));
    browser.env("PAGE", target.join("npm/page")).env("MODULES", &folder);
    tools::run(browser.env("CHROMIUM", chromium.unwrap_or_default()))
}

/// The browser: that of the variable `CHROMIUM`, or the system's.
fn chromium() -> Option<PathBuf> {
    let named = env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    named.into_iter().chain(usual.map(PathBuf::from)).find(|path| path.is_file())
}

fn failed(error: std::io::Error) -> Failure {
    Failure::Failed(error.to_string())
}
