//! Which items there are, each once.

use std::hash::{BuildHasher, RandomState};

use zeroize::Zeroizing;

use crate::failure::Failure;

use super::key::Item;

/// Items in the order of their first appearance, found by a table with open addressing: 38 bytes
/// for each that there may be.
pub(super) struct Distinct {
    items: Zeroizing<Vec<Item>>,
    /// Numbers of items, each behind the place of its hash; or `FREE`.
    slots: Vec<u32>,
    /// Of this process: whoever writes rows cannot make them fall on one slot.
    hash: RandomState,
}

const FREE: u32 = u32::MAX;

/// What cannot be kept in memory.
pub(super) fn too_many(rows: usize) -> Failure {
    Failure::run(format!("there is no memory for {rows} rows"))
}

impl Distinct {
    /// For so many items at most.
    pub(super) fn with_capacity(most: usize) -> Result<Self, Failure> {
        let (mut items, mut slots) = (Vec::new(), Vec::new());
        let free = most.saturating_add(most / 2).saturating_add(1);
        if u32::try_from(most).is_err()
            // Without growing, which would leave copies behind.
            || items.try_reserve_exact(most).is_err()
            || slots.try_reserve_exact(free).is_err()
        {
            return Err(too_many(most));
        }
        slots.resize(free, FREE);
        Ok(Self { items: Zeroizing::new(items), slots, hash: RandomState::new() })
    }

    /// The item's number, and whether it is new.
    ///
    /// # Panics
    /// If there are more items than there is room for.
    pub(super) fn insert(&mut self, item: &Item) -> (u32, bool) {
        let mut at = self.place(item);
        loop {
            match self.slots[at] {
                FREE => break,
                number if self.items[number as usize] == *item => return (number, false),
                _ => at = if at + 1 == self.slots.len() { 0 } else { at + 1 },
            }
        }
        assert!(self.items.len() < self.items.capacity(), "more items than there is room for");
        let number = u32::try_from(self.items.len()).unwrap_or(FREE);
        self.items.push(*item);
        self.slots[at] = number;
        (number, true)
    }

    pub(super) fn into_items(self) -> Zeroizing<Vec<Item>> {
        self.items
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is less than the number of slots")]
    fn place(&self, item: &Item) -> usize {
        let hash = self.hash.hash_one(u64::from_le_bytes(item[..8].try_into().unwrap_or_default()));
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_item_has_the_number_of_its_first_appearance(
            values in prop::collection::vec(0u8..40, 0..100),
        ) {
            let mut distinct = Distinct::with_capacity(values.len()).unwrap();
            let mut expected = HashMap::new();
            for value in values {
                let count = u32::try_from(expected.len()).unwrap();
                // Half of them differ in their last byte only.
                let mut item = [value / 2; 32];
                item[31] = value;
                let known = expected.get(&value).copied();
                expected.entry(value).or_insert(count);
                let (number, new) = distinct.insert(&item);
                prop_assert_eq!((number, new), (known.unwrap_or(count), known.is_none()));
            }
            prop_assert_eq!(distinct.into_items().len(), expected.len());
        }
    }
}
