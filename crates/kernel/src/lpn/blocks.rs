//! The code on blocks: its matrix is circulant, so elements of a half that follow each other take elements that follow each
//! other.

use super::{CIRCULANT, HALF, LINE, Permutation, WHOLE, permutation::BUCKETS, prefetch};
use crate::{Block, blocks::Blocks, erase};

/// The number of ones in a row.
const WEIGHT: usize = CIRCULANT.count_ones() as usize;

/// Their places.
const SHIFTS: [usize; WEIGHT] = {
    let (mut shifts, mut found, mut k) = ([0; WEIGHT], 0, 0);
    while k < HALF {
        if CIRCULANT >> k & 1 == 1 {
            shifts[found] = k;
            found += 1;
        }
        k += 1;
    }
    shifts
};

/// Calls `put` with the elements of a half and the number of the first one, from element `first` on, of n elements.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn encode<C: Blocks>(
    c: C,
    permutation: Permutation<'_>,
    x: &[Block],
    (first, n): (usize, usize),
    mut put: impl FnMut(&[Block; HALF], usize),
) {
    // The second half twice, so that no shift goes around.
    let mut z = [[0; 16]; WHOLE + HALF];
    let mut out = [[0; 16]; HALF];
    let mut entries = permutation.entries(2 * first);
    for done in (0..n).step_by(HALF) {
        let next_bucket = 2 * (first + done) + permutation.n() / BUCKETS;
        for ahead in (0..WHOLE).step_by(LINE) {
            prefetch(x, next_bucket + ahead);
        }
        entries.for_each(WHOLE, inlined!(|i, place| z[i] = x[place]));
        z.copy_within(HALF..WHOLE, WHOLE);
        let bytes = z.as_flattened();
        for at in (0..16 * HALF).step_by(C::BYTES) {
            let mut y = c.load_at(bytes, at);
            for shift in SHIFTS {
                y = c.xor(y, c.load_at(bytes, at + 16 * (HALF + shift)));
            }
            c.store(y, &mut out.as_flattened_mut()[at..]);
        }
        put(&out, done);
    }
    erase(&mut z, [0; 16]);
    erase(&mut out, [0; 16]);
}
