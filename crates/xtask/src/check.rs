//! The checks that a change needs, by the files that changed since it left main.

use std::collections::BTreeSet;

use crate::tools::{self, Result};

/// Beginnings and endings of files, and the command that checks them.
const RULES: [(&str, &str, &str); 23] = [
    ("", ".rs", "cargo fmt --all --check"),
    ("", ".rs", "cargo xtask words"),
    ("", ".md", "cargo xtask words"),
    ("", ".md", "cargo xtask book"),
    ("", "Cargo.toml", "cargo xtask dependencies"),
    ("Cargo.lock", "", "cargo xtask dependencies"),
    ("README.md", "", "cargo test -p foxtrot-cli --test cli readme"),
    ("docs/claims.md", "", "cargo test -p foxtrot-cli --test cli claims"),
    ("docs/protocols/README.md", "", "cargo test -p foxtrot-cli --test cli claims"),
    ("docs/policy.md", "", "cargo test -p foxtrot-cli --test cli policy"),
    ("docs/explanation/", ".md", "cargo test -p foxtrot-cli --test cli daily"),
    ("docs/wire/", "", "cargo xtask vectors"),
    ("docs/", ".md", "cargo test -p xtask"),
    ("crates/", ".rs", "cargo test -p xtask"),
    ("reference/", "", "cargo xtask vectors"),
    ("crates/python/", "", "cargo xtask python"),
    ("crates/capi/", "", "cargo xtask capi"),
    ("crates/wasm/", "", "cargo xtask browser"),
    ("examples/device/", "", "cargo xtask device"),
    ("fuzz/", "", "cargo xtask smoke"),
    ("bench/record/", "", "cargo test -p foxtrot-bench --lib summary"),
    ("crates/kernel/src/", ".rs", "cargo xtask memcheck kernel"),
    ("tests/downstream/", "", "cargo test --manifest-path tests/downstream/Cargo.toml"),
];

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Name the checks and run none
    #[arg(long)]
    list: bool,
}

/// Runs the checks, or names them. A check that cannot be run here does not fail the others.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let commands = commands(&changed()?, |folder| {
        let manifest = tools::read(&format!("crates/{folder}/Cargo.toml")).ok()?;
        Some(manifest.split('"').nth(1)?.to_owned())
    });
    let mut failed = Vec::new();
    for command in commands {
        println!("== {command}");
        if arguments.list {
            continue;
        }
        let (program, rest) = command.split_once(' ').unwrap_or((&command, ""));
        let status = tools::command(program, rest).status();
        if !status.is_ok_and(|it| it.success() || it.code() == Some(77)) {
            failed.push(command);
        }
    }
    if failed.is_empty() { Ok(()) } else { tools::failed(failed.join("; ")) }
}

/// The files that differ from where this branch left main, also new ones.
fn changed() -> Result<Vec<String>> {
    let base = ["origin/main", "main"].into_iter().find_map(|main| {
        let base = tools::stdout(&mut tools::command("git", &format!("merge-base HEAD {main}")));
        Some(String::from_utf8_lossy(&base.ok()?).trim().to_owned())
    });
    let base = base.unwrap_or_else(|| "HEAD".to_owned());
    let mut all = Vec::new();
    for command in [&format!("diff --name-only {base}"), "ls-files --others --exclude-standard"] {
        let list = tools::stdout(&mut tools::command("git", command))?;
        all.extend(String::from_utf8_lossy(&list).lines().map(str::to_owned));
    }
    Ok(all)
}

/// The commands that these files need, each once. `package` names the package of a folder of `crates`.
fn commands(files: &[String], package: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let fits = |rule: &&(&str, &str, &str)| {
        files.iter().any(|file| file.starts_with(rule.0) && file.ends_with(rule.1))
    };
    let mut all: Vec<String> = Vec::new();
    for (_, _, command) in RULES.iter().filter(fits) {
        if !all.iter().any(|it| it == command) {
            all.push((*command).to_owned());
        }
    }
    let code = files.iter().filter(|it| !it.ends_with(".md"));
    let folders: BTreeSet<_> =
        code.filter_map(|it| it.strip_prefix("crates/")?.split('/').next()).collect();
    for name in folders.into_iter().filter_map(package) {
        all.push(format!("cargo clippy -p {name} --all-targets --all-features -- -D warnings"));
        all.push(format!("cargo test -p {name}"));
    }
    all
}

#[test]
fn a_change_needs_the_checks_of_its_files() {
    let of = |files: &[&str]| {
        let files: Vec<_> = files.iter().map(|&it| it.to_owned()).collect();
        commands(&files, |folder| Some(format!("foxtrot-{folder}")))
    };
    assert_eq!(of(&["LICENSE-MIT"]), [""; 0]);
    assert_eq!(of(&["crates/ot/README.md"]), ["cargo xtask words", "cargo xtask book"]);
    let code = of(&["crates/ot/src/a.rs", "crates/ot/src/b.rs"]);
    assert_eq!(code[..2], ["cargo fmt --all --check", "cargo xtask words"]);
    assert_eq!(code.last().unwrap(), "cargo test -p foxtrot-ot");
    assert_eq!((code.len(), &code[2][..]), (5, "cargo test -p xtask"));
}
