//! On pieces of 512 bytes, of which the eight blocks that AES-NI works on at a time stay in
//! registers until they are added.

use core::arch::x86_64::*;

use zeroize::Zeroize;

use super::{MAX_K, Tree};
use crate::{
    aes::{
        Aes128,
        avx2::{WIDE, count, counter, encrypt},
    },
    x86::store128,
};

/// Groups of a piece: a leaf's round keys stay in the nearest cache for as many.
const GROUPS: usize = 4;

type Group = [__m128i; WIDE];

/// Partial sums: of strings that wait for their sibling, by level (the last is the sum of all), and
/// of the rows.
struct Partial {
    waiting: [[Group; GROUPS]; MAX_K + 1],
    rows: [[Group; GROUPS]; MAX_K],
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn expand(
    tree: &Tree<'_>,
    len: usize,
    mut sum: Option<&mut [u8]>,
    rows: &mut [u8],
    stride: usize,
) {
    let zero = [[_mm_setzero_si128(); WIDE]; GROUPS];
    let mut partial = Partial { waiting: [zero; MAX_K + 1], rows: [zero; MAX_K] };
    const PIECE: usize = 16 * WIDE * GROUPS;
    for at in (0..len).step_by(PIECE) {
        let piece = at..len.min(at + PIECE);
        let groups = piece.len().div_ceil(16 * WIDE);
        add_up(tree, tree.first_block + (at / 16) as u128, groups, &mut partial);
        if let Some(sum) = &mut sum {
            store(&mut sum[piece.clone()], &partial.waiting[tree.k]);
        }
        for (j, row) in partial.rows[..tree.k].iter().enumerate() {
            store(&mut rows[j * stride..][piece.clone()], row);
        }
    }
    partial.waiting[..=tree.k].iter_mut().zeroize();
    partial.rows[..tree.k].iter_mut().zeroize();
}

/// Fills the first groups of the sums with the piece that begins at block `first`.
#[target_feature(enable = "avx2,aes")]
fn add_up(tree: &Tree<'_>, first: u128, groups: usize, partial: &mut Partial) {
    for pair in 0..1 << (tree.k - 1) {
        let [even, odd] = [tree.leaf(2 * pair), tree.leaf(2 * pair + 1)];
        let mut counter = counter(first);
        for group in 0..groups {
            let counters = count(&mut counter);
            let even = keystream(even, counters);
            let odd = keystream(odd, counters);
            put(&mut partial.rows[0][group], odd, pair == 0);
            let mut sum = xor(even, odd);
            // A pair with ones at the end of its number completes that many larger subtrees.
            let mut level = 1;
            while pair >> (level - 1) & 1 == 1 {
                put(&mut partial.rows[level][group], sum, pair >> level == 0);
                sum = xor(sum, partial.waiting[level][group]);
                level += 1;
            }
            partial.waiting[level][group] = sum;
        }
    }
}

/// Nothing, for the missing leaf.
#[inline]
#[target_feature(enable = "avx2,aes")]
fn keystream(leaf: Option<&Aes128>, counters: Group) -> Group {
    match leaf {
        Some(leaf) => encrypt(leaf, counters),
        None => [_mm_setzero_si128(); WIDE],
    }
}

/// Adds to a sum, or begins it.
#[inline]
#[target_feature(enable = "avx2")]
fn put(sum: &mut Group, x: Group, first: bool) {
    *sum = if first { x } else { xor(*sum, x) };
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor(mut a: Group, b: Group) -> Group {
    for (a, b) in a.iter_mut().zip(b) {
        *a = _mm_xor_si128(*a, b);
    }
    a
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8], groups: &[Group; GROUPS]) {
    for (block, vector) in bytes.as_chunks_mut().0.iter_mut().zip(groups.as_flattened()) {
        store128(block, *vector);
    }
}
