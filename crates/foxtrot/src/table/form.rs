//! The way in which a table is read.

use super::{
    Encoding, Grammar, What,
    beginning::{BYTE_ORDER_MARK, named_delimiter},
    encoding::Units,
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
    /// The encoding of the text. A byte order mark of UTF-16 sets it if it is UTF-8.
    pub encoding: Encoding,
}

impl Form {
    /// Each line is a key.
    pub const LINES: Self = Self {
        grammar: Grammar::Lines,
        header: false,
        is_chosen: false,
        encoding: Encoding::UTF_8,
    };

    /// Each line is an object of JSON.
    pub const JSON_LINES: Self = Self { grammar: Grammar::JsonLines, ..Self::LINES };

    /// Fields between delimiters below a header, unless the file names another delimiter.
    #[must_use]
    pub fn csv(delimiter: u8) -> Self {
        Self { grammar: Grammar::Csv { delimiter }, header: true, ..Self::LINES }
    }

    /// The form with the delimiter of the first row, where that is unequivocal, and nobody has chosen one.
    ///
    /// # Errors
    /// [`What::Delimiters`] if the row has several characters that may be delimiters.
    pub fn by_first_row(self, first: &[u8]) -> Result<Self, What> {
        let (Grammar::Csv { .. }, false) = (self.grammar, self.is_chosen) else { return Ok(self) };
        let encoding = match Encoding::of_mark(first) {
            Some(marked) if self.encoding == Encoding::UTF_8 => marked,
            _ => self.encoding,
        };
        let mut decoded = Vec::new();
        let first = match encoding.is_wide() {
            true => {
                // What is no UTF-16 is found where it is read.
                let _ = Units::of(encoding).push(first, &mut decoded);
                &decoded
            }
            false => first,
        };
        let first = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first);
        if named_delimiter(first).is_some() {
            return Ok(self);
        }
        let found: Vec<_> = DELIMITERS.into_iter().filter(|it| fields(first, *it) > 0).collect();
        match found.as_slice() {
            [] => Ok(self),
            [delimiter] => Ok(Self { grammar: Grammar::Csv { delimiter: *delimiter }, ..self }),
            several => Err(What::Delimiters(several.iter().map(|it| char::from(*it)).collect())),
        }
    }

    /// Guesses from a file's name and first bytes how it is to be read: for a person who sees the guess.
    #[must_use]
    pub fn guess(name: &str, first: &[u8]) -> Self {
        let first = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first);
        if let Some((delimiter, _)) = named_delimiter(first) {
            return Self::csv(delimiter);
        }
        let likely = DELIMITERS.map(|it| (fields(first, it), it == b',', it));
        let name = name.to_lowercase();
        if [".jsonl", ".ndjson"].iter().any(|end| name.ends_with(end)) {
            return Self::JSON_LINES;
        }
        match likely.into_iter().max() {
            Some((1.., _, delimiter)) => Self::csv(delimiter),
            _ if name.ends_with(".csv") => Self::csv(b','),
            _ if name.ends_with(".tsv") => Self::csv(b'\t'),
            _ => Self::LINES,
        }
    }
}

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The number of delimiters in the first row that is not empty; none in what is not of the form.
fn fields(first: &[u8], delimiter: u8) -> usize {
    let first =
        first.iter().position(|byte| !b"\r\n".contains(byte)).map_or(first, |at| &first[at..]);
    let mut fields = Vec::new();
    match (Grammar::Csv { delimiter }).record(first, true, &mut fields) {
        Ok(_) => fields.len() - 1,
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_tells_the_delimiter_where_it_is_unequivocal() {
        let csv = Form::csv(b',');
        for (first, delimiter) in [
            (&b"id;name\n1,5;2,5\n"[..], b';'),
            (b"id,name\n", b','),
            (b"id\n1;2\n", b','),
            (b"\xef\xbb\xbf\r\nid\tname", b'\t'),
            (b"\"a,b\"|c\n", b'|'),
            (b"\xff\xfei\0d\0;\0n\0", b';'),
            (b"sep=|\na,b;c\n", b','),
            (b"\"id;name", b','),
        ] {
            assert_eq!(csv.by_first_row(first).unwrap(), Form::csv(delimiter));
        }
        let chosen = Form { is_chosen: true, ..csv };
        assert_eq!(chosen.by_first_row(b"a;b").unwrap(), chosen);
        assert_eq!(Form::LINES.by_first_row(b"a;b").unwrap(), Form::LINES);
        let Err(What::Delimiters(several)) = csv.by_first_row(b"a,b;c\n") else { panic!() };
        assert_eq!(several, [',', ';']);
    }

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
            ("a.JSONL", b"{\"a\": 1, \"b\": 2}\n", Form::JSON_LINES),
        ] {
            assert_eq!(Form::guess(name, first), form, "{name}");
        }
    }
}
