//! Tests that the tables are the papers' tables, and that a table that is not fails.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{collections::BTreeSet, fs, path::Path};

use foxtrot_ot::{Backend, BackendError};
use foxtrot_papers::{base_ots, rlwe_paper::SETS};

use super::*;
use crate::{Benchmark, paper::processes};

#[test]
fn every_file_is_a_table_and_every_table_is_in_the_report() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/tables");
    let on_disk: BTreeSet<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let all = all().unwrap();
    assert_eq!(on_disk, all.iter().map(|table| table.id.to_owned()).collect());
    for table in &all {
        // Others' programs ran somewhere, and nobody should have to look for where.
        assert_eq!(table.machine.is_some(), table.paper == "Peers", "{}", table.id);
        let kinds = [!table.rows.is_empty(), !table.series.is_empty(), table.speedup.is_some()];
        assert_eq!(kinds.iter().filter(|it| **it).count(), 1, "{}", table.id);
        let keys: Vec<_> = table.columns.iter().map(|column| &column.key).collect();
        for row in &table.rows {
            let of_row = row.paper.keys().chain(row.counted.keys());
            assert!(of_row.clone().all(|key| keys.contains(&key)), "{} {}", table.id, row.label);
            assert!(row.counted.is_empty() || row.counter.is_some(), "{}", table.id);
            assert_eq!(row.bench.is_some(), row.n.is_some(), "{} {}", table.id, row.label);
        }
        for series in &table.series {
            let known = |key: &String| key.parse().is_ok_and(|x: usize| table.xs.contains(&x));
            assert!(series.paper.keys().all(known), "{} {}", table.id, series.label);
        }
    }
}

/// Every table whose text is not as it should be fails, whatever is wrong with it.
fn check(id: &'static str, text: &str) -> Result<(), String> {
    let table = parse(id, text).map_err(|e| e.message().to_owned())?;
    let (expected, found) = (shape::expected(id), shape::of(&table));
    if expected != found {
        return Err(format!("{id} should be\n{expected}and is\n{found}"));
    }
    names(&table)
}

/// Backends, base OTs and benchmarks are named as this program names them.
fn names(table: &Table) -> Result<(), String> {
    let benchmarks: BTreeSet<_> = Benchmark::all().map(|it| it.name()).collect();
    let bases: BTreeSet<_> = base_ots().map(|base| base.info().name).collect();
    let of_rows = table.rows.iter().flat_map(|row| [&row.bench, &row.against]);
    for bench in of_rows.chain(table.series.iter().map(|series| &series.bench)).flatten() {
        if !benchmarks.contains(bench) && bench != processes::NAME {
            return Err(format!("{}: there is no benchmark {bench}", table.id));
        }
    }
    for row in &table.rows {
        // Of a backend for another processor it is known that there is one.
        let backend = row.backend.as_deref().map(Backend::named);
        if let Some(Err(e @ BackendError::Unknown)) = backend {
            return Err(format!("{}: {e}: {:?}", table.id, row.backend));
        }
        if row.base.as_deref().is_some_and(|base| !bases.contains(base)) {
            return Err(format!("{}: there is no base OT {:?}", table.id, row.base));
        }
        let words = row.figure.is_some_and(Figure::is_words);
        if words && row.base_ot().is_none_or(|base| !bases.contains(base)) {
            return Err(format!("{}: no base OT has the words of {}", table.id, row.label));
        }
        let in_group =
            |it: &&Row| it.group == row.group && Some(&it.label) == row.baseline.as_ref();
        if row.baseline.is_some() && table.rows.iter().filter(in_group).count() != 1 {
            return Err(format!("{}: no row is the baseline of {}", table.id, row.label));
        }
    }
    Ok(())
}

#[test]
fn every_table_matches_its_paper_and_names_benchmarks_of_this_build() {
    for (id, text) in FILES {
        check(id, text).unwrap();
    }
    assert_eq!(FILES.len(), 27);
}

/// Writes down what the tables are, for a change of a table that is meant. What it changes is to be read before it is
/// committed.
#[test]
#[ignore = "writes shapes.txt"]
fn write_the_shapes() {
    let shapes: String = all().unwrap().iter().map(shape::of).collect();
    let path = "src/paper/tables/shapes.txt";
    fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(path), shapes).unwrap();
}

#[test]
fn a_table_that_has_lost_a_row_or_has_another_unit_number_or_name_fails() {
    for (id, text) in FILES {
        let fails = |what: &str, text: &str| assert!(check(id, text).is_err(), "{id}: {what}");
        let unnamed = |what: &str, text: &str| {
            assert!(names(&parse(id, text).unwrap()).is_err(), "{id}: {what}");
        };
        // What begins with `[[` ends where the next does.
        let starts: Vec<_> = text.match_indices("\n[[").map(|(at, _)| at).collect();
        for (i, start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(text.len());
            fails(&text[*start..end], &[&text[..*start], &text[end..]].concat());
        }
        let named = ["bench", "base", "backend", "against", "baseline", "counter"];
        let numbers = ["paper", "said"];
        for Line { key, value, at, line } in lines(text) {
            let with = |value: &str| replaced(text, at, line, &format!("{key} = {value}"));
            let typo = with(&value.replacen('"', "\"x", 1));
            if ["unit", "of", "quotient"].contains(&key) && in_a_part(text, at) {
                fails(line, &typo);
            }
            if named.contains(&key) && in_a_row_or_series(text, at) {
                // The protocol of what is counted is looked at here, the rest where it is counted.
                if key != "counter" || words_follow(&text[at..]) {
                    unnamed(line, &typo);
                }
            }
            if numbers.contains(&key) && value != "{}" {
                fails(line, &with("{}"));
            }
        }
    }
}

