//! Domain separation by mutants: changes one context of an oracle after another, in a copy of the last commit.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::tools::{self, Result};

/// Options of `contexts`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The crate whose contexts change: `ot`, `psi`, `triples` or `papers`
    #[arg(value_name = "CRATE", value_parser = ["ot", "psi", "triples", "papers"])]
    name: String,
    /// Changes every STEP-th context only
    #[arg(default_value = "1")]
    step: std::num::NonZeroUsize,
}

/// Names the contexts whose change the crate's tests let pass.
pub(crate) fn run(arguments: &Arguments) -> Result {
    let copy = Copy::of_head()?;
    let name = &arguments.name;
    // What fails without a change would seem to catch every change.
    if !copy.passes(name) {
        return tools::failed("the tests fail as they are");
    }
    let mut survived = 0;
    for (file, line) in copy.places(name)?.into_iter().step_by(arguments.step.get()) {
        let path = copy.folder.join(&file);
        let text = copy.read(&path)?;
        copy.write(&path, &changed(&text, line))?;
        let passes = copy.passes(name);
        copy.write(&path, &text)?;
        println!("{file}:{line}: {}", if passes { "no test fails" } else { "caught" });
        survived += usize::from(passes);
    }
    if survived == 0 {
        Ok(())
    } else {
        tools::failed(format_args!("{survived} changes that no test sees"))
    }
}

/// The start of a context. Tests have contexts without a version.
const CONTEXT: &str = "\"foxtrot v";

/// The text with another context in that line, counted from 1.
fn changed(text: &str, line: usize) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    let change = |(k, it): (usize, &str)| {
        if k + 1 == line { it.replacen(CONTEXT, "\"foxtrot w", 1) } else { it.to_owned() }
    };
    lines.map(change).collect()
}

/// A worktree of the last commit, removed when dropped.
struct Copy {
    folder: PathBuf,
}

impl Copy {
    fn of_head() -> Result<Self> {
        let copy = Self { folder: tools::target().join("contexts/copy") };
        if copy.folder.exists() {
            // Left by a run that was interrupted.
            copy.remove()?;
        }
        tools::run(
            tools::command("git", "worktree add --quiet --detach").arg(&copy.folder).arg("HEAD"),
        )?;
        Ok(copy)
    }

    fn remove(&self) -> Result {
        tools::run(tools::command("git", "worktree remove --force").arg(&self.folder))
    }

    /// Returns true if the tests of a crate pass.
    fn passes(&self, name: &str) -> bool {
        let mut test = tools::cargo(&format!("test --quiet --package foxtrot-{name}"));
        test.current_dir(&self.folder).env("CARGO_INCREMENTAL", "0");
        tools::succeeds(test.env("CARGO_TARGET_DIR", tools::target().join("contexts")))
    }

    /// The files and lines that have a context.
    fn places(&self, name: &str) -> Result<Vec<(String, usize)>> {
        let mut grep = tools::command("git", "grep -n");
        grep.arg(format!("{CONTEXT}[0-9]"))
            .arg("--")
            .arg(format!("crates/{name}/src"))
            .arg(":!*tests*");
        let found = tools::stdout(grep.current_dir(&self.folder))?;
        let place = |line: &str| {
            let (file, rest) = line.split_once(':')?;
            Some((file.to_owned(), rest.split_once(':')?.0.parse().ok()?))
        };
        Ok(String::from_utf8_lossy(&found).lines().filter_map(place).collect())
    }

    fn read(&self, path: &Path) -> Result<String> {
        fs::read_to_string(path)
            .or_else(|error| tools::failed(format_args!("{}: {error}", path.display())))
    }

    fn write(&self, path: &Path, text: &str) -> Result {
        fs::write(path, text)
            .or_else(|error| tools::failed(format_args!("{}: {error}", path.display())))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = self.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn one_context_changes_in_its_line_only() {
        let text = "a(\"foxtrot v1 a\")\nb(\"foxtrot v1 b\")\n";
        assert_eq!(changed(text, 2), "a(\"foxtrot v1 a\")\nb(\"foxtrot w1 b\")\n");
    }
}
