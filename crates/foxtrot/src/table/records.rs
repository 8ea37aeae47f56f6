//! A table's records one after another, each with its place.

use std::{borrow::Cow, mem};

use super::{
    Fault, Form, What,
    beginning::{self, BYTE_ORDER_MARK, LOOKED_AT},
    scan::{Field, Grammar},
};

/// The longest row, in bytes. A quote that nobody closes does not swallow the rest of the file.
pub(super) const MAX_ROW: usize = 1 << 24;

/// Finds records, with memory for the longest of them.
pub(super) struct Records {
    /// The file may have set the delimiter.
    pub(super) grammar: Grammar,
    is_chosen: bool,
    has_begun: bool,
    /// Bytes that are no whole record yet, and how many are worth another look.
    rest: Vec<u8>,
    enough: usize,
    offset: u64,
    line: u64,
    fields: Vec<Field>,
    /// The line above the header that names the delimiter, or nothing.
    pub(super) passed_over: Vec<u8>,
}

pub(super) struct Record<'a> {
    /// Offset of the record's first byte in the file.
    pub(super) offset: u64,
    /// Line of the record's beginning, from 1.
    pub(super) line: u64,
    /// Text of the record as in the file, with the line end.
    pub(super) text: &'a str,
    fields: &'a [Field],
}

impl Records {
    pub(super) fn new(form: Form) -> Self {
        Self {
            grammar: form.grammar,
            is_chosen: form.is_chosen,
            has_begun: false,
            rest: Vec::new(),
            enough: LOOKED_AT,
            offset: 0,
            line: 1,
            fields: Vec::new(),
            passed_over: Vec::new(),
        }
    }

    /// Takes the next bytes, and gives all records that are whole. `ended` tells that no more will come.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        ended: bool,
        mut take: impl FnMut(&Record<'_>) -> Result<(), What>,
    ) -> Result<(), Fault> {
        self.rest.extend_from_slice(bytes);
        if self.rest.len() < self.enough && !ended {
            return Ok(());
        }
        let mut at = if self.has_begun { 0 } else { self.begin()? };
        let rest = mem::take(&mut self.rest);
        while let Some(len) = self.next(&rest[at..], ended)? {
            let record = &rest[at..at + len];
            let text = match std::str::from_utf8(record) {
                Ok(text) => text,
                Err(e) => return Err(self.fault(record, e.valid_up_to(), What::NotUtf8)),
            };
            let (offset, line) = (self.offset, self.line);
            take(&Record { offset, line, text, fields: &self.fields }).map_err(|what| Fault {
                line,
                column: 0,
                what,
            })?;
            self.line += line_ends(record) as u64;
            self.offset += len as u64;
            at += len;
        }
        self.rest = rest;
        self.rest.drain(..at);
        // Twice as much, or a long record would be looked through again and again.
        self.enough = (2 * self.rest.len()).min(MAX_ROW + 1);
        Ok(())
    }

    /// Looks at the file's first bytes, and passes over those that are no rows. Returns their number.
    fn begin(&mut self) -> Result<usize, Fault> {
        self.has_begun = true;
        beginning::check(&self.rest)?;
        let mut at = 0;
        if self.rest.starts_with(BYTE_ORDER_MARK) {
            at = BYTE_ORDER_MARK.len();
        }
        if let Grammar::Csv { delimiter } = &mut self.grammar
            && let Some((named, line)) = beginning::named_delimiter(&self.rest[at..])
        {
            if self.is_chosen && *delimiter != named {
                let what = What::OtherDelimiter(char::from(named));
                return Err(Fault { line: 1, column: 0, what });
            }
            *delimiter = named;
            self.passed_over.extend_from_slice(&self.rest[at..at + line]);
            self.line += 1;
            at += line;
        }
        self.offset = at as u64;
        Ok(at)
    }

    /// The length of the record at the beginning, if all of it is there.
    fn next(&mut self, bytes: &[u8], ended: bool) -> Result<Option<usize>, Fault> {
        if bytes.is_empty() {
            return Ok(None);
        }
        match self.grammar.record(bytes, ended, &mut self.fields) {
            Ok(Some(len)) if len <= MAX_ROW => Ok(Some(len)),
            Ok(None) if bytes.len() <= MAX_ROW => Ok(None),
            Ok(_) => Err(Fault { line: self.line, column: 0, what: What::LongRow }),
            Err(fault) => Err(self.fault(bytes, fault.at, What::Form(fault.why))),
        }
    }

