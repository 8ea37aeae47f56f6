//! Peeling: as long as a slot is in one row only, that row can wait until all others are solved.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::memory::prefetch;

use super::{Okvs, rows::Row};
use crate::erase::Secret;

/// Bits for the number of a row's slot.
const WHICH: u32 = 2;
const _: () = assert!(super::MAX_KEYS <= 1 << (32 - WHICH));

/// Rows that wait, and those that do not.
pub(super) struct Peeled {
    /// Each with the number of its own slot; to be solved from the last to the first.
    pub(super) steps: Secret<u32>,
    rows: usize,
}

impl Peeled {
    /// A row's place, and which of its slots is its own.
    #[inline]
    pub(super) fn split(step: u32) -> (usize, usize) {
        ((step >> WHICH) as usize, (step & ((1 << WHICH) - 1)) as usize)
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

/// The rows of a slot that are not peeled yet: their number in the low half, the sum of their places in the high half.
type Slot = u64;

const PLACE: u32 = 32;

/// Slots that are looked through at a time.
const PIECE: usize = 1 << 12;

/// Slots whose rows are fetched ahead.
const AHEAD: usize = 8;

/// Peels as much as there is, in one pass: rows are counted just before the first segment that they reach is looked
/// through, so that all of it happens within some segments, in cache.
pub(super) fn peel(okvs: &Okvs, rows: &[Row]) -> Peeled {
    match okvs.sparse {
        2 => peel_rows::<2>(okvs, rows),
        3 => peel_rows::<3>(okvs, rows),
        _ => peel_rows::<4>(okvs, rows),
    }
}

fn peel_rows<const H: usize>(okvs: &Okvs, rows: &[Row]) -> Peeled {
    let (dense, segment) = (okvs.dense(), okvs.segment());
    let mut slots = Secret::<Slot>::zeroed(okvs.slots() - dense);
    let mut steps = Secret::with_capacity(rows.len());
    // Slots come here once, when all of their rows are counted and one of these is left. First in, first out, so that
    // the processor can fetch ahead. Branches on degrees would be mispredicted.
    let mut lone = Secret::zeroed(slots.0.len() + 1);
    let mut counted = 0;
    for start in 0..okvs.starts() + H - 1 {
        // The slots whose rows all are counted: up to the next start, or all after the last.
        let first = (start + 1) * segment;
        let whole = if start + 1 < okvs.starts() { first } else { slots.0.len() };
        let new = &rows[counted..];
        let new = &new[..new.partition_point(|row| okvs.start(row) <= start)];
        for (place, row) in (counted as Slot..).zip(new) {
            for slot in okvs.slots_of::<H>(row) {
                let slot = &mut slots.0[slot as usize - dense];
                *slot = slot.wrapping_add(place << PLACE | 1);
            }
        }
        counted += new.len();
        for piece in (first - segment..first).step_by(PIECE) {
            let end = first.min(piece + PIECE);
            let (mut next, mut number) = (0, 0);
            for (slot, &state) in (okvs.dense..).skip(piece).zip(&slots.0[piece..end]) {
                lone.0[number] = slot;
                number += usize::from(degree(state) == 1);
            }
            while next < number {
                let slot = lone.0[next];
                next += 1;
                // The row that will be looked at a little later; what a slot with more rows has is no place.
                let ahead = slots.0[lone.0[number.min(next + AHEAD) - 1] as usize - dense];
                rows.get((ahead >> PLACE) as usize).iter().for_each(|row| prefetch(*row));
                let state = slots.0[slot as usize - dense];
                if degree(state) != 1 {
                    continue;
                }
                let place = state >> PLACE;
                let mut step = (place as u32) << WHICH;
                for (which, other) in (0..).zip(okvs.slots_of::<H>(&rows[place as usize])) {
                    step |= if other == slot { which } else { 0 };
                    let at = other as usize - dense;
                    let state = &mut slots.0[at];
                    *state = state.wrapping_sub(place << PLACE | 1);
                    lone.0[number] = other;
                    number += usize::from(degree(*state) == 1 && at < whole);
                }
                steps.0.push(step);
            }
        }
    }
    Peeled { steps, rows: rows.len() }
}

/// The number of rows that a slot has left.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn degree(slot: Slot) -> u32 {
    slot as u32
}
