//! Keys that are being read.

use std::borrow::Cow;

use super::{Item, Keyer, Keys, Normaliser, Rows};
use crate::Error;

/// Keys that are being read.
pub struct Builder {
    keyer: Keyer,
    rows: Rows,
    columns: Option<Vec<String>>,
}

impl Builder {
    /// No keys so far, of as many parts as there are normalisers; room for `most` rows.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(normalisers: Vec<Normaliser>, most: usize) -> Result<Self, Error> {
        Ok(Self { keyer: Keyer::new(normalisers), rows: Rows::new(most)?, columns: None })
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
    /// If there are more keys than there is room for.
    pub fn push<'a>(&mut self, parts: impl Iterator<Item = Cow<'a, str>>) {
        let item = self.keyer.item(parts);
        self.push_item(item);
    }

    /// Takes the next row with the item of its key, as a [`Keyer`] with these normalisers makes it.
    ///
    /// # Panics
    /// If there are more keys than there is room for.
    pub fn push_item(&mut self, item: Option<Item>) {
        self.rows.push(item);
    }

    /// Makes room for more rows.
    #[cfg(feature = "table")]
    pub(crate) fn reserve(&mut self, more: usize) -> Result<(), Error> {
        self.rows.reserve(more)
    }

    /// Gives all rows so far the numbers of their keys.
    #[cfg(feature = "table")]
    pub(crate) fn look_up(&mut self) {
        self.rows.look_up();
    }

    /// The number of rows.
    #[cfg(feature = "table")]
    pub(crate) fn rows(&self) -> usize {
        self.rows.rows.len()
    }

    /// The number of different keys that were looked up.
    #[cfg(feature = "table")]
    pub(crate) fn len(&self) -> usize {
        self.rows.distinct.len()
    }

    /// The number of the key of a row that was looked up.
    #[cfg(feature = "table")]
    pub(crate) fn key_of(&self, row: usize) -> Option<usize> {
        super::number(self.rows.rows[row])
    }

    /// Ends the set.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`](crate::Usage::BatchTooLarge) for more items than an intersection takes.
    pub fn finish(self) -> Result<Keys, Error> {
        self.rows.finish(self.keyer.terms(), self.columns)
    }
}

foxtrot_ot::erase::redacted! { Builder; }