    /// A fault `at` bytes into the present record.
    fn fault(&self, record: &[u8], at: usize, what: What) -> Fault {
        let before = &record[..at];
        let line = self.line + line_ends(before) as u64;
        let in_line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let column = String::from_utf8_lossy(in_line).chars().count() + 1;
        Fault { line, column, what }
    }
}

impl Record<'_> {
    pub(super) fn width(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn field(&self, i: usize) -> Cow<'_, str> {
        self.fields.get(i).map_or(Cow::Borrowed(""), |field| field.of(self.text))
    }

    pub(super) fn is_blank(&self) -> bool {
        matches!(self.text, "\n" | "\r\n")
    }
}

fn line_ends(bytes: &[u8]) -> usize {
    // In runs that a byte can count: much faster.
    let in_run = |run: &[u8]| run.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    bytes.chunks(usize::from(u8::MAX)).map(|run| usize::from(in_run(run))).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Offset, line, text and width.
    type Found = (u64, u64, String, usize);

    /// Everything about the records of bytes that come so many at once, and how it ended.
    fn all(grammar: Grammar, bytes: &[u8], at_once: usize) -> (Vec<Found>, Option<String>) {
        let mut found = Vec::new();
        let mut records = Records::new(Form { grammar, header: false, is_chosen: false });
        let mut push = |bytes: &[u8], ended| {
            records.push(bytes, ended, |record| {
                found.push((record.offset, record.line, record.text.to_owned(), record.width()));
                Ok(())
            })
        };
        let end = bytes.chunks(at_once).try_for_each(|piece| push(piece, false));
        let end = end.and_then(|()| push(&[], true));
        (found, end.err().map(|e| e.to_string()))
    }

    proptest! {
        #[test]
        fn records_do_not_depend_on_the_pieces_in_which_bytes_are_read(
            pieces in prop::collection::vec(prop::sample::select(vec![
                &b"a"[..], b"\xc3\xa9", b"\xff\xfe", b"\xef\xbb\xbf", b",", b"\"", b"\n", b"\r\n",
            ]), 0..24),
            at_once in 1usize..5,
        ) {
            let bytes = pieces.concat();
            for grammar in [Grammar::Csv { delimiter: b',' }, Grammar::Lines] {
                let whole = all(grammar, &bytes, usize::MAX);
                prop_assert_eq!(&all(grammar, &bytes, at_once), &whole);
                for (offset, _, text, _) in whole.0 {
                    let start = usize::try_from(offset).unwrap();
                    prop_assert_eq!(&bytes[start..start + text.len()], text.as_bytes());
                }
            }
        }
    }

    #[test]
    fn records_across_the_edges_of_pieces_are_whole() {
        let row = |i: usize| format!("{i},\"{}\n\"\r\n", "ü".repeat(i % 1000));
        let text: String = (0..3000).map(row).collect();
        let (found, end) = all(Grammar::Csv { delimiter: b',' }, text.as_bytes(), 1 << 16);
        assert!(text.len() > 1 << 18 && end.is_none());
        for (i, (_, line, text, width)) in found.iter().enumerate() {
            assert_eq!((*line, text, *width), (2 * i as u64 + 1, &row(i), 2));
        }
        assert_eq!(found.len(), 3000);
    }

    #[test]
    fn a_quote_that_is_not_closed_takes_no_more_memory_than_a_row_may() {
        let mut records = Records::new(Form::csv(b','));
        records.push(b"a,b\n\"", false, |_| Ok(())).unwrap();
        let piece = vec![b'\n'; 1 << 20];
        let fault = (0..100).find_map(|_| records.push(&piece, false, |_| Ok(())).err()).unwrap();
        assert_eq!(fault.to_string(), "line 2: a row of more than 16 MiB");
        assert!(records.rest.capacity() <= 2 * (MAX_ROW + piece.len()));
    }
}
