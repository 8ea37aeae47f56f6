//! A file with rows, read piece by piece, by the grammar and normalisers of the command (`docs/psi-files.md`).

use std::borrow::Cow;

use foxtrot::psi::keys::{
    Item, Keyer, Normaliser,
    scan::{Field, Grammar},
};
use zeroize::Zeroizing;

use crate::peer::Keys;

/// The longest row, in bytes. A quote that nobody closes does not swallow the rest of the file.
const MAX_ROW: usize = 1 << 24;

/// The most rows: each takes 49 bytes here, and the comparison about as much again, of 4 GiB of addresses.
const MAX_ROWS: usize = 1 << 24;

/// The most columns: the page shows all of them.
const MAX_COLUMNS: usize = 10_000;

/// The rows whose items stand together: a list that grows would leave copies of them behind.
const CHUNK: usize = 1 << 13;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// First bytes of what is no text, and the code of the fault.
const OTHERS: [(&[u8], &str); 10] = [
    (b"PK\x03\x04", "excel"),
    (b"\xd0\xcf\x11\xe0", "excel"),
    (b"\x1f\x8b", "packed"),
    (b"\x28\xb5\x2f\xfd", "packed"),
    (b"BZh91AY&SY", "packed"),
    (b"\xfd7zXZ\0", "packed"),
    (b"7z\xbc\xaf\x27\x1c", "packed"),
    (b"PAR1\x15", "parquet"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
];

/// A fault of a file, for a program that says it in the user's language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The fault, as the page's texts name it.
    pub code: &'static str,
    /// The line, from 1; 0 where it is of no use.
    pub line: u64,
    /// The text that stands there, or that was expected.
    pub detail: String,
}

/// The way in which a file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Lines, or fields between delimiters.
    pub grammar: Grammar,
    /// True if the first row has names.
    pub header: bool,
}

/// A file that is being read, or that has been.
pub struct Table {
    plan: Plan,
    /// The positions of the key columns.
    columns: Vec<usize>,
    keyer: Keyer,
    /// Bytes that are not whole records yet, and the place of the first in the file.
    rest: Vec<u8>,
    offset: u64,
    line: u64,
    has_begun: bool,
    has_ended: bool,
    fields: Vec<Field>,
    names: Option<Vec<String>>,
    width: usize,
    above: Vec<u8>,
    items: Vec<Zeroizing<Vec<Option<Item>>>>,
    /// The place and length of each row.
    places: Vec<(u64, u32)>,
    blank: usize,
    /// The first rows' keys, before and after they are normalised.
    sample: Vec<[Vec<String>; 2]>,
    wanted: usize,
    most_rows: usize,
}

impl Plan {
    /// Guesses from a file's name and first bytes how it is to be read.
    #[must_use]
    pub fn guess(name: &str, first: &[u8]) -> Self {
        let first = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first);
        if let Some((delimiter, _)) = named_delimiter(first) {
            return Self { grammar: Grammar::Csv { delimiter }, header: true };
        }
        let line = first.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let count = |delimiter: u8| line.iter().filter(|&&byte| byte == delimiter).count();
        let likely =
            [b',', b';', b'\t', b'|'].into_iter().max_by_key(|&it| (count(it), it == b','));
        let name = name.to_lowercase();
        let [is_csv, is_tsv] = [".csv", ".tsv"].map(|end| name.ends_with(end));
        let delimiter = likely.filter(|&it| count(it) > 0);
        match delimiter.or(if is_csv { Some(b',') } else { is_tsv.then_some(b'\t') }) {
            Some(delimiter) => Self { grammar: Grammar::Csv { delimiter }, header: true },
            None => Self { grammar: Grammar::Lines, header: false },
        }
    }
}

impl Table {
    /// A file of which nothing has been read. The key has as many columns as there are normalisers; the keys of the first
    /// `wanted` rows are shown.
    #[must_use]
    pub fn new(
        plan: Plan,
        columns: Vec<usize>,
        normalisers: Vec<Normaliser>,
        wanted: usize,
    ) -> Self {
        Self {
            plan,
            columns,
            keyer: Keyer::new(normalisers),
            rest: Vec::new(),
            offset: 0,
            line: 1,
            has_begun: false,
            has_ended: false,
            fields: Vec::new(),
            names: None,
            width: 0,
            above: Vec::new(),
            items: Vec::new(),
            places: Vec::new(),
            blank: 0,
            sample: Vec::new(),
            wanted,
            most_rows: MAX_ROWS,
        }
    }

