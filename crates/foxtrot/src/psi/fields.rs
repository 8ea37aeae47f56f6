//! Columns of the sender that go to the receiver with a match, as `foxtrot psi send --share` sends them: as text, each padded
//! to a width on which both agreed. The wire has them as payloads.

use std::sync::Arc;

pub use foxtrot_net::hello::decimal;

use zeroize::Zeroizing;

use crate::Error;

/// Numbers of common keys in order, each with its fields.
pub type Matches = Vec<(usize, Vec<String>)>;

/// Bytes of a field's length, in front of the field.
const LENGTH: usize = 2;

/// The form in which fields go to the receiver. Both sides have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    /// The most bytes of a field.
    pub width: usize,
    /// The row that is taken of several with the same key.
    pub duplicates: Duplicates,
}

/// The rule for rows of the sender that have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// There may be none.
    Refuse,
    /// The first is taken.
    First,
    /// The last is taken.
    Last,
}

impl Padding {
    /// Bytes of a field with its length and padding.
    #[must_use]
    pub const fn slot(self) -> usize {
        LENGTH + self.width
    }
}

impl Duplicates {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Refuse, Self::First, Self::Last];

    /// The name in hellos.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::First => "first",
            Self::Last => "last",
        }
    }

    /// Returns whether the next row with a key is taken, and marks that the key was seen.
    ///
    /// # Errors
    /// [`Refused::Repeated`].
    pub fn takes(self, seen: &mut bool) -> Result<bool, Refused> {
        match (self, std::mem::replace(seen, true)) {
            (Self::Refuse, true) => Err(Refused::Repeated),
            (Self::First, true) => Ok(false),
            _ => Ok(true),
        }
    }
}

/// The reason why a row's fields cannot go to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Several rows have the same key.
    Repeated,
    /// A field has no room.
    TooLong {
        /// The number of the field, from 0.
        field: usize,
        /// Its bytes.
        len: usize,
    },
}

/// Names of columns, and the fields of each key of the sender, padded. Its clones share the fields.
#[derive(Clone)]
pub struct Fields {
    names: Vec<String>,
    padding: Padding,
    seen: Vec<bool>,
    padded: Arc<Zeroizing<Vec<u8>>>,
}

impl Fields {
    /// Makes room for so many columns of so many different keys.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(columns: usize, padding: Padding, keys: usize) -> Result<Self, Error> {
        let bytes = columns.saturating_mul(padding.slot()).saturating_mul(keys);
        let mut padded = Zeroizing::new(Vec::new());
        padded.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        padded.resize(bytes, 0);
        let (names, seen) = (vec![String::new(); columns], vec![false; keys]);
        Ok(Self { names, padding, seen, padded: Arc::new(padded) })
    }

    /// Names the columns.
    #[must_use]
    pub fn named(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// The names of the columns.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The form in which they go.
    #[must_use]
    pub fn padding(&self) -> Padding {
        self.padding
    }

    /// The number of different keys.
    pub(super) fn keys(&self) -> usize {
        self.seen.len()
    }

    /// Takes the fields of a row, whose key has this number.
    ///
    /// # Errors
    /// [`Refused`].
    ///
    /// # Panics
    /// If there is no such key.
    pub fn put<T: AsRef<str>>(&mut self, key: usize, fields: &[T]) -> Result<(), Refused> {
        let slot = self.padding.slot();
        if self.padding.duplicates.takes(&mut self.seen[key])? {
            let padded = Arc::make_mut(&mut self.padded);
            let slots = padded[key * fields.len() * slot..].chunks_exact_mut(slot);
            for ((number, field), to) in fields.iter().enumerate().zip(slots) {
                pad(field.as_ref(), to).map_err(|len| Refused::TooLong { field: number, len })?;
            }
        }
        Ok(())
    }

    /// The places of columns that a peer names, among ours.
    ///
    /// # Errors
    /// The first that is not there.
    pub fn places(&self, names: &[String]) -> Result<Vec<usize>, String> {
        let place = |name: &String| {
            let place = self.names.iter().position(|ours| ours == name);
            place.ok_or_else(|| name.clone())
        };
        names.iter().map(place).collect()
    }

    /// Writes the payload of a key: these columns.
    ///
    /// # Panics
    /// If there is no such key or column.
    pub fn write(&self, key: usize, places: &[usize], to: &mut [u8]) {
        let slot = self.padding.slot();
        let fields = &self.padded[key * self.names.len() * slot..];
        for (place, to) in places.iter().zip(to.chunks_exact_mut(slot)) {
            to.copy_from_slice(&fields[place * slot..][..slot]);
        }
    }
}

