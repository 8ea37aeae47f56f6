//! Running commands in the repository's root.

use std::{
    env,
    ffi::{OsStr, OsString},
    fmt::Display,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

/// The reason why a check did not pass.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The check cannot run on this machine, for the given reason.
    NotHere(String),
    /// The check failed.
    Failed(String),
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// The failure of a check.
pub(crate) fn failed<T>(why: impl Display) -> Result<T> {
    Err(Failure::Failed(why.to_string()))
}

/// A check that cannot be run here, unless `there`.
pub(crate) fn needs(there: bool, why: &str) -> Result {
    if there { Ok(()) } else { Err(Failure::NotHere(why.to_owned())) }
}

/// A check that failed, unless `passed`.
pub(crate) fn passed(passed: bool, why: &str) -> Result {
    if passed { Ok(()) } else { failed(why) }
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("this crate is two folders below the root").to_owned()
}

/// Cargo's target folder.
pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A program that is run in the repository's root, with arguments split at spaces, and without what cargo says of this
/// crate in the environment: a build script that reads that (ring's) would run again, and all that depends on it be
/// compiled again.
pub(crate) fn command(program: impl AsRef<OsStr>, arguments: &str) -> Command {
    let mut command = Command::new(program);
    let of_this_crate = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    };
    for (name, _) in env::vars_os().filter(|(name, _)| of_this_crate(name)) {
        command.env_remove(name);
    }
    command.args(arguments.split_whitespace()).current_dir(root()).stdin(Stdio::null());
    command
}

/// Cargo with arguments split at spaces.
pub(crate) fn cargo(arguments: &str) -> Command {
    command("cargo", arguments)
}

/// Runs a command to its end, with its output where ours goes.
pub(crate) fn run(command: &mut Command) -> Result {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => failed(format_args!("{command:?}: {status}")),
        Err(error) => failed(format_args!("{command:?}: {error}")),
    }
}

/// Runs a command to its end and takes its output.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    command.output().or_else(|error| failed(format_args!("{command:?}: {error}")))
}

/// Runs a command that has to succeed, and takes its standard output. If it fails, its output is printed.
pub(crate) fn stdout(command: &mut Command) -> Result<Vec<u8>> {
    let output = output(command)?;
    if !output.status.success() {
        print!("{}", String::from_utf8_lossy(&output.stdout));
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        return failed(format_args!("{command:?}: {}", output.status));
    }
    Ok(output.stdout)
}

/// Runs cargo, which has to print its messages as JSON, and finds the files that it built of a target.
pub(crate) fn built(cargo: &mut Command, target: &str) -> Result<Vec<PathBuf>> {
    let said = stdout(cargo.arg("--message-format=json"))?;
    let messages = String::from_utf8_lossy(&said).into_owned();
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of_target = messages.filter(|it| it["target"]["name"] == target);
    let files = of_target.flat_map(|it| it["filenames"].as_array().cloned().unwrap_or_default());
    Ok(files.filter_map(|it| it.as_str().map(PathBuf::from)).collect())
}

/// The program of a test of the workspace, as all its tests build it.
pub(crate) fn test_program(name: &str) -> Result<PathBuf> {
    let mut cargo = cargo("test --quiet --workspace --no-run --test");
    let program = built(cargo.arg(name), name)?.pop();
    program.map_or_else(|| failed(format_args!("cargo built no test {name}")), Ok)
}

/// Runs a command; returns true if it can be started and succeeds. Its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// The text of a file of the repository.
pub(crate) fn read(file: &str) -> Result<String> {
    std::fs::read_to_string(root().join(file))
        .or_else(|error| failed(format_args!("{file}: {error}")))
}

/// Builds the programs of the workloads for release and gives their folder.
pub(crate) fn workloads() -> Result<PathBuf> {
    let examples = "--example roted-batches --example extension-batches";
    run(&mut cargo(&format!("build --release --quiet --package foxtrot-ot {examples}")))?;
    Ok(target().join("release/examples"))
}

/// The target for which the nightly toolchain builds by itself.
pub(crate) fn nightly_host() -> Result<String> {
    let version = stdout(&mut command("rustc", "+nightly -vV"))?;
    let version = String::from_utf8_lossy(&version);
    match version.lines().find_map(|line| line.strip_prefix("host: ")) {
        Some(host) => Ok(host.to_owned()),
        None => failed("rustc +nightly -vV names no host"),
    }
}
