//! Turning of strings one after another into the rows of a matrix, one for every bit of theirs, and
//! back.

use foxtrot_kernel::{Backend, Block, bits::transpose};
use zeroize::Zeroizing;

/// Strings that are turned together, and the bits of each.
pub(in crate::extension) const SIDE: usize = 128;

/// Writes bit i of string k to bit k of row i, for i < `bits`; up to the next multiple of 128, strings
/// that are not there are zero.
pub(in crate::extension) fn to_columns(
    backend: Backend,
    strings: &[u8],
    len: usize,
    bits: usize,
    (rows, stride): (&mut [u8], usize),
) {
    let mut square = Zeroizing::new([[0; 16]; SIDE]);
    let mut turned = Zeroizing::new([[0; 16]; SIDE]);
    for (group, strings) in strings.chunks(SIDE * len).enumerate() {
        for (part, first) in (0..bits).step_by(SIDE).enumerate() {
            let bytes = 16 * part..len.min(16 * (part + 1));
            let mut strings = strings.chunks_exact(len);
            for block in square.iter_mut() {
                *block = [0; 16];
                if let Some(string) = strings.next() {
                    block[..bytes.len()].copy_from_slice(&string[bytes.clone()]);
                }
            }
            transpose(backend, square.as_flattened(), 16, 0, turned.as_mut_slice());
            let rows = rows.chunks_mut(stride).skip(first).take(SIDE.min(bits - first));
            for (row, block) in rows.zip(turned.iter()) {
                row[16 * group..][..16].copy_from_slice(block);
            }
        }
    }
}

/// Writes bit `first` + k of row i to bit i of string k; the rows come by 128, and of the last only
/// those that strings of `len` bytes have bits for are needed.
pub(in crate::extension) fn to_strings(
    backend: Backend,
    (rows, stride): (&[u8], usize),
    first: usize,
    len: usize,
    blocks: &mut [Block],
    strings: &mut [u8],
) {
    let n = strings.len() / len;
    let blocks = &mut blocks[..n.next_multiple_of(SIDE)];
    for (part, at) in (0..len).step_by(16).enumerate() {
        let rows = &rows[part * SIDE * stride..][..SIDE * stride];
        transpose(backend, rows, stride, first, blocks);
        let width = 16.min(len - at);
        if width == 16 {
            for (string, block) in strings.chunks_exact_mut(len).zip(&*blocks) {
                string[at..at + 16].copy_from_slice(block);
            }
        } else {
            for (string, block) in strings.chunks_exact_mut(len).zip(&*blocks) {
                string[at..].copy_from_slice(&block[..width]);
            }
        }
    }
}
