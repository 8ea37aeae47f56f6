//! The key-value store of a bucket, with three or four sparse slots per row.

use foxtrot_ot::Usage;

use crate::okvs::{self, Okvs3, Okvs4};

/// The fewest keys of a store with four sparse slots per row.
const FOUR: usize = 1 << 17;

/// A store's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    Three(Okvs3),
    Four(Okvs4),
}

/// Keys in the order of a store.
pub(super) enum Plan {
    Three(okvs::Plan<3>),
    Four(okvs::Plan<4>),
}

impl Store {
    pub(super) fn new(keys: usize) -> Result<Self, Usage> {
        Ok(if keys < FOUR { Self::Three(Okvs3::new(keys)?) } else { Self::Four(Okvs4::new(keys)?) })
    }

    pub(super) const fn keys(&self) -> usize {
        match self {
            Self::Three(okvs) => okvs.keys(),
            Self::Four(okvs) => okvs.keys(),
        }
    }

    pub(super) const fn slots(&self) -> usize {
        match self {
            Self::Three(okvs) => okvs.slots(),
            Self::Four(okvs) => okvs.slots(),
        }
    }
}
