//! The tables and notes of `docs/claims.md`: a row for every protocol, a note that says what the registry says, and test
//! files that there are.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use super::support::{foxtrot, root};

/// The most characters of a line, but for links.
const WIDTH: usize = 140;

/// The cells of every row: protocol, what it realises, adversary, name of its note.
fn rows(text: &str) -> Vec<[String; 4]> {
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split(" | ");
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    rows.map(|row| cells(row).try_into().unwrap_or_else(|_| panic!("{row}"))).collect()
}

/// The entries of every note, `* Proof: …`, by the note's name.
fn notes(text: &str) -> BTreeMap<&str, BTreeMap<&str, String>> {
    let mut notes = BTreeMap::<_, BTreeMap<_, String>>::new();
    let (mut name, mut entry) = (None, "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("**") {
            name = rest.strip_suffix("**");
        } else if let (Some(name), Some((key, text))) =
            (name, line.strip_prefix("* ").and_then(|it| it.split_once(": ")))
        {
            entry = key;
            let before = notes.entry(name).or_default().insert(key, text.to_owned());
            assert_eq!(before, None, "{name}, {key}");
        } else if let (Some(name), Some(more)) = (name, line.strip_prefix("  ")) {
            let text = notes.get_mut(name).and_then(|it| it.get_mut(entry)).unwrap();
            *text = format!("{text} {more}");
        } else {
            name = None;
        }
    }
    notes
}

/// Returns the parts of a cell between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The tables of protocols, and that of commands.
fn parts() -> [String; 2] {
    let text = fs::read_to_string(root().join("docs/claims.md")).unwrap();
    let (tables, commands) = text.split_once("## Commands").unwrap();
    [tables.to_owned(), commands.to_owned()]
}

#[test]
fn every_protocol_has_one_row_that_matches_the_registry() {
    let out = foxtrot(&["protocols", "--json"]).output().unwrap();
    let all: Vec<Value> = serde_json::from_slice(&out.stdout).unwrap();
    let [tables, _] = parts();
    let notes = notes(&tables);
    let mut claimed = BTreeMap::new();
    for row in rows(&tables) {
        let name = quoted(&row[0]).next().unwrap().to_owned();
        let key = (name, row[2].clone());
        assert!(claimed.insert(key, row.clone()).is_none(), "{} has two rows", row[0]);
    }
    assert_eq!(claimed.len(), all.len());
    for protocol in all {
        let text = |key: &str| protocol[key].as_str();
        let (name, adversary) = (text("name").unwrap(), text("adversary").unwrap());
        let key = (name.to_owned(), adversary.to_owned());
        let row = claimed.get(&key).unwrap_or_else(|| panic!("{name}, {adversary} has no row"));
        let note = notes.get(&row[3][..]).unwrap_or_else(|| panic!("no note {}", row[3]));
        assert_eq!(note["Assumption"], format!("{}.", text("assumption").unwrap()), "{name}");
        // Extensions have none in the registry. Triples' length is in their name.
        let Some(functionality) = text("functionality") else { continue };
        let functionality = functionality.split('^').next().unwrap();
        let rest = row[1].strip_prefix(functionality);
        let rest = rest.unwrap_or_else(|| panic!("{name}: {}", row[1]));
        let ends = rest.is_empty() || rest.starts_with([',', ';', ' ', '^']);
        assert!(ends && !rest.starts_with(" with abort"), "{name}: {}", row[1]);
    }
}

#[test]
fn the_page_of_claims_has_short_lines() {
    for line in parts().iter().flat_map(|text| text.lines()) {
        let alone = line.trim_start().starts_with("([") && line.matches(' ').count() <= 2;
        assert!(line.chars().count() <= WIDTH || alone, "{line}");
    }
}

#[test]
fn every_cited_test_file_and_page_exists() {
    let [tables, commands] = parts();
    let notes = notes(&tables);
    assert!(notes.len() > 30, "{}", notes.len());
    for (name, note) in &notes {
        for key in ["Proof", "Not proved"] {
            assert!(note.contains_key(key), "{name}: {key}");
        }
        let mut files = quoted(&note["Tests"]).peekable();
        assert!(files.peek().is_some(), "{name}");
        for file in files {
            assert!(root().join("crates").join(file).is_file(), "{name}: {file}");
        }
    }
    for target in [&tables, &commands].into_iter().flat_map(|text| text.split("](").skip(1)) {
        let target = target.split(')').next().unwrap();
        let there = target.starts_with("https://") || root().join("docs").join(target).exists();
        assert!(there, "{target}");
    }
    for script in quoted(&commands).filter(|it| it.starts_with(".ci/") || it.starts_with("fuzz/")) {
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
