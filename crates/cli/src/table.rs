//! Sets as people have them: files whose rows have keys. What is compared are the keys' items; what
//! comes out are rows, of text byte for byte.
//!
//! The bytes of an item, and the rows that come out, are specified in `docs/psi-files.md`.

mod beginning;
mod columns;
mod findings;
mod options;
mod records;
mod source;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;

use foxtrot::psi::{
    keys::{AT_ONCE, Distinct, Keyer, scan::Grammar},
    shards::Division,
};
use zeroize::Zeroizing;

use crate::{args::SetOptions, failure::Failure};

use columns::Columns;
use source::Source;

pub(crate) use columns::visible;
pub(crate) use findings::Findings;
pub(crate) use foxtrot::psi::keys::Item;

/// A set that has been read. In memory are 48 bytes for each row, and 12 more while it is read.
pub(crate) struct Set {
    /// Each key's item once, in the order of the file. Rows index into them: they may only grow.
    pub(crate) items: Zeroizing<Vec<Item>>,
    rows: Vec<Row>,
    pub(crate) findings: Findings,
    /// The first keys, as many as the options say.
    pub(crate) shown: Vec<Shown>,
    source: Source,
    grammar: Grammar,
    /// The columns, if it is a table.
    columns: Option<Columns>,
    has_header: bool,
    /// The bytes above the rows: a line that names the delimiter, and the header.
    above: Vec<u8>,
    keyer: Keyer,
}

/// Columns that are written behind those of the file.
pub(crate) struct More<'a> {
    pub(crate) names: Vec<String>,
    /// The fields of a row, by its number among those that are written.
    pub(crate) fields: &'a dyn Fn(usize) -> Vec<Cow<'a, str>>,
}

/// A key as it is in the file, and as it is compared.
pub(crate) struct Shown {
    pub(crate) place: u64,
    pub(crate) before: Vec<String>,
    /// An empty part makes it no key.
    pub(crate) after: Vec<String>,
}

/// The place of a row in its file, and its item.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    offset: u64,
    len: u32,
    item: u32,
}

/// The fault of a byte that no text has, and a damaged file may have.
const NUL: &str = "a NUL byte in the key";

fn too_many(rows: usize) -> Failure {
    Failure::run(format!("there is no memory for {rows} rows"))
}

/// The number in place of an item's, for a row without a key.
const NO_ITEM: u32 = u32::MAX;

impl Set {
    /// Warnings of findings that are likely to be mistakes.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.findings.warnings(&self.terms())
    }

    pub(crate) fn form(&self) -> String {
        let header = if self.has_header { "" } else { " without header" };
        match self.grammar {
            Grammar::Lines => self.grammar.to_string(),
            Grammar::Csv { .. } => format!("{}{header}", self.grammar),
        }
    }

    pub(crate) fn columns(&self) -> Option<&[String]> {
        self.columns.as_ref().map(|columns| columns.names.as_slice())
    }

    pub(crate) fn key_columns(&self) -> Option<Vec<String>> {
        self.columns.as_ref().map(Columns::key_names)
    }

    /// Returns the normalisation of the parts of a key, in the form in which both sides compare it.
    pub(crate) fn terms(&self) -> String {
        self.keyer.terms()
    }

    /// The rows that are wanted, in the order of the file. `wanted` is asked with the number of a
    /// row's item, if it has one, and whether the row is the first with this item.
    pub(crate) fn rows(&self, wanted: impl Fn(Option<usize>, bool) -> bool) -> Vec<Row> {
        let mut new = 0;
        let is_wanted = |row: &&Row| {
            // Items are numbered in the order of their first rows.
            let first = row.item == new;
            new += u32::from(first);
            wanted((row.item != NO_ITEM).then_some(row.item as usize), first)
        };
        self.rows.iter().filter(is_wanted).copied().collect()
    }

    /// Fails unless columns can be written behind those of the file.
    pub(crate) fn check_csv(&self) -> Result<(), Failure> {
        if self.columns.is_some() { Ok(()) } else { Err(not_csv()) }
    }

    /// The number of each row's item, if the row has one.
    pub(crate) fn items_of_rows(&self) -> impl Iterator<Item = Option<usize>> {
        self.rows.iter().map(|row| (row.item != NO_ITEM).then_some(row.item as usize))
    }

    /// The rows that are wanted, of as many as there are.
    pub(crate) fn rows_at(&self, wanted: &[bool]) -> Vec<Row> {
        let rows = self.rows.iter().zip(wanted);
        rows.filter(|(_, wanted)| **wanted).map(|(row, _)| *row).collect()
    }
}

