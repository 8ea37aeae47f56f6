//! Options for reading files with sets.

use std::str::FromStr;

use clap::{Args as ClapArgs, ValueEnum};
use foxtrot::psi::{keys::Normaliser, shards::Division};
pub(crate) use foxtrot::table::{Column, Encoding};

use super::{heading, values::memory};

/// Options for reading a file with a set.
#[derive(ClapArgs, Clone, Debug, Default)]
#[command(next_help_heading = heading::INPUT)]
pub(crate) struct SetOptions {
    /// Key column: a header name or a number such as #2. Repeat for several columns; both sides use the
    /// same order [default: the only column]
    #[arg(long, value_name = "COL")]
    pub(crate) key: Vec<Column>,
    /// Normalise keys before comparing: trim, compact, lower, upper, nfc, digits, zeros, number, name, fold,
    /// words, email, gmail, date:DD.MM.YYYY, phone:+49, sha256, sha1, md5 or none; docs/psi-files.md says which is for
    /// which files. Combine as in trim,lower; repeat for several key columns (must be the same on both sides, except
    /// behind a colon)
    #[arg(long, value_name = "NAMES")]
    pub(crate) normalize: Vec<Normaliser>,
    /// Format of the file [default: csv for names in .csv or .tsv, jsonl for .jsonl or .ndjson, otherwise lines; .gz
    /// and .zst may follow]
    #[arg(long, value_enum)]
    pub(crate) format: Option<SetFormat>,
    /// Encoding of the text, such as windows-1252, iso-8859-2, utf-16 or shift_jis [default: utf-8; UTF-16 if the
    /// file begins with its byte order mark]
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<Encoding>,
    /// Sheet of a workbook (.xlsx), by its name [default: the only one that is not hidden]
    #[arg(long, value_name = "NAME")]
    pub(crate) sheet: Option<String>,
    /// The file has no header row
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Field separator: one character, or `tab` [default: the one of , ; | and tab that the first row has]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<Delimiter>,
    /// Refuse standard input or a pipe with more bytes, for example 20G: both are copied to a temporary file, in
    /// TMPDIR [default: half of the free space there]
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    pub(crate) max_input: Option<u64>,
    /// True if nothing is said of a copy that takes long.
    #[arg(skip)]
    pub(crate) quiet: bool,
    /// The number of keys that are kept as they are in the file, to be shown.
    #[arg(skip)]
    pub(crate) show: usize,
    /// The only shard whose rows are read.
    #[arg(skip)]
    pub(crate) shard: Option<(Division, u32)>,
    /// True for a file that is read again when it changes: it has to be a regular one.
    #[arg(skip)]
    pub(crate) again: bool,
}

/// Further keys by which rows are compared.
#[derive(ClapArgs, Clone, Debug, Default)]
#[command(next_help_heading = heading::INPUT)]
pub(crate) struct OrKeys {
    /// Compare rows also by this key: column names with commas between them, as in name,born. Each --or-key
    /// is a pass of its own; the peer passes as many. Rows say by which key they match
    #[arg(long, value_name = "COLS")]
    pub(crate) or_key: Vec<KeyColumns>,
    /// Normalisers of an --or-key, one for each of its columns with `;` between them, as in
    /// 'name;date:DD.MM.YYYY'. Repeat for each --or-key [default: a single --normalize]
    #[arg(long, value_name = "NAMES", requires = "or_key")]
    pub(crate) or_normalize: Vec<KeyNormalisers>,
}

/// Values with a character between them.
#[derive(Clone, Debug)]
pub(crate) struct List<T, const BETWEEN: char>(pub(crate) Vec<T>);

pub(crate) type KeyColumns = List<Column, ','>;
pub(crate) type KeyNormalisers = List<Normaliser, ';'>;

impl<T: FromStr<Err = String>, const BETWEEN: char> FromStr for List<T, BETWEEN> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(BETWEEN).map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

/// Options for reading a second file, where they differ from those of the first.
#[derive(ClapArgs, Clone, Debug, Default)]
#[command(next_help_heading = heading::INPUT)]
pub(crate) struct OtherOptions {
    /// --key of B [default: the same as for A]
    #[arg(long, value_name = "COL")]
    pub(crate) key_b: Vec<Column>,
    /// --normalize of B, only to give what is behind its colon, such as a format of dates [default: the same as for A]
    #[arg(long, value_name = "NAMES")]
    pub(crate) normalize_b: Vec<Normaliser>,
    /// --format of B [default: the same as for A]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format_b: Option<SetFormat>,
    /// --encoding of B [default: the same as for A]
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding_b: Option<Encoding>,
    /// --sheet of B [default: the same as for A]
    #[arg(long, value_name = "NAME")]
    pub(crate) sheet_b: Option<String>,
    /// --delimiter of B [default: the same as for A]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter_b: Option<Delimiter>,
    /// --or-key of B; repeat for each [default: the same as for A]
    #[arg(long, value_name = "COLS", requires = "or_key")]
    pub(crate) or_key_b: Vec<KeyColumns>,
    /// --or-normalize of B, only to give what is behind its colon, such as a format of dates [default: the same as for A]
    #[arg(long, value_name = "NAMES", requires = "or_key")]
    pub(crate) or_normalize_b: Vec<KeyNormalisers>,
}

impl OtherOptions {
    /// The further keys of the second file.
    pub(crate) fn or_keys(&self, first: &OrKeys) -> OrKeys {
        let mut keys = first.clone();
        if !self.or_key_b.is_empty() {
            keys.or_key.clone_from(&self.or_key_b);
        }
        if !self.or_normalize_b.is_empty() {
            keys.or_normalize.clone_from(&self.or_normalize_b);
        }
        keys
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetFormat {
    /// Rows of fields, which may be in double quotes
    Csv,
    /// Each line is a key
    Lines,
    /// Each line is an object of JSON, whose names are the columns
    Jsonl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delimiter(pub(crate) u8);

impl FromStr for Delimiter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.as_bytes()) {
            ("tab" | "\\t", _) => Ok(Self(b'\t')),
            (_, [b'"' | b'\n' | b'\r']) => Err("this character has another meaning in CSV"),
            (_, &[byte]) => Ok(Self(byte)),
            _ => Err("must be one ASCII character or `tab`"),
        }
    }
}
