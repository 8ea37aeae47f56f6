//! Checks that the files of test vectors are what the schoolbook implementations, in Rust and in Python,
//! print.

use std::{fs, process::Command};

use crate::tools::{self, Result};

/// Runs the commands that CONTRIBUTING.md gives, and compares what they print with the files.
pub(crate) fn run() -> Result {
    let text = tools::read("CONTRIBUTING.md")?;
    let commands: Vec<_> = text.lines().filter_map(command).collect();
    let mut wrong = Vec::new();
    // A file that no command makes would not be compared.
    for file in files()? {
        if !commands.iter().any(|(_, made)| *made == file) {
            println!("{file}: CONTRIBUTING.md has no command for it");
            wrong.push(file);
        }
    }
    for (words, file) in commands {
        let printed = tools::stdout(&mut quiet(words))?;
        let same = fs::read(tools::root().join(file)).is_ok_and(|it| it == printed);
        println!("{file}: {}", if same { "the same" } else { "differs" });
        if !same {
            wrong.push(file.to_owned());
        }
    }
    if wrong.is_empty() { Ok(()) } else { tools::failed(wrong.join(", ")) }
}

/// A line of CONTRIBUTING.md that makes a file: the command and the file.
fn command(line: &str) -> Option<(&str, &str)> {
    let (words, file) = line.strip_prefix("    ")?.split_once(" > ")?;
    let rust =
        words.starts_with("cargo run ") && words.contains("-p foxtrot-reference --bin vectors");
    (rust || words.starts_with("python3 reference")).then_some((words, file))
}

/// The command without cargo's messages.
fn quiet(words: &str) -> Command {
    match words.strip_prefix("cargo run") {
        Some(rest) => tools::cargo(&format!("run --quiet{rest}")),
        None => tools::command("python3", words.trim_start_matches("python3")),
    }
}

/// The files `crates/*/tests/vectors/*.json`.
fn files() -> Result<Vec<String>> {
    let list = tools::stdout(&mut tools::command("git", "ls-files crates/*/tests/vectors/*.json"))?;
    Ok(String::from_utf8_lossy(&list).lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn only_commands_that_make_vectors_are_read() {
        let made = "    cargo run --release -p foxtrot-reference --bin vectors okvs > a.json";
        let (words, file) = command(made).unwrap();
        assert!(words.ends_with("vectors okvs") && file == "a.json");
        assert!(command("    python3 reference/python/psi_items.py > b.json").is_some());
        assert!(command("    cargo build > c.json").is_none() && command(&made[4..]).is_none());
    }
}
