//! Tells the program what it was built from and by, for records: FOXTROT_COMMIT and FOXTROT_COMPILER.
//!
//! A FOXTROT_COMMIT that is set already is taken as it is, for builds from an archive.

use std::{env, path::Path, process::Command};

/// What the program is made of. What else is changed in the tree does not change the program.
const SOURCES: [&str; 4] = ["crates", "bench/tables", "Cargo.toml", "Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-env-changed=FOXTROT_COMMIT");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    SOURCES.iter().for_each(|path| watch(&root.join(path)));
    let commit = env::var("FOXTROT_COMMIT").ok().or_else(|| commit(&root));
    println!("cargo::rustc-env=FOXTROT_COMMIT={}", commit.unwrap_or("not known".into()));
    let rustc = env::var("RUSTC").unwrap_or("rustc".into());
    let compiler = said(Command::new(rustc).arg("--version"));
    println!("cargo::rustc-env=FOXTROT_COMPILER={}", compiler.unwrap_or("not known".into()));
}

/// The commit that is checked out, with a mark if the sources are not as it has them.
fn commit(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| said(Command::new("git").current_dir(root).args(arguments));
    // Not that of a repository around an unpacked archive.
    git(&["ls-files", "--error-unmatch", "crates/cli/build.rs"])?;
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&[&["status", "--porcelain", "--"][..], &SOURCES].concat())?;
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    let moves = ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref());
    let moves = moves.filter_map(|name| git(&["rev-parse", "--git-path", name]));
    moves.for_each(|path| watch(&root.join(path)));
    Some(if changed.is_empty() { commit } else { commit + "-dirty" })
}

/// Has this run again when that changes; what is not there would always be another.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
