//! Two builds of what is given away, in two folders, compared byte for byte.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::tools::{self, Failure, Result};

/// Options of `reproducible`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Names of packages; all, if none is named
    #[arg(value_parser = PACKAGES.map(|it| it.name))]
    names: Vec<String>,
}

/// Something that is given away.
struct Package {
    name: &'static str,
    /// The check that builds it.
    build: &'static str,
    /// Folders below `target`, and how the names of their files end; with all folders below, if that is empty.
    made: &'static [(&'static str, &'static str)],
}

const PACKAGES: [Package; 5] = [
    Package { name: "deb", build: "deb --no-test", made: &[("deb/tree", ""), ("deb", ".deb")] },
    Package { name: "musl", build: "musl --no-test", made: &[("musl", ".tar.gz")] },
    Package { name: "npm", build: "npm", made: &[("npm/package", ""), ("npm/page", "")] },
    Package { name: "wheel", build: "wheel", made: &[("wheel", ".whl")] },
    Package {
        name: "crates",
        build: "package --no-verify",
        made: &[("package-check/package", ".crate")],
    },
];

/// Builds packages here and, of a clone of the last commit, in a folder below; compares both.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let changed = tools::stdout(&mut tools::command("git", "status --porcelain"))?;
    if !changed.is_empty() {
        return tools::failed("there are changes that no commit has");
    }
    let clone = tools::target().join("reproducible/another-folder");
    let git = |arguments: &str| {
        let mut git = tools::command("git", "-C");
        git.arg(&clone).args(arguments.split(' '));
        git
    };
    if !clone.join(".git").exists() {
        tools::run(tools::command("git", "clone --quiet --no-hardlinks .").arg(&clone))?;
    }
    tools::run(&mut git("fetch --quiet origin HEAD"))?;
    tools::run(&mut git("checkout --quiet --detach FETCH_HEAD"))?;
    let targets = [tools::target(), clone.join("target")];
    let named = |it: &&Package| {
        arguments.names.is_empty() || arguments.names.iter().any(|name| name == it.name)
    };
    let mut differ = Vec::new();
    for package in PACKAGES.iter().filter(named) {
        println!("== {}", package.name);
        for (folder, target) in [tools::root(), clone.clone()].iter().zip(&targets) {
            let mut build = tools::cargo(&format!("xtask {}", package.build));
            tools::run(build.current_dir(folder).env("CARGO_TARGET_DIR", target))?;
        }
        for made in package.made {
            let [one, other] = [&files(&targets[0], *made)?, &files(&targets[1], *made)?];
            if one.is_empty() {
                return tools::failed(format_args!("{}: nothing was built", made.0));
            }
            for file in one.keys().chain(other.keys().filter(|file| !one.contains_key(*file))) {
                if one.get(file) != other.get(file) {
                    differ.push(format!("{}/{}", made.0, file.display()));
                }
            }
            let bytes: usize = one.values().map(Vec::len).sum();
            println!("{}/*{}: {} files, {bytes} bytes", made.0, made.1, one.len());
        }
    }
    if differ.is_empty() { Ok(()) } else { tools::failed(format_args!("differ: {differ:?}")) }
}

/// The files of a folder, by their places in it.
fn files(target: &Path, (folder, end): (&str, &str)) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let (top, mut files) = (target.join(folder), BTreeMap::new());
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() && end.is_empty() {
                folders.push(path);
            } else if path.is_file() && path.to_string_lossy().ends_with(end) {
                let place = path.strip_prefix(&top).unwrap_or(&path).to_owned();
                files.insert(place, fs::read(&path).map_err(failed)?);
            }
        }
    }
    Ok(files)
}

fn failed(error: std::io::Error) -> Failure {
    Failure::Failed(error.to_string())
}
