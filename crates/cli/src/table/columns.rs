//! The columns that make up the key.

use std::path::Path;

use foxtrot_net::escaped;

use crate::{args::Column, failure::Failure};

#[derive(Debug)]
pub(super) struct Columns {
    /// The names in the header; without a header `#1`, `#2` and so on.
    pub(super) names: Vec<String>,
    /// The positions of the key columns.
    pub(super) keys: Vec<usize>,
}

impl Columns {
    /// Finds the columns wanted. `header` tells whether the names are those of a header.
    pub(super) fn find(
        path: &Path,
        names: Vec<String>,
        header: bool,
        wanted: &[Column],
    ) -> Result<Self, Failure> {
        let mut columns = Self { names, keys: Vec::new() };
        if wanted.is_empty() {
            if columns.names.len() != 1 {
                let why = format!(
                    "--key is missing: {} has {} columns",
                    path.display(),
                    columns.names.len()
                );
                return Err(Failure::usage(why).hint(columns.choice()));
            }
            columns.keys.push(0);
        }
        for column in wanted {
            let key = columns.position(path, header, column)?;
            if columns.keys.contains(&key) {
                let why = format!("--key names column {} twice", visible(&columns.names[key]));
                return Err(Failure::usage(why).hint("give each key column once"));
            }
            columns.keys.push(key);
        }
        Ok(columns)
    }

    pub(super) fn key_names(&self) -> Vec<String> {
        self.keys.iter().map(|&key| self.names[key].clone()).collect()
    }

    fn position(&self, path: &Path, header: bool, column: &Column) -> Result<usize, Failure> {
        let (file, count) = (path.display(), self.names.len());
        let none = |why: String| Err(Failure::usage(why).hint(self.choice()));
        let name = match column {
            Column::Number(number) if *number < count => return Ok(*number),
            Column::Number(number) => {
                return none(format!("column #{} not found in {file}", number + 1));
            }
            Column::Name(name) if header => name,
            Column::Name(name) => {
                return none(format!("{file} has no header, so no column is named {name}"));
            }
        };
        let mut found = (0..count).filter(|&i| self.names[i] == *name);
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only),
            (Some(first), Some(second)) => {
                let (first, second) = (first + 1, second + 1);
                let why = format!("{file} has several columns named {name}");
                Err(Failure::usage(why)
                    .hint(format!("choose one: --key '#{first}' or --key '#{second}'")))
            }
            (None, _) => none(format!("column {} not found in {file}", visible(name))),
        }
    }

    fn choice(&self) -> String {
        if let [name] = self.names.as_slice()
            && let Some(delimiter) = [',', ';', '\t', '|'].into_iter().find(|&c| name.contains(c))
        {
            let delimiter = if delimiter == '\t' { "tab".into() } else { format!("'{delimiter}'") };
            return format!(
                "the header has one column, {}; try --delimiter {delimiter}",
                visible(name)
            );
        }
        let names: Vec<_> = self.names.iter().map(|name| visible(name)).collect();
        format!("columns are {}", names.join(", "))
    }
}

/// A name in quotes if without them one could not see where it begins, ends, or has blanks.
pub(crate) fn visible(name: &str) -> String {
    let hides = |c: char| c.is_whitespace() || c == ',';
    if name.is_empty() || name.contains(hides) { format!("{name:?}") } else { escaped(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], header: bool, wanted: &[&str]) -> Result<Vec<usize>, String> {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let wanted: Vec<Column> = wanted.iter().map(|text| text.parse().unwrap()).collect();
        let columns = Columns::find(Path::new("a.csv"), names, header, &wanted);
        columns
            .map(|columns| columns.keys)
            .map_err(|e| format!("{}: {}", e.message().to_owned(), e.hint.unwrap_or_default()))
    }

    #[test]
    fn columns_are_named_or_numbered() {
        let names = ["id", "e-mail", "id"];
        assert_eq!(found(&names, true, &["e-mail", "#1"]), Ok(vec![1, 0]));
        assert_eq!(found(&names, false, &["#3"]), Ok(vec![2]));
        assert_eq!(found(&["id"], true, &[]), Ok(vec![0]));
    }

    #[test]
    fn a_missing_or_wrong_key_option_lists_the_columns() {
        let names = ["id", "e-mail", "id"];
        for (names, header, wanted, why) in [
            (
                &names[..],
                true,
                &[][..],
                "--key is missing: a.csv has 3 columns: columns are id, e-mail",
            ),
            (
                &names,
                true,
                &["email"],
                "column email not found in a.csv: columns are id, e-mail, id",
            ),
            (&names, true, &["#4"], "column #4 not found in a.csv: columns are"),
            (
                &names,
                true,
                &["id"],
                "a.csv has several columns named id: choose one: --key '#1' or",
            ),
            (&names, true, &["e-mail", "#2"], "--key names column e-mail twice"),
            (
                &["id ", "first name", "", "Ort\u{a0}"],
                true,
                &["id"],
                r#"column id not found in a.csv: columns are "id ", "first name", "", "Ort\u{a0}""#,
            ),
            (
                &["#1"],
                false,
                &["id"],
                "a.csv has no header, so no column is named id: columns are #1",
            ),
            (
                &["id;name"],
                true,
                &["id"],
                "column id not found in a.csv: the header has one column, id;name; try",
            ),
        ] {
            let error = found(names, header, wanted).unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
