//! On pieces of 512 bytes: a leaf's part of one is eight vectors, which stay in registers until
//! they are added.

use core::arch::x86_64::*;

use zeroize::Zeroize;

use super::{MAX_K, Tree};
use crate::{
    aes::{
        Aes128,
        avx512::{count, counter, encrypt, keys},
    },
    x86::store512,
};

/// Vectors of a piece.
const WIDE: usize = 8;

/// Partial sums: of strings that wait for their sibling, by level (the last is the sum of all), and
/// of the rows.
struct Partial {
    waiting: [[__m512i; WIDE]; MAX_K + 1],
    rows: [[__m512i; WIDE]; MAX_K],
}

#[target_feature(enable = "avx512f,vaes")]
pub(super) fn expand(
    tree: &Tree<'_>,
    len: usize,
    mut sum: Option<&mut [u8]>,
    rows: &mut [u8],
    stride: usize,
) {
    let zero = [_mm512_setzero_si512(); WIDE];
    let mut partial = Partial { waiting: [zero; MAX_K + 1], rows: [zero; MAX_K] };
    let mut counter = counter(tree.first_block);
    let mut at = 0;
    while at < len {
        let n = match (len - at) / 64 {
            WIDE.. => add_up::<WIDE>(tree, &mut counter, &mut partial),
            4.. => add_up::<4>(tree, &mut counter, &mut partial),
            _ => add_up::<1>(tree, &mut counter, &mut partial),
        };
        let piece = at..at + 64 * n;
        if let Some(sum) = &mut sum {
            store(&mut sum[piece.clone()], &partial.waiting[tree.k]);
        }
        for (j, row) in partial.rows[..tree.k].iter().enumerate() {
            store(&mut rows[j * stride..][piece.clone()], row);
        }
        at = piece.end;
    }
    partial.waiting[..=tree.k].iter_mut().zeroize();
    partial.rows[..tree.k].iter_mut().zeroize();
}

/// Fills the first N vectors of the sums with the piece at `counter`; gives N.
#[target_feature(enable = "avx512f,vaes")]
fn add_up<const N: usize>(tree: &Tree<'_>, counter: &mut __m512i, partial: &mut Partial) -> usize {
    let counters = count::<N>(counter, 4);
    for pair in 0..1 << (tree.k - 1) {
        let even = keystream(tree.leaf(2 * pair), counters);
        let odd = keystream(tree.leaf(2 * pair + 1), counters);
        put(&mut partial.rows[0], odd, pair == 0);
        let mut sum = xor(even, odd);
        // A pair with ones at the end of its number completes that many larger subtrees.
        let mut level = 1;
        while pair >> (level - 1) & 1 == 1 {
            put(&mut partial.rows[level], sum, pair >> level == 0);
            for (sum, waiting) in sum.iter_mut().zip(&partial.waiting[level]) {
                *sum = _mm512_xor_si512(*sum, *waiting);
            }
            level += 1;
        }
        put(&mut partial.waiting[level], sum, true);
    }
    N
}

/// Nothing, for the missing leaf.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn keystream<const N: usize>(leaf: Option<&Aes128>, counters: [__m512i; N]) -> [__m512i; N] {
    match leaf {
        Some(leaf) => encrypt(&keys(leaf), counters),
        None => [_mm512_setzero_si512(); N],
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
fn xor<const N: usize>(mut a: [__m512i; N], b: [__m512i; N]) -> [__m512i; N] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = _mm512_xor_si512(*a, b);
    }
    a
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8], vectors: &[__m512i; WIDE]) {
    for (bytes, vector) in bytes.as_chunks_mut().0.iter_mut().zip(vectors) {
        store512(bytes, *vector);
    }
}
