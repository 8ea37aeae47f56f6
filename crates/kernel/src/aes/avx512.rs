//! VAES: four blocks per vector, eight vectors at a time, which hides the latency of a round.

use core::arch::x86_64::*;

use super::Aes128;
pub(super) use super::avx2::schedule;
use crate::{
    Block, halves,
    x86::{load128, load512, load512_part, store512, store512_part},
};

/// Vectors at a time, and their bytes.
const WIDE: usize = 8;
const WIDE_BYTES: usize = 64 * WIDE;

/// Round keys, each in all four lanes.
type Keys = [__m512i; 11];

#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn ctr(pi: &Aes128, first: u128, out: &mut [Block]) {
    let keys = keys(pi);
    let mut counter = counter(first);
    let (wide, rest) = out.as_flattened_mut().as_chunks_mut::<WIDE_BYTES>();
    for out in wide {
        let stream = encrypt(&keys, count::<WIDE>(&mut counter, 4));
        for (bytes, vector) in out.as_chunks_mut().0.iter_mut().zip(stream) {
            store512(bytes, vector);
        }
    }
    match rest.len() {
        0 => {}
        1..=64 => store_parts(rest, encrypt(&keys, count::<1>(&mut counter, 4))),
        65..=256 => store_parts(rest, encrypt(&keys, count::<4>(&mut counter, 4))),
        _ => store_parts(rest, encrypt(&keys, count::<WIDE>(&mut counter, 4))),
    }
}

#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn tmmo(pi: &Aes128, first: u64, rows: &[Block], out: &mut [Block]) {
    let keys = keys(pi);
    let mut tweak = counter(first.into());
    let (wide_rows, rows) = rows.as_flattened().as_chunks::<WIDE_BYTES>();
    let (wide_out, out) = out.as_flattened_mut().as_chunks_mut::<WIDE_BYTES>();
    for (rows, out) in wide_rows.iter().zip(wide_out) {
        let mut x = [_mm512_setzero_si512(); WIDE];
        for (x, bytes) in x.iter_mut().zip(rows.as_chunks().0) {
            *x = load512(bytes);
        }
        let hashes = hash(&keys, x, &mut tweak, 4);
        for (bytes, vector) in out.as_chunks_mut().0.iter_mut().zip(hashes) {
            store512(bytes, vector);
        }
    }
    if !rows.is_empty() {
        let x = load_parts::<WIDE>(rows);
        store_parts(out, hash(&keys, x, &mut tweak, 4));
    }
}

#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn encrypt_blocks(pi: &Aes128, blocks: &mut [Block]) {
    let keys = keys(pi);
    let (wide, rest) = blocks.as_flattened_mut().as_chunks_mut::<WIDE_BYTES>();
    for bytes in wide {
        let mut x = [_mm512_setzero_si512(); WIDE];
        for (x, bytes) in x.iter_mut().zip(bytes.as_chunks().0) {
            *x = load512(bytes);
        }
        for (bytes, vector) in bytes.as_chunks_mut().0.iter_mut().zip(encrypt(&keys, x)) {
            store512(bytes, vector);
        }
    }
    if !rest.is_empty() {
        let x = load_parts::<WIDE>(rest);
        store_parts(rest, encrypt(&keys, x));
    }
}

