//! Sets in text files: read in one pass, and written in another.

use std::{
    borrow::Cow,
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use foxtrot::psi::keys::{
    Keyer,
    scan::{Field, Grammar},
};

use crate::{
    args::{Column, SetOptions},
    failure::Failure,
};

use super::{
    Builder, Item, More, NO_ITEM, NUL, Row, Set,
    columns::Columns,
    findings::Findings,
    options::Plan,
    records::{Record, Records},
    source::{CHUNK, Source},
};

/// The only field of a line.
const LINE: &[usize] = &[0];

impl Set {
    /// Reads a file, or standard input for `-`.
    pub(crate) fn read(path: &Path, options: &SetOptions) -> Result<Self, Failure> {
        let Plan { grammar, chosen, header: has_header } = options.plan(path)?;
        let source = Source::open(path, options)?;
        let most = most_rows(&source, grammar, chosen)?;
        let (mut columns, mut builder) = (None, None);
        let mut records = Records::begin(&source.path, grammar, chosen, source.rewound()?)?;
        let grammar = records.grammar;
        let mut above = records.passed_over.clone();
        let (mut width, mut blank) = (1, 0);
        while let Some(record) = records.next()? {
            if record.is_blank() {
                blank += 1;
                continue;
            }
            let builder = match &mut builder {
                Some(builder) => builder,
                none => {
                    if grammar != Grammar::Lines {
                        width = record.width();
                        let names = names(&record, has_header);
                        if names.iter().all(|name| name.trim().is_empty()) {
                            let why = "the header has no names";
                            return Err(Failure::at_line(&source.path, record.line, why)
                                .hint("if the file has no header, pass --no-header"));
                        }
                        let found = Columns::find(&source.path, names, has_header, &options.key)?;
                        columns = Some(found);
                    }
                    let keys = columns.as_ref().map_or(LINE, |columns| &columns.keys);
                    let keyer = Keyer::new(options.normalisers(keys.len())?);
                    let builder = none.insert(Builder::begin(keyer, most, options)?);
                    if has_header {
                        above.extend_from_slice(record.text.as_bytes());
                        continue;
                    }
                    builder
                }
            };
            if record.width() != width {
                let why = format!("{} fields; the header has {width}", record.width());
                return Err(Failure::at_line(&source.path, record.line, &why));
            }
            if builder.is_full() {
                // It has more line ends than at first.
                return Err(source.changed());
            }
            let keys = columns.as_ref().map_or(LINE, |columns| &columns.keys);
            let len = u32::try_from(record.text.len()).unwrap_or(u32::MAX);
            let parts = keys.iter().map(|&key| record.field(key));
            if parts.clone().any(|part| part.contains('\0')) {
                return Err(Failure::at_line(&source.path, record.line, NUL)
                    .hint("the file is damaged or not UTF-8 text"));
            }
            builder.add(record.line, (record.offset, len), parts);
        }
        source.check_unchanged()?;
        let Some(mut builder) = builder else {
            let is = if blank == 0 { "is empty" } else { "has only empty lines" };
            return Err(Failure::usage(format!("{} {is}", source.path.display())));
        };
        builder.look_up();
        let Builder { keyer, distinct, rows, findings, shown, .. } = builder;
        Ok(Self {
            items: distinct.into_items(),
            findings: Findings { rows: rows.len(), blank, ..findings },
            rows,
            shown,
            source,
            grammar,
            columns,
            has_header,
            above,
            keyer,
        })
    }

    /// Reads the file, which is CSV, once more, and gives the fields of these columns of every row. Returns the columns'
    /// names.
    pub(crate) fn fields(
        &self,
        wanted: &[Column],
        mut take: impl FnMut(usize, &[Cow<'_, str>]) -> Result<(), Failure>,
    ) -> Result<Vec<String>, Failure> {
        let columns = self.columns.as_ref().ok_or_else(super::not_csv)?;
        let (path, names) = (&self.source.path, columns.names.clone());
        let columns = Columns::find(path, names, self.has_header, wanted)?;
        self.source.check_unchanged()?;
        let changed = || self.source.changed();
        let (mut again, mut bytes, mut fields) = (Again::begin(&self.source)?, Vec::new(), vec![]);
        for (number, row) in self.rows.iter().enumerate() {
            bytes.clear();
            again.append(row, &mut bytes)?;
            let text = std::str::from_utf8(&bytes).map_err(|_| changed())?;
            self.grammar.record(&bytes, true, &mut fields).map_err(|_| changed())?;
            let of = |&key: &usize| fields.get(key).map(|field: &Field| field.of(text));
            let all: Option<Vec<_>> = columns.keys.iter().map(of).collect();
            take(number, &all.ok_or_else(changed)?)?;
        }
        self.source.check_unchanged()?;
        Ok(columns.key_names())
    }

    /// Returns the most bytes that [`write`](Self::write) gives without more columns.
    pub(crate) fn written_len(&self, rows: &[Row]) -> u64 {
        let rows: u64 = rows.iter().map(|row| u64::from(row.len)).sum();
        // The last row may get the line end that it lacks.
        self.above.len() as u64 + rows + 1
    }

    /// Writes rows as they are in the file, below its header if it has one, in pieces; more columns need CSV. Reads the
    /// rows once more, and fails if they are not the same.
    pub(crate) fn write(
        &mut self,
        rows: &[Row],
        more: Option<&More<'_>>,
        mut to: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.source.check_unchanged()?;
        let mut piece = self.above.clone();
        if let Some(more) = more.filter(|_| self.has_header) {
            self.grammar.extend(&mut piece, &more.names);
        }
        let mut again = Again::begin(&self.source)?;
        for (number, row) in rows.iter().enumerate() {
            let start = piece.len();
            again.append(row, &mut piece)?;
            let item = again_item(self.grammar, &self.columns, &mut self.keyer, &piece[start..]);
            let expected = (row.item != NO_ITEM).then(|| self.items[row.item as usize]);
            if item != Some(expected) {
                return Err(self.source.changed());
            }
            if let Some(more) = more {
                self.grammar.extend(&mut piece, (more.fields)(number));
            }
            if !piece.ends_with(b"\n") {
                piece.push(b'\n');
            }
            if piece.len() >= CHUNK {
                to(&piece)?;
                piece.clear();
            }
        }
        self.source.check_unchanged()?;
        if !piece.is_empty() && !piece.ends_with(b"\n") {
            piece.push(b'\n');
        }
        to(&piece)
    }
}

/// The most rows that there may be: room is made for so many. A line end in quotes ends no row, and an empty line is none.
fn most_rows(source: &Source, grammar: Grammar, chosen: Option<u8>) -> Result<usize, Failure> {
    let (lines, has_quote) = source.lines()?;
    if grammar == Grammar::Lines || !has_quote {
        return Ok(lines);
    }
    let mut records = Records::begin(&source.path, grammar, chosen, source.rewound()?)?;
    let mut rows = 0;
    // A fault is found once more where rows are read, behind those that are right.
    while let Ok(Some(record)) = records.next() {
        rows += usize::from(!record.is_blank());
    }
    Ok(rows)
}

/// The item of a row that is read once more; nothing if it is no row any more.
fn again_item(
    grammar: Grammar,
    columns: &Option<Columns>,
    keyer: &mut Keyer,
    bytes: &[u8],
) -> Option<Option<Item>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut fields: Vec<Field> = Vec::new();
    let len = grammar.record(bytes, true, &mut fields).ok()??;
    let keys = columns.as_ref().map_or(LINE, |columns| &columns.keys);
    let all_there = len == bytes.len() && keys.iter().all(|&key| key < fields.len());
    all_there.then(|| keyer.item(keys.iter().map(|&key| fields[key].of(text))))
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
    fn append(&mut self, row: &Row, to: &mut Vec<u8>) -> Result<(), Failure> {
        let failed = |e| Failure::reading(&self.source.path, &e);
        let gap = i64::try_from(row.offset.saturating_sub(self.offset)).unwrap_or(i64::MAX);
        self.file.seek_relative(gap).map_err(failed)?;
        let len = u64::from(row.len);
        let read = self.file.by_ref().take(len).read_to_end(to).map_err(failed)?;
        self.offset = row.offset + len;
        if read as u64 == len { Ok(()) } else { Err(self.source.changed()) }
    }
}

fn names(first: &Record<'_>, has_header: bool) -> Vec<String> {
    let name = |i| if has_header { first.field(i).into_owned() } else { format!("#{}", i + 1) };
    (0..first.width()).map(name).collect()
}
