//! The mechanical rules of plain words, in documents and comments.

use std::{fs, path::Path};

use crate::tools::{self, Result};

/// First words of a doc comment that are no noun and no verb.
const OPENINGS: [&str; 6] = ["Those", "That", "What", "So many", "As many", "The same,"];

/// Words for which there is a plainer one: "also", "caller", "peer", "receiver".
const WORDS: [&str; 3] = [", too", "whoever", "Whoever"];

/// Folders whose comments are not held to the rules yet, and this file, which quotes what it finds.
const NOT_YET: [&str; 8] = [
    "crates/ot/",
    "crates/cli/",
    "crates/bench/",
    "crates/papers/",
    "crates/ct/",
    "crates/foxtrot/",
    "bench/",
    "crates/xtask/src/words.rs",
];

/// Names every line that breaks a rule.
pub(crate) fn run() -> Result {
    let mut broken = 0;
    let files =
        tools::stdout(&mut tools::command("git", "ls-files README.md *.md crates/**/*.rs"))?;
    for file in String::from_utf8_lossy(&files).lines() {
        if NOT_YET.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let Ok(text) = fs::read_to_string(tools::root().join(file)) else { continue };
        let is_code = Path::new(file).extension().is_some_and(|it| it == "rs");
        for (number, line) in text.lines().enumerate() {
            let rule = if is_code { rule_of_code(line) } else { rule_of_text(line) };
            if let Some(rule) = rule {
                println!("{file}:{}: {rule}: {}", number + 1, line.trim());
                broken += 1;
            }
        }
    }
    if broken == 0 { Ok(()) } else { tools::failed(format_args!("{broken} lines")) }
}

/// The rule that a line of Rust breaks.
fn rule_of_code(line: &str) -> Option<&'static str> {
    let (before, comment) = line.split_once("//")?;
    let doc = comment.strip_prefix(['/', '!']);
    if before.trim().is_empty() && doc.is_some_and(|it| OPENINGS.iter().any(|o| opens(it, o))) {
        return Some("begin with a noun or a verb");
    }
    rule_of_text(comment)
}

fn opens(comment: &str, opening: &str) -> bool {
    let rest = comment.strip_prefix(' ').and_then(|it| it.strip_prefix(opening));
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The rule that a line of text breaks, without what stands between backquotes.
fn rule_of_text(line: &str) -> Option<&'static str> {
    let line: String = line.split('`').step_by(2).collect();
    let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    let has = |word: &str| line.match_indices(word).any(|(at, _)| ends(&line[at + word.len()..]));
    WORDS.into_iter().any(has).then_some("write \"also\", or name the party")
}

#[cfg(test)]
mod tests {
    use super::{rule_of_code, rule_of_text};

    #[test]
    fn riddles_are_found_and_plain_words_are_not() {
        for line in
            ["/// What comes", "    //! The same, but", "let x; // it, too.", "/// for whoever"]
        {
            assert!(rule_of_code(line).is_some(), "{line}");
        }
        for line in ["/// Whatever comes", "//! The same lane", "// That is why", "let what = 1;"] {
            assert_eq!(rule_of_code(line), None, "{line}");
        }
        assert!(rule_of_text("Bytes, too, count.").is_some());
        assert_eq!(rule_of_text("It is so, tools say."), None);
    }
}
