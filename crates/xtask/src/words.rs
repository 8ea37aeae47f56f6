//! The mechanical rules of plain words, in documents, comments, messages and names of tests; and spelling.

use std::{fs, path::Path};

use crate::tools::{self, Result};

/// First words of a doc comment that are no noun and no verb.
const OPENINGS: [&str; 17] = [
    "As", "By", "How", "It", "Of", "So", "That", "The same", "Those", "What", "Where", "Whether",
    "Which", "Who", "Whoever", "Whom", "Whose",
];

/// Words for which there is a plainer one: "also", "caller", "peer", "receiver".
const WORDS: [&str; 3] = [", too", "whoever", "Whoever"];

/// First words of a test's name that leave a stranger guessing.
const BEGINNINGS: [&str; 6] = ["it_", "that_", "those_", "what_", "who_", "whoever_"];

/// Words of a test's name that stand for a plainer one: "match", "also".
const WITHIN: [&str; 4] = ["_is_that_of_", "_are_those_of_", "_whoever_", "_does_not_do_"];

/// A file whose words stand in vectors, which do not change; and this file, which quotes what it finds.
const EXEMPT: [&str; 2] = ["reference/src/bin/vectors/paxos.rs", "crates/xtask/src/words.rs"];

/// Names every line that breaks a rule, then runs `typos`.
pub(crate) fn run() -> Result {
    let mut broken = 0;
    let files = tools::stdout(&mut tools::command("git", "ls-files *.md *.rs"))?;
    for file in String::from_utf8_lossy(&files).lines() {
        if EXEMPT.iter().any(|beginning| file.starts_with(beginning)) {
            continue;
        }
        let Ok(text) = fs::read_to_string(tools::root().join(file)) else { continue };
        let is_code = Path::new(file).extension().is_some_and(|it| it == "rs");
        let mut before = "";
        for (number, line) in text.lines().enumerate() {
            let rule = if is_code { rule_of_code(before, line) } else { rule_of_text(line) };
            if let Some(rule) = rule {
                println!("{file}:{}: {rule}: {}", number + 1, line.trim());
                broken += 1;
            }
            before = line;
        }
    }
    if broken > 0 {
        return tools::failed(format_args!("{broken} lines"));
    }
    let there = tools::succeeds(&mut tools::command("typos", "--version"));
    tools::needs(there, "there is no typos: cargo install --locked typos-cli")?;
    tools::run(&mut tools::command("typos", "--format brief"))
}

/// The rule that a line of Rust breaks, behind the line before it.
fn rule_of_code(before: &str, line: &str) -> Option<&'static str> {
    let begins = |it: &str| OPENINGS.iter().any(|opening| opens(it, opening));
    if doc(before).is_none() && doc(line).is_some_and(begins) {
        return Some("begin with a noun or a verb");
    }
    if test(line).is_some_and(is_riddle) {
        return Some("say what the test checks");
    }
    rule_of_text(line)
}

/// The text of a line of a doc comment.
fn doc(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
    (!text.starts_with('/')).then_some(text)
}

fn opens(comment: &str, opening: &str) -> bool {
    let rest = comment.strip_prefix(' ').and_then(|it| it.strip_prefix(opening));
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The name of a function without arguments, or of a law that is stamped onto every backend.
fn test(line: &str) -> Option<&str> {
    let line = line.trim();
    let function = line.strip_prefix("fn ").and_then(|it| it.split_once("()"));
    let law = line.strip_suffix(';').and_then(|it| it.split_once(" => "));
    function.or(law).map(|(name, _)| name)
}

fn is_riddle(name: &str) -> bool {
    BEGINNINGS.iter().any(|it| name.starts_with(it))
        || WITHIN.iter().any(|it| name.contains(it))
        || name.ends_with("_too")
}

/// The rule that a line of text breaks, without what stands between backquotes.
fn rule_of_text(line: &str) -> Option<&'static str> {
    let line: String = line.split('`').step_by(2).collect();
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let has = |word: &str| line.match_indices(word).any(|(at, _)| ends(&line[at + word.len()..]));
    let at_the_end = |mark: &str| line.contains(&format!(" too{mark}"));
    let is_there = WORDS.into_iter().any(has) || [".", ";", ":", ")"].into_iter().any(at_the_end);
    is_there.then_some("write \"also\", or name the party")
}

#[cfg(test)]
mod tests {
    use super::{rule_of_code, rule_of_text};

    #[test]
    fn riddles_are_found_and_plain_words_are_not() {
        for line in [
            "/// What comes",
            "    //! The same, but",
            "/// How many there are.",
            "let x; // it, too.",
            "/// for whoever",
            "\"it is read, too\"",
            "    fn what_is_left_stays() {",
            "fn the_names_are_those_of_the_page() {",
            "    it_doubles => doubling;",
            "fn a_server_stops_too() {",
        ] {
            assert!(rule_of_code("", line).is_some(), "{line}");
        }
        for line in [
            "/// Whatever comes",
            "//! This lane",
            "// That is why",
            "let what = 1;",
            "let what_is_left = rest(a, too_large);",
            "fn what_is_left(of: &str) {",
            "    doubles_are_right => doubling;",
        ] {
            assert_eq!(rule_of_code("", line), None, "{line}");
        }
        assert_eq!(rule_of_code("/// The lane that knows", "/// what comes next."), None);
        assert_eq!(rule_of_code("    /// It is long:", "    /// What comes"), None);
        assert!(rule_of_text("Bytes, too, count.").is_some());
        assert!(rule_of_text("Bytes count too.").is_some());
        assert_eq!(rule_of_text("It is so, tools say, that two are too few."), None);
    }
}