/// A vector holds both rows of two pairs: x, x ⊕ Δ, x', x' ⊕ Δ.
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn tmmo_pairs(
    pi: &Aes128,
    first: u64,
    delta: &Block,
    rows: &[Block],
    out: &mut [[Block; 2]],
) {
    let keys = keys(pi);
    let delta = _mm512_maskz_broadcast_i32x4(0xf0f0, load128(delta));
    let mut tweak = double(counter(first.into()))[0];
    let (wide_rows, rows) = rows.as_flattened().as_chunks::<{ WIDE_BYTES / 2 }>();
    let (wide_out, out) = out.as_flattened_mut().as_flattened_mut().as_chunks_mut::<WIDE_BYTES>();
    for (rows, out) in wide_rows.iter().zip(wide_out) {
        let mut x = [_mm512_setzero_si512(); WIDE / 2];
        for (x, bytes) in x.iter_mut().zip(rows.as_chunks().0) {
            *x = load512(bytes);
        }
        let hashes = hash(&keys, pairs(x, delta), &mut tweak, 2);
        for (bytes, vector) in out.as_chunks_mut().0.iter_mut().zip(hashes) {
            store512(bytes, vector);
        }
    }
    if !rows.is_empty() {
        let x = load_parts::<{ WIDE / 2 }>(rows);
        store_parts(out, hash(&keys, pairs(x, delta), &mut tweak, 2));
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn pairs(rows: [__m512i; WIDE / 2], delta: __m512i) -> [__m512i; WIDE] {
    let mut pairs = [_mm512_setzero_si512(); WIDE];
    for (pairs, x) in pairs.as_chunks_mut::<2>().0.iter_mut().zip(rows) {
        let [low, high] = double(x);
        *pairs = [_mm512_xor_si512(low, delta), _mm512_xor_si512(high, delta)];
    }
    pairs
}

/// Every lane twice.
#[inline]
#[target_feature(enable = "avx512f")]
fn double(x: __m512i) -> [__m512i; 2] {
    [_mm512_shuffle_i64x2::<0b01_01_00_00>(x, x), _mm512_shuffle_i64x2::<0b11_11_10_10>(x, x)]
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn hash<const N: usize>(
    keys: &Keys,
    x: [__m512i; N],
    tweak: &mut __m512i,
    step: i64,
) -> [__m512i; N] {
    let masks = encrypt(keys, x);
    let tweaked = xor(masks, count(tweak, step));
    xor(encrypt(keys, tweaked), masks)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn keys(pi: &Aes128) -> Keys {
    let mut keys = [_mm512_setzero_si512(); 11];
    for (key, round) in keys.iter_mut().zip(pi.round_keys()) {
        *key = _mm512_broadcast_i32x4(*round);
    }
    keys
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn encrypt<const N: usize>(keys: &Keys, mut x: [__m512i; N]) -> [__m512i; N] {
    for x in &mut x {
        *x = _mm512_xor_si512(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut x {
            *x = _mm512_aesenc_epi128(*x, *key);
        }
    }
    for x in &mut x {
        *x = _mm512_aesenclast_epi128(*x, keys[10]);
    }
    x
}

/// Four blocks that count from `first`.
#[inline]
#[target_feature(enable = "avx512f")]
fn counter(first: u128) -> __m512i {
    let [low, high] = halves(first).map(u64::cast_signed);
    let first = _mm512_set_epi64(high, low, high, low, high, low, high, low);
    _mm512_add_epi64(first, _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0))
}

/// N vectors from `counter` on, each `step` above the one before; moves `counter` beyond them.
#[inline]
#[target_feature(enable = "avx512f")]
fn count<const N: usize>(counter: &mut __m512i, step: i64) -> [__m512i; N] {
    let step = _mm512_maskz_set1_epi64(0b0101_0101, step);
    let mut counters = [*counter; N];
    for x in &mut counters {
        *x = *counter;
        *counter = _mm512_add_epi64(*counter, step);
    }
    counters
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
#[target_feature(enable = "avx512f,avx512bw")]
fn load_parts<const N: usize>(bytes: &[u8]) -> [__m512i; N] {
    let mut vectors = [_mm512_setzero_si512(); N];
    for (vector, bytes) in vectors.iter_mut().zip(bytes.chunks(64)) {
        *vector = load512_part(bytes);
    }
    vectors
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_parts<const N: usize>(bytes: &mut [u8], vectors: [__m512i; N]) {
    for (bytes, vector) in bytes.chunks_mut(64).zip(vectors) {
        store512_part(bytes, vector);
    }
}
