//! Peeling: as long as a slot is in one row only, that row can wait until all others are solved.

use alloc::{vec, vec::Vec};

use super::{Okvs, rows::Row};
use crate::erase::{Secret, Zero};

/// Bits for the number of a row's slot.
const WHICH: u32 = 2;
const _: () = assert!(super::MAX_KEYS <= 1 << (32 - WHICH));

/// Rows that wait, and those that do not.
pub(super) struct Peeled {
    /// Each with the number of its own slot; to be solved from the last to the first.
    steps: Secret<u32>,
    rows: usize,
}

impl Peeled {
    /// A row's place, and which of its slots is its own.
    #[inline]
    pub(super) fn split(step: u32) -> (usize, usize) {
        ((step >> WHICH) as usize, (step & ((1 << WHICH) - 1)) as usize)
    }

    /// The steps in groups, of which the first, and in each the last, is to be solved first.
    pub(super) fn steps_by(&self, group: usize) -> impl Iterator<Item = &[u32]> {
        self.steps.0.rchunks(group)
    }

    /// The number of other rows.
    pub(super) fn core_len(&self) -> usize {
        self.rows - self.steps.0.len()
    }

    /// The places of the other rows, ascending.
    pub(super) fn core(&self) -> impl Iterator<Item = usize> {
        let mut waits = Vec::new();
        if self.core_len() > 0 {
            waits = vec![false; self.rows];
            self.steps.0.iter().for_each(|&step| waits[Self::split(step).0] = true);
        }
        let waits = Secret(waits);
        (0..waits.0.len()).filter(move |&place| !waits.0[place])
    }
}

/// The rows of a slot that are not peeled yet: how many, and the XOR of their places.
#[derive(Clone, Copy)]
struct Slot {
    degree: u32,
    places: u32,
}

impl Zero for Slot {
    const ZERO: Self = Self { degree: 0, places: 0 };
}

/// Slots that are looked through at a time.
const PIECE: usize = 1 << 12;

/// Peels as much as there is.
pub(super) fn peel<const H: usize>(okvs: &Okvs<H>, rows: &[Row<H>]) -> Peeled {
    let dense = okvs.dense();
    let mut slots = Secret::<Slot>::zeroed(okvs.slots() - dense);
    for (place, row) in (0..).zip(rows) {
        for slot in row.sparse {
            let slot = &mut slots.0[slot as usize - dense];
            slot.degree += 1;
            slot.places ^= place;
        }
    }
    let mut steps = Secret(Vec::with_capacity(rows.len()));
    // Slots come here once, when their degree falls to 1, or is so from the start. First in, first out,
    // so that the processor can fetch ahead; a piece of all slots at a time, so that it stays in cache.
    // Branches on degrees would be mispredicted.
    let mut lone = Secret(vec![0; slots.0.len() + 1]);
    let (mut next, mut number) = (0, 0);
    for piece in (0..slots.0.len()).step_by(PIECE) {
        let end = slots.0.len().min(piece + PIECE);
        for (slot, state) in (okvs.dense..).skip(piece).zip(&slots.0[piece..end]) {
            lone.0[number] = slot;
            number += usize::from(state.degree == 1);
        }
        while next < number {
            let slot = lone.0[next];
            next += 1;
            let state = slots.0[slot as usize - dense];
            let Slot { degree: 1, places: place } = state else { continue };
            let mut step = place << WHICH;
            for (which, other) in (0..).zip(rows[place as usize].sparse) {
                step |= if other == slot { which } else { 0 };
                let state = &mut slots.0[other as usize - dense];
                state.degree -= 1;
                state.places ^= place;
                lone.0[number] = other;
                number += usize::from(state.degree == 1);
            }
            steps.0.push(step);
        }
    }
    Peeled { steps, rows: rows.len() }
}
