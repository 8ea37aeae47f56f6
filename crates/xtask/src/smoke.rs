//! Every fuzz target for some seconds.

use crate::tools::{self, Result};

/// Options of `smoke`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Seconds for each target
    #[arg(default_value_t = 5)]
    seconds: u32,
}

/// Builds the targets and runs one after the other.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let there = tools::succeeds(&mut tools::cargo("+nightly fuzz --version"));
    tools::needs(there, "fuzzing needs a nightly toolchain and cargo-fuzz")?;
    fuzz("build")?;
    let targets = tools::stdout(&mut tools::cargo("+nightly fuzz list"))?;
    for target in String::from_utf8_lossy(&targets).split_whitespace() {
        let limits = "-timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=64";
        let log = fuzz(&format!("run {target} -- -max_total_time={} {limits}", arguments.seconds))?;
        let done = log.lines().find(|line| line.starts_with("Done ")).unwrap_or_default();
        println!("{target}: {done}");
    }
    Ok(())
}

/// Runs a command of cargo-fuzz and gives what it says; if it fails, the end of that is printed.
fn fuzz(arguments: &str) -> Result<String> {
    let output = tools::output(&mut tools::cargo(&format!("+nightly fuzz {arguments}")))?;
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        return Ok(said);
    }
    let lines: Vec<_> = said.lines().collect();
    println!("{}", lines[lines.len().saturating_sub(100)..].join("\n"));
    tools::failed(format_args!("cargo +nightly fuzz {arguments}: {}", output.status))
}
