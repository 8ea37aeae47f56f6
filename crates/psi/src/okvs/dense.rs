//! The dense slots' part of a value: table look-ups of four slots at a time.

use alloc::vec::Vec;

use super::rows::Row;
use crate::erase::erase;

const BITS: usize = 4;

/// All sums of four dense slots each.
pub(super) struct Dense<const W: usize>(Vec<[[u8; W]; 1 << BITS]>);

impl<const W: usize> Dense<W> {
    pub(super) fn new(slots: &[[u8; W]]) -> Self {
        let table = |slots: &[[u8; W]]| {
            let mut sums = [[0; W]; 1 << BITS];
            for (k, slot) in slots.iter().enumerate() {
                let (without, with) = sums.split_at_mut(1 << k);
                for (without, with) in without.iter().zip(with) {
                    *with = *without;
                    xor(with, slot);
                }
            }
            sums
        };
        Self(slots.chunks(BITS).map(table).collect())
    }

    /// Adds the dense part of a row's value.
    #[inline]
    pub(super) fn add(&self, row: &Row, value: &mut [u8; W]) {
        let [_, mut bits] = *row;
        for sums in &self.0 {
            xor(value, &sums[(bits & ((1 << BITS) - 1)) as usize]);
            bits >>= BITS;
        }
    }
}

impl<const W: usize> Drop for Dense<W> {
    fn drop(&mut self) {
        erase(self.0.as_flattened_mut().as_flattened_mut());
    }
}

#[inline]
pub(super) fn xor<const W: usize>(out: &mut [u8; W], a: &[u8; W]) {
    out.iter_mut().zip(a).for_each(|(out, a)| *out ^= a);
}
