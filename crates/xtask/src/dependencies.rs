//! Checks that no package is built from more crates of others than ARCHITECTURE.md allows, without those of
//! tests.

use std::collections::BTreeSet;

use crate::tools::{self, Result};

/// Compares every row of the budget with `cargo tree`.
pub(crate) fn run() -> Result {
    let mut exceeded = Vec::new();
    for (package, budget) in budget(&tools::read("ARCHITECTURE.md")?)? {
        let options = "--edges normal,build --target x86_64-unknown-linux-gnu --prefix none";
        let tree = tools::stdout(&mut tools::cargo(&format!(
            "tree --quiet --locked {options} {package}"
        )))?;
        let used = crates_of_others(&String::from_utf8_lossy(&tree));
        println!("{package}: {used} of {budget}");
        if used > budget {
            exceeded.push(package);
        }
    }
    if exceeded.is_empty() { Ok(()) } else { tools::failed(exceeded.join(", ")) }
}

/// The rows of the budget: options of `cargo tree`, and how many crates they allow.
fn budget(text: &str) -> Result<Vec<(String, usize)>> {
    let rows = text.lines().filter(|line| line.starts_with("| `--package"));
    let rows: Vec<_> = rows.map(|line| row(line).ok_or(line)).collect();
    if rows.is_empty() {
        return tools::failed("ARCHITECTURE.md has no budget");
    }
    let read = |row: std::result::Result<_, &str>| {
        row.or_else(|line| {
            tools::failed(format_args!("ARCHITECTURE.md: not a row of the budget: {line}"))
        })
    };
    rows.into_iter().map(read).collect()
}

fn row(line: &str) -> Option<(String, usize)> {
    let (package, budget) = line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | ")?;
    Some((package.to_owned(), budget.parse().ok()?))
}

/// Counts the packages in the output of `cargo tree`, each version once, without ours.
fn crates_of_others(tree: &str) -> usize {
    let packages = tree.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    });
    packages.filter(|(name, _)| !name.starts_with("foxtrot-")).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::{budget, crates_of_others};

    #[test]
    fn a_row_of_the_budget_that_cannot_be_read_is_an_error() {
        let good = "| `--package foxtrot-net` | 68 |";
        assert_eq!(budget(good).unwrap(), [("--package foxtrot-net".to_owned(), 68)]);
        for bad in ["", "| `--package foxtrot-net` | many |", "| `--package foxtrot-net` 68 |"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn crates_count_once_for_each_version_and_ours_not_at_all() {
        let tree =
            "foxtrot-ot v0.1.0 (here)\naes v0.9.1\naes v0.8.0\n\naes v0.9.1 (*)\nsubtle v2.6.1\n";
        assert_eq!(crates_of_others(tree), 3);
    }
}
