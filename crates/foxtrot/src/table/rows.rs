//! The rows of a table, as they come: their keys and places.

use zeroize::Zeroizing;

use super::{
    Column, Encoding, Findings, Form, What, columns::Columns, end_line, records::Record,
    scan::Grammar,
};
use crate::{
    Error, Usage,
    psi::{
        keys::{AT_ONCE, Builder, Item, Keyer, Keys, Normaliser},
        shards::Division,
    },
};

/// A key as it is in the file, and as it is compared.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The line in which the row begins.
    pub line: u64,
    /// The parts of the key in the file.
    pub before: Vec<String>,
    /// The parts of the key as they are compared. An empty part makes it no key.
    pub after: Vec<String>,
}

pub(super) struct Rows {
    pub(super) header: bool,
    grammar: Grammar,
    /// The file may set UTF-16.
    pub(super) encoding: Encoding,
    /// The key columns: the only one if there are none; no keys at all without a list.
    pub(super) wanted: Option<Vec<Column>>,
    pub(super) normalisers: Vec<Normaliser>,
    /// The number of keys to show.
    pub(super) show: usize,
    pub(super) most: usize,
    pub(super) most_columns: usize,
    /// The rows for which room is made at once.
    pub(super) room: usize,
    pub(super) shard: Option<(Division, u32)>,
    pub(super) columns: Columns,
    pub(super) keyer: Keyer,
    pub(super) header_bytes: Vec<u8>,
    builder: Option<Builder>,
    pub(super) places: Places,
    pub(super) findings: Findings,
    pub(super) shown: Vec<Shown>,
    /// The rows so far, those of other shards among them.
    seen: usize,
    /// Items of rows that have not been looked up, and where the rows are.
    waiting: Zeroizing<Vec<Option<Item>>>,
    whose: Vec<Place>,
}

/// The place of a row in its file.
#[derive(Clone, Copy)]
struct Place {
    line: u64,
    offset: u64,
    len: u32,
}

/// Places of rows, in 12 bytes each.
#[derive(Default)]
pub(super) struct Places {
    offsets: Vec<u64>,
    lens: Vec<u32>,
}

impl Places {
    fn try_reserve_exact(&mut self, rows: usize) -> bool {
        self.offsets.try_reserve_exact(rows).is_ok() && self.lens.try_reserve_exact(rows).is_ok()
    }

    pub(super) fn get(&self, row: usize) -> Option<(u64, u32)> {
        Some((*self.offsets.get(row)?, self.lens[row]))
    }
}

