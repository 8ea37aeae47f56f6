//! A table's records one after another, each with its place.

use std::io::Read;
use std::{borrow::Cow, mem};

use super::{
    Encoding, Fault, Form, MAX_ROW, What,
    beginning::{self, BYTE_ORDER_MARK, LOOKED_AT},
    encoding::{Units, likely},
    pieces,
    scan::{self, Field, Grammar, json},
};

/// Finds records, with memory for the longest of them.
pub(super) struct Records {
    /// The file may have set the delimiter.
    pub(super) grammar: Grammar,
    /// The file may have set UTF-16.
    pub(super) encoding: Encoding,
    /// The units of a file in UTF-16 that wait for more bytes.
    units: Units,
    is_chosen: bool,
    has_begun: bool,
    /// Bytes that are no whole record yet, and how many are worth another look.
    rest: Vec<u8>,
    enough: usize,
    offset: u64,
    line: u64,
    fields: Vec<Field>,
    /// The columns of JSON lines.
    names: Vec<String>,
    /// The line above the header that names the delimiter, or nothing.
    pub(super) passed_over: Vec<u8>,
}

/// A record in its place.
pub(super) struct Record<'a> {
    /// Offset of the record's first byte in the file.
    pub(super) offset: u64,
    /// Line of the record's beginning, from 1.
    pub(super) line: u64,
    /// Text of the record as in the file, with the line end.
    pub(super) text: &'a str,
    /// The bytes of the record in the file.
    pub(super) bytes: Cow<'a, [u8]>,
    fields: &'a [Field],
    /// The columns of JSON lines.
    pub(super) names: &'a [String],
    pub(super) encoding: Encoding,
    grammar: Grammar,
}

impl Form {
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

impl Records {
    pub(super) fn new(form: Form) -> Self {
        Self {
            grammar: form.grammar,
            encoding: form.encoding,
            units: Units::of(form.encoding),
            is_chosen: form.is_chosen,
            has_begun: false,
            rest: Vec::new(),
            enough: LOOKED_AT,
            offset: 0,
            line: 1,
            fields: Vec::new(),
            names: Vec::new(),
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
        let added = if self.has_begun {
            self.add(bytes, ended)
        } else {
            self.rest.extend_from_slice(bytes);
            if self.rest.len() < LOOKED_AT && !ended {
                return Ok(());
            }
            self.begin(ended)?
        };
        // Rows before a fault are right.
        let ended = ended && added.is_ok();
        if added.is_ok() && self.rest.len() < self.enough && !ended {
            return Ok(());
        }
        let (rest, mut at) = (mem::take(&mut self.rest), 0);
        while let Some(len) = self.next(&rest[at..], ended)? {
            let record = &rest[at..at + len];
            let text = match self.encoding.is_wide() {
                // It has been decoded.
                true => std::str::from_utf8(record).ok().map(Cow::Borrowed),
                false => self.encoding.text(record),
            };
            let Some(text) = text else { return Err(self.no_text(record, &rest[at..])) };
            if matches!(text, Cow::Owned(_)) || self.grammar == Grammar::JsonLines {
                self.find_fields(&text, record)?;
            }
            let bytes = match self.encoding.is_wide() {
                true => self.encoding.bytes(&text),
                false => record.into(),
            };
            let (offset, line, raw) = (self.offset, self.line, bytes.len());
            let record = Record {
                offset,
                line,
                text: &text,
                bytes,
                fields: &self.fields,
                names: &self.names,
                encoding: self.encoding,
                grammar: self.grammar,
            };
            take(&record).map_err(|what| Fault { line, column: 0, what })?;
            self.line += line_ends(text.as_bytes()) as u64;
            self.offset += raw as u64;
            at += len;
        }
        self.rest = rest;
        self.rest.drain(..at);
        // Twice as much, or a long record would be looked through again and again.
        self.enough = (2 * self.rest.len()).min(MAX_ROW + 1);
        added
    }

    /// Finds the fields of a whole record by its text.
    fn find_fields(&mut self, text: &str, record: &[u8]) -> Result<(), Fault> {
        let form = |fault: scan::Fault| (fault.at, What::Form(fault.why));
        let found = match self.grammar {
            Grammar::JsonLines if text.trim_ascii().is_empty() => Ok(()),
            Grammar::JsonLines if self.names.is_empty() => {
                let mut names = Vec::new();
                let found =
                    json::object(text.as_bytes(), |name, _| names.push(name.of(text).into_owned()));
                self.names = names;
                found
                    .and_then(|()| by_name(&self.names, text))
                    .map(|it| self.fields = it)
                    .map_err(form)
            }
            Grammar::JsonLines => {
                by_name(&self.names, text).map(|it| self.fields = it).map_err(form)
            }
            grammar => {
                grammar.record(text.as_bytes(), true, &mut self.fields).map(drop).map_err(form)
            }
        };
        // The place in the text is not the one in other bytes.
        found.map_err(|(at, what)| {
            let before = text.as_bytes().get(..at).unwrap_or_default();
            self.fault(before, before.len().min(record.len()), what)
        })
    }

    /// The fields of a row that was read once more; none if the text is no single row.
    pub(super) fn fields_of(&self, text: &str) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        let lines = match self.grammar {
            Grammar::JsonLines => Grammar::Lines,
            grammar => grammar,
        };
        let len = lines.record(text.as_bytes(), true, &mut fields).ok()??;
        if self.grammar == Grammar::JsonLines {
            fields = by_name(&self.names, text).ok()?;
        }
        (len == text.len()).then_some(fields)
    }

