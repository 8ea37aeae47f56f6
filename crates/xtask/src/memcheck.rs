//! Whether the release build is constant-time: protocols on undefined secrets, on valgrind, on every backend that it
//! can run.

use crate::tools::{self, Result};

/// Options of `memcheck`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// AES without instructions, as on processors that have none
    #[arg(long)]
    soft: bool,
    /// Parts of names of checks; all checks if there is none
    names: Vec<String>,
}

/// Builds `foxtrot-ct` for release and runs its checks.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let there = cfg!(target_arch = "x86_64")
        && tools::succeeds(&mut tools::command("valgrind", "--version"));
    tools::needs(there, "there is no valgrind for this processor here")?;
    let mut build =
        tools::cargo("build --quiet --release --package foxtrot-ct --features memcheck");
    let mut folder = tools::target();
    if arguments.soft {
        folder.push("soft");
        build.env("RUSTFLAGS", "--cfg aes_backend=\"soft\"");
    }
    tools::run(build.arg("--target-dir").arg(&folder))?;
    let mut valgrind = tools::command("valgrind", "--quiet --leak-check=no --num-callers=20");
    tools::run(
        valgrind.arg(folder.join("release/foxtrot-ct")).arg("memcheck").args(&arguments.names),
    )
}
