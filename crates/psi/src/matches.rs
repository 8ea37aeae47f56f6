//! Items whose tags both parties have: the receiver's matches, and the keys by which each party uses them.

use alloc::vec::Vec;

use foxtrot_kernel::memcheck;
use foxtrot_ot::erase::Secret;

/// The key of an item.
pub type ItemKey = [u8; 32];

/// The keys of the sender's items in the order of their tags, and which items these are.
pub struct Keys {
    pub(crate) keys: Secret<ItemKey>,
    pub(crate) owners: Secret<u32>,
}

impl Keys {
    /// Sorts tags, and the keys and owners that belong to them.
    pub(crate) fn sort(&mut self, tags: &mut [u128]) {
        let mut all = Secret::with_capacity(tags.len());
        all.0.extend(tags.iter().copied().zip(0_u32..));
        // The order of tags says whose they are, but only to a neighbour on the processor.
        memcheck::public(&mut all);
        all.sort_unstable();
        let n = all.len();
        let (mut keys, mut owners) = (Secret::with_capacity(n), Secret::with_capacity(n));
        for (to, &(tag, from)) in tags.iter_mut().zip(&*all) {
            *to = tag;
            keys.0.push(self.keys[from as usize]);
            owners.0.push(self.owners[from as usize]);
        }
        *self = Self { keys, owners };
    }
}

/// The receiver's matches, in the order of the sender's tags: places of tags, indices of items, and keys.
pub struct Matches {
    pub(crate) places: Secret<u32>,
    pub(crate) owners: Secret<u32>,
    pub(crate) keys: Secret<ItemKey>,
}

impl Matches {
    /// The indices of the items that match, ascending.
    #[must_use]
    pub fn indices(&self) -> Vec<usize> {
        indices(&self.owners)
    }
}

/// Indices as they are given out: ascending.
pub(crate) fn indices(owners: &[u32]) -> Vec<usize> {
    let mut indices: Vec<usize> = owners.iter().map(|&owner| owner as usize).collect();
    indices.sort_unstable();
    indices
}

foxtrot_kernel::redacted! {
    Keys, keys => "{} items, <redacted>", keys.keys.len();
    Matches;
}
