//! On pieces of 1 KiB, leaf after leaf: the rounds of one stream hide each other's latency, and its
//! state and what it gives need all registers. Strings wait for their siblings, and complete
//! subtrees for theirs.

use core::{arch::x86_64::*, ops::Range};

use super::{GROUP, GROUP_BITS, Sums, Tree};
use crate::{
    Block,
    aegis::{
        STEP,
        vectors::{State, begin, next},
    },
    blocks::Blocks,
    erase,
    simd::avx2::Avx2,
};

/// Steps of a piece.
const STEPS: usize = 32;

type Piece = [[__m128i; 2]; STEPS];

/// The state of a group: its streams; by level, the sums of subtrees that wait for their sibling, the last
/// entry being the sum of all leaves; and the rows.
struct Partial {
    states: [State<__m128i>; GROUP],
    waiting: [Piece; GROUP_BITS + 1],
    rows: [Piece; GROUP_BITS],
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn add_group(
    simd: Avx2,
    tree: &Tree<'_>,
    group: usize,
    len: usize,
    sums: &mut Sums<'_>,
) {
    let zero = simd.zero();
    let none = [[zero; 2]; STEPS];
    let mut partial = Partial {
        states: [[zero; 8]; GROUP],
        waiting: [none; GROUP_BITS + 1],
        rows: [none; GROUP_BITS],
    };
    let leaves = 1 << tree.group_bits();
    for (x, state) in partial.states[..leaves].iter_mut().enumerate() {
        if let Some(leaf) = tree.leaf(group * GROUP + x) {
            *state = begin(simd, core::slice::from_ref(leaf), tree.nonce);
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
                0 => add_leaf::<0>(simd, &mut partial, x, steps),
                1 => add_leaf::<1>(simd, &mut partial, x, steps),
                2 => add_leaf::<2>(simd, &mut partial, x, steps),
                3 => add_leaf::<3>(simd, &mut partial, x, steps),
                _ => add_leaf::<GROUP_BITS>(simd, &mut partial, x, steps),
            }
        }
        add_piece(simd, tree, group, &partial, &piece, sums);
    }
    erase(&mut partial.states[..leaves], [zero; 8]);
    erase(&mut partial.waiting, none);
    erase(&mut partial.rows, none);
}

/// One leaf, that completes so many subtrees.
#[target_feature(enable = "avx2,aes")]
fn add_leaf<const COMPLETE: usize>(simd: Avx2, partial: &mut Partial, x: usize, steps: usize) {
    let Partial { states, waiting, rows } = partial;
    let mut state = states[x];
    for i in 0..steps {
        let mut sum = next(simd, &mut state);
        for level in 0..COMPLETE {
            // The first right subtree of its size has no left siblings but one.
            let row = rows[level][i];
            rows[level][i] = if x >> (level + 1) == 0 { sum } else { simd.xor_all(row, sum) };
            sum = simd.xor_all(sum, waiting[level][i]);
        }
        waiting[COMPLETE][i] = sum;
    }
    states[x] = state;
}

/// Adds a group's piece to the results: its rows to the low rows, the sum of its leaves to the rows of the
/// bits of its number, and to the sum.
#[inline]
#[target_feature(enable = "avx2")]
fn add_piece(
    simd: Avx2,
    tree: &Tree<'_>,
    group: usize,
    partial: &Partial,
    piece: &Range<usize>,
    sums: &mut Sums<'_>,
) {
    let all = &partial.waiting[tree.group_bits()];
    for (j, row) in partial.rows[..tree.group_bits()].iter().enumerate() {
        put(simd, sums.row(j, piece), row, group == 0);
    }
    for j in 0..tree.k.saturating_sub(GROUP_BITS) {
        if group >> j & 1 == 1 {
            put(simd, sums.row(GROUP_BITS + j, piece), all, group == 1 << j);
        }
    }
    if let Some(bytes) = sums.sum(piece) {
        put(simd, bytes, all, group == 0);
    }
}

/// Begins a row, or adds to it.
#[inline]
#[target_feature(enable = "avx2")]
fn put(simd: Avx2, bytes: &mut [u8], vectors: &Piece, first: bool) {
    let blocks: &mut [Block] = bytes.as_chunks_mut().0;
    for (block, vector) in blocks.iter_mut().zip(vectors.as_flattened()) {
        let sum = if first { *vector } else { simd.xor(simd.load(block), *vector) };
        simd.store(sum, block);
    }
}
