//! Checks that the published crates compile with the oldest Rust that they promise.

use crate::{
    published,
    tools::{self, Result},
};

/// Checks them with that toolchain, or without it by clippy's lint, which knows what of `core` and `std` is newer.
pub(crate) fn run() -> Result {
    let crates = published::crates()?;
    let version = crates[0].text("rust_version");
    if let Some(other) = crates.iter().find(|it| it.text("rust_version") != version) {
        return tools::failed(format_args!("{}: rust-version is not {version}", other.name()));
    }
    let packages = published::selection(&crates);
    let installed = tools::output(&mut tools::command("rustup", "toolchain list"));
    let installed = installed.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    let Some(toolchain) = installed.ok().and_then(|list| toolchain(&list, version)) else {
        println!(
            "Rust {version} is not installed (`rustup toolchain install {version}`): only clippy's lint is asked"
        );
        // Denied as in CI's other lints, whose results clippy then takes.
        return tools::run(&mut tools::cargo(&format!(
            "clippy --quiet --locked --all-features --lib --bins {packages} -- -D warnings"
        )));
    };
    println!("with {toolchain}");
    let folder = tools::target().join("msrv");
    let options = format!("--quiet --locked --all-features --lib --bins {packages}");
    let mut check = tools::command("rustup", &format!("run {toolchain} cargo check {options}"));
    tools::run(check.arg("--target-dir").arg(folder))
}

/// The toolchain of a version in the output of `rustup toolchain list`: `1.89` is also that of 1.89.0.
fn toolchain(list: &str, version: &str) -> Option<String> {
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    let mut fits = names.filter(|name| {
        let rest = name.strip_prefix(version);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    });
    fits.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::toolchain;

    #[test]
    fn a_toolchain_is_found_by_its_version_and_not_by_the_beginning_of_another() {
        let list = "stable-x86_64 (active, default)\n1.95.0-x86_64\n1.89.0-x86_64\n";
        assert_eq!(toolchain(list, "1.89").as_deref(), Some("1.89.0-x86_64"));
        assert_eq!(toolchain(list, "1.95.0").as_deref(), Some("1.95.0-x86_64"));
        assert_eq!(toolchain(list, "1.8"), None);
        assert_eq!(toolchain("1.89-x86_64\n", "1.89").as_deref(), Some("1.89-x86_64"));
    }
}
