//! Keys of rows, as the command `foxtrot psi` compares them: keys have one or several parts, which are normalised before
//! they are compared. Rows with the same key are one element of the set. `docs/psi-files.md` specifies items and
//! normalisers.
//!
//! ```
//! use foxtrot::{Peer, psi::{Options, keys::{Builder, Keys}}};
//!
//! let keys = |rows: &[[&'static str; 2]]| -> Result<Keys, Box<dyn std::error::Error>> {
//!     let mut keys = Builder::new(vec!["email".parse()?, "date".parse()?], rows.len())?;
//!     rows.iter().for_each(|row| keys.push(row.iter().map(|&part| part.into())));
//!     Ok(keys.finish()?)
//! };
//! let ours = keys(&[["Ann@Example.org", "1990-02-01"], ["bob@example.org", ""], ["ann@example.org", "1990-02-01"]])?;
//! let theirs = keys(&[["ann@example.org ", "1990-02-01"]])?;
//! let (mut to_sender, mut to_receiver) = Peer::pair();
//! let sender = std::thread::spawn(move || Options::new().send_keys(&mut to_receiver, &theirs).map(drop));
//! let (common, _) = Options::new().receive_keys(&mut to_sender, &ours)?;
//! assert_eq!(ours.rows_of(&common), [true, false, true]);
//! assert_eq!((ours.duplicates(), ours.without_key()), (&[2][..], &[1][..]));
//! sender.join().expect("no panic")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod distinct;
mod keyer;
mod normalise;
pub mod scan;

use std::{borrow::Cow, fmt};

use foxtrot_ot::Usage;
use zeroize::Zeroizing;

use super::MAX_ITEMS;
use crate::Error;

pub use distinct::{AT_ONCE, Distinct};
pub use keyer::{Item, Keyer};
pub use normalise::Normaliser;

/// The number in place of an item's, for a row without a key.
const NO_ITEM: u32 = u32::MAX;

/// The keys of rows: the items that are compared, and which row has which.
pub struct Keys {
    pub(super) items: Zeroizing<Vec<Item>>,
    /// The number of each row's item.
    rows: Vec<u32>,
    duplicates: Vec<usize>,
    empty: Vec<usize>,
    pub(super) terms: String,
    pub(super) columns: Option<Vec<String>>,
}

/// Facts that the peer has told in a session, for people and records.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Told {
    /// The number of the peer's keys.
    pub keys: usize,
    /// The names of the peer's key columns as it wrote them: [`printable`](crate::net::printable) escapes them.
    pub columns: Option<String>,
    /// The session's id, the same on both sides.
    pub session: [u8; 32],
}

/// Keys that are being read.
pub struct Builder {
    keyer: Keyer,
    distinct: Distinct,
    /// The number of each row's item.
    rows: Vec<u32>,
    duplicates: Vec<usize>,
    empty: Vec<usize>,
    /// Items that have not been looked up, and their rows.
    waiting: Zeroizing<Vec<Item>>,
    waiting_rows: Vec<usize>,
    most: usize,
    columns: Option<Vec<String>>,
}

