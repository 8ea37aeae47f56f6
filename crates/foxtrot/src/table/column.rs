//! A column of a table, as a caller names it.

use std::str::FromStr;

use foxtrot_net::escaped;

/// A column, by its number or name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// From 0; `#1` is the first.
    Number(usize),
    /// The name in the header.
    Name(String),
}

impl FromStr for Column {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('#') {
            None => Ok(Self::Name(text.into())),
            Some(number) => match number.parse::<usize>().ok().and_then(|n| n.checked_sub(1)) {
                Some(number) => Ok(Self::Number(number)),
                None => Err("columns are numbered from #1".into()),
            },
        }
    }
}

/// A name in quotes if without them one could not see where it begins, ends, or has blanks.
#[must_use]
pub fn visible(name: &str) -> String {
    let hides = |c: char| c.is_whitespace() || c == ',';
    if name.is_empty() || name.contains(hides) { format!("{name:?}") } else { escaped(name) }
}
