//! On pieces of 1 KiB, leaf after leaf: the rounds of one stream hide each other's latency, and its
//! state and what it gives need all registers. Strings wait for their siblings, and complete
//! subtrees for theirs.

use core::{arch::x86_64::*, ops::Range};

use super::{GROUP, GROUP_BITS, Sums, Tree};
use crate::{
    Block,
    aegis::{
        STEP,
        avx2::{State, begin, next},
    },
    erase,
    x86::{load128, store128},
};

/// Steps of a piece.
const STEPS: usize = 32;

type Piece = [[__m128i; 2]; STEPS];

/// Of a group: its streams, the sums of subtrees that wait for their sibling, by level, the last
/// that of all; and the rows.
struct Partial {
    states: [State; GROUP],
    waiting: [Piece; GROUP_BITS + 1],
    rows: [Piece; GROUP_BITS],
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn add_group(tree: &Tree<'_>, group: usize, len: usize, sums: &mut Sums<'_>) {
    let zero = _mm_setzero_si128();
    let none = [[zero; 2]; STEPS];
    let mut partial = Partial {
        states: [[zero; 8]; GROUP],
        waiting: [none; GROUP_BITS + 1],
        rows: [none; GROUP_BITS],
    };
    let leaves = 1 << tree.group_bits();
    for (x, state) in partial.states[..leaves].iter_mut().enumerate() {
        if let Some(leaf) = tree.leaf(group * GROUP + x) {
            *state = begin(leaf, tree.nonce);
        }
    }
    for at in (0..len).step_by(STEPS * STEP) {
        let piece = at..len.min(at + STEPS * STEP);
        let steps = piece.len() / STEP;
        for x in 0..leaves {
            if tree.leaf(group * GROUP + x).is_none() {
                partial.waiting[0] = none;
                continue;
            }
            // A leaf with ones at the end of its number completes that many subtrees.
            match x.trailing_ones() {
                0 => add_leaf::<0>(&mut partial, x, steps),
                1 => add_leaf::<1>(&mut partial, x, steps),
                2 => add_leaf::<2>(&mut partial, x, steps),
                3 => add_leaf::<3>(&mut partial, x, steps),
                _ => add_leaf::<GROUP_BITS>(&mut partial, x, steps),
            }
        }
        add_piece(tree, group, &partial, &piece, sums);
    }
    erase(&mut partial.states[..leaves], [zero; 8]);
    erase(&mut partial.waiting, none);
    erase(&mut partial.rows, none);
}

/// One leaf, that completes so many subtrees.
#[target_feature(enable = "avx2,aes")]
fn add_leaf<const COMPLETE: usize>(partial: &mut Partial, x: usize, steps: usize) {
    let Partial { states, waiting, rows } = partial;
    let mut state = states[x];
    for i in 0..steps {
        let mut sum = next(&mut state);
        for level in 0..COMPLETE {
            // The first right subtree of its size has no left siblings but one.
            let row = rows[level][i];
            rows[level][i] = if x >> (level + 1) == 0 { sum } else { xor(row, sum) };
            sum = xor(sum, waiting[level][i]);
        }
        waiting[COMPLETE][i] = sum;
    }
    states[x] = state;
}

/// What a group gives to the rows: its own, and the sum of all its leaves, by its number.
#[inline]
#[target_feature(enable = "avx2")]
fn add_piece(
    tree: &Tree<'_>,
    group: usize,
    partial: &Partial,
    piece: &Range<usize>,
    sums: &mut Sums<'_>,
) {
    let all = &partial.waiting[tree.group_bits()];
    for (j, row) in partial.rows[..tree.group_bits()].iter().enumerate() {
        put(sums.row(j, piece), row, group == 0);
    }
    for j in 0..tree.k.saturating_sub(GROUP_BITS) {
        if group >> j & 1 == 1 {
            put(sums.row(GROUP_BITS + j, piece), all, group == 1 << j);
        }
    }
    if let Some(bytes) = sums.sum(piece) {
        put(bytes, all, group == 0);
    }
}

/// Begins a row, or adds to it.
#[inline]
#[target_feature(enable = "avx2")]
fn put(bytes: &mut [u8], vectors: &Piece, first: bool) {
    let blocks: &mut [Block] = bytes.as_chunks_mut().0;
    for (block, vector) in blocks.iter_mut().zip(vectors.as_flattened()) {
        let sum = if first { *vector } else { _mm_xor_si128(load128(block), *vector) };
        store128(block, sum);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor([a, b]: [__m128i; 2], [c, d]: [__m128i; 2]) -> [__m128i; 2] {
    [_mm_xor_si128(a, c), _mm_xor_si128(b, d)]
}
