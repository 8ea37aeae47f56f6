//! Columns that are written behind those of a file.

use std::borrow::Cow;

/// Names of columns, and their fields in every row.
pub(crate) struct More<'a> {
    pub(crate) names: Vec<String>,
    /// The fields of a row, by its number among those that are written.
    pub(crate) fields: &'a dyn Fn(usize) -> Vec<Cow<'a, str>>,
}
