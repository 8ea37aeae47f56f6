//! Checks that the release build is constant-time: protocols on undefined secrets, on valgrind, on every backend
//! that it can run.

use std::{
    io::{self, Read},
    num::NonZero,
    process::Command,
    thread,
};

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

/// Builds `foxtrot-ct` for release and runs its checks, a part on each processor.
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
    let program = folder.join("release/foxtrot-ct");
    let parts = thread::available_parallelism().map_or(1, NonZero::get);
    let check = |part: usize| {
        let mut valgrind = tools::command("valgrind", "--quiet --leak-check=no --num-callers=20");
        valgrind.arg(&program).arg("memcheck").arg(format!("--part={part}/{parts}"));
        valgrind.args(&arguments.names);
        valgrind
    };
    // The first part is watched; what the others say comes behind it.
    thread::scope(|scope| {
        let others = (1..parts).map(|part| scope.spawn(move || captured(check(part))));
        let others: Vec<_> = others.collect();
        let first = tools::run(&mut check(0));
        let others = others.into_iter().map(|other| match other.join() {
            Ok(Ok((said, result))) => {
                print!("{said}");
                result
            }
            Ok(Err(error)) => tools::failed(format_args!("valgrind: {error}")),
            Err(_) => tools::failed("a part of the checks was not run"),
        });
        others.fold(first, Result::and)
    })
}

/// Runs a command and gives all that it says, on both outputs, and whether it succeeded.
fn captured(mut command: Command) -> io::Result<(String, Result)> {
    let (mut reader, writer) = io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command also holds the writing end.
    drop(command);
    let mut said = Vec::new();
    reader.read_to_end(&mut said)?;
    let status = child.wait()?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let result =
        if status.success() { Ok(()) } else { tools::failed(format_args!("valgrind: {status}")) };
    Ok((said, result))
}
