//! Columns of the sender that go to the receiver with a match.

use foxtrot::psi::fields::{Fields, Padding, Refused};

use crate::{args::Column, failure::Failure, table::Set};

/// Takes columns of a set that has been read. Of rows with one item, one gives its fields.
pub(super) fn fields(set: &Set, wanted: &[Column], padding: Padding) -> Result<Fields, Failure> {
    let mut fields = Fields::new(wanted.len(), padding, set.keys.len())?;
    let names = set.fields(wanted, |row, texts| {
        let Some(item) = set.keys.key_of(row) else { return Ok(()) };
        fields.put(item, texts).map_err(|why| match why {
            Refused::Repeated => Failure::usage("several rows have the same key")
                .hint("pass --duplicates first or last on both sides, or remove the rows"),
            Refused::TooLong { field, len } => {
                let (column, row, room) = (field + 1, row + 1, padding.width);
                Failure::usage(format!(
                    "field {column} of --share in row {row} has {len} bytes; there is room for {room}"
                ))
                .hint("pass a larger --width on both sides")
            }
        })
    })?;
    Ok(fields.named(names))
}
