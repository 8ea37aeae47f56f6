//! Tables as people have them: CSV, lines or JSON lines, whose rows have keys. What is compared are the keys' items; what comes out are
//! numbers of rows, and their places in the file. The command and the page read files with this.
//!
//! ```
//! use foxtrot::table::{Form, Table};
//!
//! let file = b"id,email\n7,Ann@Example.org\n8,bob@example.org\n9,ann@example.org\n";
//! let mut table = Table::new(Form::csv(b','))
//!     .key(vec!["email".parse()?])
//!     .normalise(vec!["email".parse()?]);
//! table.read(&file[..])?;
//! let keys = table.end()?;
//! assert_eq!((table.rows(), keys.len()), (3, 2));
//! // After a session: the rows with a key that both sides have.
//! let rows = keys.indices(&[0]);
//! assert_eq!(rows, [0, 2]);
//! let (start, len) = table.place(2).expect("a row");
//! assert_eq!(&file[start as usize..][..len as usize], b"9,ann@example.org\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The bytes of an item, the form of files, and what is refused are specified in `docs/psi-files.md`.

mod beginning;
mod column;
mod columns;
mod encoding;
mod fault;
mod findings;
mod form;
#[cfg(feature = "packed")]
mod packed;
mod records;
mod rows;
mod scan;
#[cfg(feature = "spreadsheets")]
mod sheet;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    io::{ErrorKind, Read},
};

use crate::psi::{
    keys::{Keys, Normaliser},
    shards::Division,
};

pub use column::{Column, visible};
pub use columns::nearest;
pub use encoding::Encoding;
pub use fault::{Fault, NoText, What};
pub use findings::{Findings, Lines};
pub use form::Form;
#[cfg(feature = "packed")]
pub use packed::Packing;
pub use rows::Shown;
pub use scan::Grammar;
#[cfg(feature = "spreadsheets")]
pub use sheet::{FIRST as SHEET, SheetFault, write_sheet};

use records::Records;
use rows::Rows;

/// The longest row, in bytes. A quote that nobody closes does not swallow the rest of the file.
const MAX_ROW: usize = 1 << 24;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;

/// A table that is being read, or that has been. In memory are 12 bytes for each row, beside its [`Keys`].
pub struct Table {
    records: Records,
    rows: Rows,
}

impl Table {
    /// A table of which nothing has been read. Its only column has the keys.
    #[must_use]
    pub fn new(form: Form) -> Self {
        Self { records: Records::new(form), rows: Rows::new(form) }
    }

    /// Takes the keys of these columns; of the only column if there are none.
    #[must_use]
    pub fn key(mut self, columns: Vec<Column>) -> Self {
        self.rows.wanted = Some(columns);
        self
    }

    /// Takes no keys: for the names of columns.
    #[must_use]
    pub fn without_key(mut self) -> Self {
        self.rows.wanted = None;
        self
    }

    /// Normalises each part of a key by one of these, or all parts by the only one.
    #[must_use]
    pub fn normalise(mut self, normalisers: Vec<Normaliser>) -> Self {
        self.rows.normalisers = normalisers;
        self
    }

    /// Keeps the first keys, to be shown.
    #[must_use]
    pub fn showing(mut self, keys: usize) -> Self {
        self.rows.show = keys;
        self
    }

    /// Refuses more rows than `most`, and makes room for so many at once.
    #[must_use]
    pub fn room(mut self, most: usize) -> Self {
        (self.rows.most, self.rows.room) = (most, most);
        self
    }

    /// Refuses more rows or columns, without room for so many at once.
    #[must_use]
    pub fn at_most(mut self, rows: usize, columns: usize) -> Self {
        (self.rows.most, self.rows.most_columns) = (rows, columns);
        self
    }

    /// Takes the rows of one shard only. A row without a key is of shard 0.
    #[must_use]
    pub fn of_shard(mut self, shard: Option<(Division, u32)>) -> Self {
        self.rows.shard = shard;
        self
    }

