//! On pieces of 512 bytes, of which the eight blocks that AES-NI works on at a time stay in
//! registers until they are added.

use core::{arch::x86_64::*, ops::Range};

use super::{MAX_K, Sums, Tree};
use crate::{
    Block,
    aes::{
        Aes128,
        avx2::{WIDE, count, counter, encrypt},
    },
    erase,
    x86::store128,
};

/// Groups of a piece: a leaf's round keys stay in the nearest cache for as many.
const GROUPS: usize = 4;

const GROUP_BYTES: usize = 16 * WIDE;

type Group = [__m128i; WIDE];

/// Of a piece: the strings that wait for their sibling, by level, and the sums of the rows so far.
struct Partial {
    waiting: [[Group; GROUPS]; MAX_K],
    rows: [[Group; GROUPS]; MAX_K],
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn expand(tree: &Tree<'_>, len: usize, mut sums: Sums<'_>) {
    let zero = [[_mm_setzero_si128(); WIDE]; GROUPS];
    let mut partial = Partial { waiting: [zero; MAX_K], rows: [zero; MAX_K] };
    for at in (0..len).step_by(GROUPS * GROUP_BYTES) {
        add_up(tree, at..len.min(at + GROUPS * GROUP_BYTES), &mut partial, &mut sums);
    }
    erase(&mut partial.waiting[..tree.k], zero);
    erase(&mut partial.rows[..tree.k], zero);
}

/// One piece of the results.
#[target_feature(enable = "avx2,aes")]
fn add_up(tree: &Tree<'_>, piece: Range<usize>, partial: &mut Partial, sums: &mut Sums<'_>) {
    let first = counter(tree.first_block + (piece.start / 16) as u128);
    let groups = piece.clone().step_by(GROUP_BYTES);
    let last = (1 << (tree.k - 1)) - 1;
    for pair in 0..last {
        let [even, odd] = [tree.leaf(2 * pair), tree.leaf(2 * pair + 1)];
        let mut counter = first;
        for group in 0..groups.len() {
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

    let mut counter = first;
    for (group, at) in groups.enumerate() {
        let bytes = at..piece.end.min(at + GROUP_BYTES);
        let counters = count(&mut counter);
        let even = keystream(tree.leaf(2 * last), counters);
        let mut right = keystream(tree.leaf(2 * last + 1), counters);
        let mut sum = xor(even, right);
        for level in 0..tree.k {
            if level > 0 {
                right = sum;
                sum = xor(sum, partial.waiting[level][group]);
            }
            if level + 1 < tree.k {
                right = xor(right, partial.rows[level][group]);
            }
            store(sums.row(level, &bytes), right);
        }
        if let Some(bytes) = sums.sum(&bytes) {
            store(bytes, sum);
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

/// All of a group, or the half of it at the end.
#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8], group: Group) {
    let blocks = bytes.as_chunks_mut().0;
    if let Ok(blocks) = <&mut [Block; WIDE]>::try_from(&mut *blocks) {
        for (block, vector) in blocks.iter_mut().zip(group) {
            store128(block, vector);
        }
    } else {
        for (block, vector) in blocks.iter_mut().zip(group) {
            store128(block, vector);
        }
    }
}
