//! `foxtrot-bench summary`: the headlines of records, for `docs/performance.md`.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use foxtrot_cli::shared::Failure;

use super::{
    figure::Figure,
    fill::ELSEWHERE,
    numbers::{number, ratio},
    record::{TABLES, fields},
    tables::{self, Row, Series, Table},
};

mod peers;

pub(crate) use peers::FILE as SIDE_BY_SIDE;

/// The markers around the summary in a file.
const MARKERS: [&str; 2] = ["<!-- bench summary -->", "<!-- end of bench summary -->"];

/// Prints the summary, or puts it between the markers of a file: each table's from the newest record that has it.
pub(crate) fn run(records: &Path, splice: Option<&Path>) -> Result<(), Failure> {
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

/// The numbers of a record, and its name.
struct Record {
    name: String,
    /// Rows of the papers' tables.
    lines: Vec<Vec<String>>,
    /// Rows of other programs that ran beside ours.
    peers: Vec<Vec<String>>,
}

impl Record {
    fn link(&self) -> String {
        format!("[{0}](../bench/record/{0})", self.name)
    }
}

/// The summary of the records under `records`, of which the one whose name is the last is the newest.
fn of_newest(records: &Path) -> Result<String, Failure> {
    let mut all = read(records)?;
    if all.is_empty() {
        return Err(Failure::usage(format!("{} has no record of the tables", records.display()))
            .hint("`foxtrot-bench paper --record FOLDER` makes one"));
    }
    all.sort_by(|a, b| b.name.cmp(&a.name));
    Ok(summary(&tables::all()?, &all) + &peers::summary(&all))
}

fn read(records: &Path) -> Result<Vec<Record>, Failure> {
    let mut all = Vec::new();
    for entry in fs::read_dir(records).map_err(|e| Failure::reading(records, &e))? {
        let folder = entry.map_err(|e| Failure::reading(records, &e))?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (lines, peers) = (lines(&folder.join(TABLES))?, lines(&folder.join(peers::FILE))?);
        let record = Record { name, lines, peers };
        if !record.lines.is_empty() || !record.peers.is_empty() {
            all.push(record);
        }
    }
    Ok(all)
}

/// The fields of all lines behind the head; none if there is no such file.
fn lines(path: &Path) -> Result<Vec<Vec<String>>, Failure> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).map_err(|e| Failure::reading(path, &e))?;
    Ok(text.lines().skip(1).map(fields).collect())
}

/// A line for each paper: of every headline the first column that has both numbers. A headline that no record has
/// is left out. The newest record comes first.
///
/// Times are ours alone, as those beside them are of another machine: a ratio would be one of machines as well. Numbers
/// that are the same on every machine stand beside theirs.
fn summary(tables: &[Table], records: &[Record]) -> String {
    let mut papers: Vec<(&str, Vec<String>)> = Vec::new();
    let mut used = Vec::new();
    for table in tables.iter().filter(|table| table.machine.is_none()) {
        let has = |record: &&Record| record.lines.iter().any(|line| line[0] == table.id);
        let Some(record) = records.iter().find(has) else { continue };
        let found = headlines(table).filter_map(|headline| entry(table, &headline, record));
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            continue;
        }
        let link = record.link();
        if !used.contains(&link) {
            used.push(link);
        }
        match papers.iter_mut().find(|(paper, _)| *paper == table.paper) {
            Some((_, entries)) => entries.extend(found),
            None => papers.push((&table.paper, found)),
        }
    }
    let used = used.join(" and ");
    let head = format!("| | Foxtrot, of {used}; of two numbers, theirs → Foxtrot |\n|---|---|\n");
    let rows =
        papers.iter().map(|(name, entries)| format!("| {name} | {} |\n", entries.join("; ")));
    head + &rows.collect::<String>()
}

/// The row that stands for a table, and its place.
struct Headline<'a> {
    group: &'a str,
    label: &'a str,
    x: Option<usize>,
    text: &'a str,
    /// Another figure than that of the columns.
    figure: Option<Figure>,
}

fn headlines(table: &Table) -> impl Iterator<Item = Headline<'_>> {
    let rows = table.rows.iter().filter_map(|Row { group, label, headline, figure, .. }| {
        Some(Headline { group, label, x: None, text: headline.as_ref()?, figure: *figure })
    });
    let series =
        table.series.iter().filter_map(|Series { group, label, headline, figure, .. }| {
            let x = table.xs.last().copied();
            Some(Headline { group, label, x, text: headline.as_ref()?, figure: Some(*figure) })
        });
    rows.chain(series)
}