    /// Adds the next bytes, those of UTF-16 as UTF-8.
    fn add(&mut self, bytes: &[u8], ended: bool) -> Result<(), Fault> {
        if !self.encoding.is_wide() {
            self.rest.extend_from_slice(bytes);
            return Ok(());
        }
        let added = self.units.push(bytes, &mut self.rest);
        if added.is_err() || ended && !self.units.is_done() {
            return Err(self.fault(
                &self.rest,
                self.rest.len(),
                What::NotInEncoding(self.encoding),
            ));
        }
        Ok(())
    }

    /// Looks at the file's first bytes, and passes over those that are no rows. What was added behind them may have a fault.
    fn begin(&mut self, ended: bool) -> Result<Result<(), Fault>, Fault> {
        self.has_begun = true;
        self.enough = 0;
        let bytes = mem::take(&mut self.rest);
        let mut at = 0;
        if let Some(marked) = Encoding::of_mark(&bytes)
            && (self.encoding == Encoding::UTF_8 || self.encoding.is_wide())
        {
            (self.encoding, self.units) = (marked, Units::of(marked));
            // Without the mark, nobody would read the result as UTF-16.
            self.passed_over.extend_from_slice(&bytes[..2]);
            at = 2;
        } else if !self.encoding.is_wide() {
            beginning::check(&bytes, self.grammar)?;
            if self.encoding == Encoding::UTF_8 && bytes.starts_with(BYTE_ORDER_MARK) {
                at = BYTE_ORDER_MARK.len();
            }
        }
        if let Grammar::Csv { delimiter } = self.grammar
            && self.encoding.has_ascii_inside(delimiter)
        {
            return Err(What::DelimiterInside(char::from(delimiter), self.encoding).into());
        }
        self.offset = at as u64;
        let added = self.add(&bytes[at..], ended);
        if let Grammar::Csv { delimiter } = &mut self.grammar
            && let Some((named, line)) = beginning::named_delimiter(&self.rest)
        {
            if self.is_chosen && *delimiter != named {
                let what = What::OtherDelimiter(char::from(named));
                return Err(Fault { line: 1, column: 0, what });
            }
            *delimiter = named;
            let line: Vec<u8> = self.rest.drain(..line).collect();
            let text = String::from_utf8_lossy(&line);
            let line = self.encoding.bytes(&text);
            self.passed_over.extend_from_slice(&line);
            self.offset += line.len() as u64;
            self.line += 1;
        }
        Ok(added)
    }

    /// The fault of bytes that are no text, at the beginning of the rest.
    fn no_text(&self, record: &[u8], rest: &[u8]) -> Fault {
        match self.encoding == Encoding::UTF_8 {
            false => Fault { line: self.line, column: 0, what: What::NotInEncoding(self.encoding) },
            true => {
                let at = std::str::from_utf8(record).map_or_else(|e| e.valid_up_to(), str::len);
                self.fault(record, at, What::NotUtf8(likely(rest)))
            }
        }
    }

    /// The length of the record at the beginning, if all of it is there.
    fn next(&mut self, bytes: &[u8], ended: bool) -> Result<Option<usize>, Fault> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let grammar = match self.grammar {
            Grammar::JsonLines => Grammar::Lines,
            grammar => grammar,
        };
        match grammar.record(bytes, ended, &mut self.fields) {
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
        let is_json = self.grammar == Grammar::JsonLines;
        matches!(self.text, "\n" | "\r\n") || is_json && self.text.trim_ascii().is_empty()
    }
}

/// Finds the values of the columns in an object. What it lacks is empty.
fn by_name(names: &[String], text: &str) -> Result<Vec<Field>, scan::Fault> {
    let (mut fields, mut seen) = (vec![Field::EMPTY; names.len()], vec![false; names.len()]);
    let (mut twice, mut next) = (false, 0);
    json::object(text.as_bytes(), |name, value| {
        let name = name.of(text);
        // Most objects have their names in the same order.
        let order = (next..names.len()).chain(0..next);
        if let Some(at) = order.into_iter().find(|&at| names[at] == name) {
            twice |= mem::replace(&mut seen[at], true);
            (fields[at], next) = (value, at + 1);
        }
    })?;
    if twice { Err(scan::Fault { at: 0, why: "an object has a name twice" }) } else { Ok(fields) }
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
        let mut records = Records::new(Form { grammar, header: false, ..Form::LINES });
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
                // Texts of UTF-16 have other bytes.
                for (offset, _, text, _) in whole.0.into_iter().filter(|_| !bytes.starts_with(b"\xff\xfe")) {
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
