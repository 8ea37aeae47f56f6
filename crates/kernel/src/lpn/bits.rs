//! The code over GF(2), of strings with a byte per bit.

use super::{
    Buckets, CHUNK, CIRCULANT, HALF, LINE, Next, Permutation, accumulate::Target, check_code,
    check_layer, prefetch,
};
use crate::{Backend, Block, blocks::Blocks, erase};

/// [`accumulate`](super::accumulate) of blocks, and beside it of bits in bytes, 0 or 1. All factors are 1.
///
/// # Panics
/// As the other does, or if there are not as many bytes as blocks.
pub fn accumulate_with_bits(
    backend: Backend,
    buckets: &Buckets,
    (x, bits): (&[Block], &[u8]),
    next: Next<'_>,
    (to, to_bits): (&mut [Block], &mut [u8]),
) {
    check_layer(buckets, next, [x.len(), to.len()]);
    check_layer(buckets, next, [bits.len(), to_bits.len()]);
    dispatch!(wide backend, simd => {
        let s = simd.single();
        let (mut source, mut target) = (buckets.places(), Target::new(next));
        let (mut cells, mut of_cells) = ([[0; 16]; CHUNK], [0; CHUNK]);
        let (mut sum, mut bit) = (s.zero(), 0);
        for first in (0..x.len()).step_by(CHUNK) {
            let count = CHUNK.min(x.len() - first);
            source.for_each(
                count,
                inlined!(|i, place| {
                    prefetch::<false, _>(x, place + LINE);
                    prefetch::<false, _>(bits, place + 16 * LINE);
                    cells[i] = x[place];
                    of_cells[i] = bits[place];
                }),
            );
            target.for_each(
                first,
                count,
                inlined!(|i, place, ahead| {
                    prefetch::<false, _>(to, ahead);
                    prefetch::<false, _>(to_bits, place + 16 * LINE);
                    sum = s.xor(sum, s.splat(&cells[i]));
                    s.store(sum, &mut to[place]);
                    bit ^= of_cells[i];
                    to_bits[place] = bit;
                }),
                LINE,
            );
        }
        erase(&mut cells, [0; 16]);
        erase(&mut of_cells, 0);
    });
}

/// Encodes as [`encode`](super::encode) does, bits that are the lowest ones of bytes. Bit j of the output is bit j mod 8 of byte ⌊j/8⌋.
///
/// # Panics
/// If there are not as many bytes as entries, not a multiple of 64, or more bits of output than half of them, or an
/// entry is not the place of a byte.
pub fn encode_bits(backend: Backend, permutation: Permutation<'_>, x: &[u8], out: &mut [u8]) {
    check_code(permutation.n(), x.len(), 0..8 * out.len());
    backend.run(inlined!(|| {
        let mut entries = permutation.entries(0);
        for out in out.chunks_mut(HALF / 8) {
            let [mut y, mut second] = [0u32; 2];
            for z in [&mut y, &mut second] {
                entries.for_each(HALF, inlined!(|i, place| *z |= u32::from(x[place] & 1) << i));
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
