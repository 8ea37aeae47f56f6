//! Delta swaps on rows of 128 bits.

use crate::{Block, erase};

pub(super) fn transpose(rows: &[u8], stride: usize, first: usize, out: &mut [Block]) {
    let mut square = [[0; 2]; 128];
    let (squares, _) = out.as_chunks_mut::<128>();
    for (out, at) in squares.iter_mut().zip((first..).step_by(16)) {
        for (words, row) in square.iter_mut().zip(rows.chunks_exact(stride)) {
            for (word, bytes) in words.iter_mut().zip(row[at..at + 16].as_chunks().0) {
                *word = u64::from_le_bytes(*bytes);
            }
        }
        transpose_square(&mut square);
        for (block, words) in out.iter_mut().zip(&square) {
            for (bytes, word) in block.as_chunks_mut().0.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
        }
    }
    erase(&mut square, [0; 2]);
}

/// Swaps the off-diagonal quarters of all squares of side 2·`width`, from the largest down.
fn transpose_square(square: &mut [[u64; 2]; 128]) {
    let (upper, lower) = square.split_at_mut(64);
    for (a, b) in upper.iter_mut().zip(lower) {
        core::mem::swap(&mut a[1], &mut b[0]);
    }
    swap_quarters::<32>(square, 0x0000_0000_ffff_ffff);
    swap_quarters::<16>(square, 0x0000_ffff_0000_ffff);
    swap_quarters::<8>(square, 0x00ff_00ff_00ff_00ff);
    swap_quarters::<4>(square, 0x0f0f_0f0f_0f0f_0f0f);
    swap_quarters::<2>(square, 0x3333_3333_3333_3333);
    swap_quarters::<1>(square, 0x5555_5555_5555_5555);
}

#[inline(always)]
fn swap_quarters<const WIDTH: usize>(square: &mut [[u64; 2]; 128], low: u64) {
    for pair in square.chunks_exact_mut(2 * WIDTH) {
        let (upper, lower) = pair.split_at_mut(WIDTH);
        for (a, b) in upper.iter_mut().zip(lower) {
            for (a, b) in a.iter_mut().zip(b) {
                // A delta swap: where high bits of a and low bits of b differ, both change.
                let difference = (*a >> WIDTH ^ *b) & low;
                *b ^= difference;
                *a ^= difference << WIDTH;
            }
        }
    }
}
