//! Decoding: the XOR of a row's slots.

use foxtrot_kernel::memory::prefetch;
use foxtrot_ot::{Usage, expect_count};

use super::{
    Okvs,
    dense::{Dense, xor},
    rows::Row,
};

/// Slots ready for look-up, by a [`Plan`](super::OkvsPlan).
pub struct Decoder<'a, const W: usize> {
    pub(super) okvs: Okvs,
    slots: &'a [[u8; W]],
    dense: Dense<W>,
}

impl Okvs {
    /// Prepares slots of `W` bytes for look-up.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if their number is not that of the shape.
    pub fn decoder<'a, const W: usize>(
        &self,
        slots: &'a [[u8; W]],
    ) -> Result<Decoder<'a, W>, Usage> {
        self.check_slots(slots)?;
        Ok(Decoder { okvs: *self, slots, dense: Dense::new(&slots[..self.dense()]) })
    }

    pub(super) fn check_slots<const W: usize>(&self, slots: &[[u8; W]]) -> Result<(), Usage> {
        expect_count("slots", self.slots(), slots.len())
    }
}

impl<const W: usize> Decoder<'_, W> {
    /// Gives the values of rows, in order.
    #[inline]
    pub(super) fn values(&self, rows: &[Row], take: impl FnMut(usize, [u8; W])) {
        match self.okvs.sparse {
            2 => self.values_of::<2>(rows, take),
            3 => self.values_of::<3>(rows, take),
            _ => self.values_of::<4>(rows, take),
        }
    }

    #[inline]
    fn values_of<const H: usize>(&self, rows: &[Row], mut take: impl FnMut(usize, [u8; W])) {
        let ask = |row: &Row| {
            self.okvs.slots_of::<H>(row).iter().for_each(|&slot| ask(&self.slots[slot as usize]));
        };
        rows.iter().take(AHEAD).for_each(ask);
        for (k, row) in rows.iter().enumerate() {
            rows.get(k + AHEAD).iter().for_each(|row| ask(row));
            take(k, value::<H, W>(&self.okvs, self.slots, &self.dense, row));
        }
    }
}

/// Rows whose slots are fetched ahead. Values have so many instructions that the processor would not look as far as the next row
/// by itself, and wait for memory at each.
pub(super) const AHEAD: usize = 16;

/// Asks for the memory of a value.
#[inline]
pub(super) fn ask<const W: usize>(value: &[u8; W]) {
    const LINE: usize = 64;
    if W <= 16 {
        // In a line, or nearly always.
        value.first().iter().for_each(|byte| prefetch(*byte));
    } else {
        value.iter().step_by(LINE).chain(value.last()).for_each(prefetch);
    }
}

/// The value of a row.
#[inline(always)]
pub(super) fn value<const H: usize, const W: usize>(
    okvs: &Okvs,
    slots: &[[u8; W]],
    dense: &Dense<W>,
    row: &Row,
) -> [u8; W] {
    let mut value = [0; W];
    dense.add(row, &mut value);
    okvs.slots_of::<H>(row).iter().for_each(|&slot| xor(&mut value, &slots[slot as usize]));
    value
}

foxtrot_kernel::redacted! {
    [const W: usize] Decoder<'_, W>;
}
