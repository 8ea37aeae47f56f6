//! Columns of a table, and those that make up the key.

use std::mem;

use super::{What, column::Column};

#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The names in the header; without a header `#1`, `#2` and so on.
    pub(super) names: Vec<String>,
    /// The positions of the key columns.
    pub(super) keys: Vec<usize>,
}

impl Columns {
    /// Finds the key columns. `header` tells whether the names are those of a header.
    pub(super) fn find_keys(&mut self, header: bool, wanted: &[Column]) -> Result<(), What> {
        if self.names.iter().all(|name| name.trim().is_empty()) {
            return Err(What::NoNames);
        }
        self.keys = match (wanted, self.names.len()) {
            ([], 1) => vec![0],
            ([], columns) => return Err(What::NoKey(columns)),
            _ => self.positions(header, wanted)?,
        };
        Ok(())
    }

    /// The positions of columns, each of them once.
    pub(super) fn positions(&self, header: bool, wanted: &[Column]) -> Result<Vec<usize>, What> {
        let mut all = Vec::new();
        for column in wanted {
            let at = self.position(header, column)?;
            if all.contains(&at) {
                return Err(What::Twice(self.names[at].clone()));
            }
            all.push(at);
        }
        Ok(all)
    }

    pub(super) fn key_names(&self) -> Vec<String> {
        self.keys.iter().map(|&key| self.names[key].clone()).collect()
    }

    fn position(&self, header: bool, column: &Column) -> Result<usize, What> {
        let none = || What::NoColumn(column.clone());
        let name = match column {
            Column::Number(number) if *number < self.names.len() => return Ok(*number),
            Column::Number(_) => return Err(none()),
            Column::Name(name) if header => name,
            Column::Name(name) => return Err(What::NoHeader(name.clone())),
        };
        let mut found = (0..self.names.len()).filter(|&i| self.names[i] == *name);
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only),
            (Some(first), Some(second)) => Err(What::SameName(name.clone(), [first, second])),
            (None, _) => Err(none()),
        }
    }
}

/// The names that are most like a wanted one, the likeliest first; all of them if there are no more.
#[must_use]
pub fn nearest<'a>(names: &'a [String], wanted: &str, most: usize) -> Vec<&'a str> {
    let short = |text: &str| text.chars().take(64).flat_map(char::to_lowercase).collect::<Vec<_>>();
    let wanted = short(wanted);
    let mut all: Vec<_> =
        names.iter().map(|name| (distance(&short(name), &wanted), &**name)).collect();
    if all.len() > most {
        all.sort_by_key(|(distance, _)| *distance);
        all.truncate(most);
    }
    all.into_iter().map(|(_, name)| name).collect()
}

/// The number of characters to add, remove or replace between two texts.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut before = mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], header: bool, wanted: &[&str]) -> Result<Vec<usize>, String> {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let wanted: Vec<Column> = wanted.iter().map(|text| text.parse().unwrap()).collect();
        let mut columns = Columns { names, keys: Vec::new() };
        let found = columns.find_keys(header, &wanted);
        found.map(|()| columns.keys).map_err(|e| e.to_string())
    }

    #[test]
    fn columns_are_named_or_numbered() {
        let names = ["id", "e-mail", "id"];
        assert_eq!(found(&names, true, &["e-mail", "#1"]), Ok(vec![1, 0]));
        assert_eq!(found(&names, false, &["#3"]), Ok(vec![2]));
        assert_eq!(found(&["id"], true, &[]), Ok(vec![0]));
    }

    #[test]
    fn names_like_the_wanted_one_come_first() {
        let names = ["id", "E-Mail", "e_mail_2", "phone", "email_verified"].map(str::to_owned);
        assert_eq!(nearest(&names, "email", 3), ["E-Mail", "e_mail_2", "id"]);
        assert_eq!(nearest(&names, "", 9).len(), 5);
        assert_eq!(distance(&['a', 'b', 'c'], &['b', 'c', 'd']), 2);
    }

    #[test]
    fn a_column_that_is_not_there_once_is_refused() {
        let names = ["id", "e-mail", "id"];
        for (names, header, wanted, why) in [
            (&names[..], true, &[][..], "no key is named, and there are 3 columns"),
            (&names, true, &["email"], "column email not found"),
            (&names, true, &["e mail"], "column \"e mail\" not found"),
            (&names, true, &["#4"], "column #4 not found"),
            (&names, true, &["id"], "several columns are named id"),
            (&names, true, &["e-mail", "#2"], "column e-mail is named twice"),
            (&["#1"], false, &["id"], "there is no header, so no column is named id"),
            (&[" ", ""], true, &["#1"], "the header has no names"),
        ] {
            assert_eq!(found(names, header, wanted).unwrap_err(), why);
        }
    }
}
