//! Findings in a file with a set.

use serde_json::{Value, json};

use crate::report::counted;

/// Numbers of rows of each kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The unit that is counted: lines or rows.
    unit: &'static str,
    pub(super) rows: usize,
    /// Rows whose key an earlier row has.
    pub(super) duplicates: Places,
    /// Rows whose key, or a part of it, is empty.
    pub(super) empty: Places,
    /// Empty lines of a table, which are no rows.
    pub(super) blank: usize,
}

/// Some places in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    count: usize,
    first: Vec<u64>,
}

/// Places that are named.
const NAMED: usize = 5;

impl Places {
    pub(super) fn add(&mut self, place: u64) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(place);
        }
    }

    /// `3 (lines 2, 5, 9)`.
    fn words(&self, unit: &str) -> String {
        let named: Vec<_> = self.first.iter().map(u64::to_string).collect();
        let (named, more) = (named.join(", "), if self.count > NAMED { ", …" } else { "" });
        match self.count {
            0 => "0".into(),
            1 => format!("1 ({unit} {named})"),
            count => format!("{count} ({unit}s {named}{more})"),
        }
    }

    fn json(&self) -> Value {
        json!({ "count": self.count, "first": self.first })
    }
}

impl Findings {
    /// Makes the findings of a file with no rows so far, which are counted in `unit`.
    pub(super) fn new(unit: &'static str) -> Self {
        let (duplicates, empty) = Default::default();
        Self { unit, rows: 0, duplicates, empty, blank: 0 }
    }

    /// Describes the findings in one line, with the number of keys: `1000 rows, 990 keys; left out:
    /// duplicates 8 (lines 3, 7, …), empty 2 (lines 4, 9)`.
    pub(crate) fn words(&self, keys: usize) -> String {
        let kinds = [("duplicates", &self.duplicates), ("empty", &self.empty)];
        let left_out = kinds.iter().filter(|(_, places)| places.count > 0);
        let left_out: Vec<_> =
            left_out.map(|(kind, places)| format!("{kind} {}", places.words(self.unit))).collect();
        let words = format!("{}, {}", counted(self.rows, "row"), counted(keys, "key"));
        match left_out.as_slice() {
            [] => words,
            _ => format!("{words}; left out: {}", left_out.join(", ")),
        }
    }

    /// Warnings of likely mistakes, with the normalisers of the keys.
    pub(super) fn warnings(&self, normalisers: &str) -> Vec<String> {
        let look = "`foxtrot psi inspect --show 5` prints keys";
        let of = |count: usize| format!("warning: {count} of {}", counted(self.rows, "row"));
        let most = |places: &Places| places.count > self.rows / 2;
        let mut warnings = Vec::new();
        if most(&self.duplicates) {
            let rows = of(self.duplicates.count);
            warnings.push(format!(
                "{rows} have the key of an earlier row; is it the right column? {look}"
            ));
        }
        if most(&self.empty) {
            let rows = of(self.empty.count);
            warnings.push(format!("{rows} have no key, after {normalisers}; {look}"));
        }
        warnings
    }

    /// The unit of places.
    pub(crate) fn unit(&self) -> &'static str {
        self.unit
    }

    /// Line by line.
    pub(crate) fn table(&self, keys: usize) -> Vec<(&'static str, String)> {
        let mut table = vec![
            ("rows", self.rows.to_string()),
            ("keys", keys.to_string()),
            ("duplicates", self.duplicates.words(self.unit)),
            ("empty", self.empty.words(self.unit)),
        ];
        if self.blank > 0 {
            table.push(("blank lines", self.blank.to_string()));
        }
        table
    }

    pub(crate) fn json(&self, keys: usize) -> Value {
        json!({
            "rows": self.rows,
            "keys": keys,
            "duplicates": self.duplicates.json(),
            "empty": self.empty.json(),
            "blank_lines": self.blank,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_duplicates_or_rows_without_a_key_than_half_are_warned_of() {
        let warnings = |duplicates, empty| {
            let mut findings = Findings { rows: 5, ..Findings::new("line") };
            findings.duplicates.count = duplicates;
            findings.empty.count = empty;
            findings.warnings("email/1")
        };
        assert!(warnings(2, 2).is_empty());
        let look = "`foxtrot psi inspect --show 5` prints keys";
        let why = "have the key of an earlier row; is it the right column?";
        assert_eq!(warnings(3, 2), [format!("warning: 3 of 5 rows {why} {look}")]);
        assert_eq!(
            warnings(0, 4),
            [format!("warning: 4 of 5 rows have no key, after email/1; {look}")]
        );
    }

    #[test]
    fn skipped_rows_are_counted_and_placed() {
        let mut findings = Findings { rows: 10, ..Findings::new("line") };
        assert_eq!(findings.words(1), "10 rows, 1 key");
        findings.empty.add(9);
        (2..9).for_each(|line| findings.duplicates.add(line));
        assert_eq!(
            findings.words(1),
            "10 rows, 1 key; left out: duplicates 7 (lines 2, 3, 4, 5, 6, …), empty 1 (line 9)"
        );
    }
}
