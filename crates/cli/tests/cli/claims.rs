//! The tables of `docs/claims.md`: a row for every protocol, cells that fit a line, and test files that there are.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use super::support::{foxtrot, root};

/// The most characters of a cell, but for the targets of links.
const WIDTH: usize = 60;

fn page() -> String {
    fs::read_to_string(root().join("docs/claims.md")).unwrap()
}

/// The cells of every row of every table, without the lines below headings.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    lines.map(|line| line.trim_matches('|').split(" |").map(str::trim).collect()).collect()
}

/// Returns the parts of a cell between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Compares a name with a pattern, of which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            let rest = name.strip_prefix(before);
            rest.is_some_and(|rest| rest.ends_with(after))
        }
        None => pattern == name,
    }
}

/// The cell without the targets of its links.
fn shown(cell: &str) -> String {
    let mut pieces = cell.split("](");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    pieces.for_each(|piece| out += piece.split_once(')').map_or(piece, |(_, rest)| rest));
    out.replace('[', "")
}

#[test]
fn every_protocol_has_one_row_that_matches_the_registry() {
    let out = foxtrot(&["protocols", "--json"]).output().unwrap();
    let all: Vec<Value> = serde_json::from_slice(&out.stdout).unwrap();
    let text = page();
    let claims: Vec<_> = rows(&text).into_iter().filter(|row| row.len() == 5).collect();
    let mut used = BTreeMap::new();
    for protocol in all {
        let text = |key: &str| protocol[key].as_str();
        let (name, adversary) = (text("name").unwrap(), text("adversary").unwrap());
        let pattern = |row: &[&str]| quoted(row[0]).next().unwrap_or_default().to_owned();
        let of_name = claims
            .iter()
            .enumerate()
            .filter(|(_, row)| row[2] == adversary && fits(&pattern(row), name));
        let fitting: Vec<_> = of_name.collect();
        let longest = fitting.iter().map(|(_, row)| pattern(row).len()).max();
        let longest = longest.unwrap_or_else(|| panic!("{name}, {adversary} has no row"));
        let best: Vec<_> =
            fitting.iter().filter(|(_, row)| pattern(row).len() == longest).collect();
        assert_eq!(best.len(), 1, "{name}, {adversary}");
        let (number, row) = best[0];
        used.insert(*number, name.to_owned());
        // Extensions have none in the registry. Triples' length is in their name.
        let Some(functionality) = text("functionality") else { continue };
        let functionality = functionality.split('^').next().unwrap();
        let rest = row[1].strip_prefix(functionality);
        let rest = rest.unwrap_or_else(|| panic!("{name}: {}", row[1]));
        let ends = rest.is_empty() || rest.starts_with([',', ';', ' ', '^']);
        assert!(ends && !rest.starts_with(" with abort"), "{name}: {}", row[1]);
    }
    let heads = claims.iter().filter(|row| row[0] == "protocol").count();
    assert_eq!(used.len() + heads, claims.len(), "a row of no protocol: {used:?}");
}

#[test]
fn the_cells_of_the_page_of_claims_fit_a_line() {
    for row in rows(&page()) {
        for cell in row {
            assert!(shown(cell).chars().count() <= WIDTH, "{cell}");
        }
    }
    assert_eq!(shown("own: [a](b.md), 4 and [c](d)"), "own: a, 4 and c");
}

#[test]
fn every_cited_test_file_and_page_exists() {
    let text = page();
    let (_, rest) = text.split_once("\n## Tests").unwrap();
    let (tests, commands) = rest.split_once("\n## Commands").unwrap();
    let mut files = 0;
    for row in rows(tests).into_iter().skip(1) {
        for file in quoted(row[1]) {
            assert!(root().join("crates").join(file).is_file(), "{file}");
            files += 1;
        }
    }
    assert!(files > 40, "{files}");
    for target in text.split("](").skip(1) {
        let target = target.split([')', '#']).next().unwrap();
        let there = target.starts_with("https://") || root().join("docs").join(target).exists();
        assert!(there, "{target}");
    }
    for script in quoted(commands).filter(|it| it.starts_with("fuzz/")) {
        let file = script.split(' ').next().unwrap();
        assert!(root().join(file).is_file(), "{file}");
    }
}

#[test]
fn the_page_of_all_protocols_matches_the_commands_output() {
    let page = fs::read_to_string(root().join("docs/protocols/README.md")).unwrap();
    let out = foxtrot(&["protocols", "--markdown"]).output().unwrap();
    // `foxtrot protocols --markdown > docs/protocols/README.md` makes it so.
    assert_eq!(String::from_utf8(out.stdout).unwrap(), page);
}

#[test]
fn the_list_of_families_fits_a_terminal() {
    let out = foxtrot(&["protocols"]).output().unwrap();
    let list = String::from_utf8(out.stdout).unwrap();
    assert!(
        list.lines().count() < 40 && list.lines().all(|it| it.chars().count() <= 100),
        "{list}"
    );
    let json = foxtrot(&["protocols", "--json"]).output().unwrap();
    let all: Value = serde_json::from_slice(&json.stdout).unwrap();
    for protocol in all.as_array().unwrap() {
        let family = protocol["family"].as_str().unwrap();
        let rows = list.lines().filter(|it| it.split_whitespace().next() == Some(family));
        assert_eq!(rows.count(), 1, "{family}: {list}");
    }
}

#[test]
fn a_name_or_a_family_says_everything_about_its_protocols() {
    let out = |name| foxtrot(&["protocols", name]).output().unwrap();
    let of = |name| String::from_utf8(out(name).stdout).unwrap();
    let roted = of("roted");
    assert!(roted.starts_with("roted\n") && roted.contains("\nroted-endemic\n"), "{roted}");
    assert!(roted.contains("core-SVP 164 classical"), "{roted}");
    let kos = of("kos-two-round");
    assert!(kos.contains("base OTs    ") && !kos.contains("\nkos\n"), "{kos}");
    assert_eq!(out("nonsense").status.code(), Some(2));
}
