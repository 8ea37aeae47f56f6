//! The tables of `docs/claims.md`: a row for every protocol, that says what the registry says, and test files that there are.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use super::support::{foxtrot, root};

/// The cells of every row of a table with that many columns, without the heads.
fn rows(text: &str, columns: usize) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let rows = text.lines().filter(|line| line.starts_with("| `")).map(cells);
    rows.inspect(|row| assert_eq!(row.len(), columns, "{}", row[0])).collect()
}

/// What stands between backquotes.
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
fn every_protocol_has_one_row_that_says_what_the_registry_says() {
    let out = foxtrot(&["protocols", "--json"]).output().unwrap();
    let all: Vec<Value> = serde_json::from_slice(&out.stdout).unwrap();
    let mut claimed = BTreeMap::new();
    for row in rows(&parts()[0], 8) {
        for name in quoted(&row[0]) {
            let key = (name.to_owned(), row[2].clone());
            assert!(claimed.insert(key, row.clone()).is_none(), "{name} has two rows");
        }
        assert!(row.iter().all(|cell| !cell.is_empty()), "{}", row[0]);
    }
    assert_eq!(claimed.len(), all.len());
    for protocol in all {
        let text = |key: &str| protocol[key].as_str();
        let (name, adversary) = (text("name").unwrap(), text("adversary").unwrap());
        let key = (name.to_owned(), adversary.to_owned());
        let row = claimed.get(&key).unwrap_or_else(|| panic!("{name}, {adversary} has no row"));
        assert_eq!(row[3], text("assumption").unwrap(), "{name}");
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
fn every_test_file_and_every_page_is_there() {
    let [tables, commands] = parts();
    for row in rows(&tables, 8) {
        let mut files = quoted(&row[6]).peekable();
        assert!(files.peek().is_some(), "{}", row[0]);
        for file in files {
            assert!(root().join("crates").join(file).is_file(), "{file}");
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

/// Which protocols each number of bytes in the table of `docs/protocols/README.md` is of, by the first name of the row.
const BYTES: [(&str, &[&[&str]]); 15] = [
    ("roted", &[&["roted"]]),
    ("roted-endemic", &[&["roted-endemic"]]),
    (
        "mcquoid-rosulek-roy:feistel:moeller",
        &[
            &[
                "mcquoid-rosulek-roy:feistel:moeller",
                "mcquoid-rosulek-roy:feistel:elligator",
                "mcquoid-rosulek-roy:feistel:ristretto",
                "mcquoid-rosulek-roy:masny-rindal:moeller",
                "mcquoid-rosulek-roy:masny-rindal:elligator",
                "mcquoid-rosulek-roy:masny-rindal:ristretto",
            ],
            &[
                "mcquoid-rosulek-roy:even-mansour:moeller",
                "mcquoid-rosulek-roy:even-mansour:elligator",
                "mcquoid-rosulek-roy:eke:moeller",
                "mcquoid-rosulek-roy:eke:elligator",
            ],
            &[
                "mcquoid-rosulek-roy:feistel2:moeller",
                "mcquoid-rosulek-roy:feistel2:elligator",
                "mcquoid-rosulek-roy:feistel2:ristretto",
            ],
        ],
    ),
    ("masny-rindal", &[&["masny-rindal"], &["masny-rindal-reuse"]]),
    ("csw", &[&["csw"]]),
    ("chou-orlandi", &[&["chou-orlandi"], &["chou-orlandi:chosen"], &["naor-pinkas"]]),
    ("bdgm", &[&["bdgm"], &["pvw"]]),
    ("rot-from-ot:bdgm", &[&["rot-from-ot:bdgm"], &["rot-from-ot:pvw"]]),
    ("softspoken-1", &[&["softspoken-1"], &["softspoken-8", "softspoken-8-semi-honest"]]),
    ("kos", &[&["kos", "iknp"]]),
    ("kos-two-round", &[&["kos-two-round"]]),
    ("oos", &[&["oos"], &["oos-802"], &["kkrt"]]),
    ("paxos", &[&["paxos, malicious"], &["paxos, semi-honest"]]),
    (
        "rlwe-8",
        &[
            &["rlwe-8"],
            &["rlwe-16"],
            &["rlwe-32"],
            &["rlwe-64"],
            &["rlwe-lift-8"],
            &["rlwe-lift-16"],
            &["rlwe-lift-32"],
            &["rlwe-lift-64"],
        ],
    ),
    ("gilboa-8", &[&["gilboa-8"], &["gilboa-16"], &["gilboa-32"], &["gilboa-64"]]),
];

/// The numbers in a cell, as they stand there.
fn numbers(cell: &str) -> Vec<&str> {
    cell.split([',', ';', ' ']).filter(|it| it.parse::<f64>().is_ok()).collect()
}

#[test]
fn the_table_of_protocols_has_the_bytes_that_the_command_prints() {
    let out = foxtrot(&["protocols", "--json"]).output().unwrap();
    let all: Vec<Value> = serde_json::from_slice(&out.stdout).unwrap();
    let keys =
        ["bytes_per_ot_128", "bytes_per_ot_1048576", "bytes_per_key_1048576", "bytes_per_triple"];
    let bytes = |name: &str| -> f64 {
        let (name, adversary) = name.split_once(", ").map_or((name, None), |it| (it.0, Some(it.1)));
        let named = |it: &&Value| {
            it["name"] == name && adversary.is_none_or(|adversary| it["adversary"] == adversary)
        };
        let protocol = all.iter().find(named).unwrap_or_else(|| panic!("there is no {name}"));
        keys.iter().find_map(|key| protocol[key].as_f64()).unwrap()
    };
    let page = fs::read_to_string(root().join("docs/protocols/README.md")).unwrap();
    let (table, _) = page.split_once("\n## Defaults").unwrap();
    let rows = rows(table, 6);
    let expected: BTreeMap<_, _> = BYTES.into_iter().collect();
    assert_eq!(rows.len(), expected.len());
    for row in rows {
        let of = expected[quoted(&row[0]).next().unwrap()];
        let numbers = numbers(&row[4]);
        assert_eq!(numbers.len(), of.len(), "{}", row[4]);
        for (number, names) in numbers.iter().zip(of) {
            let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            for name in *names {
                assert_eq!(*number, format!("{:.decimals$}", bytes(name)), "{name}");
            }
        }
    }
}
