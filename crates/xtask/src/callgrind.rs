//! The instructions that two fixed workloads take: a guard against what makes them slower, which passes or fails nothing.

use std::path::Path;

use crate::tools::{self, Result};

/// Programs, and how many instances a batch of theirs has.
const WORKLOADS: [(&str, u64); 2] = [("roted-batches", 128), ("extension-batches", 16384)];

/// Prints the instructions of a batch of each workload: those of two batches less those of one, so that what is done
/// once does not count. Valgrind knows no AVX-512, so the workloads run on AVX2.
pub(crate) fn run() -> Result {
    tools::needs(
        cfg!(all(target_arch = "x86_64", target_os = "linux")),
        "this is no x86-64 Linux",
    )?;
    let features = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    tools::needs(features.split_whitespace().any(|it| it == "avx2"), "this processor has no AVX2")?;
    tools::needs(
        tools::succeeds(&mut tools::command("valgrind", "--version")),
        "valgrind is not installed",
    )?;
    let programs = tools::workloads()?;
    for (program, n) in WORKLOADS {
        let path = programs.join(program);
        match (count(&path, 1, n)?, count(&path, 2, n)?) {
            (Some(one), Some(two)) => {
                let batch = two - one;
                println!("callgrind: {program} n = {n}: {batch} instructions, {} each", batch / n);
            }
            _ => println!("callgrind: {program} n = {n}: not counted, it failed under valgrind"),
        }
    }
    Ok(())
}

/// Counts the instructions of `batches` batches. A program that fails is not counted, and its last words are printed.
fn count(program: &Path, batches: u64, n: u64) -> Result<Option<u64>> {
    let mut valgrind =
        tools::command("valgrind", "--tool=callgrind --callgrind-out-file=/dev/null");
    valgrind.arg(program).args([batches.to_string(), n.to_string()]).env("FOXTROT_BACKEND", "avx2");
    let output = tools::output(&mut valgrind)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said.lines().filter(|line| line.starts_with("==")).find_map(|line| {
        let (_, count) = line.split_once("Collected : ")?;
        count.split_whitespace().next()?.parse().ok()
    });
    // Without a number there is no count.
    if output.status.success() && collected.is_some() {
        return Ok(collected);
    }
    let lines: Vec<_> = said.lines().collect();
    eprintln!("{}", lines[lines.len().saturating_sub(5)..].join("\n"));
    Ok(None)
}
