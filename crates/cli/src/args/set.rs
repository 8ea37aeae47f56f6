//! How files with sets are to be read.

use std::str::FromStr;

use clap::{Args as ClapArgs, ValueEnum};

use crate::normalise::Normaliser;

/// How a file with a set is to be read.
#[derive(ClapArgs, Clone, Debug, Default)]
pub(crate) struct SetOptions {
    /// Column with the key, by its name in the header or by its number, as in #2; repeat it for keys
    /// of several columns, in the order of the other side [default: the only column]
    #[arg(long, value_name = "COL")]
    pub(crate) key: Vec<Column>,
    /// Normalisers of keys before they are compared: trim, compact (no white space), lower, upper, nfc,
    /// digits, name, email, date:DD.MM.YYYY, phone:+49 or none; several one after the other as in
    /// trim,lower. Once for all key columns, or repeated for each (must be the same on both sides, but
    /// for the format of dates)
    #[arg(long, value_name = "NAMES")]
    pub(crate) normalize: Vec<Normaliser>,
    /// Format of the file [default: by its name .csv, .tsv or .parquet; else lines]
    #[arg(long, value_enum)]
    pub(crate) format: Option<SetFormat>,
    /// The first row is one like the others
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Separator of fields: a character, or `tab` [default: a comma; for .tsv tab]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<Delimiter>,
    /// How many keys are kept as they are in the file, to be shown.
    #[arg(skip)]
    pub(crate) show: usize,
}

/// How a second file is to be read where it differs from the first.
#[derive(ClapArgs, Clone, Debug, Default)]
pub(crate) struct OtherOptions {
    /// As --key, for B [default: as for A]
    #[arg(long, value_name = "COL")]
    pub(crate) key_b: Vec<Column>,
    /// As --normalize, for B, whose dates may have another format [default: as for A]
    #[arg(long, value_name = "NAMES")]
    pub(crate) normalize_b: Vec<Normaliser>,
    /// As --format, for B [default: as for A]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format_b: Option<SetFormat>,
    /// As --delimiter, for B [default: as for A]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter_b: Option<Delimiter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetFormat {
    /// Rows of fields, which may be in double quotes
    Csv,
    /// Each line is a key
    Lines,
    /// Apache Parquet
    Parquet,
}

/// A column with keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// From 0.
    Number(usize),
    Name(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delimiter(pub(crate) u8);

impl FromStr for Column {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('#') {
            None => Ok(Self::Name(text.into())),
            Some(number) => match number.parse::<usize>().ok().and_then(|n| n.checked_sub(1)) {
                Some(number) => Ok(Self::Number(number)),
                None => Err("columns are numbered from #1".into()),
            },
        }
    }
}

impl FromStr for Delimiter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.as_bytes()) {
            ("tab" | "\\t", _) => Ok(Self(b'\t')),
            (_, [b'"' | b'\n' | b'\r']) => Err("that has another meaning in CSV"),
            (_, &[byte]) => Ok(Self(byte)),
            _ => Err("not one ASCII character or `tab`"),
        }
    }
}
