//! Tells the program what it was built from and by, for records: FOXTROT_COMMIT and FOXTROT_COMPILER.
//!
//! A FOXTROT_COMMIT that is set already is taken as it is, for builds from an archive.
//!
//! It runs again when the commit or a file changes that the program is made of and that the commit has. Until then it
//! misses new files (another has to name them, which changes), what only git's index knows, a repository that is made around
//! the sources, and commits in a repository with reftables and without reflogs.

use std::{env, path::Path, process::Command};

/// The sources of the program, as git's patterns. Tests are not: a change of one is no other program, and does not
/// build this one anew.
const SOURCES: [&str; 8] = [
    "crates",
    "bench/tables",
    "Cargo.toml",
    "Cargo.lock",
    ":(exclude)crates/ct",
    ":(exclude,glob)crates/**/tests/**",
    ":(exclude,glob)crates/**/tests.rs",
    ":(exclude,glob)crates/*/examples/**",
];

fn main() {
    println!("cargo::rerun-if-env-changed=FOXTROT_COMMIT");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let commit = env::var("FOXTROT_COMMIT").ok().or_else(|| commit(&root));
    println!("cargo::rustc-env=FOXTROT_COMMIT={}", commit.unwrap_or("not known".into()));
    let rustc = env::var("RUSTC").unwrap_or("rustc".into());
    let compiler = said(Command::new(rustc).arg("--version"));
    println!("cargo::rustc-env=FOXTROT_COMPILER={}", compiler.unwrap_or("not known".into()));
}

/// The commit that is checked out, with a mark if the sources are not as it has them.
fn commit(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        // It only looks: no lock on the index while somebody commits, and no new index.
        said(Command::new("git").arg("--no-optional-locks").current_dir(root).args(arguments))
    };
    // Not that of a repository around an unpacked archive.
    git(&["ls-files", "--error-unmatch", "crates/bench/build.rs"])?;
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&[&["status", "--porcelain", "--"][..], &SOURCES].concat())?;
    let sources = git(&[&["ls-files", "-z", "--"][..], &SOURCES].concat())?;
    sources.split_terminator('\0').for_each(|path| watch(&root.join(path)));
    for name in ["HEAD", "logs/HEAD", "packed-refs"] {
        git(&["rev-parse", "--git-path", name]).iter().for_each(|path| watch(&root.join(path)));
    }
    // A branch that is packed has no file; the next commit makes one in the nearest folder that there is.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    if let Some(path) = branch.and_then(|name| git(&["rev-parse", "--git-path", &name])) {
        let path = root.join(path);
        path.ancestors().find(|path| path.exists()).iter().for_each(|path| watch(path));
    }
    Some(if changed.is_empty() { commit } else { commit + "-dirty" })
}

/// Runs this program again when the file changes; a missing file would always count as changed.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