#[test]
fn a_table_whose_row_stands_beside_another_measurement_fails() {
    let mut changed = BTreeSet::new();
    for (id, text) in FILES {
        let table = parse(id, text).unwrap();
        for Line { key, value, at, line } in lines(text) {
            if !in_a_part(text, at) || value == "\"memory\"" {
                continue;
            }
            let Some(other) = another(&table, key, value.trim_matches('"')) else { continue };
            // No row of the table names what it is beside without the key, or with another value.
            for instead in ["".into(), format!("{key} = {other}")] {
                let found = parse(id, &replaced(text, at, line, &instead));
                let same = found.is_ok_and(|found| shape::of(&found) == shape::of(&table));
                assert!(!same, "{id}: {instead:?} for {line}");
            }
            assert!(parse(id, &replaced(text, at, line, &format!("{key} = {other}"))).is_ok());
            changed.insert(key);
        }
    }
    let keys = "against backend base baseline bench figure n over quotient";
    assert_eq!(changed, keys.split(' ').collect());
}

/// A value of that key that is as good, as it stands in a file. `None` if the key is not of what is measured.
fn another(table: &Table, key: &str, value: &str) -> Option<String> {
    let values: Vec<String> = match key {
        "n" => return Some((2 * value.parse::<usize>().unwrap()).to_string()),
        "bench" | "against" => Benchmark::all().map(|it| it.name()).collect(),
        "base" => base_ots().map(|base| base.info().name.into()).collect(),
        "backend" => ["portable", "avx2", "avx512", "neon"].map(Into::into).into(),
        "over" => ["memory", "tcp", "lan10", "lan1", "wan"].map(Into::into).into(),
        "figure" => ["cpu-us", "wall-ms", "sender-memory-mib"].map(Into::into).into(),
        "baseline" => table.rows.iter().map(|row| row.label.clone()).collect(),
        "quotient" => table.columns.iter().map(|column| column.key.clone()).collect(),
        _ => return None,
    };
    // The next one, often of the same kind.
    let at = values.iter().position(|it| it == value).map_or(0, |at| at + 1);
    let other = values.iter().cycle().skip(at).take(values.len()).find(|it| *it != value)?;
    Some(format!("\"{other}\""))
}

struct Line<'a> {
    key: &'a str,
    value: &'a str,
    /// Place of the line in the text.
    at: usize,
    line: &'a str,
}

/// Lines with a key.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), line.trim_end())
    });
    lines.filter_map(|(at, line)| {
        let (key, value) = line.split_once(" = ")?;
        Some(Line { key, value, at, line })
    })
}

/// The text with another line there.
fn replaced(text: &str, at: usize, line: &str, instead: &str) -> String {
    [&text[..at], instead, &text[at + line.len()..]].concat()
}

/// Returns true for a place behind the table's head.
fn in_a_part(text: &str, at: usize) -> bool {
    text[..at].contains("\n[")
}

fn in_a_row_or_series(text: &str, at: usize) -> bool {
    let head = text[..at].rfind("\n[").map(|head| &text[head..at]);
    head.is_some_and(|head| head.starts_with("\n[[row]]") || head.starts_with("\n[[series]]"))
}

/// Returns true if the row has words of a base OT.
fn words_follow(row: &str) -> bool {
    let row = row.split("\n[[").next().unwrap();
    row.contains("figure = \"security\"") || row.contains("figure = \"assumption\"")
}

#[test]
fn a_speed_up_needs_its_table_and_its_rows() {
    let all = all().unwrap();
    for speedup in all.iter().filter_map(|table| table.speedup.as_ref()) {
        let of = all.iter().find(|table| table.id == speedup.of).unwrap();
        assert!(of.columns.iter().any(|column| column.key == speedup.column));
        let baseline =
            |row: &&Row| row.group == speedup.baseline_group && row.label == speedup.baseline;
        assert_eq!(of.rows.iter().filter(baseline).count(), 1);
        for group in &speedup.groups {
            assert!(of.rows.iter().any(|row| row.group == *group), "{group}");
        }
    }
}

#[test]
fn the_papers_parameters_match_the_parameter_sets() {
    let bits = |x: f64| x.ceil();
    let table = all().unwrap().into_iter().find(|table| table.id == "triples-1").unwrap();
    assert_eq!(table.rows.len(), SETS.len());
    for (row, set) in table.rows.iter().zip(&SETS) {
        assert_eq!(row.counter.as_deref(), Some(set.name()));
        let log_q: f64 = set.primes().iter().map(|p| (*p as f64).log2()).sum();
        let log_p = set.plain().iter().map(|p| bits((*p as f64).log2())).fold(0.0, f64::max);
        assert_eq!(row.counted["q"], bits(log_q));
        assert_eq!(row.counted["p"], log_p);
        assert_eq!(row.counted["e"], set.plain().len() as f64);
        assert_eq!(row.counted["n"], set.n() as f64);
    }
}

#[test]
fn a_beginning_names_all_tables_of_a_paper_and_a_figure_brings_its_table() {
    let ids = |names: &[&str]| -> Vec<_> {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        select(&names).unwrap().iter().map(|table| table.id).collect()
    };
    assert_eq!(ids(&[]).len(), FILES.len());
    assert_eq!(ids(&["simplest"]), ["simplest-3", "simplest-4"]);
    assert_eq!(ids(&["roted-fig8"]), ["roted-4", "roted-fig8"]);
    assert!(select(&["roted-9".into()]).is_err());
}