impl Builder {
    /// No keys so far, of as many parts as there are normalisers; room for `most` rows.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(normalisers: Vec<Normaliser>, most: usize) -> Result<Self, Error> {
        let bytes = most.saturating_mul(size_of::<Item>() + size_of::<u32>());
        let mut rows = Vec::new();
        rows.try_reserve_exact(most).map_err(|_| Error::OutOfMemory { bytes })?;
        Ok(Self {
            keyer: Keyer::new(normalisers),
            distinct: Distinct::with_capacity(most).ok_or(Error::OutOfMemory { bytes })?,
            rows,
            duplicates: Vec::new(),
            empty: Vec::new(),
            waiting: Zeroizing::new(Vec::with_capacity(AT_ONCE)),
            waiting_rows: Vec::with_capacity(AT_ONCE),
            most,
            columns: None,
        })
    }

    /// Tells the peer the names of the key columns. They inform people and need not match. What is longer than 255 bytes is
    /// cut.
    #[must_use]
    pub fn columns(self, names: Vec<String>) -> Self {
        Self { columns: Some(names), ..self }
    }

    /// Takes the next row with the parts of its key.
    ///
    /// # Panics
    /// If there are more rows than there is room for.
    pub fn push<'a>(&mut self, parts: impl Iterator<Item = Cow<'a, str>>) {
        let item = self.keyer.item(parts);
        self.push_item(item);
    }

    /// Takes the next row with the item of its key, as a [`Keyer`] with these normalisers makes it.
    ///
    /// # Panics
    /// If there are more rows than there is room for.
    pub fn push_item(&mut self, item: Option<Item>) {
        assert!(self.rows.len() < self.most, "more rows than there is room for");
        match item {
            None => self.empty.push(self.rows.len()),
            Some(item) => {
                self.waiting.push(item);
                self.waiting_rows.push(self.rows.len());
            }
        }
        self.rows.push(NO_ITEM);
        if self.waiting.len() == AT_ONCE {
            self.look_up();
        }
    }

    fn look_up(&mut self) {
        let Self { distinct, rows, duplicates, waiting, waiting_rows, .. } = self;
        let mut whose = waiting_rows.drain(..);
        distinct.insert_all(waiting, |number, new| {
            if let Some(row) = whose.next() {
                rows[row] = number;
                if !new {
                    duplicates.push(row);
                }
            }
        });
        waiting.clear();
    }

    /// Ends the set.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] for more items than an intersection takes.
    pub fn finish(mut self) -> Result<Keys, Error> {
        self.look_up();
        let Self { keyer, distinct, rows, duplicates, empty, columns, .. } = self;
        let items = distinct.into_items();
        match items.len() {
            n if n > MAX_ITEMS => Err(Usage::BatchTooLarge { n, max: MAX_ITEMS }.into()),
            _ => Ok(Keys { terms: keyer.terms(), items, rows, duplicates, empty, columns }),
        }
    }
}

impl Keys {
    /// The number of different keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if no row has a key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items that are compared, in the order of their first rows.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Adds keys that nobody else has and no row, until there are n: so many that every [shard](super::shards) has as many.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if there are more already; [`Error::Session`] if the system has no randomness.
    pub fn fill_up_to(&mut self, n: usize) -> Result<(), Error> {
        super::shards::fill_up_to(&mut self.items, n)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The rows whose key an earlier row has, in order.
    #[must_use]
    pub fn duplicates(&self) -> &[usize] {
        &self.duplicates
    }

    /// The rows whose key, or a part of it, is empty, in order.
    #[must_use]
    pub fn without_key(&self) -> &[usize] {
        &self.empty
    }

    /// The normalisation of the parts of a key, in the form in which both sides compare it: `email/1;date/1`.
    #[must_use]
    pub fn terms(&self) -> &str {
        &self.terms
    }

    /// The number of a row's key, by which results name it; none for a row without a key.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn key_of(&self, row: usize) -> Option<usize> {
        Some(self.rows[row]).filter(|&item| item != NO_ITEM).map(|item| item as usize)
    }

    /// Tells of every row whether its key has one of these numbers.
    ///
    /// # Panics
    /// If there is no key with such a number.
    #[must_use]
    pub fn rows_of(&self, common: &[usize]) -> Vec<bool> {
        let mut is_common = vec![false; self.items.len()];
        common.iter().for_each(|&number| is_common[number] = true);
        let is = |&item: &u32| is_common.get(item as usize).is_some_and(|&it| it);
        self.rows.iter().map(is).collect()
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({} rows, {} keys, <redacted>)", self.rows.len(), self.items.len())
    }
}

foxtrot_ot::erase::redacted! { Builder; }
