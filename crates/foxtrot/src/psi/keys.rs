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
//! assert_eq!((ours.duplicates().collect(), ours.without_key().collect()), (vec![2], vec![1]));
//! sender.join().expect("no panic")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Keys of several parts and normalisers need the feature `keys`.

#[cfg(feature = "keys")]
mod builder;
mod distinct;
#[cfg(feature = "keys")]
mod keyer;
#[cfg(feature = "keys")]
mod normalise;

use foxtrot_ot::{Usage, erase::Secret};
use zeroize::Zeroizing;

use super::{Digest, ItemHasher, MAX_ITEMS};
use crate::{Error, job::room};

use distinct::Distinct;

pub(crate) use distinct::AT_ONCE;
#[cfg(feature = "keys")]
pub use {
    builder::Builder,
    keyer::Keyer,
    normalise::{Normaliser, without_usual_versions},
};

/// The item that is compared: 32 bytes for a key of any length.
pub type Item = [u8; 32];

/// The number in place of an item's, for a row without a key.
const NO_ITEM: u32 = u32::MAX;

/// The keys of rows: the items that are compared, and which row has which.
pub struct Keys {
    pub(super) items: Zeroizing<Vec<Item>>,
    /// The number of each row's item.
    rows: Vec<u32>,
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

fn number(item: u32) -> Option<usize> {
    (item != NO_ITEM).then_some(item as usize)
}

/// The items of rows, as they come.
struct Rows {
    distinct: Distinct,
    /// The number of each row's item.
    rows: Vec<u32>,
    /// Items that have not been looked up, and their rows.
    waiting: Zeroizing<Vec<Item>>,
    waiting_rows: Vec<usize>,
}

impl Rows {
    /// Room for `most` rows.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn new(most: usize) -> Result<Self, Error> {
        let bytes = most.saturating_mul(size_of::<Item>() + size_of::<u32>());
        let mut rows = Vec::new();
        rows.try_reserve_exact(most).map_err(|_| Error::OutOfMemory { bytes })?;
        Ok(Self {
            distinct: Distinct::with_capacity(most).ok_or(Error::OutOfMemory { bytes })?,
            rows,
            waiting: Zeroizing::new(Vec::with_capacity(AT_ONCE)),
            waiting_rows: Vec::with_capacity(AT_ONCE),
        })
    }

    /// Makes room for more rows.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[cfg(feature = "table")]
    fn reserve(&mut self, more: usize) -> Result<(), Error> {
        let more = more + self.waiting.len();
        match self.distinct.reserve(more) && self.rows.try_reserve(more).is_ok() {
            true => Ok(()),
            false => Err(Error::OutOfMemory { bytes: more.saturating_mul(size_of::<Item>()) }),
        }
    }

    /// Takes the next row with the item of its key.
    ///
    /// # Panics
    /// If there are more keys than there is room for.
    fn push(&mut self, item: Option<Item>) {
        if let Some(item) = item {
            self.waiting.push(item);
            self.waiting_rows.push(self.rows.len());
        }
        self.rows.push(NO_ITEM);
        if self.waiting.len() == AT_ONCE {
            self.look_up();
        }
    }

    fn look_up(&mut self) {
        let Self { distinct, rows, waiting, waiting_rows } = self;
        let mut whose = waiting_rows.drain(..);
        distinct.insert_all(waiting, |number, _| {
            whose.next().into_iter().for_each(|row| rows[row] = number);
        });
        waiting.clear();
    }

    /// Ends the set.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] for more items than an intersection takes.
    fn finish(mut self, terms: String, columns: Option<Vec<String>>) -> Result<Keys, Error> {
        self.look_up();
        let Self { distinct, rows, .. } = self;
        let items = distinct.into_items();
        match items.len() {
            n if n > MAX_ITEMS => Err(Usage::BatchTooLarge { n, max: MAX_ITEMS }.into()),
            _ => Ok(Keys { items, rows, terms, columns }),
        }
    }
}

