//! The set of distinct items.

use std::hash::{BuildHasher, RandomState};

use zeroize::{Zeroize, Zeroizing};

use super::Item;

/// Items in the order of their first appearance, found by a table with open addressing: room of 44 bytes for each that there
/// may be, of which those that are there take memory.
pub(super) struct Distinct {
    items: Items,
    /// Each behind the place of its hash: the item's number and 1, shifted, with a part of its hash below. Another part tells
    /// another item; zero is free.
    slots: Vec<u64>,
    /// The process's own random state: a peer or user that writes rows cannot make them fall on one
    /// slot.
    hash: RandomState,
}

/// A list that never shrinks. It erases its items when dropped, and no memory that none has reached.
struct Items(Vec<Item>);

impl Drop for Items {
    fn drop(&mut self) {
        self.0.as_flattened_mut().zeroize();
    }
}

/// Items that are looked up at once: as many as memory may be asked for side by side, or more.
pub(crate) const AT_ONCE: usize = 64;

impl Distinct {
    /// Makes a table for `most` items at most; `None` without memory for it.
    pub(super) fn with_capacity(most: usize) -> Option<Self> {
        let (mut items, mut slots) = (Vec::new(), Vec::<u64>::new());
        let free = most.saturating_add(most / 2).saturating_add(1);
        if u32::try_from(most).is_err()
            // Without growing, which would leave copies behind.
            || items.try_reserve_exact(most).is_err()
            || slots.try_reserve_exact(free).is_err()
        {
            return None;
        }
        // The room is there. Zeros of the system take memory only where they are written over.
        drop(slots);
        Some(Self { items: Items(items), slots: vec![0; free], hash: RandomState::new() })
    }

    /// Makes room for more items, by a larger table if need be; false without memory for it.
    #[cfg(feature = "table")]
    pub(super) fn reserve(&mut self, more: usize) -> bool {
        let (len, room) = (self.items.0.len(), self.items.0.capacity());
        if len + more <= room {
            return true;
        }
        let Some(mut larger) = Self::with_capacity((len + more).max(2 * room)) else {
            return false;
        };
        larger.insert_all(&self.items.0, |_, _| ());
        *self = larger;
        true
    }

    #[cfg(feature = "table")]
    pub(super) fn len(&self) -> usize {
        self.items.0.len()
    }

    /// Gives each item's number, and whether it is new.
    ///
    /// # Panics
    /// If there are more items than there is room for.
    pub(super) fn insert_all(&mut self, items: &[Item], mut found: impl FnMut(u32, bool)) {
        for items in items.chunks(AT_ONCE) {
            let mut places = [(0, 0); AT_ONCE];
            let mut seen = 0;
            for (item, place) in items.iter().zip(&mut places) {
                *place = self.place(item);
                // Loads that do not wait for each other, as those of the next loop do.
                seen ^= self.slots[place.0];
            }
            std::hint::black_box(seen);
            for (item, place) in items.iter().zip(places) {
                let (number, new) = self.insert(item, place);
                found(number, new);
            }
        }
    }

    fn insert(&mut self, item: &Item, (mut at, tag): (usize, u32)) -> (u32, bool) {
        while let Some((number, of)) = unpacked(self.slots[at]) {
            if of == tag && self.items.0[number as usize] == *item {
                return (number, false);
            }
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
        let items = &mut self.items.0;
        assert!(items.len() < items.capacity(), "more items than there is room for");
        let number = u32::try_from(items.len()).unwrap_or(u32::MAX);
        items.push(*item);
        self.slots[at] = (u64::from(number) + 1) << 32 | u64::from(tag);
        (number, true)
    }

    /// The items in the order of their first appearance.
    pub(super) fn into_items(mut self) -> Zeroizing<Vec<Item>> {
        let all = &mut self.items.0;
        let mut exact = Vec::new();
        // A list that is dropped later is erased with all its room.
        if all.capacity() > 2 * all.len() && exact.try_reserve_exact(all.len()).is_ok() {
            exact.extend_from_slice(all);
            return Zeroizing::new(exact);
        }
        Zeroizing::new(std::mem::take(all))
    }

    /// The slot to begin at, and the tag.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a place is less than the slots; a tag is a part"
    )]
    fn place(&self, item: &Item) -> (usize, u32) {
        let hash = self.hash.hash_one(u64::from_le_bytes(item[..8].try_into().unwrap_or_default()));
        (((u128::from(hash) * self.slots.len() as u128) >> 64) as usize, hash as u32)
    }
}

/// The number of a slot's item, and a part of its hash.
#[expect(clippy::cast_possible_truncation, reason = "the halves of a slot")]
fn unpacked(slot: u64) -> Option<(u32, u32)> {
    let number = ((slot >> 32) as u32).checked_sub(1)?;
    Some((number, slot as u32))
}

foxtrot_ot::erase::redacted! { Distinct; }

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_item_has_the_number_of_its_first_appearance(
            values in prop::collection::vec(0u8..120, 0..300),
        ) {
            let mut distinct = Distinct::with_capacity(values.len()).unwrap();
            // Half of them differ in their last byte only.
            let item = |value: u8| std::array::from_fn(|i| if i < 31 { value / 2 } else { value });
            let items: Vec<Item> = values.iter().map(|&value| item(value)).collect();
            let mut expected = HashMap::new();
            let mut found = Vec::new();
            let (first, rest) = items.split_at(items.len() / 3);
            for part in [first, rest] {
                distinct.insert_all(part, |number, new| found.push((number, new)));
            }
            for (value, found) in values.into_iter().zip(found) {
                let count = u32::try_from(expected.len()).unwrap();
                let known = expected.get(&value).copied();
                expected.entry(value).or_insert(count);
                prop_assert_eq!(found, (known.unwrap_or(count), known.is_none()));
            }
            prop_assert_eq!(distinct.into_items().len(), expected.len());
        }
    }
}
