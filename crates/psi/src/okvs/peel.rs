//! Peeling: as long as a slot is in one row only, that row can wait until all others are solved.

use alloc::{vec, vec::Vec};

use super::{Okvs, rows::Row};
use crate::erase::Secret;

/// Bits for the number of a row's slot.
const WHICH: u32 = 2;
const _: () = assert!(super::MAX_KEYS <= 1 << (32 - WHICH));

/// Rows that wait, and those that do not.
pub(super) struct Peeled {
    /// Each with the number of its slot; to be solved from the last to the first.
    steps: Secret<u32>,
    rows: usize,
}

impl Peeled {
    /// Place of a row and which of its slots is its own, in the order in which they can be solved.
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        let split = |&step: &u32| ((step >> WHICH) as usize, (step & ((1 << WHICH) - 1)) as usize);
        self.steps.0.iter().rev().map(split)
    }

    /// The places of the other rows, ascending.
    pub(super) fn core(&self) -> impl Iterator<Item = usize> {
        let mut waits = Vec::new();
        if self.steps.0.len() < self.rows {
            waits = vec![false; self.rows];
            self.steps().for_each(|(place, _)| waits[place] = true);
        }
        let waits = Secret(waits);
        (0..waits.0.len()).filter(move |&place| !waits.0[place])
    }
}

/// The rows of a slot that are not peeled yet: how many, and the XOR of their places.
#[derive(Clone, Copy, Default)]
struct Slot {
    degree: u32,
    places: u32,
}

/// Peels as much as there is.
pub(super) fn peel<const H: usize>(okvs: &Okvs<H>, rows: &[Row<H>]) -> Peeled {
    let dense = okvs.dense();
    let mut slots = Secret(vec![Slot::default(); okvs.slots() - dense]);
    for (place, row) in (0..).zip(rows) {
        for slot in row.sparse {
            let slot = &mut slots.0[slot as usize - dense];
            slot.degree += 1;
            slot.places ^= place;
        }
    }
    let mut steps = Secret(Vec::with_capacity(rows.len()));
    // A slot comes here once, when its degree falls to 1.
    let mut lone = Secret(Vec::with_capacity(slots.0.len()));
    for first in (okvs.dense..).take(slots.0.len()) {
        lone.0.push(first);
        while let Some(slot) = lone.0.pop() {
            let state = slots.0[slot as usize - dense];
            let Slot { degree: 1, places: place } = state else { continue };
            for (which, other) in (0..).zip(rows[place as usize].sparse) {
                if other == slot {
                    steps.0.push(place << WHICH | which);
                }
                let state = &mut slots.0[other as usize - dense];
                state.degree -= 1;
                state.places ^= place;
                if state.degree == 1 {
                    lone.0.push(other);
                }
            }
        }
    }
    Peeled { steps, rows: rows.len() }
}
