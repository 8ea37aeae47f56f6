//! Sets as people have them: files whose rows have keys. The library reads tables; the command has files, options and
//! words.

mod fault;
mod findings;
mod options;
mod source;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

pub(crate) use foxtrot::psi::keys::Item;
use foxtrot::{
    psi::keys::Keys,
    table::{Column, Encoding, Form, Grammar, Shown, Table, What, visible},
};

use crate::{args::SetOptions, failure::Failure};

use fault::failure;
use source::{CHUNK, MadeOf, Source};

/// A set that has been read. In memory are 48 bytes for each row, and 12 more while it is read.
pub(crate) struct Set {
    pub(crate) keys: Keys,
    table: Table,
    source: Source,
    recognised: Vec<String>,
}

/// Columns that are written behind those of the file.
pub(crate) struct More<'a> {
    pub(crate) names: Vec<String>,
    /// The fields of a row, by its number among those that are written.
    pub(crate) fields: &'a dyn Fn(usize) -> Vec<Cow<'a, str>>,
}

impl Set {
    /// Reads a file, or standard input for `-`.
    pub(crate) fn read(path: &Path, options: &SetOptions) -> Result<Self, Failure> {
        let form = options.form(path)?;
        let source = Source::open(path, options)?;
        let form = form.by_first_row(&source.first()?);
        let form = form.map_err(|what| failure(&source.path, what.into(), &[]))?;
        let mut table = options.table(form, most_rows(&source, form)?);
        let keys = table.read(source.rewound()?).and_then(|()| table.end());
        let keys = keys.map_err(|fault| match fault.what {
            // It has more line ends than at first.
            What::TooManyRows(_) => source.changed(),
            _ => failure(&source.path, fault, table.names()),
        })?;
        source.check_unchanged()?;
        let recognised = options.recognised(path, &table, source.made_of.as_ref());
        Ok(Self { keys, table, source, recognised })
    }

    /// Warnings of findings that are likely to be mistakes.
    pub(crate) fn warnings(&self) -> Vec<String> {
        findings::warnings(self.table.findings(), self.keys.rows(), self.keys.terms())
    }

    /// Describes the findings in one line.
    pub(crate) fn words(&self) -> String {
        let found = findings::words(self.table.findings(), [self.keys.rows(), self.keys.len()]);
        match self.recognised.as_slice() {
            [] => found,
            recognised => format!("{}; {found}", recognised.join(", ")),
        }
    }

    pub(crate) fn findings(&self) -> Vec<(&'static str, String)> {
        findings::table(self.table.findings(), [self.keys.rows(), self.keys.len()])
    }

    pub(crate) fn findings_in_json(&self) -> serde_json::Map<String, serde_json::Value> {
        findings::json(self.table.findings(), [self.keys.rows(), self.keys.len()])
    }

    pub(crate) fn shown(&self) -> &[Shown] {
        self.table.shown()
    }

    pub(crate) fn form(&self) -> String {
        let grammar = self.table.grammar();
        let header = self.table.has_header() || !matches!(grammar, Grammar::Csv { .. });
        let packing = match &self.source.made_of {
            Some(MadeOf::Packed(packing)) => format!(", {}", packing.name()),
            Some(MadeOf::Sheet(name)) => format!(", sheet {}", visible(name)),
            None => String::new(),
        };
        let encoding = match self.table.encoding() {
            Encoding::UTF_8 => String::new(),
            other => format!(", {other}"),
        };
        format!("{grammar}{}{encoding}{packing}", if header { "" } else { " without header" })
    }

    pub(crate) fn columns(&self) -> Option<&[String]> {
        (self.table.grammar() != Grammar::Lines).then(|| self.table.names())
    }

    pub(crate) fn key_columns(&self) -> Option<Vec<String>> {
        self.columns().map(|_| self.table.key_names())
    }

    /// Fails unless columns can be written behind those of the file.
    pub(crate) fn check_csv(&self) -> Result<(), Failure> {
        match self.table.grammar() {
            Grammar::Csv { .. } => Ok(()),
            _ => Err(Failure::usage("columns can be taken from CSV and added to CSV only")
                .hint("use a CSV file with --format csv")),
        }
    }

