//! The way in which a table is read.

use std::io::Read;

use super::{
    Grammar,
    beginning::{BYTE_ORDER_MARK, named_delimiter},
    pieces,
    records::Records,
};

/// The way in which a table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Lines, or fields between delimiters.
    pub grammar: Grammar,
    /// True if the first row has the columns' names.
    pub header: bool,
    /// True if somebody has chosen the delimiter: then the file must not name another one.
    pub is_chosen: bool,
}

impl Form {
    /// Each line is a key.
    pub const LINES: Self = Self { grammar: Grammar::Lines, header: false, is_chosen: false };

    /// Fields between delimiters below a header, unless the file names another delimiter.
    #[must_use]
    pub fn csv(delimiter: u8) -> Self {
        Self { grammar: Grammar::Csv { delimiter }, header: true, is_chosen: false }
    }

    /// Guesses from a file's name and first bytes how it is to be read: for a person who sees the guess.
    #[must_use]
    pub fn guess(name: &str, first: &[u8]) -> Self {
        let first = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first);
        if let Some((delimiter, _)) = named_delimiter(first) {
            return Self::csv(delimiter);
        }
        let first =
            first.iter().position(|byte| !b"\r\n".contains(byte)).map_or(first, |at| &first[at..]);
        let count = |delimiter: u8| {
            let mut fields = Vec::new();
            match (Grammar::Csv { delimiter }).record(first, true, &mut fields) {
                Ok(_) => fields.len() - 1,
                Err(_) => 0,
            }
        };
        let likely = [b',', b';', b'\t', b'|'].map(|it| (count(it), it == b',', it));
        let name = name.to_lowercase();
        match likely.into_iter().max() {
            Some((1.., _, delimiter)) => Self::csv(delimiter),
            _ if name.ends_with(".csv") => Self::csv(b','),
            _ if name.ends_with(".tsv") => Self::csv(b'\t'),
            _ => Self::LINES,
        }
    }

    /// The number of rows up to the first fault, the header among them: for [`Table::room`](super::Table::room).
    #[must_use]
    pub fn count(self, from: impl Read) -> usize {
        let (mut records, mut rows) = (Records::new(self), 0);
        let mut count = |bytes: &[u8], ended| {
            records.push(bytes, ended, |record| {
                rows += usize::from(!record.is_blank());
                Ok(())
            })
        };
        // A fault is found once more where rows are read, behind those that are right.
        let _ = pieces(from, |piece| count(piece, false)).and_then(|()| count(&[], true));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_file_is_guessed_from_its_first_line() {
        for (name, first, form) in [
            ("a.csv", &b"id,name\n"[..], Form::csv(b',')),
            ("a.csv", b"id;name\n1,5;2,5", Form::csv(b';')),
            ("a.txt", b"id\tname\n", Form::csv(b'\t')),
            ("A.CSV", b"\xef\xbb\xbfid\n", Form::csv(b',')),
            ("a.csv", b"sep=|\nid|a,b,c\n", Form::csv(b'|')),
            ("a.csv", b"\"name, first\";mail\n", Form::csv(b';')),
            ("a.csv", b"\r\n\nid;mail\n", Form::csv(b';')),
            ("a.txt", b"\"a,b\nc\n", Form::LINES),
            ("a.txt", b"ann@example.org\n", Form::LINES),
        ] {
            assert_eq!(Form::guess(name, first), form, "{name}");
        }
    }
}
