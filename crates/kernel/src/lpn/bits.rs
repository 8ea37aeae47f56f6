//! The code over GF(2), of strings with a byte per bit.

use super::{CIRCULANT, HALF, WHOLE, check_code};
use crate::Backend;

/// Replaces byte i by the sum of the bytes l ≤ i over GF(2).
pub fn accumulate_bits(backend: Backend, x: &mut [u8]) {
    backend.run(inlined!(|| {
        let mut sum = 0;
        for x in x.iter_mut() {
            sum ^= *x;
            *x = sum;
        }
    }));
}

/// Copies byte i of `x` to byte `table[i]` of `to`.
///
/// # Panics
/// If there are not as many bytes as entries, or an entry is not the place of a byte.
pub fn permute_bits(table: &[u32], x: &[u8], to: &mut [u8]) {
    assert!(x.len() == table.len() && to.len() == x.len(), "a byte for every entry");
    for (x, &place) in x.iter().zip(table) {
        to[place as usize] = *x;
    }
}

/// Encodes as [`encode`](super::encode) does, bits that are the lowest ones of bytes. Bit j of the output is bit j mod 8 of byte ⌊j/8⌋.
///
/// # Panics
/// If there are not as many bytes as entries, not a multiple of 64, or more bits of output than half of them, or an
/// entry is not the place of a byte.
pub fn encode_bits(backend: Backend, table: &[u32], x: &[u8], out: &mut [u8]) {
    check_code(table.len(), x.len(), 8 * out.len());
    backend.run(inlined!(|| {
        for (places, out) in table.as_chunks::<WHOLE>().0.iter().zip(out.chunks_mut(HALF / 8)) {
            let [mut y, mut second] = [0u32; 2];
            let (of_y, of_second) = places.split_at(HALF);
            for (i, (&place, &other)) in of_y.iter().zip(of_second).enumerate() {
                y |= u32::from(x[place as usize] & 1) << i;
                second |= u32::from(x[other as usize] & 1) << i;
            }
            for k in 0..32 {
                if CIRCULANT >> k & 1 == 1 {
                    y ^= second.rotate_right(k);
                }
            }
            out.copy_from_slice(&y.to_le_bytes()[..out.len()]);
        }
    }));
}
