//! Checks of what documents say about the program: its error texts, and its version.

use std::fs;

use crate::tools;

/// Beginning of the heading of sections whose tables begin their rows with texts of the program: "If it fails".
const SECTION: &str = "## If ";

/// The tracked files of these patterns, with their text.
fn files(patterns: &str) -> Vec<(String, String)> {
    let list = tools::stdout(&mut tools::command("git", &format!("ls-files {patterns}"))).unwrap();
    let list = String::from_utf8(list).unwrap();
    list.lines()
        .map(|it| (it.to_owned(), fs::read_to_string(tools::root().join(it)).unwrap()))
        .collect()
}

/// The source with literals in one line, and `…` for each value that is put into a text.
fn texts(source: &str) -> String {
    let mut joined = source.split("\\\n");
    let mut text = joined.next().unwrap_or_default().to_owned();
    joined.for_each(|line| text += line.trim_start());
    let mut pieces = text.split('{');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let value = |it: &str| it.chars().all(|c| c.is_alphanumeric() || "_:?".contains(c));
        match piece.split_once('}') {
            Some((name, rest)) if value(name) => out.extend(["…", rest]),
            _ => out.extend(["{", piece]),
        }
    }
    out
}

/// The texts between backquotes in the first cell of each row of these sections.
fn quoted(page: &str) -> Vec<&str> {
    let mut within = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.starts_with("## ") {
            within = line.starts_with(SECTION);
        } else if let (true, Some(row)) = (within, line.strip_prefix("| ")) {
            found.extend(row.split(" |").next().unwrap_or_default().split('`').skip(1).step_by(2));
        }
    }
    found
}

/// The numbers behind these words, as in "version 0.2".
fn numbers<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(word).skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        number.contains('.').then_some(number)
    })
}

#[test]
fn every_error_text_that_a_guide_quotes_is_the_programs() {
    let sources = files("crates/*/src/*.rs crates/wasm/page/texts.js");
    let sources: String = sources.iter().map(|(_, text)| texts(text)).collect();
    let mut checked = 0;
    for (page, text) in files("docs/*.md") {
        for quote in quoted(&text) {
            assert!(sources.contains(quote), "{page}: no source has `{quote}`");
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked}");
}

#[test]
fn values_in_texts_become_ellipses() {
    let source = "a => \"the {peer} has \\\n         {} keys\"; fn f() { 1 }";
    assert_eq!(texts(source), "a => \"the … has … keys\"; fn f() { 1 }");
    let page = "## If it fails\n\n| a | b |\n| `c … d` | `e` |\n## Next\n\n| `f` | g |\n";
    assert_eq!(quoted(page), ["c … d"]);
}

#[test]
fn every_document_that_names_foxtrots_version_names_the_manifests() {
    let manifest = tools::read("Cargo.toml").unwrap();
    let version = numbers(&manifest, "version = \"").next().unwrap();
    let minor = version.rsplit_once('.').unwrap().0;
    let mut named = 0;
    let all =
        "README.md SECURITY.md CITATION.cff crates/*README.md docs/README.md docs/explanation/*.md";
    for (file, text) in files(all) {
        let words = ["Version ", "version ", "\nversion: ", "foxtrot-mpc = \""];
        for number in words.iter().flat_map(|word| numbers(&text, word)) {
            assert!(number == version || number == minor, "{file}: {number}, not {minor}");
            named += 1;
        }
    }
    assert!(named > 10, "{named}");
}