impl Rows {
    pub(super) fn new(form: Form) -> Self {
        Self {
            header: form.header,
            grammar: form.grammar,
            encoding: form.encoding,
            wanted: Some(Vec::new()),
            normalisers: Vec::new(),
            show: 0,
            most: usize::MAX,
            most_columns: usize::MAX,
            room: 0,
            shard: None,
            columns: Columns::default(),
            keyer: Keyer::new(Vec::new()),
            header_bytes: Vec::new(),
            builder: None,
            places: Places::default(),
            findings: Findings::default(),
            shown: Vec::new(),
            seen: 0,
            waiting: Zeroizing::new(Vec::with_capacity(AT_ONCE)),
            whose: Vec::with_capacity(AT_ONCE),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.lens.len() + self.whose.len()
    }

    pub(super) fn take(&mut self, record: &Record<'_>) -> Result<(), What> {
        if record.is_blank() {
            self.findings.blank += 1;
            return Ok(());
        }
        if self.columns.names.is_empty() {
            self.begin(record)?;
            if self.header {
                self.header_bytes.extend_from_slice(&record.bytes);
                end_line(&mut self.header_bytes, self.encoding);
                return Ok(());
            }
        }
        let (got, expected, header) = (record.width(), self.columns.names.len(), self.header);
        if got != expected {
            return Err(What::Width { got, expected, header });
        }
        if self.seen == self.most {
            return Err(What::TooManyRows(self.most));
        }
        let parts = self.columns.keys.iter().map(|&key| record.field(key));
        if parts.clone().any(|part| part.contains('\0')) {
            return Err(What::Nul);
        }
        if self.shown.len() < self.show {
            let before: Vec<_> = parts.clone().map(|part| part.into_owned()).collect();
            let after = self.keyer.normalised(&before);
            self.shown.push(Shown { line: record.line, before, after });
        }
        self.seen += 1;
        self.waiting.push(self.keyer.item(parts));
        let len = u32::try_from(record.bytes.len()).unwrap_or(u32::MAX);
        self.whose.push(Place { line: record.line, offset: record.offset, len });
        if self.waiting.len() == AT_ONCE { self.look_up() } else { Ok(()) }
    }

    /// Finds the columns by the first row.
    fn begin(&mut self, first: &Record<'_>) -> Result<(), What> {
        let width = first.width();
        if width > self.most_columns {
            return Err(What::TooManyColumns(width));
        }
        let has_names = self.header || self.grammar == Grammar::JsonLines;
        let name = |i: usize| match self.grammar {
            Grammar::JsonLines => first.names[i].clone(),
            _ if self.header => first.field(i).into_owned(),
            _ => format!("#{}", i + 1),
        };
        self.columns.names = (0..width).map(name).collect();
        if let Some(wanted) = &self.wanted {
            self.columns.find_keys(has_names, wanted)?;
        }
        let columns = self.columns.keys.len();
        let normalisers = match self.normalisers.as_slice() {
            [] => vec![Normaliser::default(); columns],
            [all] => vec![all.clone(); columns],
            each if each.len() == columns => each.to_vec(),
            each => return Err(What::Normalisers(each.len(), columns)),
        };
        let of_shard = |(division, _): &(Division, u32)| division.load(self.room) + AT_ONCE;
        let room = self.shard.as_ref().map_or(self.room, of_shard).min(self.room);
        let too_many = What::Memory(room);
        self.keyer = Keyer::new(normalisers.clone());
        let Ok(builder) = Builder::new(normalisers, room) else { return Err(too_many) };
        self.builder = Some(match self.grammar {
            Grammar::Lines => builder,
            Grammar::Csv { .. } | Grammar::JsonLines => builder.columns(self.columns.key_names()),
        });
        if self.places.try_reserve_exact(room) { Ok(()) } else { Err(too_many) }
    }

    /// Gives the rows that wait to the builder, unless they are of other shards.
    fn look_up(&mut self) -> Result<(), What> {
        let Some(builder) = &mut self.builder else { return Ok(()) };
        let too_many = |_| What::Memory(self.seen);
        builder.reserve(self.whose.len()).map_err(too_many)?;
        if let Some((division, shard)) = &self.shard {
            let mut items = Zeroizing::new(Vec::with_capacity(AT_ONCE));
            items.extend(self.waiting.iter().flatten());
            let mut of_items = division.shards_of(&items).into_iter();
            let of = |item: &Option<Item>| item.map_or(Some(0), |_| of_items.next());
            let of: Vec<_> = self.waiting.iter().map(of).collect();
            let ours = || of.iter().map(|of| *of == Some(*shard));
            let [mut items, mut rows] = [ours(), ours()];
            self.waiting.retain(|_| items.next() == Some(true));
            self.whose.retain(|_| rows.next() == Some(true));
        }
        let (rows, mut keys) = (builder.rows(), builder.len());
        self.waiting.drain(..).for_each(|item| builder.push_item(item));
        builder.look_up();
        for (row, place) in (rows..).zip(self.whose.drain(..)) {
            self.places.offsets.push(place.offset);
            self.places.lens.push(place.len);
            match builder.key_of(row) {
                None => self.findings.empty.add(place.line),
                // Keys are numbered in the order of their first rows.
                Some(key) if key == keys => keys += 1,
                Some(_) => self.findings.duplicates.add(place.line),
            }
        }
        Ok(())
    }

    pub(super) fn end(&mut self) -> Result<Keys, What> {
        self.look_up()?;
        let Some(builder) = self.builder.take() else {
            return Err(if self.findings.blank == 0 { What::Empty } else { What::OnlyBlank });
        };
        builder.finish().map_err(|e| match e {
            Error::Usage(Usage::BatchTooLarge { n, .. }) => What::TooManyKeys(n),
            _ => What::Memory(self.seen),
        })
    }
}