fn not_csv() -> Failure {
    Failure::usage("columns can be taken from CSV and added to CSV only")
        .hint("use a CSV file with --format csv")
}

struct Builder {
    most: usize,
    keyer: Keyer,
    distinct: Distinct,
    rows: Vec<Row>,
    findings: Findings,
    /// The first keys, and how many there are to be.
    shown: Vec<Shown>,
    show: usize,
    /// Items that have not been looked up, with the numbers of their rows and their places.
    waiting: Zeroizing<Vec<Item>>,
    waiting_rows: Vec<(usize, u64)>,
    /// The only shard whose rows are taken, and how many rows are in it so far.
    shard: Option<(Division, u32)>,
    taken: usize,
}

impl Builder {
    fn begin(keyer: Keyer, most: usize, options: &SetOptions) -> Result<Self, Failure> {
        let (shard, show) = (options.shard.clone(), options.show);
        let of_shard = |(division, _): &(Division, u32)| division.load(most) + AT_ONCE;
        let room = shard.as_ref().map_or(most, of_shard).min(most);
        let mut rows = Vec::new();
        rows.try_reserve_exact(room).map_err(|_| too_many(room))?;
        Ok(Self {
            most,
            keyer,
            distinct: Distinct::with_capacity(room).ok_or_else(|| too_many(room))?,
            rows,
            shard,
            taken: 0,
            findings: Findings::default(),
            shown: Vec::new(),
            show,
            waiting: Zeroizing::new(Vec::with_capacity(AT_ONCE)),
            waiting_rows: Vec::with_capacity(AT_ONCE),
        })
    }

    /// Forgets the rows since the last look that are of other shards. A row without a key is of shard 0.
    fn keep_shard(&mut self) {
        let Some((division, shard)) = &self.shard else { return };
        let mut is_ours = vec![*shard == 0; self.rows.len() - self.taken];
        for ((row, _), of) in self.waiting_rows.iter().zip(division.shards_of(&self.waiting)) {
            is_ours[row - self.taken] = of == *shard;
        }
        let (mut old, mut new) = (self.taken, self.taken);
        let mut items = Zeroizing::new(Vec::with_capacity(AT_ONCE));
        let mut waiting = self.waiting_rows.drain(..).zip(self.waiting.iter()).peekable();
        let mut kept = Vec::with_capacity(AT_ONCE);
        for is_ours in is_ours {
            let item = waiting.next_if(|((row, _), _)| *row == old);
            if is_ours {
                self.rows[new] = self.rows[old];
                if let Some(((_, place), item)) = item {
                    kept.push((new, place));
                    items.push(*item);
                }
                new += 1;
            }
            old += 1;
        }
        drop(waiting);
        self.rows.truncate(new);
        (self.waiting, self.waiting_rows) = (items, kept);
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= self.most
    }

    /// Takes a row with the parts of its key. `place` is told to people.
    fn add<'a>(
        &mut self,
        place: u64,
        (offset, len): (u64, u32),
        parts: impl Iterator<Item = Cow<'a, str>> + Clone,
    ) {
        if self.shown.len() < self.show {
            let before: Vec<_> = parts.clone().map(Cow::into_owned).collect();
            let after = self.keyer.normalised(&before);
            self.shown.push(Shown { place, before, after });
        }
        match self.keyer.item(parts) {
            None => self.findings.empty.add(place),
            Some(item) => {
                self.waiting.push(item);
                self.waiting_rows.push((self.rows.len(), place));
            }
        }
        self.rows.push(Row { offset, len, item: NO_ITEM });
        if self.waiting.len() == AT_ONCE {
            self.look_up();
        }
    }

    fn look_up(&mut self) {
        self.keep_shard();
        self.taken = self.rows.len();
        let Self { rows, findings, waiting, waiting_rows, .. } = self;
        let mut whose = waiting_rows.drain(..);
        self.distinct.insert_all(waiting, |number, new| {
            if let Some((row, place)) = whose.next() {
                rows[row].item = number;
                if !new {
                    findings.duplicates.add(place);
                }
            }
        });
        waiting.clear();
    }
}