impl Keys {
    /// Makes keys of items that are compared byte by byte, as [`Options::send`](super::Options::send) compares them. An item is a
    /// row with a key of one part.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] for more items than an intersection takes; [`Error::OutOfMemory`].
    pub fn of<T: AsRef<[u8]>>(items: &[T]) -> Result<Self, Error> {
        let n = items.len();
        if n > MAX_ITEMS {
            return Err(Usage::BatchTooLarge { n, max: MAX_ITEMS }.into());
        }
        let (mut rows, mut hasher) = (Rows::new(n)?, ItemHasher::new());
        items.iter().for_each(|item| rows.push(hasher.item([item])));
        rows.finish("none/1".into(), None)
    }

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
        fill_up_to(&mut self.items, n)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The number of each row's key, and whether the row is the first with it.
    fn each(&self) -> impl Iterator<Item = (Option<usize>, bool)> {
        let mut new = 0;
        self.rows.iter().map(move |&item| {
            // Items are numbered in the order of their first rows.
            let is_first = item == new;
            new += u32::from(is_first);
            (number(item), is_first)
        })
    }

    fn rows_with(&self, is: impl Fn(Option<usize>, bool) -> bool) -> impl Iterator<Item = usize> {
        self.each().enumerate().filter_map(move |(row, (key, first))| is(key, first).then_some(row))
    }

    /// The rows whose key an earlier row has, in order.
    pub fn duplicates(&self) -> impl Iterator<Item = usize> {
        self.rows_with(|key, first| key.is_some() && !first)
    }

    /// The rows whose key, or a part of it, is empty, in order.
    pub fn without_key(&self) -> impl Iterator<Item = usize> {
        self.rows_with(|key, _| key.is_none())
    }

    /// The first row with each key, in the order of the keys.
    pub fn firsts(&self) -> impl Iterator<Item = usize> {
        self.rows_with(|_, first| first)
    }

    /// The rows that are left out, in order: [`duplicates`](Self::duplicates) and those [without a key](Self::without_key).
    pub fn left_out(&self) -> impl Iterator<Item = usize> {
        self.rows_with(|_, first| !first)
    }

    /// The numbers of the keys of all rows, in the order of the rows.
    #[must_use]
    pub fn of_rows(&self) -> impl ExactSizeIterator<Item = Option<usize>> {
        self.rows.iter().map(|&item| number(item))
    }

    /// The normalisation of the parts of a key, in the form in which both sides compare it: `email/2;date/1`.
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
        number(self.rows[row])
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

    /// The rows whose key has one of these numbers, in order.
    ///
    /// # Panics
    /// If there is no key with such a number.
    #[must_use]
    pub fn indices(&self, common: &[usize]) -> Vec<usize> {
        let rows = self.rows_of(common).into_iter().enumerate();
        rows.filter_map(|(row, is)| is.then_some(row)).collect()
    }

    pub(super) fn copy_items(&self) -> Result<Secret<Digest>, Error> {
        let mut items = room(self.len())?;
        items.0.extend_from_slice(&self.items);
        Ok(items)
    }

    /// The items alone.
    #[must_use]
    pub fn into_items(self) -> Zeroizing<Vec<Item>> {
        self.items
    }
}

foxtrot_ot::erase::redacted! {
    Keys, keys => "{} rows, {} keys, <redacted>", keys.rows.len(), keys.items.len();
}

/// Adds items that nobody else has to distinct ones, until there are n.
///
/// # Errors
/// [`Usage::BatchTooLarge`] if there are more already; [`Error::Session`] if the system has no randomness; [`Error::OutOfMemory`].
pub fn fill_up_to(items: &mut Zeroizing<Vec<Digest>>, n: usize) -> Result<(), Error> {
    let ours = items.len();
    if ours > n {
        return Err(Usage::BatchTooLarge { n: ours, max: n }.into());
    }
    // Without growing, which would leave copies behind.
    let mut filled = room(n)?;
    filled.0.extend_from_slice(items);
    filled.0.resize(n, [0; 32]);
    foxtrot_net::drive::fill(filled.0[ours..].as_flattened_mut())?;
    *items = Zeroizing::new(std::mem::take(&mut filled.0));
    Ok(())
}
