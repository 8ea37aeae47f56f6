//! On pieces of 1 KiB.

use core::ops::Range;

use super::{MAX_K, Sums, Tree};
use crate::{
    Block,
    aes::{Aes128, portable::ctr},
    erase,
};

/// Blocks of a piece: enough for the widest implementation of AES, few enough for a small stack.
const PIECE: usize = 64;

type Piece = [Block; PIECE];
const ZERO: Piece = [[0; 16]; PIECE];

/// The strings of a piece that wait for their sibling, by level (the last is the sum of all), and
/// the one that is being added.
struct Partial {
    waiting: [Piece; MAX_K + 1],
    string: Piece,
}

pub(super) fn expand(tree: &Tree<'_>, len: usize, mut sums: Sums<'_>) {
    let mut partial = Partial { waiting: [ZERO; MAX_K + 1], string: ZERO };
    for at in (0..len).step_by(16 * PIECE) {
        add_up(tree, at..len.min(at + 16 * PIECE), &mut partial, &mut sums);
    }
    erase(&mut partial.waiting[..=tree.k], ZERO);
    erase(&mut partial.string, [0; 16]);
}

/// One piece of the results.
fn add_up(tree: &Tree<'_>, piece: Range<usize>, partial: &mut Partial, sums: &mut Sums<'_>) {
    let first = tree.first_block + (piece.start / 16) as u128;
    let string = &mut partial.string[..piece.len() / 16];
    for level in 0..tree.k {
        sums.row(level, &piece).fill(0);
    }
    for x in 0..1_usize << tree.k {
        keystream(tree.leaf(x), first, string);
        // A leaf with ones at the end of its number completes that many subtrees.
        let level = x.trailing_ones() as usize;
        for level in 0..level {
            add(sums.row(level, &piece).as_chunks_mut().0, string);
            add(string, &partial.waiting[level]);
        }
        partial.waiting[level][..string.len()].copy_from_slice(string);
    }
    if let Some(sum) = sums.sum(&piece) {
        sum.copy_from_slice(string.as_flattened());
    }
}

/// Nothing, for the missing leaf.
fn keystream(leaf: Option<&Aes128>, first: u128, out: &mut [Block]) {
    match leaf {
        Some(leaf) => ctr(leaf, first, out),
        None => out.fill([0; 16]),
    }
}

fn add(out: &mut [Block], a: &[Block]) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = (u128::from_ne_bytes(*out) ^ u128::from_ne_bytes(*a)).to_ne_bytes();
    }
}
