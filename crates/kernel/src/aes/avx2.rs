//! AES-NI: eight blocks at a time, which hides the latency of a round.

use core::arch::x86_64::*;

use super::{Aes128, RoundKeys, Schedule, halves};
use crate::{
    Block,
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
    let mut expanded = keys.map(|key| RoundKeys([*key; 11]));
    for (round, constant) in CONSTANTS.into_iter().enumerate() {
        let constant = _mm_set1_epi32(constant);
        for RoundKeys(keys) in &mut expanded {
            let mut key = load128(&keys[round]);
            let word = _mm_aesenclast_si128(_mm_shuffle_epi8(key, rotate_last), constant);
            key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
            key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
            store128(&mut keys[round + 1], _mm_xor_si128(key, word));
        }
    }
    expanded.map(Schedule::RoundKeys)
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn ctr(pi: &Aes128, first: u128, out: &mut [Block]) {
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
    let mut tweak = counter(first.into());
    for (rows, out) in rows.chunks(WIDE).zip(out.chunks_mut(WIDE)) {
        let mut x = [_mm_setzero_si128(); WIDE];
        for (x, row) in x.iter_mut().zip(rows) {
            *x = load128(row);
        }
        let hashes = hash(pi, x, count(&mut tweak));
        for (block, vector) in out.iter_mut().zip(hashes) {
            store128(block, vector);
        }
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
    let mut tweak = counter(first.into());
    for (rows, out) in rows.chunks(WIDE / 2).zip(out.chunks_mut(WIDE / 2)) {
        let mut x = [_mm_setzero_si128(); WIDE];
        let mut tweaks = x;
        let pairs = x.as_chunks_mut().0.iter_mut().zip(tweaks.as_chunks_mut().0);
        for ((x, tweaks), row) in pairs.zip(rows) {
            let row = load128(row);
            *x = [row, _mm_xor_si128(row, delta)];
            let [t] = count(&mut tweak);
            *tweaks = [t, t];
        }
        let hashes = hash(pi, x, tweaks);
        for (block, vector) in out.as_flattened_mut().iter_mut().zip(hashes) {
            store128(block, vector);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,aes")]
fn hash<const N: usize>(pi: &Aes128, x: [__m128i; N], tweaks: [__m128i; N]) -> [__m128i; N] {
    let masks = encrypt(pi, x);
    xor(encrypt(pi, xor(masks, tweaks)), masks)
}

#[inline]
#[target_feature(enable = "avx2,aes")]
pub(crate) fn encrypt<const N: usize>(pi: &Aes128, mut x: [__m128i; N]) -> [__m128i; N] {
    let keys = pi.round_keys();
    let key = load128(&keys[0]);
    for x in &mut x {
        *x = _mm_xor_si128(*x, key);
    }
    for key in &keys[1..10] {
        let key = load128(key);
        for x in &mut x {
            *x = _mm_aesenc_si128(*x, key);
        }
    }
    let key = load128(&keys[10]);
    for x in &mut x {
        *x = _mm_aesenclast_si128(*x, key);
    }
    x
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn counter(first: u128) -> __m128i {
    let (high, low) = halves(first);
    _mm_set_epi64x(high.cast_signed(), low.cast_signed())
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