fn entry(table: &Table, headline: &Headline<'_>, record: &Record) -> Option<String> {
    record.lines.iter().find_map(|line| {
        let [id, _, group, label, n, title, unit, paper, ours, .., quotient, _, _] =
            line.as_slice()
        else {
            return None;
        };
        let group = group.split(ELSEWHERE).next();
        let there = id == table.id && label == headline.label && group == Some(headline.group);
        if !there || headline.x.is_some_and(|x| *n != x.to_string()) {
            return None;
        }
        let [Some(paper), Some(ours), Some(quotient)] =
            [paper, ours, quotient].map(|number| number.parse::<f64>().ok())
        else {
            return None;
        };
        let column = table.columns.iter().find(|column| column.title == *title);
        let figure = headline.figure.or(column.map(|column| column.figure));
        let (theirs, ours, quotient) = (number(paper), number(ours), ratio(quotient));
        let what = format!("{}, {}", table.name, headline.text);
        Some(match figure.is_some_and(Figure::is_exact) {
            true => format!("{what}: {theirs} → {ours} {unit} ({quotient})"),
            false => format!("{what}: {ours} {unit}"),
        })
    })
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
    fn the_page_on_performance_has_the_summary_of_the_records() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let page = fs::read_to_string(root.join("docs/performance.md")).unwrap();
        let text = of_newest(&root.join("bench/record")).unwrap();
        assert!(text.lines().count() > 3, "{text}");
        // `foxtrot-bench summary bench/record --splice docs/performance.md` makes it so.
        assert_eq!(spliced(&page, &text), Some(page));
    }

    fn table(id: &'static str, text: &str) -> Table {
        let head = "paper = 'Paper'\ntitle = ''\nsetting = ''\nours = ''\nanalysis = ''\n";
        Table { id, ..toml::from_str(&format!("{head}{text}")).unwrap() }
    }

    fn record(name: &str, lines: &[&str]) -> Record {
        let lines = lines.iter().map(|line| fields(line)).collect();
        Record { name: name.into(), lines, peers: Vec::new() }
    }

    #[test]
    fn a_summary_has_the_headlines_each_of_the_newest_record_that_has_its_table() {
        let tables = [
            table(
                "a",
                "name = 'A'\n[[row]]\nlabel = 'one'\nheadline = 'first'\n[[row]]\nlabel = 'two'\n\
                 [[row]]\ngroup = 'g'\nlabel = 'one'\nheadline = 'second'\n\
                 [[row]]\nlabel = 'size'\nheadline = 'third'\nfigure = 'bytes'\n",
            ),
            table(
                "b",
                "name = 'B'\nxs = [4, 8]\n[[series]]\nlabel = 'one'\nfigure = 'cpu-us'\nheadline = 'last'\n",
            ),
            table(
                "c",
                "name = 'C'\nmachine = 'another'\n[[row]]\nlabel = 'one'\nheadline = 'not said'\n",
            ),
        ];
        let new = record(
            "2",
            &[
                "a,A,,one,,bytes,B,,6,6,6,3,measured,,,",
                "a,A,,one,,time,ms,12,3,2,4,3,measured,4,,old words",
                "a,A,,size,,all,bytes,12,3,3,3,3,measured,4,,",
                "c,C,,one,,time,ms,12,3,2,4,3,measured,4,,",
            ],
        );
        let old = record(
            "1",
            &[
                "a,A,,one,,time,ms,12,6,2,4,3,measured,2,,",
                "b,B,; ours on another processor,one,4,time,ms,6,6,2,4,3,measured,1,,",
                "b,B,; ours on another processor,one,8,time,ms,6,3,2,4,3,measured,2,,",
            ],
        );
        let text = summary(&tables, &[new, old]);
        let used = "[2](../bench/record/2) and [1](../bench/record/1)";
        let head =
            format!("| | Foxtrot, of {used}; of two numbers, theirs → Foxtrot |\n|---|---|\n");
        // Times stand alone, bytes beside theirs; of a table that another machine made nothing is said.
        let row = "| Paper | A, first: 3 ms; A, third: 12 → 3 bytes (× 4); B, last: 3 ms |\n";
        assert_eq!(text, format!("{head}{row}"));
    }

    #[test]
    fn a_summary_goes_between_the_markers() {
        let [begin, end] = MARKERS;
        let old = format!("a\n{begin}\nold\n{end}\nb\n");
        assert_eq!(spliced(&old, "new\n"), Some(format!("a\n{begin}\nnew\n{end}\nb\n")));
        assert_eq!(spliced("a", "new"), None);
    }
}
