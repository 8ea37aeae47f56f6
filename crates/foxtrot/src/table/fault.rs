//! Faults of tables.

use std::{fmt, io};

use super::{
    Encoding, MAX_ROW,
    column::{Column, visible},
};

const ENCODING: &str = "save the file as UTF-8, for example with `iconv -f ENCODING -t UTF-8`";

/// The kind of a file that is no text in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoText {
    /// A word for programs.
    pub code: &'static str,
    /// The kind in words.
    pub is: &'static str,
    /// Advice.
    pub hint: &'static str,
}

/// A fault of a table. What it says names no file.
#[derive(Debug)]
pub struct Fault {
    /// The line, from 1; 0 if the fault is of no line.
    pub line: u64,
    /// The character in the line, from 1; 0 if the fault is of the whole line.
    pub column: usize,
    /// The fault.
    pub what: What,
}

/// A fault of a table, or of what was asked of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum What {
    /// The bytes could not be read.
    Io(io::Error),
    /// A file that is no text.
    NoText(NoText),
    /// The first line names another delimiter than the chosen one.
    OtherDelimiter(char),
    /// A file that is not of the form, in words.
    Form(&'static str),
    /// The bytes are not UTF-8; they are most likely in the encoding of this name.
    NotUtf8(&'static str),
    /// The bytes are not in the encoding that was named, or that the byte order mark tells.
    NotInEncoding(Encoding),
    /// The delimiter may be a part of other characters in the encoding.
    DelimiterInside(char, Encoding),
    /// The first row has several characters that may be delimiters.
    Delimiters(Vec<char>),
    /// A row is longer than 16 MiB.
    LongRow,
    /// A row has another number of fields than the first row.
    Width {
        /// The fields of the row.
        got: usize,
        /// The fields of the first row.
        expected: usize,
        /// True if the first row is a header.
        header: bool,
    },
    /// A key has a NUL byte.
    Nul,
    /// All names in the header are blank.
    NoNames,
    /// No key column was named, and there are so many columns.
    NoKey(usize),
    /// There is no such column.
    NoColumn(Column),
    /// A column was named, and there is no header.
    NoHeader(String),
    /// Two columns have this name: their numbers, from 0.
    SameName(String, [usize; 2]),
    /// A column was named twice.
    Twice(String),
    /// There are so many normalisers for so many key columns.
    Normalisers(usize, usize),
    /// There are no bytes.
    Empty,
    /// There are empty lines only.
    OnlyBlank,
    /// There are more rows than this.
    TooManyRows(usize),
    /// There are so many columns.
    TooManyColumns(usize),
    /// There are so many keys, more than an intersection takes.
    TooManyKeys(usize),
    /// There is no memory for so many rows.
    Memory(usize),
}

impl Fault {
    /// A word for programs that say in the user's language what is wrong.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match &self.what {
            What::Io(_) => "unreadable",
            What::NoText(it) => it.code,
            What::OtherDelimiter(_) | What::DelimiterInside(..) | What::Delimiters(_) => {
                "other-delimiter"
            }
            What::Form(_) => "grammar",
            What::NotUtf8(_) | What::NotInEncoding(_) => "not-utf-8",
            What::LongRow => "long-row",
            What::Width { .. } => "width",
            What::Nul => "nul",
            What::NoNames => "no-names",
            What::NoKey(_)
            | What::NoColumn(_)
            | What::NoHeader(_)
            | What::SameName(..)
            | What::Twice(_) => "no-such-column",
            What::Normalisers(..) => "normaliser",
            What::Empty | What::OnlyBlank => "empty",
            What::TooManyColumns(_) => "too-many-columns",
            What::TooManyRows(_) | What::TooManyKeys(_) | What::Memory(_) => "too-many-rows",
        }
    }

    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match &self.what {
            What::NoText(it) => Some(it.hint),
            What::NotUtf8(_) => Some(ENCODING),
            What::LongRow => Some("a quote in it may not be closed"),
            What::Nul => Some("the file is damaged or not UTF-8 text"),
            What::Twice(_) => Some("give each key column once"),
            _ => None,
        }
    }
}

impl From<What> for Fault {
    fn from(what: What) -> Self {
        Self { line: 0, column: 0, what }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "line {line}: ")?,
            (line, column) => write!(f, "line {line}, column {column}: ")?,
        }
        self.what.fmt(f)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => e.fmt(f),
            Self::NoText(it) => write!(f, "the file is {}", it.is),
            Self::OtherDelimiter(it) => write!(f, "the line sets {it:?} as the field separator"),
            Self::Form(why) => f.write_str(why),
            Self::NotUtf8(likely) => write!(f, "not UTF-8, more likely {likely}"),
            Self::NotInEncoding(encoding) => write!(f, "not {encoding}"),
            Self::DelimiterInside(delimiter, encoding) => {
                write!(f, "{delimiter:?} may be a part of another character in {encoding}")
            }
            Self::Delimiters(several) => {
                let each: Vec<_> = several.iter().map(|it| format!("{it:?}")).collect();
                write!(f, "the first row has {}", each.join(" and "))
            }
            Self::LongRow => write!(f, "a row of more than {} MiB", MAX_ROW >> 20),
            Self::Width { got, expected, header } => {
                let first = if *header { "header" } else { "first row" };
                write!(f, "{got} fields; the {first} has {expected}")
            }
            Self::Nul => f.write_str("a NUL byte in the key"),
            Self::NoNames => f.write_str("the header has no names"),
            Self::NoKey(columns) => write!(f, "no key is named, and there are {columns} columns"),
            Self::NoColumn(Column::Name(name)) => write!(f, "column {} not found", visible(name)),
            Self::NoColumn(Column::Number(number)) => write!(f, "column #{} not found", number + 1),
            Self::NoHeader(name) => {
                write!(f, "there is no header, so no column is named {}", visible(name))
            }
            Self::SameName(name, _) => write!(f, "several columns are named {}", visible(name)),
            Self::Twice(name) => write!(f, "column {} is named twice", visible(name)),
            Self::Normalisers(given, columns) => {
                write!(f, "{given} normalisers; the key has {columns} columns")
            }
            Self::Empty => f.write_str("the file is empty"),
            Self::OnlyBlank => f.write_str("the file has only empty lines"),
            Self::TooManyRows(most) => write!(f, "more than {most} rows"),
            Self::TooManyColumns(columns) => write!(f, "{columns} columns, more than are shown"),
            Self::TooManyKeys(keys) => {
                write!(f, "{keys} keys; the most is {}", crate::psi::MAX_ITEMS)
            }
            Self::Memory(rows) => write!(f, "there is no memory for {rows} rows"),
        }
    }
}

impl std::error::Error for Fault {}
