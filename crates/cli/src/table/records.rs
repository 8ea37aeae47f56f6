//! A file's records one after another, each with its place.

use std::{
    borrow::Cow,
    io::{ErrorKind, Read},
    path::Path,
};

use foxtrot::psi::keys::scan::{Field, Grammar};

use crate::failure::Failure;

use super::{
    beginning::{self, BYTE_ORDER_MARK, ENCODING},
    source::{CHUNK, line_ends},
};

/// The longest row, in bytes. A quote that nobody closes does not swallow the rest of the file.
pub(super) const MAX_ROW: usize = 1 << 24;

/// Reads records, with memory for the longest of them.
pub(super) struct Records<'a, R> {
    path: &'a Path,
    /// The file may have set the delimiter.
    pub(super) grammar: Grammar,
    from: R,
    buffer: Vec<u8>,
    /// The part of the buffer that has not been handed out.
    ready: std::ops::Range<usize>,
    ended: bool,
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

impl<'a, R: Read> Records<'a, R> {
    /// Begins to read a file, whose path is for messages. A delimiter that the user has chosen is not
    /// contradicted.
    pub(super) fn begin(
        path: &'a Path,
        grammar: Grammar,
        chosen: Option<u8>,
        from: R,
    ) -> Result<Self, Failure> {
        let mut records = Self {
            path,
            grammar,
            from,
            buffer: vec![0; CHUNK],
            ready: 0..0,
            ended: false,
            offset: 0,
            line: 1,
            fields: Vec::new(),
            passed_over: Vec::new(),
        };
        while records.ready.len() < beginning::LOOKED_AT && !records.ended {
            records.fill()?;
        }
        let bytes = &records.buffer[records.ready.clone()];
        beginning::check(path, bytes)?;
        if bytes.starts_with(BYTE_ORDER_MARK) {
            records.offset = BYTE_ORDER_MARK.len() as u64;
            records.ready.start = BYTE_ORDER_MARK.len();
        }
        if let Grammar::Csv { delimiter } = &mut records.grammar {
            let bytes = &records.buffer[records.ready.clone()];
            if let Some((named, line)) = beginning::named_delimiter(bytes) {
                if chosen.is_some_and(|chosen| chosen != named) {
                    let why =
                        format!("the line sets {:?} as the field separator", char::from(named));
                    return Err(Failure::at_line(path, 1, &why)
                        .hint("remove --delimiter, or this line of the file"));
                }
                *delimiter = named;
                records.passed_over.extend_from_slice(&bytes[..line]);
                records.offset += line as u64;
                records.ready.start += line;
                records.line += 1;
            }
        }
        Ok(records)
    }

    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, Failure> {
        let len = loop {
            let bytes = &self.buffer[self.ready.clone()];
            if bytes.is_empty() && self.ended {
                return Ok(None);
            }
            match self.grammar.record(bytes, self.ended, &mut self.fields) {
                Ok(Some(len)) if len <= MAX_ROW => break len,
                Ok(None) if bytes.len() <= MAX_ROW => self.fill()?,
                Ok(_) => {
                    let why = format!("a row of more than {} MiB", MAX_ROW >> 20);
                    return Err(Failure::at_line(self.path, self.line, &why)
                        .hint("a quote in it may not be closed"));
                }
                Err(fault) => return Err(self.fault(fault.at, fault.why)),
            }
        };
        let (start, offset, line) = (self.ready.start, self.offset, self.line);
        let text = match std::str::from_utf8(&self.buffer[start..start + len]) {
            Ok(text) => text,
            Err(e) => return Err(self.fault(e.valid_up_to(), "not UTF-8").hint(ENCODING)),
        };
        self.line += line_ends(text.as_bytes()) as u64;
        self.offset += len as u64;
        self.ready.start += len;
        Ok(Some(Record { offset, line, text, fields: &self.fields }))
    }

    fn fill(&mut self) -> Result<(), Failure> {
        self.buffer.copy_within(self.ready.clone(), 0);
        self.ready = 0..self.ready.len();
        if self.ready.end == self.buffer.len() {
            // Twice as much, or a long record would be looked through again and again.
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        loop {
            match self.from.read(&mut self.buffer[self.ready.end..]) {
                Ok(len) => {
                    self.ready.end += len;
                    self.ended = len == 0;
                    return Ok(());
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(Failure::reading(self.path, &e)),
            }
        }
    }

    /// Reports a fault `at` bytes into the present record.
    fn fault(&self, at: usize, why: &str) -> Failure {
        let before = &self.buffer[self.ready.start..self.ready.start + at];
        let line = self.line + line_ends(before) as u64;
        let in_line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let column = String::from_utf8_lossy(in_line).chars().count() + 1;
        Failure::usage(format!("{}, line {line}, column {column}: {why}", self.path.display()))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let len = self.1.min(to.len());
            self.0.read(&mut to[..len])
        }
    }

    /// Offset, line, text and width.
    type Found = (u64, u64, String, usize);

    /// Everything about the records, and how it ended.
    fn all(grammar: Grammar, from: impl Read) -> (Vec<Found>, Option<String>) {
        let mut found = Vec::new();
        let mut records = match Records::begin(Path::new("a"), grammar, None, from) {
            Ok(records) => records,
            Err(e) => return (found, Some(e.message().to_owned())),
        };
        loop {
            match records.next() {
                Ok(Some(record)) => {
                    let text = record.text.to_owned();
                    found.push((record.offset, record.line, text, record.width()));
                }
                Ok(None) => return (found, None),
                Err(e) => return (found, Some(e.message().to_owned())),
            }
        }
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
                let whole = all(grammar, &bytes[..]);
                prop_assert_eq!(&all(grammar, Slow(&bytes, at_once)), &whole);
                for (offset, _, text, _) in whole.0 {
                    let start = usize::try_from(offset).unwrap();
                    prop_assert_eq!(&bytes[start..start + text.len()], text.as_bytes());
                }
            }
        }
    }

    #[test]
    fn records_across_the_edges_of_the_buffer_are_whole() {
        let row = |i: usize| format!("{i},\"{}\n\"\r\n", "ü".repeat(i % 1000));
        let text: String = (0..3000).map(row).collect();
        let (found, end) = all(Grammar::Csv { delimiter: b',' }, text.as_bytes());
        assert!(text.len() > 4 * CHUNK && end.is_none());
        for (i, (_, line, text, width)) in found.iter().enumerate() {
            assert_eq!((*line, text, *width), (2 * i as u64 + 1, &row(i), 2));
        }
        assert_eq!(found.len(), 3000);
    }
}
