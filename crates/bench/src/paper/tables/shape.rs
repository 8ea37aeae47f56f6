//! The paper's part of a table, and our part beside it, as text: columns with their units, groups with their rows,
//! the numbers, and which of our benchmarks they are compared with.

use std::fmt::Write;

use super::{Between, Row, Table, at_x};
use crate::over::Over;

/// All tables, written down once more.
const EXPECTED: &str = include_str!("shapes.txt");

/// Returns the expected text of a table.
pub(super) fn expected(id: &str) -> String {
    let head = format!("= {id}: ");
    let lines = EXPECTED.lines().skip_while(|line| !line.starts_with(&head));
    let table = lines.enumerate().take_while(|(i, line)| *i == 0 || !line.starts_with("= "));
    table.map(|(_, line)| format!("{line}\n")).collect()
}

/// Returns the text of a table as it is.
pub(super) fn of(table: &Table) -> String {
    let mut text = format!("= {}: {}, {}\n", table.id, table.paper, table.name);
    for column in &table.columns {
        let threads = column.threads.map(|t| format!(", T = {t}")).unwrap_or_default();
        let figure = format!("{:?}", column.figure);
        let of = column.quotient.as_ref().map(|key| format!(" of {key}")).unwrap_or_default();
        let _ = write!(text, "column {}, {figure}{of}, [{}]{threads}", column.key, column.unit);
        let cells: Vec<_> = table.rows.iter().map(|row| cell(row, &column.key)).collect();
        let colon = if cells.is_empty() { "" } else { ": " };
        text += &format!("{colon}{}\n", cells.join(" "));
    }
    let groups = table.rows.iter().map(|row| &row.group);
    let groups: Vec<_> = groups.chain(table.series.iter().map(|series| &series.group)).collect();
    for group in groups.chunk_by(|a, b| a == b) {
        text += format!("group {} {}", group.len(), group[0]).trim_end();
        text.push('\n');
    }
    // By the number of the row, the first is 1.
    for (i, row) in table.rows.iter().enumerate() {
        let ours = ours(row);
        if !ours.is_empty() {
            let _ = writeln!(text, "{}:{ours}", i + 1);
        }
    }
    if !table.xs.is_empty() {
        let xs: Vec<_> = table.xs.iter().map(ToString::to_string).collect();
        text += &format!("at {}\n", xs.join(" "));
    }
    for series in &table.series {
        let points = table.xs.iter().filter_map(|x| Some((x, at_x(&series.paper, *x)?)));
        let points: Vec<_> = points.map(|(x, y)| format!("{x}:{y}")).collect();
        let ours = measured(series.bench.as_deref(), None, series.over);
        let _ = writeln!(
            text,
            "series {}, {:?},{ours}: {}",
            series.label,
            series.figure,
            points.join(" ")
        );
    }
    if let Some(of) = &table.speedup {
        let _ = writeln!(
            text,
            "quotients of {} {} by {} in {}: {}",
            of.of,
            of.column,
            of.baseline,
            of.baseline_group,
            of.groups.join(", ")
        );
    }
    text
}

/// Returns our entries in the row.
fn ours(row: &Row) -> String {
    let mut text = measured(row.bench.as_deref(), row.n, row.over);
    let figure = row.figure.map(|figure| format!("{figure:?}"));
    let rest = [
        ("figure", &figure),
        ("backend", &row.backend),
        ("base", &row.base),
        ("against", &row.against),
        ("baseline", &row.baseline),
    ];
    for (key, value) in rest {
        text += &value.as_ref().map(|value| format!(" {key}={value}")).unwrap_or_default();
    }
    text
}

fn measured(bench: Option<&str>, n: Option<usize>, over: Between) -> String {
    let bench = bench.map(|bench| format!(" {bench}"));
    let n = n.map(|n| format!(" n={n}"));
    let over = (over.0 != Over::Memory).then(|| format!(" over={}", over.0.name()));
    [bench, n, over].into_iter().flatten().collect()
}

/// The paper's number or words.
fn cell(row: &Row, key: &str) -> String {
    let number =
        row.paper.get(key).map(|x| if x.is_infinite() { "–".into() } else { x.to_string() });
    let words = row.said.get(key).map(|words| format!("\"{words}\""));
    match (number, words) {
        (Some(number), Some(words)) => number + &words,
        (number, words) => number.or(words).unwrap_or(".".into()),
    }
}
