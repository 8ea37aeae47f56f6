//! Findings in a file with a set, in words and JSON.

use foxtrot::table::{Findings, Lines};
use serde_json::{Map, Value, json};

use crate::report::{counted, object};

/// `3 (lines 2, 5, 9)`.
fn placed(lines: &Lines) -> String {
    match lines.count {
        0 => "0".into(),
        count => format!("{count} ({})", named(lines)),
    }
}

/// `lines 2, 5, 9`.
fn named(lines: &Lines) -> String {
    let named: Vec<_> = lines.first.iter().map(u64::to_string).collect();
    let plural = if lines.count == 1 { "" } else { "s" };
    let more = if lines.count > Lines::NAMED { ", …" } else { "" };
    format!("line{plural} {}{more}", named.join(", "))
}

/// Describes the findings in one line: `1000 rows, 990 keys; skipped 8 duplicates (lines 3, 7, …), 2 rows without a key
/// (lines 4, 9)`.
pub(super) fn words(findings: &Findings, [rows, keys]: [usize; 2]) -> String {
    let kinds = [("duplicate", &findings.duplicates), ("row without a key", &findings.empty)];
    let skipped = kinds.iter().filter(|(_, lines)| lines.count > 0);
    let skipped: Vec<_> = skipped
        .map(|(kind, lines)| format!("{} ({})", counted(lines.count, kind), named(lines)))
        .collect();
    let words = format!("{}, {}", counted(rows, "row"), counted(keys, "key"));
    match skipped.as_slice() {
        [] => words,
        _ => format!("{words}; skipped {}", skipped.join(", ")),
    }
}

/// Warnings of likely mistakes, with the normalisers of the keys.
pub(super) fn warnings(findings: &Findings, rows: usize, normalisers: &str) -> Vec<String> {
    let look = "`foxtrot psi inspect --show 5` prints keys";
    let of = |count: usize| format!("warning: {count} of {}", counted(rows, "row"));
    let most = |lines: &Lines| lines.count > rows / 2;
    let mut warnings = Vec::new();
    if most(&findings.duplicates) {
        let rows = of(findings.duplicates.count);
        warnings.push(format!(
            "{rows} repeat the key of an earlier row; is this the right column? {look}"
        ));
    }
    if most(&findings.empty) {
        let rows = of(findings.empty.count);
        warnings.push(format!("{rows} have no key after {normalisers}; {look}"));
    }
    warnings
}

pub(super) fn table(findings: &Findings, [rows, keys]: [usize; 2]) -> Vec<(&'static str, String)> {
    let mut table = vec![
        ("rows", rows.to_string()),
        ("keys", keys.to_string()),
        ("duplicates", placed(&findings.duplicates)),
        ("empty", placed(&findings.empty)),
    ];
    if findings.blank > 0 {
        table.push(("blank lines", findings.blank.to_string()));
    }
    table
}

pub(super) fn json(findings: &Findings, [rows, keys]: [usize; 2]) -> Map<String, Value> {
    let json = |lines: &Lines| json!({ "count": lines.count, "first": lines.first });
    object(json!({
        "rows": rows,
        "keys": keys,
        "duplicates": json(&findings.duplicates),
        "empty": json(&findings.empty),
        "blank_lines": findings.blank,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_most_rows_skipped_gets_a_warning() {
        let warned = |duplicates, empty| {
            let mut findings = Findings::default();
            findings.duplicates.count = duplicates;
            findings.empty.count = empty;
            warnings(&findings, 5, "email/1")
        };
        assert!(warned(2, 2).is_empty());
        let look = "`foxtrot psi inspect --show 5` prints keys";
        let why = "repeat the key of an earlier row; is this the right column?";
        assert_eq!(warned(3, 2), [format!("warning: 3 of 5 rows {why} {look}")]);
        assert_eq!(
            warned(0, 4),
            [format!("warning: 4 of 5 rows have no key after email/1; {look}")]
        );
    }

    #[test]
    fn skipped_rows_are_counted_and_placed() {
        let mut findings = Findings::default();
        assert_eq!(words(&findings, [10, 1]), "10 rows, 1 key");
        findings.empty.add(9);
        (2..9).for_each(|line| findings.duplicates.add(line));
        assert_eq!(
            words(&findings, [10, 1]),
            "10 rows, 1 key; skipped 7 duplicates (lines 2, 3, 4, 5, 6, …), 1 row without a key (line 9)"
        );
    }
}
