//! Findings in a file with a set.

use serde_json::{Map, Value, json};

use crate::report::{counted, object};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    pub(super) rows: usize,
    /// Rows whose key an earlier row has.
    pub(super) duplicates: Places,
    /// Rows whose key, or a part of it, is empty.
    pub(super) empty: Places,
    /// Empty lines, which are no rows.
    pub(super) blank: usize,
}

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
    fn words(&self) -> String {
        match self.count {
            0 => "0".into(),
            count => format!("{count} ({})", self.named()),
        }
    }

    /// `lines 2, 5, 9`.
    fn named(&self) -> String {
        let named: Vec<_> = self.first.iter().map(u64::to_string).collect();
        let (plural, more) =
            (if self.count == 1 { "" } else { "s" }, if self.count > NAMED { ", …" } else { "" });
        format!("line{plural} {}{more}", named.join(", "))
    }

    fn json(&self) -> Value {
        json!({ "count": self.count, "first": self.first })
    }
}

impl Findings {
    /// Describes the findings in one line: `1000 rows, 990 keys; skipped 8 duplicates (lines 3, 7, …), 2 rows without a key
    /// (lines 4, 9)`.
    pub(crate) fn words(&self, keys: usize) -> String {
        let kinds = [("duplicate", &self.duplicates), ("row without a key", &self.empty)];
        let skipped = kinds.iter().filter(|(_, places)| places.count > 0);
        let skipped: Vec<_> = skipped
            .map(|(kind, places)| format!("{} ({})", counted(places.count, kind), places.named()))
            .collect();
        let words = format!("{}, {}", counted(self.rows, "row"), counted(keys, "key"));
        match skipped.as_slice() {
            [] => words,
            _ => format!("{words}; skipped {}", skipped.join(", ")),
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
                "{rows} repeat the key of an earlier row; is this the right column? {look}"
            ));
        }
        if most(&self.empty) {
            let rows = of(self.empty.count);
            warnings.push(format!("{rows} have no key after {normalisers}; {look}"));
        }
        warnings
    }

    pub(crate) fn table(&self, keys: usize) -> Vec<(&'static str, String)> {
        let mut table = vec![
            ("rows", self.rows.to_string()),
            ("keys", keys.to_string()),
            ("duplicates", self.duplicates.words()),
            ("empty", self.empty.words()),
        ];
        if self.blank > 0 {
            table.push(("blank lines", self.blank.to_string()));
        }
        table
    }

    pub(crate) fn json(&self, keys: usize) -> Map<String, Value> {
        object(json!({
            "rows": self.rows,
            "keys": keys,
            "duplicates": self.duplicates.json(),
            "empty": self.empty.json(),
            "blank_lines": self.blank,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_most_rows_skipped_gets_a_warning() {
        let warnings = |duplicates, empty| {
            let mut findings = Findings { rows: 5, ..Findings::default() };
            findings.duplicates.count = duplicates;
            findings.empty.count = empty;
            findings.warnings("email/1")
        };
        assert!(warnings(2, 2).is_empty());
        let look = "`foxtrot psi inspect --show 5` prints keys";
        let why = "repeat the key of an earlier row; is this the right column?";
        assert_eq!(warnings(3, 2), [format!("warning: 3 of 5 rows {why} {look}")]);
        assert_eq!(
            warnings(0, 4),
            [format!("warning: 4 of 5 rows have no key after email/1; {look}")]
        );
    }

    #[test]
    fn skipped_rows_are_counted_and_placed() {
        let mut findings = Findings { rows: 10, ..Findings::default() };
        assert_eq!(findings.words(1), "10 rows, 1 key");
        findings.empty.add(9);
        (2..9).for_each(|line| findings.duplicates.add(line));
        assert_eq!(
            findings.words(1),
            "10 rows, 1 key; skipped 7 duplicates (lines 2, 3, 4, 5, 6, …), 1 row without a key (line 9)"
        );
    }
}
