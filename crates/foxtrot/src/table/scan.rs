//! The ends of records and fields: CSV (RFC 4180), or plain lines.
//!
//! A quote inside a field that does not begin with one is a character like any other. All else that
//! is not of the form is a fault: a reader that guesses loses rows without a word.

pub(super) mod json;

use std::{borrow::Cow, fmt};

/// The grammar of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// Fields between delimiters, perhaps in quotes.
    Csv {
        /// Character between fields: ASCII, neither a quote nor a line break.
        delimiter: u8,
    },
    /// A field in each line.
    Lines,
    /// An object of JSON in each line, whose names are the columns.
    JsonLines,
}

/// The place of a field's content in its record, without the quotes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    start: usize,
    end: usize,
    escaped: Escapes,
}

/// Characters of a field that stand for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    None,
    /// Two quotes stand for one.
    Quotes,
    Json,
}

/// A fault, and the number of bytes before it that are right.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The number of bytes before it.
    pub(super) at: usize,
    /// The fault in words.
    pub(super) why: &'static str,
}

impl Grammar {
    /// The text of fields behind those of a record, in quotes where they need them; nothing but in CSV.
    pub(super) fn more<T: AsRef<str>>(self, fields: impl IntoIterator<Item = T>) -> String {
        let mut more = String::new();
        let Self::Csv { delimiter } = self else { return more };
        for field in fields {
            let field = field.as_ref();
            more.push(char::from(delimiter));
            let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\r' | b'\n');
            match field.bytes().any(special) {
                false => more.push_str(field),
                true => more.extend(["\"", &field.replace('"', "\"\""), "\""]),
            }
        }
        more
    }

    /// Finds the fields of the record at the beginning, and gives its length with the line end;
    /// nothing if there are not all of its bytes yet. `whole` tells that no more will come.
    ///
    /// # Errors
    /// [`Fault`] where the bytes are not of the form.
    pub(super) fn record(
        self,
        bytes: &[u8],
        whole: bool,
        fields: &mut Vec<Field>,
    ) -> Result<Option<usize>, Fault> {
        fields.clear();
        let mut at = 0;
        loop {
            let field = match (self, bytes.get(at)) {
                (Self::Csv { .. }, Some(b'"')) => match quoted(bytes, at, whole)? {
                    Some(field) => field,
                    None => return Ok(None),
                },
                _ => self.plain(bytes, at),
            };
            fields.push(field);
            at = field.end + usize::from(field.start > at);
            match (self, bytes.get(at)) {
                (Self::Csv { delimiter }, Some(&byte)) if byte == delimiter => at += 1,
                (_, None) => return Ok(whole.then_some(at)),
                (_, Some(b'\n')) => return Ok(Some(at + 1)),
                (_, Some(b'\r')) => {
                    return match bytes.get(at + 1) {
                        Some(b'\n') => Ok(Some(at + 2)),
                        None if !whole => Ok(None),
                        _ => Err(Fault { at, why: "a carriage return without a line feed" }),
                    };
                }
                _ => return Err(Fault { at, why: "text after the closing quote of a field" }),
            }
        }
    }

    /// Returns the field from `start` to a delimiter or the end of the line.
    fn plain(self, bytes: &[u8], start: usize) -> Field {
        let rest = &bytes[start..];
        let len = match self {
            Self::Csv { delimiter } => rest.iter().position(|&b| ends_line(b) || b == delimiter),
            Self::Lines | Self::JsonLines => rest.iter().position(|&b| ends_line(b)),
        };
        Field { start, end: start + len.unwrap_or(rest.len()), escaped: Escapes::None }
    }
}

impl Field {
    pub(super) const EMPTY: Self = Self { start: 0, end: 0, escaped: Escapes::None };

    /// A name or a value of JSON.
    pub(super) fn json(start: usize, end: usize, escaped: bool) -> Self {
        Self { start, end, escaped: if escaped { Escapes::Json } else { Escapes::None } }
    }

    /// Returns the field's content. `record` is the text of its record.
    pub(super) fn of(self, record: &str) -> Cow<'_, str> {
        let content = record.get(self.start..self.end).unwrap_or_default();
        match self.escaped {
            Escapes::None => content.into(),
            Escapes::Quotes => content.replace("\"\"", "\"").into(),
            Escapes::Json => json::unescaped(content),
        }
    }
}

impl fmt::Display for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines => f.write_str("lines"),
            Self::JsonLines => f.write_str("JSON lines"),
            Self::Csv { delimiter: b'\t' } => f.write_str("CSV with tabs"),
            Self::Csv { delimiter } => write!(f, "CSV with {:?}", char::from(*delimiter)),
        }
    }
}

