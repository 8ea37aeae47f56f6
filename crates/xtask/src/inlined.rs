//! Checks that all vector instructions are inlined. A call would mean that part of a kernel is compiled for the
//! baseline.

use crate::tools::{self, Result};

/// Fails if a symbol of the workloads is an intrinsic of AVX, AVX2 or AVX-512.
pub(crate) fn run() -> Result {
    tools::needs(cfg!(target_arch = "x86_64"), "this is no x86-64")?;
    tools::needs(tools::succeeds(&mut tools::command("nm", "--version")), "nm is not installed")?;
    let programs = tools::workloads()?;
    for program in ["roted-batches", "extension-batches"] {
        let symbols = tools::stdout(tools::command("nm", "").arg(programs.join(program)))?;
        let symbols = String::from_utf8_lossy(&symbols);
        let calls: Vec<_> =
            symbols.lines().filter(|it| it.contains("_mm256_") || it.contains("_mm512_")).collect();
        if !calls.is_empty() {
            println!("{}", calls.join("\n"));
            return tools::failed(format_args!(
                "{program} calls these functions; see \"Inlining\" in crates/kernel/src/lib.rs"
            ));
        }
    }
    println!("inlined: all vector instructions");
    Ok(())
}
