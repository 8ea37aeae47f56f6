//! Checks that no interface of a published crate breaks that of the last release without saying so in the
//! version.

use crate::{
    published,
    tools::{self, Result},
};

/// Compares the library crates with the last tag by cargo-semver-checks.
pub(crate) fn run() -> Result {
    let there = tools::succeeds(&mut tools::cargo("semver-checks --version"));
    tools::needs(
        there,
        "there is no cargo-semver-checks here (`cargo install --locked cargo-semver-checks`)",
    )?;
    let tag = tools::output(&mut tools::command("git", "describe --tags --abbrev=0 --match v*"))?;
    tools::needs(tag.status.success(), "there is no release yet: git has no tag v…")?;
    let tag = String::from_utf8_lossy(&tag.stdout).trim().to_owned();
    println!("compared with {tag}");
    let packages = published::selection(&published::crates()?);
    tools::run(&mut tools::cargo(&format!("semver-checks --baseline-rev {tag} {packages}")))
}
