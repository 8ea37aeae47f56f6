//! Findings in a table, for a person who has to know which rows are left out.

/// Rows that are left out, and lines that are no rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Rows whose key an earlier row has.
    pub duplicates: Lines,
    /// Rows whose key, or a part of it, is empty.
    pub empty: Lines,
    /// Empty lines, which are no rows.
    pub blank: usize,
}

/// Rows by the lines in which they begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The number of the rows.
    pub count: usize,
    /// The first lines, [`Lines::NAMED`] at most.
    pub first: Vec<u64>,
}

impl Lines {
    /// The most lines that are named.
    pub const NAMED: usize = 5;

    /// Adds a row.
    pub fn add(&mut self, line: u64) {
        self.count += 1;
        if self.first.len() < Self::NAMED {
            self.first.push(line);
        }
    }
}