    /// Reads the next bytes.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.rest.extend_from_slice(bytes);
        self.read(false)
    }

    /// Reads what is left, at the end of the file.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn end(&mut self) -> Result<(), Fault> {
        self.read(true)?;
        self.has_ended = true;
        match self.places.is_empty() {
            true => Err(self.fault("empty", 0, String::new())),
            false => Ok(()),
        }
    }

    /// The columns' names: those of the header, or `#1`, `#2` and so on.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.names.as_deref().unwrap_or_default()
    }

    /// Returns true if the first row has the columns' names.
    #[must_use]
    pub fn has_header(&self) -> bool {
        self.plan.header
    }

    /// The number of rows so far.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.places.len()
    }

    /// The number of lines that are empty and no rows.
    #[must_use]
    pub fn blank(&self) -> usize {
        self.blank
    }

    /// The first rows' keys, before and after they are normalised.
    #[must_use]
    pub fn sample(&self) -> &[[Vec<String>; 2]] {
        &self.sample
    }

    /// The normalisation in the form in which both sides compare it.
    #[must_use]
    pub fn terms(&self) -> String {
        self.keyer.terms()
    }

    /// The bytes above the rows: the header.
    #[must_use]
    pub fn above(&self) -> &[u8] {
        &self.above
    }

    /// The place and length of a row in the file.
    #[must_use]
    pub fn place(&self, row: usize) -> Option<(u64, u32)> {
        self.places.get(row).copied()
    }

    /// The fields of a row that was read once more.
    #[must_use]
    pub fn fields(&self, row: &[u8]) -> Vec<String> {
        let (mut fields, text) = (Vec::new(), String::from_utf8_lossy(row));
        match self.plan.grammar.record(text.as_bytes(), true, &mut fields) {
            Ok(Some(_)) => fields.iter().map(|field| field.of(&text).into_owned()).collect(),
            _ => Vec::new(),
        }
    }

    /// A row that was read once more, with these fields behind its own and a line end: as the command writes it.
    #[must_use]
    pub fn extended(&self, row: &[u8], fields: &[String]) -> Vec<u8> {
        let mut row = row.to_vec();
        self.plan.grammar.extend(&mut row, fields);
        if !row.ends_with(b"\n") {
            row.push(b'\n');
        }
        row
    }

    /// The keys of all rows. Their items are gone from here.
    ///
    /// # Errors
    /// [`Fault`] if there are too many.
    pub fn take_keys(&mut self) -> Result<Keys, Fault> {
        let items = std::mem::take(&mut self.items);
        let all = items.iter().flat_map(|chunk| chunk.iter().copied());
        let too_many = |_| self.fault("too-many-rows", 0, self.places.len().to_string());
        Keys::of(self.places.len(), all).map_err(too_many)
    }

    fn read(&mut self, whole: bool) -> Result<(), Fault> {
        let mut at = 0;
        if !self.has_begun {
            if self.rest.len() < 16 && !whole {
                return Ok(());
            }
            at = self.begin()?;
        }
        let rest = std::mem::take(&mut self.rest);
        self.offset += at as u64;
        let read = at + self.records(&rest[at..], whole)?;
        self.offset += (read - at) as u64;
        self.rest = rest;
        self.rest.drain(..read);
        match self.rest.len() > MAX_ROW {
            true => Err(self.fault("long-row", self.line, String::new())),
            false => Ok(()),
        }
    }

    /// Looks at the file's first bytes, and passes over those that are no rows.
    fn begin(&mut self) -> Result<usize, Fault> {
        self.has_begun = true;
        let bytes = &self.rest[..];
        let other = OTHERS.iter().find(|(first, _)| bytes.starts_with(first)).map(|(_, it)| *it);
        let other = other.or(match bytes {
            [0, a, 0, b, ..] | [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Some("utf-16"),
            _ => None,
        });
        if let Some(code) = other {
            return Err(self.fault(code, 0, String::new()));
        }
        let mut at = 0;
        if bytes.starts_with(BYTE_ORDER_MARK) {
            at = BYTE_ORDER_MARK.len();
        }
        if let (Grammar::Csv { delimiter }, Some((named, len))) =
            (self.plan.grammar, named_delimiter(&bytes[at..]))
        {
            if delimiter != named {
                return Err(self.fault("other-delimiter", 1, char::from(named).to_string()));
            }
            self.above.extend_from_slice(&bytes[at..at + len]);
            (at, self.line) = (at + len, 2);
        }
        Ok(at)
    }

    /// Reads all whole records, and returns their length.
    fn records(&mut self, bytes: &[u8], whole: bool) -> Result<usize, Fault> {
        let mut at = 0;
        while at < bytes.len() {
            let mut fields = std::mem::take(&mut self.fields);
            let found = self.plan.grammar.record(&bytes[at..], whole, &mut fields);
            let len = match found {
                Ok(Some(len)) => len,
                Ok(None) => {
                    self.fields = fields;
                    break;
                }
                Err(fault) => {
                    let line = self.line + line_ends(&bytes[at..at + fault.at]);
                    return Err(self.fault("grammar", line, fault.why.into()));
                }
            };
            let record = &bytes[at..at + len];
            let text = match std::str::from_utf8(record) {
                Ok(text) => text,
                Err(e) => {
                    let line = self.line + line_ends(&record[..e.valid_up_to()]);
                    return Err(self.fault("not-utf-8", line, String::new()));
                }
            };
            self.record(text, &fields, self.offset + at as u64)?;
            self.fields = fields;
            self.line += line_ends(record);
            at += len;
        }
        Ok(at)
    }

    fn record(&mut self, text: &str, fields: &[Field], offset: u64) -> Result<(), Fault> {
        if matches!(text, "\n" | "\r\n") {
            self.blank += 1;
            return Ok(());
        }
        if self.names.is_none() {
            self.width = fields.len();
            if self.width > MAX_COLUMNS {
                return Err(self.fault("too-many-columns", self.line, self.width.to_string()));
            }
            let name = |(i, field): (usize, &Field)| match self.plan.header {
                true => field.of(text).into_owned(),
                false => format!("#{}", i + 1),
            };
            self.names = Some(fields.iter().enumerate().map(name).collect());
            if self.columns.iter().any(|&column| column >= self.width) {
                return Err(self.fault("no-such-column", self.line, String::new()));
            }
            if self.plan.header {
                self.above.extend_from_slice(text.as_bytes());
                return Ok(());
            }
        }
        if self.places.len() == self.most_rows {
            return Err(self.fault("too-many-rows", self.line, self.most_rows.to_string()));
        }
        if fields.len() != self.width {
            let detail = format!("{} ≠ {}", fields.len(), self.width);
            return Err(self.fault("width", self.line, detail));
        }
        let parts = self.columns.iter().map(|&column| fields[column].of(text));
        if parts.clone().any(|part| part.contains('\0')) {
            return Err(self.fault("nul", self.line, String::new()));
        }
        if self.sample.len() < self.wanted {
            let key: Vec<_> = parts.clone().map(Cow::into_owned).collect();
            let normalised = self.keyer.normalised(&key);
            self.sample.push([key, normalised]);
        }
        let item = self.keyer.item(parts);
        if self.items.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.items.push(Zeroizing::new(Vec::with_capacity(CHUNK)));
        }
        self.items.iter_mut().next_back().into_iter().for_each(|chunk| chunk.push(item));
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.places.push((offset, len));
        Ok(())
    }

    fn fault(&self, code: &'static str, line: u64, detail: String) -> Fault {
        Fault { code, line, detail }
    }
}

