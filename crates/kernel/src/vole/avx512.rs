//! On pieces of 256 bytes: a leaf's part of one is four vectors, which stay in registers until they
//! are added. More vectors hide the latency of AES no better, since leaves overlap, and leave no
//! registers for sums. The last round of AES adds a string to its sibling: sums lack the last round
//! keys until they are stored.

use core::arch::x86_64::*;

use super::{MAX_K, Sums, Tree};
use crate::{
    aes::{
        Aes128,
        avx512::{count, counter, encrypt_onto, last_key},
    },
    erase,
    x86::store512,
};

/// Vectors of a piece.
const WIDE: usize = 4;

/// Of a piece: the strings that wait for their sibling, by level, and the sums of the rows so far.
struct Partial {
    waiting: [[__m512i; WIDE]; MAX_K],
    rows: [[__m512i; WIDE]; MAX_K],
}

/// The last round keys, which the sums lack: those of the rows, and that of all.
struct Keys {
    rows: [__m512i; MAX_K],
    sum: __m512i,
}

#[target_feature(enable = "avx512f,vaes")]
pub(super) fn expand(tree: &Tree<'_>, len: usize, mut sums: Sums<'_>) {
    let zero = [_mm512_setzero_si512(); WIDE];
    let mut keys = last_keys(tree);
    let mut partial = Partial { waiting: [zero; MAX_K], rows: [zero; MAX_K] };
    let mut counter = counter(tree.first_block);
    let mut at = 0;
    while at < len {
        match (len - at) / 64 {
            WIDE.. => add_up::<WIDE>(tree, &keys, &mut counter, &mut partial, &mut sums, &mut at),
            _ => add_up::<1>(tree, &keys, &mut counter, &mut partial, &mut sums, &mut at),
        }
    }
    erase(&mut partial.waiting[..tree.k], zero);
    erase(&mut partial.rows[..tree.k], zero);
    erase(&mut keys.rows[..tree.k], _mm512_setzero_si512());
    erase(core::slice::from_mut(&mut keys.sum), _mm512_setzero_si512());
}

#[target_feature(enable = "avx512f")]
fn last_keys(tree: &Tree<'_>) -> Keys {
    let zero = _mm512_setzero_si512();
    let mut keys = Keys { rows: [zero; MAX_K], sum: zero };
    for (x, leaf) in (tree.missing..).zip(tree.leaves) {
        let key = last_key(leaf);
        keys.sum = _mm512_xor_si512(keys.sum, key);
        for (j, row) in keys.rows[..tree.k].iter_mut().enumerate() {
            if x >> j & 1 == 1 {
                *row = _mm512_xor_si512(*row, key);
            }
        }
    }
    keys
}

/// One piece of N vectors: that of the results at `at`, which `counter` belongs to.
#[target_feature(enable = "avx512f,vaes")]
fn add_up<const N: usize>(
    tree: &Tree<'_>,
    keys: &Keys,
    counter: &mut __m512i,
    partial: &mut Partial,
    sums: &mut Sums<'_>,
    at: &mut usize,
) {
    let counters = count::<N>(counter, 4);
    let zero = [_mm512_setzero_si512(); N];
    let last = (1 << (tree.k - 1)) - 1;
    let mut odds = zero;
    for pair in 0..last {
        let odd = keystream(tree.leaf(2 * pair + 1), counters, zero);
        odds = xor(odds, &odd);
        let mut sum = keystream(tree.leaf(2 * pair), counters, odd);
        // A pair with ones at the end of its number completes that many larger subtrees.
        let mut level = 1;
        while pair >> (level - 1) & 1 == 1 {
            put(&mut partial.rows[level], sum, pair >> level == 0);
            sum = xor(sum, &partial.waiting[level]);
            level += 1;
        }
        put(&mut partial.waiting[level], sum, true);
    }

    let piece = *at..*at + 64 * N;
    let odd = keystream(tree.leaf(2 * last + 1), counters, zero);
    let mut sum = keystream(tree.leaf(2 * last), counters, odd);
    store(sums.row(0, &piece), xor(odds, &odd), keys.rows[0]);
    for level in 1..tree.k {
        let right = sum;
        sum = xor(sum, &partial.waiting[level]);
        let row = if level + 1 < tree.k { xor(right, &partial.rows[level]) } else { right };
        store(sums.row(level, &piece), row, keys.rows[level]);
    }
    if let Some(bytes) = sums.sum(&piece) {
        store(bytes, sum, keys.sum);
    }
    *at = piece.end;
}

/// A leaf's string, but for the last round key, added to sums; nothing, for the missing leaf.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn keystream<const N: usize>(
    leaf: Option<&Aes128>,
    counters: [__m512i; N],
    sums: [__m512i; N],
) -> [__m512i; N] {
    match leaf {
        Some(leaf) => encrypt_onto(leaf, counters, sums),
        None => sums,
    }
}

/// Adds to a sum, or begins it.
#[inline]
#[target_feature(enable = "avx512f")]
fn put<const N: usize>(sum: &mut [__m512i; WIDE], x: [__m512i; N], first: bool) {
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum = if first { x } else { _mm512_xor_si512(*sum, x) };
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor<const N: usize>(mut a: [__m512i; N], b: &[__m512i]) -> [__m512i; N] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = _mm512_xor_si512(*a, *b);
    }
    a
}

/// With the key that the sums lack.
#[inline]
#[target_feature(enable = "avx512f")]
fn store<const N: usize>(bytes: &mut [u8], vectors: [__m512i; N], key: __m512i) {
    for (bytes, vector) in bytes.as_chunks_mut().0.iter_mut().zip(vectors) {
        store512(bytes, _mm512_xor_si512(vector, key));
    }
}
