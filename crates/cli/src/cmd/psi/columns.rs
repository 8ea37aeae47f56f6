//! Columns of the sender that go to the receiver with a match: as text, each padded to a width on which both agreed.

use zeroize::Zeroizing;

use crate::{
    args::{Column, Duplicates},
    failure::Failure,
    table::Set,
};

/// Bytes of a field's length, in front of the field.
const LENGTH: usize = 2;

/// Bytes of a field with its length and padding.
pub(super) const fn slot(width: usize) -> usize {
    LENGTH + width
}

/// The sender's fields, padded, of each of its items.
pub(super) struct Fields {
    pub(super) names: Vec<String>,
    slot: usize,
    padded: Zeroizing<Vec<u8>>,
}

impl Fields {
    /// Takes columns of a set that has been read. Of rows with one item, one gives its fields.
    pub(super) fn of(
        set: &Set,
        wanted: &[Column],
        width: usize,
        duplicates: Duplicates,
    ) -> Result<Self, Failure> {
        let (slot, items) = (slot(width), set.items().len());
        let len = wanted.len().saturating_mul(slot).saturating_mul(items);
        let mut padded = Zeroizing::new(Vec::new());
        padded.try_reserve_exact(len).map_err(|_| Failure::run("not enough memory for columns"))?;
        padded.resize(len, 0);
        let (of_row, mut seen): (Vec<_>, _) = (set.items_of_rows().collect(), vec![false; items]);
        let names = set.fields(wanted, |row, fields| {
            let Some(item) = of_row[row] else { return Ok(()) };
            match duplicates {
                Duplicates::Refuse if seen[item] => {
                    return Err(Failure::usage("several rows have the same key").hint(
                        "pass --duplicates first or last on both sides, or remove the rows",
                    ));
                }
                Duplicates::First if seen[item] => return Ok(()),
                _ => seen[item] = true,
            }
            let slots = padded[item * fields.len() * slot..].chunks_exact_mut(slot);
            for ((field, to), column) in fields.iter().zip(slots).zip(1..) {
                pad(field, to).map_err(|len| {
                    let why = format!(
                        "field {column} of --share in row {} has {len} bytes; there is room for {width}",
                        row + 1
                    );
                    Failure::usage(why).hint("pass a larger --width on both sides")
                })?;
            }
            Ok(())
        })?;
        Ok(Self { names, slot, padded })
    }

    /// The places of columns that a peer names, among ours.
    pub(super) fn places(&self, names: &[String]) -> Result<Vec<usize>, String> {
        let place = |name: &String| {
            let place = self.names.iter().position(|ours| ours == name);
            place.ok_or_else(|| name.clone())
        };
        names.iter().map(place).collect()
    }

    /// Writes the payload of an item: these columns.
    pub(super) fn write(&self, item: usize, places: &[usize], to: &mut [u8]) {
        // What fills up a shard has no fields.
        let Some(fields) = self.padded.get(item * self.names.len() * self.slot..) else { return };
        if fields.is_empty() {
            return;
        }
        for (place, to) in places.iter().zip(to.chunks_exact_mut(self.slot)) {
            to.copy_from_slice(&fields[place * self.slot..][..self.slot]);
        }
    }
}

/// Writes length, field and padding; tells the field's length if there is no room.
fn pad(field: &str, to: &mut [u8]) -> Result<(), usize> {
    let len = u16::try_from(field.len()).map_err(|_| field.len())?;
    to.fill(0);
    let (length, room) = to.split_at_mut(LENGTH);
    length.copy_from_slice(&len.to_le_bytes());
    room.get_mut(..field.len()).ok_or(field.len())?.copy_from_slice(field.as_bytes());
    Ok(())
}

/// Reads the fields of a payload; nothing if it is not as [`Fields::write`] makes it.
pub(crate) fn read(payload: &[u8], width: usize) -> Option<Vec<String>> {
    let field = |slot: &[u8]| {
        let (length, room) = slot.split_first_chunk::<LENGTH>()?;
        let (text, padding) = room.split_at_checked(u16::from_le_bytes(*length).into())?;
        let text = std::str::from_utf8(text).ok()?;
        padding.iter().all(|&byte| byte == 0).then(|| text.to_owned())
    };
    let slots = payload.chunks_exact(slot(width));
    let whole = slots.remainder().is_empty();
    slots.map(field).collect::<Option<_>>().filter(|_| whole)
}

/// The payload of fields, if there is room for them.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn write(fields: &[String], width: usize) -> Option<Vec<u8>> {
    let mut payload = vec![0; fields.len() * slot(width)];
    let slots = payload.chunks_exact_mut(slot(width));
    fields.iter().zip(slots).try_for_each(|(field, to)| pad(field, to)).ok()?;
    Some(payload)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_that_are_read_are_written_as_they_came(
            fields in prop::collection::vec(".{0,9}", 1..4),
            change in any::<(prop::sample::Index, u8)>(),
            width in 1..40_usize,
        ) {
            let Some(mut payload) = write(&fields, width) else {
                prop_assert!(fields.iter().any(|field| field.len() > width));
                return Ok(());
            };
            prop_assert_eq!(read(&payload, width), Some(fields));
            let (at, byte) = change;
            let at = at.index(payload.len());
            payload[at] ^= byte;
            if let Some(fields) = read(&payload, width) {
                prop_assert_eq!(write(&fields, width), Some(payload.clone()));
            }
            prop_assert_eq!(read(&payload[1..], width), None);
        }
    }

    #[test]
    fn a_payload_is_read_as_it_was_written_and_in_no_other_form() {
        let fields = Fields {
            names: vec!["city".into(), "plan".into(), "note".into()],
            slot: slot(6),
            padded: Zeroizing::new(
                ["Köln", "", "gold!!", "x", "y", "z"]
                    .iter()
                    .flat_map(|field| {
                        let mut to = vec![7; slot(6)];
                        pad(field, &mut to).unwrap();
                        to
                    })
                    .collect(),
            ),
        };
        let places = fields.places(&["note".into(), "city".into()]).unwrap();
        assert_eq!(places, [2, 0]);
        assert_eq!(fields.places(&["age".into()]), Err("age".into()));
        let mut payload = vec![0; 2 * slot(6)];
        fields.write(0, &places, &mut payload);
        assert_eq!(read(&payload, 6).unwrap(), ["gold!!", "Köln"]);
        for (at, byte) in [(0, 7), (1, 1), (3, 0xff), (slot(6) + 7, 1)] {
            let mut wrong = payload.clone();
            wrong[at] = byte;
            assert_eq!(read(&wrong, 6), None, "byte {at}");
        }
        assert_eq!(pad("seven77", &mut [0; slot(6)]), Err(7));
    }
}