    /// Reads the file, which is CSV, once more, and gives the fields of these columns of every row. Returns the columns'
    /// names.
    pub(crate) fn fields(
        &self,
        wanted: &[Column],
        mut take: impl FnMut(usize, &[Cow<'_, str>]) -> Result<(), Failure>,
    ) -> Result<Vec<String>, Failure> {
        self.check_csv()?;
        let positions = self.table.positions(wanted);
        let names = self.table.names();
        let positions = positions.map_err(|fault| failure(&self.source.path, fault, names))?;
        self.source.check_unchanged()?;
        let (mut again, mut bytes) = (Again::begin(&self.source)?, Vec::new());
        for row in 0..self.keys.rows() {
            bytes.clear();
            again.append(self.table.place(row), &mut bytes)?;
            let fields = self.table.fields(&bytes, &positions);
            take(row, &fields.ok_or_else(|| self.source.changed())?)?;
        }
        self.source.check_unchanged()?;
        Ok(positions.iter().map(|&at| names[at].clone()).collect())
    }

    /// Returns the most bytes that [`write`](Self::write) gives without more columns.
    pub(crate) fn written_len(&self, rows: &[usize]) -> u64 {
        let len = |&row: &usize| self.table.place(row).map_or(0, |(_, len)| u64::from(len));
        // The last row may get the line end that it lacks.
        self.table.above().len() as u64 + rows.iter().map(len).sum::<u64>() + 1
    }

    /// Writes rows as they are in the file, below its header if it has one, in pieces; more columns need CSV. Reads the
    /// rows once more, and fails if they are not the same.
    pub(crate) fn write(
        &mut self,
        rows: &[usize],
        more: Option<&More<'_>>,
        mut to: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.source.check_unchanged()?;
        let mut piece = self.table.above();
        if let Some(more) = more.filter(|_| self.table.has_header()) {
            self.table.extend(&mut piece, &more.names);
        }
        let mut again = Again::begin(&self.source)?;
        for (number, &row) in rows.iter().enumerate() {
            let start = piece.len();
            again.append(self.table.place(row), &mut piece)?;
            if !self.table.is_row(&self.keys, row, &piece[start..]) {
                return Err(self.source.changed());
            }
            let fields = more.map_or_else(Vec::new, |more| (more.fields)(number));
            self.table.extend(&mut piece, fields);
            if piece.len() >= CHUNK {
                to(&piece)?;
                piece.clear();
            }
        }
        self.source.check_unchanged()?;
        to(&piece)
    }
}

/// The most rows that there may be: room is made for so many. A line end in quotes ends no row, and an empty line is none.
fn most_rows(source: &Source, form: Form) -> Result<usize, Failure> {
    let (lines, has_quote) = source.lines()?;
    match form.grammar {
        Grammar::Csv { .. } if has_quote => Ok(form.count(source.rewound()?)),
        _ => Ok(lines),
    }
}

struct Again<'a> {
    file: BufReader<&'a File>,
    source: &'a Source,
    offset: u64,
}

impl<'a> Again<'a> {
    fn begin(source: &'a Source) -> Result<Self, Failure> {
        let file = BufReader::with_capacity(CHUNK, source.rewound()?);
        Ok(Self { file, source, offset: 0 })
    }

    /// Appends a row's bytes. Rows come in the order of the file.
    fn append(&mut self, place: Option<(u64, u32)>, to: &mut Vec<u8>) -> Result<(), Failure> {
        let failed = |e| Failure::reading(&self.source.path, &e);
        let (offset, len) = place.map(|(offset, len)| (offset, u64::from(len))).unwrap_or_default();
        let gap = i64::try_from(offset.saturating_sub(self.offset)).unwrap_or(i64::MAX);
        self.file.seek_relative(gap).map_err(failed)?;
        let read = self.file.by_ref().take(len).read_to_end(to).map_err(failed)?;
        self.offset = offset + len;
        if read as u64 == len { Ok(()) } else { Err(self.source.changed()) }
    }
}
