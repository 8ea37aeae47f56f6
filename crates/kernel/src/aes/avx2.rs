//! AES-NI: eight blocks at a time, which hides the latency of a round.

use core::arch::x86_64::*;

use super::{Aes128, RoundKeys, Schedule};
use crate::{
    Block, erase,
    x86::{load128, store128},
};

/// Blocks at a time.
pub(crate) const WIDE: usize = 8;

/// FIPS 197, section 5.2. All columns of the last round's input are the rotated last word of the
/// key, so that its ShiftRows does nothing, its SubBytes is SubWord, and its key is the constant.
#[target_feature(enable = "avx2,aes")]
pub(super) fn schedules<const N: usize>(keys: [&Block; N]) -> [Schedule; N] {
    const CONSTANTS: [i32; 10] = [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];
    let rotate_last = _mm_set1_epi32(0x0c0f_0e0d);
    let mut expanded = keys.map(|key| RoundKeys([load128(key); 11]));
    for (round, constant) in CONSTANTS.into_iter().enumerate() {
        let constant = _mm_set1_epi32(constant);
        for RoundKeys(keys) in &mut expanded {
            let mut key = keys[round];
            let word = _mm_aesenclast_si128(_mm_shuffle_epi8(key, rotate_last), constant);
            key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
            key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
            keys[round + 1] = _mm_xor_si128(key, word);
        }
    }
    expanded.map(Schedule::RoundKeys)
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn ctr(pi: &Aes128, first: u64, out: &mut [Block]) {
    let mut counter = counter(first);
    let (wide, rest) = out.as_chunks_mut::<WIDE>();
    for out in wide {
        let stream = encrypt(pi, count::<WIDE>(&mut counter));
        for (block, vector) in out.iter_mut().zip(stream) {
            store128(block, vector);
        }
    }
    if !rest.is_empty() {
        let stream = encrypt(pi, count::<WIDE>(&mut counter));
        for (block, vector) in rest.iter_mut().zip(stream) {
            store128(block, vector);
        }
    }
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn tmmo(pi: &Aes128, first: u64, rows: &[Block], out: &mut [Block]) {
    let mut tweak = counter(first);
    let (wide_rows, rows) = rows.as_chunks();
    let (wide_out, out) = out.as_chunks_mut();
    for (rows, out) in wide_rows.iter().zip(wide_out) {
        hash_rows(pi, &mut tweak, rows, out);
    }
    if !rows.is_empty() {
        let (mut padded, mut hashes) = ([[0; 16]; WIDE], [[0; 16]; WIDE]);
        padded[..rows.len()].copy_from_slice(rows);
        hash_rows(pi, &mut tweak, &padded, &mut hashes);
        out.copy_from_slice(&hashes[..rows.len()]);
        erase(&mut padded, [0; 16]);
        erase(&mut hashes, [0; 16]);
    }
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn tmmo_pairs(
    pi: &Aes128,
    first: u64,
    delta: &Block,
    rows: &[Block],
    out: &mut [[Block; 2]],
) {
    let delta = load128(delta);
    let mut tweak = counter(first);
    let (wide_rows, rows) = rows.as_chunks();
    let (wide_out, out) = out.as_chunks_mut();
    for (rows, out) in wide_rows.iter().zip(wide_out) {
        hash_pairs(pi, &mut tweak, delta, rows, out);
    }
    if !rows.is_empty() {
        let (mut padded, mut hashes) = ([[0; 16]; WIDE / 2], [[[0; 16]; 2]; WIDE / 2]);
        padded[..rows.len()].copy_from_slice(rows);
        hash_pairs(pi, &mut tweak, delta, &padded, &mut hashes);
        out.copy_from_slice(&hashes[..rows.len()]);
        erase(&mut padded, [0; 16]);
        erase(&mut hashes, [[0; 16]; 2]);
    }
}

#[inline]
#[target_feature(enable = "avx2,aes")]
fn hash_rows(pi: &Aes128, tweak: &mut __m128i, rows: &[Block; WIDE], out: &mut [Block; WIDE]) {
    let mut x = [_mm_setzero_si128(); WIDE];
    for (x, row) in x.iter_mut().zip(rows) {
        *x = load128(row);
    }
    let masks = encrypt(pi, x);
    let hashes = xor(encrypt(pi, xor(masks, count(tweak))), masks);
    for (block, vector) in out.iter_mut().zip(hashes) {
        store128(block, vector);
    }
}

#[inline]
#[target_feature(enable = "avx2,aes")]
fn hash_pairs(
    pi: &Aes128,
    tweak: &mut __m128i,
    delta: __m128i,
    rows: &[Block; WIDE / 2],
    out: &mut [[Block; 2]; WIDE / 2],
) {
    let mut x = [_mm_setzero_si128(); WIDE];
    for (k, row) in rows.iter().enumerate() {
        x[2 * k] = load128(row);
        x[2 * k + 1] = _mm_xor_si128(x[2 * k], delta);
    }
    let masks = encrypt(pi, x);
    let mut tweaked = masks;
    for (k, tweak) in count::<{ WIDE / 2 }>(tweak).into_iter().enumerate() {
        tweaked[2 * k] = _mm_xor_si128(masks[2 * k], tweak);
        tweaked[2 * k + 1] = _mm_xor_si128(masks[2 * k + 1], tweak);
    }
    let hashes = xor(encrypt(pi, tweaked), masks);
    for (block, vector) in out.as_flattened_mut().iter_mut().zip(hashes) {
        store128(block, vector);
    }
}

#[inline]
#[target_feature(enable = "avx2,aes")]
pub(crate) fn encrypt<const N: usize>(pi: &Aes128, mut x: [__m128i; N]) -> [__m128i; N] {
    let keys = pi.round_keys();
    for x in &mut x {
        *x = _mm_xor_si128(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut x {
            *x = _mm_aesenc_si128(*x, *key);
        }
    }
    for x in &mut x {
        *x = _mm_aesenclast_si128(*x, keys[10]);
    }
    x
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn counter(first: u64) -> __m128i {
    _mm_set_epi64x(0, first.cast_signed())
}

/// N blocks that count from `counter`; moves `counter` beyond them.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn count<const N: usize>(counter: &mut __m128i) -> [__m128i; N] {
    let mut counters = [*counter; N];
    for x in &mut counters {
        *x = *counter;
        *counter = _mm_add_epi64(*counter, _mm_set_epi64x(0, 1));
    }
    counters
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor<const N: usize>(mut a: [__m128i; N], b: [__m128i; N]) -> [__m128i; N] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = _mm_xor_si128(*a, b);
    }
    a
}