    /// Reads the next bytes.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.take(bytes, false)
    }

    fn take(&mut self, bytes: &[u8], ended: bool) -> Result<(), Fault> {
        let Self { records, rows } = self;
        records.push(bytes, ended, |record| {
            rows.encoding = record.encoding;
            rows.take(record)
        })
    }

    /// Reads all bytes that come.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn read(&mut self, from: impl Read) -> Result<(), Fault> {
        pieces(from, |piece| self.push(piece))
    }

    /// Ends the table, when all has been read.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn end(&mut self) -> Result<Keys, Fault> {
        self.take(&[], true)?;
        self.rows.end().map_err(Fault::from)
    }

    /// The grammar of the rows. The file may have set the delimiter.
    #[must_use]
    pub fn grammar(&self) -> Grammar {
        self.records.grammar
    }

    /// The encoding of the text. The file may have set UTF-16.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.records.encoding
    }

    /// Returns true if the first row has the columns' names.
    #[must_use]
    pub fn has_header(&self) -> bool {
        self.rows.header
    }

    /// The columns' names: those of the header, or `#1`, `#2` and so on.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.rows.columns.names
    }

    /// The names of the key columns.
    #[must_use]
    pub fn key_names(&self) -> Vec<String> {
        self.rows.columns.key_names()
    }

    /// The number of rows so far.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Findings beside keys.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.rows.findings
    }

    /// The first keys.
    #[must_use]
    pub fn shown(&self) -> &[Shown] {
        &self.rows.shown
    }

    /// The normalisation of the parts of a key, in the form in which both sides compare it.
    #[must_use]
    pub fn terms(&self) -> String {
        self.rows.keyer.terms()
    }

    /// The bytes above the rows: a line that names the delimiter, and the header with a line end.
    #[must_use]
    pub fn above(&self) -> Vec<u8> {
        [&self.records.passed_over[..], &self.rows.header_bytes].concat()
    }

    /// The place and the length of a row in the file.
    #[must_use]
    pub fn place(&self, row: usize) -> Option<(u64, u32)> {
        self.rows.places.get(row)
    }

    /// The positions of columns.
    ///
    /// # Errors
    /// [`Fault`] if they are not there.
    pub fn positions(&self, wanted: &[Column]) -> Result<Vec<usize>, Fault> {
        let has_names = self.rows.header || self.records.grammar == Grammar::JsonLines;
        Ok(self.rows.columns.positions(has_names, wanted)?)
    }

    /// The fields at these positions of a row that was read once more; none if the bytes are no row of the table.
    #[must_use]
    pub fn fields<'a>(&self, row: &'a [u8], positions: &[usize]) -> Option<Vec<Cow<'a, str>>> {
        match self.records.encoding.text(row)? {
            Cow::Borrowed(text) => self.fields_of(text, positions),
            Cow::Owned(text) => {
                let fields = self.fields_of(&text, positions)?;
                Some(fields.into_iter().map(|field| Cow::Owned(field.into_owned())).collect())
            }
        }
    }

    fn fields_of<'a>(&self, text: &'a str, positions: &[usize]) -> Option<Vec<Cow<'a, str>>> {
        let fields = self.records.fields_of(text)?;
        positions.iter().map(|&at| Some(fields.get(at)?.of(text))).collect()
    }

    /// Returns true if a row that was read once more still has its key.
    pub fn is_row(&mut self, keys: &Keys, number: usize, row: &[u8]) -> bool {
        let fields = self.fields(row, &self.rows.columns.keys);
        let item = fields.map(|fields| self.rows.keyer.item(fields.into_iter()));
        item == Some(keys.key_of(number).map(|key| keys.items()[key]))
    }

    /// Puts fields behind those of the last row of `rows`, and a line end where there is none. In another encoding than a
    /// Unicode one, a character that it does not have is written as `\u{1f600}`.
    pub fn extend<T: AsRef<str>>(&self, rows: &mut Vec<u8>, fields: impl IntoIterator<Item = T>) {
        let more = self.records.grammar.more(fields);
        let encoding = self.records.encoding;
        if !more.is_empty() {
            let ends = ["\r\n", "\n"].map(|end| encoding.bytes(end));
            let len = ends.iter().find(|end| rows.ends_with(end)).map_or(0, |end| end.len());
            let end = rows.split_off(rows.len() - len);
            rows.extend_from_slice(&encoding.bytes(&more));
            rows.extend_from_slice(&end);
        }
        end_line(rows, encoding);
    }
}

fn end_line(bytes: &mut Vec<u8>, encoding: Encoding) {
    let end = encoding.bytes("\n");
    if !bytes.is_empty() && !bytes.ends_with(&end) {
        bytes.extend_from_slice(&end);
    }
}

fn pieces(
    mut from: impl Read,
    mut take: impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut piece = vec![0; CHUNK];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(len) => take(&piece[..len])?,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(What::Io(e).into()),
        }
    }
}

foxtrot_ot::erase::redacted! { Table; }