/// The field whose opening quote is there.
fn quoted(bytes: &[u8], open: usize, whole: bool) -> Result<Option<Field>, Fault> {
    let (start, mut end, mut escaped) = (open + 1, open + 1, Escapes::None);
    while let Some(len) = bytes[end..].iter().position(|&byte| byte == b'"') {
        end += len;
        match bytes.get(end + 1) {
            Some(b'"') => (escaped, end) = (Escapes::Quotes, end + 2),
            None if !whole => return Ok(None),
            _ => return Ok(Some(Field { start, end, escaped })),
        }
    }
    match whole {
        true => Err(Fault { at: open, why: "the quote that begins this field is never closed" }),
        false => Ok(None),
    }
}

#[inline]
fn ends_line(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CSV: Grammar = Grammar::Csv { delimiter: b',' };

    #[test]
    fn further_fields_are_in_quotes_where_they_need_them() {
        assert_eq!(CSV.more(["x", "1,5 \""]), ",x,\"1,5 \"\"\"");
        assert_eq!(Grammar::Csv { delimiter: b'\t' }.more(["1,5"]), "\t1,5");
        assert_eq!(Grammar::Lines.more(["x"]), "");
    }

    /// All records, as a reader does that has the whole file.
    fn records(grammar: Grammar, mut text: &str) -> Result<Vec<Vec<String>>, Fault> {
        let (mut records, mut fields) = (Vec::new(), Vec::new());
        while !text.is_empty() {
            let len = grammar.record(text.as_bytes(), true, &mut fields)?.unwrap();
            records.push(fields.iter().map(|field| field.of(text).into_owned()).collect());
            text = &text[len..];
        }
        Ok(records)
    }

    #[test]
    fn fields_end_at_delimiters_or_quotes() {
        for (text, expected) in [
            ("a,b\n", "a|b"),
            ("a,\r\n,b", "a|/|b"),
            ("\"a,\n\"\"b\"\"\",c", "a,\n\"b\"|c"),
            ("\"\",5\" pipe, \"x\"\n", "|5\" pipe| \"x\""),
            ("\"\"\"\"\r\n", "\""),
        ] {
            let found: Vec<_> = records(CSV, text).unwrap().iter().map(|r| r.join("|")).collect();
            assert_eq!(found.join("/"), expected, "{text:?}");
        }
        assert_eq!(records(Grammar::Lines, "\"a,b\n\n c").unwrap(), [["\"a,b"], [""], [" c"]]);
    }

    #[test]
    fn malformed_csv_is_a_fault_at_its_position() {
        let unclosed = "the quote that begins this field is never closed";
        for (text, at, why) in [
            ("a,\"b", 2, unclosed),
            ("\"a\"\"\n", 0, unclosed),
            ("\"a\"b", 3, "text after the closing quote of a field"),
            ("\"a\" ,b", 3, "text after the closing quote of a field"),
            ("a\rb", 1, "a carriage return without a line feed"),
            ("\"a\"\r", 3, "a carriage return without a line feed"),
        ] {
            assert_eq!(records(CSV, text), Err(Fault { at, why }), "{text:?}");
        }
    }

    /// Text with more of what matters than chance would give.
    fn pieces() -> impl Strategy<Value = String> {
        let piece =
            prop::sample::select(vec!["a", "é", ",", "\"", "\"\"", "\n", "\r\n", "\r", " "]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_truncated_record_only_waits_for_more_bytes(text in pieces()) {
            let (mut all, mut fields) = (Vec::new(), Vec::new());
            prop_assume!(!text.is_empty());
            for grammar in [CSV, Grammar::Lines] {
                let whole = grammar.record(text.as_bytes(), true, &mut all);
                for cut in 0..text.len() {
                    match grammar.record(&text.as_bytes()[..cut], false, &mut fields) {
                        Ok(None) => {}
                        early => prop_assert_eq!((&early, &fields), (&whole, &all)),
                    }
                }
            }
        }

        #[test]
        fn another_csv_reader_reads_the_same(text in pieces()) {
            // That one takes any carriage return for a line end, and passes over empty lines.
            let Ok(ours) = records(CSV, &text) else { return Ok(()) };
            let ours: Vec<_> = ours.into_iter().filter(|fields| *fields != [""]).collect();
            let mut theirs = csv::ReaderBuilder::new();
            let theirs = theirs.has_headers(false).flexible(true).from_reader(text.as_bytes());
            let theirs: Vec<Vec<String>> =
                theirs.into_records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
            let theirs: Vec<_> = theirs.into_iter().filter(|fields| *fields != [""]).collect();
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn a_written_table_is_read_back(
            table in prop::collection::vec(prop::collection::vec("[a\",é\r\n ]{0,6}", 1..4), 0..6),
        ) {
            let quote = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
            let row = |row: &Vec<String>| row.iter().map(quote).collect::<Vec<_>>().join(",");
            let text: String = table.iter().map(|fields| row(fields) + "\r\n").collect();
            prop_assert_eq!(records(CSV, &text), Ok(table));
        }
    }
}