/// The delimiter that the first line names for Excel, and the length of the line with its end.
fn named_delimiter(bytes: &[u8]) -> Option<(u8, usize)> {
    let (word, rest) = bytes.split_at_checked(4)?;
    let (&delimiter, end) = rest.split_first()?;
    let len = match end {
        [b'\n', ..] => 6,
        [b'\r', b'\n', ..] => 7,
        _ => return None,
    };
    let is_one = delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\n' | b'\r');
    (word.eq_ignore_ascii_case(b"sep=") && is_one).then_some((delimiter, len))
}

fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

foxtrot_ot::erase::redacted! { Table; }

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(plan: Plan, columns: Vec<usize>, pieces: &[&[u8]]) -> Result<Table, Fault> {
        let normalisers = columns.iter().map(|_| Normaliser::default()).collect();
        let mut table = Table::new(plan, columns, normalisers, 3);
        pieces.iter().try_for_each(|piece| table.push(piece))?;
        table.end().map(|()| table)
    }

    const CSV: Plan = Plan { grammar: Grammar::Csv { delimiter: b',' }, header: true };

    #[test]
    fn rows_do_not_depend_on_the_pieces_in_which_a_file_is_read() {
        let text = "\u{feff}id,name\r\n1,\"Müller, \"\"A\"\"\"\r\n\r\n2,x\r\n1,y\r\n,z";
        let all = read(CSV, vec![0], &[text.as_bytes()]).unwrap();
        assert_eq!((all.rows(), all.blank()), (4, 1));
        assert_eq!(all.names(), ["id", "name"]);
        for at_once in 1..8 {
            let pieces: Vec<_> = text.as_bytes().chunks(at_once).collect();
            let mut table = read(CSV, vec![0], &pieces).unwrap();
            assert_eq!(table.places, all.places);
            let keys = table.take_keys().unwrap();
            assert_eq!((keys.len(), keys.left_out()), (2, [1, 1]));
            assert_eq!(keys.rows_of(&[0]), [0, 2]);
        }
        let (offset, len) = all.place(0).unwrap();
        let start = usize::try_from(offset).unwrap();
        let row = &text.as_bytes()[start..start + len as usize];
        assert_eq!(all.fields(row), ["1", "Müller, \"A\""]);
    }

    #[test]
    fn empty_lines_are_no_rows_in_either_format() {
        let lines = Plan { grammar: Grammar::Lines, header: false };
        let mut table = read(lines, vec![0], &[b"a\n\n\r\nb"]).unwrap();
        assert_eq!((table.rows(), table.blank()), (2, 2));
        assert_eq!(table.take_keys().unwrap().left_out(), [0, 0]);
    }

    #[test]
    fn a_file_that_is_no_table_is_named() {
        for (bytes, code) in [
            (&b"PK\x03\x04 and so on, and so on"[..], "excel"),
            (b"\xff\xfei\0d\0", "utf-16"),
            (b"a,b\n1,2\n3\n", "width"),
            (b"a,b\n1,\"2\n3\n", "grammar"),
            (b"a,b\n1,\xff\n", "not-utf-8"),
            (b"a,b\n\0,1\n", "nul"),
            (b"a,b\n", "empty"),
            (b"", "empty"),
        ] {
            assert_eq!(read(CSV, vec![0], &[bytes]).unwrap_err().code, code);
        }
        assert_eq!(read(CSV, vec![2], &[b"a,b\n1,2\n"]).unwrap_err().code, "no-such-column");
    }

    #[test]
    fn a_file_whose_rows_or_columns_are_too_many_is_refused_while_it_is_read() {
        let plan = Plan { grammar: Grammar::Lines, header: false };
        let mut table = Table::new(plan, vec![0], vec![Normaliser::default()], 0);
        table.most_rows = 3;
        assert_eq!(table.push(b"1\n2\n3\n4\n5\n..............").unwrap_err().code, "too-many-rows");
        assert_eq!(table.items.iter().map(|it| it.len()).sum::<usize>(), 3);
        let wide = ",".repeat(MAX_COLUMNS) + "\n1\n";
        assert_eq!(read(CSV, vec![0], &[wide.as_bytes()]).unwrap_err().code, "too-many-columns");
    }

    #[test]
    fn a_quote_that_is_not_closed_takes_no_more_memory_than_a_row_may() {
        let mut table = Table::new(CSV, vec![0], vec![Normaliser::default()], 0);
        table.push(b"a,b\n\"").unwrap();
        let piece = vec![b'\n'; 1 << 20];
        let fault = (0..100).find_map(|_| table.push(&piece).err()).unwrap();
        assert_eq!((fault.code, fault.line), ("long-row", 2));
        assert!(table.rest.len() <= MAX_ROW + piece.len());
    }

    #[test]
    fn the_form_of_a_file_is_guessed_from_its_first_line() {
        let csv = |delimiter| Plan { grammar: Grammar::Csv { delimiter }, header: true };
        for (name, first, plan) in [
            ("a.csv", &b"id,name\n"[..], csv(b',')),
            ("a.csv", b"id;name\n1,5;2,5", csv(b';')),
            ("a.txt", b"id\tname\n", csv(b'\t')),
            ("A.CSV", b"\xef\xbb\xbfid\n", csv(b',')),
            ("a.csv", b"sep=|\nid|a,b,c\n", csv(b'|')),
            ("a.txt", b"ann@example.org\n", Plan { grammar: Grammar::Lines, header: false }),
        ] {
            assert_eq!(Plan::guess(name, first), plan, "{name}");
        }
    }

    proptest! {
        #[test]
        fn places_are_those_of_rows(cells in prop::collection::vec("[a\",\n é]{0,5}", 1..20)) {
            let quote = |cell: &String| format!("\"{}\",k\n", cell.replace('"', "\"\""));
            let text = "x,y\n".to_owned() + &cells.iter().map(quote).collect::<String>();
            let table = read(CSV, vec![1], &[text.as_bytes()]).unwrap();
            prop_assert_eq!(table.rows(), cells.len());
            for (row, cell) in cells.iter().enumerate() {
                let (offset, len) = table.place(row).unwrap();
                let start = usize::try_from(offset).unwrap();
                let fields = table.fields(&text.as_bytes()[start..start + len as usize]);
                prop_assert_eq!(&fields[0], cell);
            }
        }
    }
}
