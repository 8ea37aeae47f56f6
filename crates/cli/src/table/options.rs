//! The reading of a file with a set: the options, and the form that follows from them.

use std::path::Path;

use foxtrot::table::{Form, Grammar, NoText, Packing, Table, What, visible};

use crate::{
    args::{Delimiter, KeyColumns, OrKeys, OtherOptions, SetFormat as Format, SetOptions},
    failure::Failure,
};

use super::{failure, source::MadeOf};

impl SetOptions {
    /// Makes the options of a fuzz target.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn reading(
        key: Option<u8>,
        normalize: &str,
        encoding: &str,
        no_header: bool,
    ) -> Result<Self, String> {
        let key =
            key.map(|number| crate::args::Column::Number(number.into())).into_iter().collect();
        let (normalize, encoding) = (vec![normalize.parse()?], Some(encoding.parse()?));
        Ok(Self { key, normalize, encoding, no_header, ..Self::default() })
    }

    /// Returns the options of a second file: options that are not given for it are as for the first,
    /// where its format takes them.
    pub(crate) fn for_another(&self, path: &Path, others: &OtherOptions) -> Self {
        let OtherOptions { key_b, normalize_b, format_b, encoding_b, sheet_b, delimiter_b, .. } =
            others.clone();
        let normalize = if normalize_b.is_empty() { self.normalize.clone() } else { normalize_b };
        let mut options = Self {
            key: key_b,
            normalize,
            format: format_b.or(self.format),
            encoding: encoding_b.or(self.encoding),
            sheet: sheet_b.or_else(|| self.sheet.clone()),
            delimiter: delimiter_b,
            max_input: self.max_input,
            ..Self::default()
        };
        let format = options.format_of(path).ok();
        if options.key.is_empty() && format.is_some_and(|it| it != Format::Lines) {
            options.key.clone_from(&self.key);
        }
        if format == Some(Format::Csv) {
            options.delimiter = options.delimiter.or(self.delimiter);
            options.no_header = self.no_header;
        }
        options
    }

    /// Returns these options, and those with each further key in place of the first.
    pub(crate) fn with(&self, others: &OrKeys) -> Result<Vec<Self>, Failure> {
        let OrKeys { or_key, or_normalize } = others;
        let all = match self.normalize.as_slice() {
            _ if or_normalize.len() == or_key.len() => None,
            all @ ([] | [_]) if or_normalize.is_empty() => Some(all),
            _ => {
                let why = format!(
                    "--or-normalize is given {} times; there are {} --or-key",
                    or_normalize.len(),
                    or_key.len()
                );
                return Err(Failure::usage(why).hint("pass --or-normalize once for each --or-key"));
            }
        };
        let other = |(i, key): (usize, &KeyColumns)| Self {
            key: key.0.clone(),
            normalize: all.map_or_else(|| or_normalize[i].0.clone(), <[_]>::to_vec),
            ..self.clone()
        };
        let others = or_key.iter().enumerate().map(other);
        Ok([self.clone()].into_iter().chain(others).collect())
    }

    /// Options for a file that may be read again when it changes.
    pub(crate) fn read_again(&self, again: bool) -> Self {
        Self { again, ..self.clone() }
    }

    pub(crate) fn showing(&self, show: usize) -> Self {
        Self { show, ..self.clone() }
    }

    pub(crate) fn quiet(&self, quiet: bool) -> Self {
        Self { quiet, ..self.clone() }
    }

    pub(super) fn format_of(&self, path: &Path) -> Result<Format, Failure> {
        match (self.format, extension(path).as_str()) {
            (Some(format), _) => Ok(format),
            // A sheet becomes CSV.
            (None, "csv" | "tsv" | "xlsx") => Ok(Format::Csv),
            (None, "jsonl" | "ndjson") => Ok(Format::Jsonl),
            (None, "parquet") => Err(failure(path, What::NoText(NoText::PARQUET).into(), &[])),
            (None, _) => Ok(Format::Lines),
        }
    }

    /// Finds the form of a file. Plain lines have no columns to choose from.
    pub(super) fn form(&self, path: &Path) -> Result<Form, Failure> {
        let chosen = self.delimiter.map(|Delimiter(byte)| byte);
        let (format, encoding) = (self.format_of(path)?, self.encoding.unwrap_or_default());
        let form = match format {
            Format::Csv => {
                let usual = if extension(path) == "tsv" { b'\t' } else { b',' };
                let form = Form::csv(chosen.unwrap_or(usual));
                let form = Form { header: !self.no_header, is_chosen: chosen.is_some(), ..form };
                return Ok(Form { encoding, ..form });
            }
            Format::Lines => Form::LINES,
            Format::Jsonl => Form::JSON_LINES,
        };
        let given = [
            (self.no_header, "--no-header needs CSV"),
            (chosen.is_some(), "--delimiter needs CSV"),
            (!self.key.is_empty() && format == Format::Lines, "--key needs a table"),
        ];
        if let Some((_, needs)) = given.iter().find(|(given, _)| *given) {
            let why = format!("{needs}; {} is read as {}", path.display(), form.grammar);
            return Err(Failure::usage(why).hint("read it as CSV with --format csv"));
        }
        Ok(Form { encoding, ..form })
    }

    /// Facts that were recognised in the file and not chosen, each with the option that sets it otherwise.
    pub(super) fn recognised(
        &self,
        path: &Path,
        table: &Table,
        made_of: Option<&MadeOf>,
    ) -> Vec<String> {
        let packing = made_of.map(|it| match it {
            MadeOf::Packed(packing) => format!("unpacked from {}", packing.name()),
            MadeOf::Sheet(name) if self.sheet.is_none() => {
                format!("sheet {} (--sheet sets another)", visible(name))
            }
            MadeOf::Sheet(name) => format!("sheet {}", visible(name)),
        });
        let usual = if extension(path) == "tsv" { b'\t' } else { b',' };
        let form = match table.grammar() {
            Grammar::Csv { delimiter } if self.delimiter.is_none() && delimiter != usual => {
                Some(format!("{} (--delimiter sets another)", table.grammar()))
            }
            Grammar::JsonLines if self.format.is_none() => {
                Some("JSON lines (--format sets another)".into())
            }
            _ => None,
        };
        let encoding = table.encoding() != self.encoding.unwrap_or_default();
        let encoding = encoding.then(|| format!("{} (--encoding sets another)", table.encoding()));
        packing.into_iter().chain(form).chain(encoding).collect()
    }

    /// The table that is read so, of so many rows at most.
    pub(super) fn table(&self, form: Form, most: usize) -> Table {
        let table = Table::new(form).key(self.key.clone()).normalise(self.normalize.clone());
        table.showing(self.show).room(most).of_shard(self.shard.clone())
    }

    /// The normalisers that are given, with the formats of dates.
    pub(crate) fn normalisers_in_full(&self) -> Vec<String> {
        self.normalize.iter().map(|it| format!("{it:#}")).collect()
    }
}

/// The extension of a file's name, without the one that tells how it is packed.
fn extension(path: &Path) -> String {
    let of = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let last = of(path);
    let stem = path.file_stem().filter(|_| Packing::of_name(&last).is_some());
    stem.map_or(last, |stem| of(Path::new(stem)))
}