foxtrot_ot::erase::redacted! { Fields; }

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
#[must_use]
pub fn read(payload: &[u8], padding: Padding) -> Option<Vec<String>> {
    let field = |slot: &[u8]| {
        let (length, room) = slot.split_first_chunk::<LENGTH>()?;
        let (text, padding) = room.split_at_checked(u16::from_le_bytes(*length).into())?;
        let text = std::str::from_utf8(text).ok()?;
        padding.iter().all(|&byte| byte == 0).then(|| text.to_owned())
    };
    let slots = payload.chunks_exact(padding.slot());
    let whole = slots.remainder().is_empty();
    slots.map(field).collect::<Option<_>>().filter(|_| whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn to(width: usize) -> Padding {
        Padding { width, duplicates: Duplicates::Refuse }
    }

    fn payload(fields: &Fields, places: &[usize]) -> Vec<u8> {
        let mut payload = vec![0; places.len() * fields.padding().slot()];
        fields.write(0, places, &mut payload);
        payload
    }

    fn written(texts: &[String], width: usize) -> Result<Vec<u8>, Refused> {
        let mut fields = Fields::new(texts.len(), to(width), 1).unwrap();
        fields.put(0, texts)?;
        Ok(payload(&fields, &(0..texts.len()).collect::<Vec<_>>()))
    }

    proptest! {
        #[test]
        fn fields_that_are_read_are_written_as_they_came(
            fields in prop::collection::vec(".{0,9}", 1..4),
            change in any::<(prop::sample::Index, u8)>(),
            width in 1..40_usize,
        ) {
            let Ok(mut payload) = written(&fields, width) else {
                prop_assert!(fields.iter().any(|field| field.len() > width));
                return Ok(());
            };
            prop_assert_eq!(read(&payload, to(width)), Some(fields));
            let (at, byte) = change;
            let at = at.index(payload.len());
            payload[at] ^= byte;
            if let Some(fields) = read(&payload, to(width)) {
                prop_assert_eq!(written(&fields, width), Ok(payload.clone()));
            }
            prop_assert_eq!(read(&payload[1..], to(width)), None);
        }
    }

    #[test]
    fn a_payload_is_read_as_it_was_written_and_in_no_other_form() {
        let mut fields = Fields::new(3, to(6), 2).unwrap();
        fields = fields.named(vec!["city".into(), "plan".into(), "note".into()]);
        fields.put(0, &["Köln", "", "gold!!"]).unwrap();
        fields.put(1, &["x", "y", "z"]).unwrap();
        let places = fields.places(&["note".into(), "city".into()]).unwrap();
        assert_eq!(places, [2, 0]);
        assert_eq!(fields.places(&["age".into()]), Err("age".into()));
        let payload = payload(&fields, &places);
        assert_eq!(read(&payload, to(6)).unwrap(), ["gold!!", "Köln"]);
        for (at, byte) in [(0, 7), (1, 1), (3, 0xff), (to(6).slot() + 7, 1)] {
            let mut wrong = payload.clone();
            wrong[at] = byte;
            assert_eq!(read(&wrong, to(6)), None, "byte {at}");
        }
    }

    #[test]
    fn rows_with_one_key_follow_the_rule_and_long_fields_have_no_room() {
        for (duplicates, taken) in [
            (Duplicates::Refuse, Err(Refused::Repeated)),
            (Duplicates::First, Ok("a")),
            (Duplicates::Last, Ok("b")),
        ] {
            let mut fields = Fields::new(1, Padding { width: 1, duplicates }, 1).unwrap();
            fields.put(0, &["a"]).unwrap();
            let both = fields.put(0, &["b"]).map(|()| payload(&fields, &[0])[2]);
            assert_eq!(both, taken.map(|text: &str| text.as_bytes()[0]));
        }
        let refused = written(&["x".into(), "seven77".into()], 6);
        assert_eq!(refused, Err(Refused::TooLong { field: 1, len: 7 }));
    }
}
