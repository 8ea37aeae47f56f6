//! The code on blocks: its matrix is circulant, so elements of a half that follow each other take elements that follow each
//! other.

use super::{BUCKETS, CIRCULANT, Element, HALF, LINE, WHOLE, prefetch};
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

/// Calls `put` with the cells of a half, R = 32·L blocks, and the number of the first one.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn encode<C: Blocks, const L: usize, const R: usize>(
    c: C,
    table: &[u32],
    x: &[Block],
    n: usize,
    mut put: impl FnMut(&[Block; R], usize),
) {
    const { assert!(R == HALF * L, "the cells of a half") };
    // The second half twice, so that no shift goes around.
    let mut z = [[[0; 16]; L]; WHOLE + HALF];
    let mut out = [[0; 16]; R];
    let cells = x.as_chunks::<L>().0;
    for (g, places) in table.as_chunks::<WHOLE>().0.iter().take(n.div_ceil(HALF)).enumerate() {
        let next_bucket = g * WHOLE + table.len() / BUCKETS;
        for (i, &place) in places.iter().enumerate() {
            if (i * L).is_multiple_of(LINE) {
                prefetch::<true, _>(cells, next_bucket + i);
            }
            z[i] = cells[place as usize];
        }
        z.copy_within(HALF..WHOLE, WHOLE);
        let bytes = z.as_flattened().as_flattened();
        for at in (0..16 * R).step_by(C::BYTES) {
            let mut y = c.load_at(bytes, at);
            for shift in SHIFTS {
                y = c.xor(y, c.load_at(bytes, at + 16 * (R + L * shift)));
            }
            c.store(y, &mut out.as_flattened_mut()[at..]);
        }
        put(&out, g * HALF);
    }
    erase(&mut z, [[0; 16]; L]);
    erase(&mut out, [0; 16]);
}

/// Puts cells of one block.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn put<T: Element>(half: &[Block; HALF], out: &mut [T]) {
    for (out, y) in out.iter_mut().zip(half) {
        *out = T::from_block(y);
    }
}

/// Puts cells of two blocks.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn put_pairs<U: Element, V: Element>(
    half: &[Block; 2 * HALF],
    u: &mut [U],
    v: &mut [V],
) {
    for ((u, v), [of_u, of_v]) in u.iter_mut().zip(v).zip(half.as_chunks().0) {
        *u = U::from_block(of_u);
        *v = V::from_block(of_v);
    }
}
