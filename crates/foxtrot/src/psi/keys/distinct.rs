//! The set of distinct items.

use std::hash::{BuildHasher, RandomState};

use zeroize::Zeroizing;

use super::Item;

/// Items in the order of their first appearance, found by a table with open addressing: 44 bytes
/// for each that there may be.
pub struct Distinct {
    items: Zeroizing<Vec<Item>>,
    /// Each behind the place of its hash.
    slots: Vec<Slot>,
    /// The process's own random state: a peer or user that writes rows cannot make them fall on one
    /// slot.
    hash: RandomState,
}

/// An item's number, and a part of its hash: what has another one is another item.
#[derive(Clone, Copy)]
struct Slot {
    number: u32,
    tag: u32,
}

const FREE: Slot = Slot { number: u32::MAX, tag: 0 };

/// Items that are looked up at once: as many as memory may be asked for side by side, or more.
pub const AT_ONCE: usize = 64;

impl Distinct {
    /// Makes a table for `most` items at most; `None` without memory for it.
    #[must_use]
    pub fn with_capacity(most: usize) -> Option<Self> {
        let (mut items, mut slots) = (Vec::new(), Vec::new());
        let free = most.saturating_add(most / 2).saturating_add(1);
        if u32::try_from(most).is_err()
            // Without growing, which would leave copies behind.
            || items.try_reserve_exact(most).is_err()
            || slots.try_reserve_exact(free).is_err()
        {
            return None;
        }
        slots.resize(free, FREE);
        Some(Self { items: Zeroizing::new(items), slots, hash: RandomState::new() })
    }

    /// Gives each item's number, and whether it is new.
    ///
    /// # Panics
    /// If there are more items than there is room for.
    pub fn insert_all(&mut self, items: &[Item], mut found: impl FnMut(u32, bool)) {
        for items in items.chunks(AT_ONCE) {
            let mut places = [(0, 0); AT_ONCE];
            let mut seen = 0;
            for (item, place) in items.iter().zip(&mut places) {
                *place = self.place(item);
                // Loads that do not wait for each other, as those of the next loop do.
                seen ^= self.slots[place.0].number;
            }
            std::hint::black_box(seen);
            for (item, place) in items.iter().zip(places) {
                let (number, new) = self.insert(item, place);
                found(number, new);
            }
        }
    }

    fn insert(&mut self, item: &Item, (mut at, tag): (usize, u32)) -> (u32, bool) {
        loop {
            let slot = self.slots[at];
            if slot.number == FREE.number {
                break;
            }
            if slot.tag == tag && self.items[slot.number as usize] == *item {
                return (slot.number, false);
            }
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
        assert!(self.items.len() < self.items.capacity(), "more items than there is room for");
        let number = u32::try_from(self.items.len()).unwrap_or(FREE.number);
        self.items.push(*item);
        self.slots[at] = Slot { number, tag };
        (number, true)
    }

    /// The items in the order of their first appearance.
    #[must_use]
    pub fn into_items(self) -> Zeroizing<Vec<Item>> {
        self.items
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
