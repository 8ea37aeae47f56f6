//! `foxtrot bench summary`: the headlines of a record, for the README.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    numbers::{number, ratio},
    record::{TABLES, fields},
};
use crate::failure::Failure;

/// What stands around the summary in a file.
const MARKERS: [&str; 2] = ["<!-- bench summary -->", "<!-- end of bench summary -->"];

/// Prints the summary of the newest record, or puts it between the markers of a file.
pub(in crate::cmd::bench) fn run(records: &Path, splice: Option<&Path>) -> Result<(), Failure> {
    let text = of_newest(records)?;
    let Some(file) = splice else {
        return write!(io::stdout().lock(), "{text}").map_err(|e| Failure::stdout(&e));
    };
    let old = fs::read_to_string(file).map_err(|e| Failure::reading(file, &e))?;
    let new = spliced(&old, &text).ok_or_else(|| {
        let [begin, end] = MARKERS;
        Failure::usage(format!("{} has no {begin} with {end} behind it", file.display()))
    })?;
    fs::write(file, new).map_err(|e| Failure::writing(file, &e))
}

/// The summary of that record under `records` whose name is the last.
fn of_newest(records: &Path) -> Result<String, Failure> {
    let folder = newest(records).map_err(|e| Failure::reading(records, &e))?.ok_or_else(|| {
        Failure::usage(format!("{} has no record of the tables", records.display()))
            .hint("`foxtrot bench paper --record FOLDER` makes one")
    })?;
    let path = folder.join(TABLES);
    let tables = fs::read_to_string(&path).map_err(|e| Failure::reading(&path, &e))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(table(&tables, &name))
}

fn newest(records: &Path) -> io::Result<Option<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(records)? {
        let path = entry?.path();
        if path.join(TABLES).is_file() {
            all.push(path);
        }
    }
    Ok(all.into_iter().max())
}

/// A line for each paper: of every headline the first column that has both numbers.
fn table(tables: &str, record: &str) -> String {
    let mut papers: Vec<(String, Vec<String>)> = Vec::new();
    let mut seen = Vec::new();
    for line in tables.lines().skip(1) {
        let all = fields(line);
        let [_, title, _, label, n, _, unit, paper, ours, .., quotient, _, headline] =
            all.as_slice()
        else {
            continue;
        };
        let numbers = [paper, ours, quotient].map(|x| x.parse::<f64>().ok());
        let [Some(paper), Some(ours), Some(quotient)] = numbers else { continue };
        let key = (title.clone(), label.clone(), n.clone(), headline.clone());
        if headline.is_empty() || seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let (name, table) = title.split_once(", ").unwrap_or((title, ""));
        let (theirs, ours) = (number(paper), number(ours));
        let entry = format!("{table}, {headline}: {theirs} → {ours} {unit} ({})", ratio(quotient));
        match papers.iter_mut().find(|(paper, _)| paper == name) {
            Some((_, entries)) => entries.push(entry),
            None => papers.push((name.into(), vec![entry])),
        }
    }
    let head =
        format!("| | theirs → Foxtrot, record [{record}](bench/record/{record}) |\n|---|---|\n");
    let rows =
        papers.iter().map(|(name, entries)| format!("| {name} | {} |\n", entries.join("; ")));
    head + &rows.collect::<String>()
}

fn spliced(old: &str, text: &str) -> Option<String> {
    let [begin, end] = MARKERS;
    let (before, rest) = old.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{text}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_the_summary_of_the_newest_record() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let readme = fs::read_to_string(root.join("README.md")).unwrap();
        let text = of_newest(&root.join("bench/record")).unwrap();
        assert!(text.lines().count() > 3, "{text}");
        // `foxtrot bench summary bench/record --splice README.md` makes it so.
        assert_eq!(spliced(&readme, &text), Some(readme));
    }

    #[test]
    fn a_summary_has_the_headlines_and_goes_between_the_markers() {
        let line = |title, label, column, numbers, headline| {
            format!("t,\"Paper, {title}\",here,{label},8,{column},{numbers},,{headline}\n")
        };
        let tables = "head\n".to_owned()
            + &line("Table 1", "one", "time,ms", "12,3,2,4,measured,4", "first")
            + &line("Table 1", "one", "bytes,kB", "12,6,6,6,measured,2", "first")
            + &line("Table 1", "two", "time,ms", "12,3,2,4,measured,4", "")
            + &line("Table 1", "three", "time,ms", ",3,2,4,measured,", "third")
            + &line("Table 2", "four", "time,ms", "6,3,2,4,measured,2", "fourth");
        let text = table(&tables, "2026-01-01-x");
        let row = "| Paper | Table 1, first: 12 → 3 ms (× 4); Table 2, fourth: 6 → 3 ms (× 2) |\n";
        assert!(text.ends_with(row), "{text}");
        let [begin, end] = MARKERS;
        let old = format!("a\n{begin}\nold\n{end}\nb\n");
        assert_eq!(spliced(&old, "new\n"), Some(format!("a\n{begin}\nnew\n{end}\nb\n")));
        assert_eq!(spliced("a", "new"), None);
    }
}
