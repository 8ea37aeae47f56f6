//! The code over GF(2), of strings with a byte per bit.

use super::{
    Buckets, CHUNK, CIRCULANT, HALF, Next, WHOLE, accumulate::Target, check_code, check_layer,
};
use crate::Backend;

/// [`accumulate`](super::accumulate) over GF(2), of cells of a byte, 0 or 1. All factors are 1.
///
/// # Panics
/// As the other does.
pub fn accumulate_bits(
    backend: Backend,
    buckets: &Buckets,
    x: &[u8],
    next: Next<'_>,
    to: &mut [u8],
) {
    check_layer(buckets, next, [(x.len(), 0), (to.len(), 0)]);
    backend.run(inlined!(|| {
        let (mut source, mut target) = (buckets.places(), Target::new(next));
        let mut cells = [0; CHUNK];
        let mut sum = 0;
        for first in (0..x.len()).step_by(CHUNK) {
            let count = CHUNK.min(x.len() - first);
            source.for_each(count, inlined!(|i, place| cells[i] = x[place]));
            target.for_each(
                first,
                count,
                inlined!(|i, place, _| {
                    sum ^= cells[i];
                    to[place] = sum;
                }),
                0,
            );
        }
    }));
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
