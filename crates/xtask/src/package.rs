//! Checks that the published crates can be packaged, and built from their packages, without a
//! network.

use std::{
    fs,
    path::{Component, Path},
};

use crate::{
    published::{self, Published},
    tools::{self, Result},
};

/// Options of `package`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Do not build the packages
    #[arg(long)]
    no_verify: bool,
}

/// Checks what stands in each package, makes the packages, and builds each from the others.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let crates = published::crates()?;
    let mut faults = Vec::new();
    for package in &crates {
        let files = tools::stdout(&mut tools::cargo(&format!(
            "package --list --quiet --offline --allow-dirty --package {}",
            package.name()
        )))?;
        let files = String::from_utf8_lossy(&files).replace('\\', "/");
        let files: Vec<_> = files.lines().collect();
        let found = [manifest(package), licences(package)?, contents(package, &files)?].concat();
        println!("{}: {} files, {} faults", package.name(), files.len(), found.len());
        faults.extend(found.iter().map(|fault| format!("{}: {fault}", package.name())));
    }
    if !faults.is_empty() {
        return tools::failed(faults.join("\n"));
    }
    if crates.iter().any(|it| it.text("repository").is_empty()) {
        println!("note: `repository` is not set; see RELEASING.md");
    }
    let verify = if arguments.no_verify { "--no-verify" } else { "" };
    let packages = published::selection(&crates);
    let mut package =
        tools::cargo(&format!("package --quiet --offline --allow-dirty {verify} {packages}"));
    // In a folder of its own, and without what nobody will debug.
    package.env("CARGO_PROFILE_DEV_DEBUG", "false");
    tools::run(package.arg("--target-dir").arg(tools::target().join("package-check")))?;
    println!(
        "packaged{}: {} crates",
        if arguments.no_verify { "" } else { " and built" },
        crates.len()
    );
    Ok(())
}

/// Finds keys that the manifest lacks, and values that crates.io would refuse.
fn manifest(package: &Published) -> Vec<String> {
    let texts = ["description", "license", "readme", "rust_version", "documentation"];
    let mut faults: Vec<_> = texts.into_iter().filter(|key| package.text(key).is_empty()).collect();
    faults
        .extend(["keywords", "categories"].into_iter().filter(|key| package.list(key).is_empty()));
    let mut faults: Vec<_> = faults.iter().map(|key| format!("no {key}")).collect();
    for key in ["keywords", "categories"] {
        if package.list(key).len() > 5 {
            faults.push(format!("more than five {key}"));
        }
    }
    let long = package.list("keywords").into_iter().filter(|word| word.len() > 20);
    faults.extend(long.map(|word| format!("a keyword of more than 20 letters: {word}")));
    faults
}

/// Files of licences that are not copies of the repository's. A link would not survive a checkout on Windows.
fn licences(package: &Published) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        if fs::read_to_string(package.folder().join(file)).ok() != Some(tools::read(file)?) {
            faults.push(format!("{file} is no copy of the repository's"));
        }
    }
    Ok(faults)
}

/// Finds files that the package lacks, and links and includes that lead out of the package.
fn contents(package: &Published, files: &[&str]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for file in ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        if !files.contains(&file) {
            faults.push(format!("{file} is not in the package"));
        }
    }
    for &file in files.iter().filter(|it| it.ends_with(".rs") || **it == "README.md") {
        let text = fs::read_to_string(package.folder().join(file))
            .or_else(|error| tools::failed(format_args!("{}: {file}: {error}", package.name())))?;
        if file == "README.md" {
            let links = links(&text).into_iter().filter(|link| !files.contains(link));
            faults.extend(
                links.map(|link| format!("README.md links to {link}, which is not in the package")),
            );
        } else {
            let included = included(&text).into_iter().filter(|path| leaves(file, path));
            faults.extend(
                included.map(|path| format!("{file} includes {path}, outside of the package")),
            );
        }
    }
    Ok(faults)
}

/// The files to which a page in Markdown links.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|it| !it.is_empty() && !it.contains(':')).collect()
}

/// The paths of a source file's includes and modules, if they are literals.
fn included(text: &str) -> Vec<&str> {
    let ways = ["include_str!(\"", "include_bytes!(\"", "include!(\"", "#[path = \""];
    let after = ways.into_iter().flat_map(|way| text.split(way).skip(1));
    after.filter_map(|rest| rest.split('"').next()).collect()
}

/// Returns true if a path, seen from a file's folder, leads out of the package.
fn leaves(file: &str, path: &str) -> bool {
    let mut depth = Path::new(file).components().count() - 1;
    for component in Path::new(path).components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::CurDir => {}
            _ => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{included, leaves, links};

    #[test]
    fn links_within_a_repository_are_found_and_others_are_not() {
        let text = "[a](LICENSE-MIT) [b](https://docs.rs/x) [c](#status) [d](../ot/README.md#use)";
        assert_eq!(links(text), ["LICENSE-MIT", "../ot/README.md"]);
    }

    #[test]
    fn an_include_that_leaves_the_package_is_found() {
        let text = "#[doc = include_str!(\"../README.md\")]\n#[path = \"../../ot/a.rs\"]\nmod a;";
        assert_eq!(included(text), ["../README.md", "../../ot/a.rs"]);
        assert!(!leaves("src/lib.rs", "../README.md"));
        assert!(leaves("src/lib.rs", "../../README.md"));
        assert!(leaves("src/a/b.rs", "../../../docs/wire.md"));
        assert!(!leaves("src/a/b.rs", "../../tests/vectors/x.json"));
        assert!(leaves("build.rs", "/etc/hosts"));
    }
}
