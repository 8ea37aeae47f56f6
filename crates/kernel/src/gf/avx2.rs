//! PCLMULQDQ: one product at a time.

use core::arch::x86_64::*;

use super::{from_parts, reduce64, reduce128};
use crate::x86::{bytes_of, load128, load128_at, store128};

/// Rows that share their loads of the coefficients.
const ROWS: usize = 4;

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul64(a: u64, b: u64) -> u64 {
    let [a, b] = [a, b].map(|x| load128(&u128::from(x).to_le_bytes()));
    reduce64(to_integer(_mm_clmulepi64_si128::<0x00>(a, b)))
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul128(a: u128, b: u128) -> u128 {
    let [a, b] = [a, b].map(|x| load128(&x.to_le_bytes()));
    let mut product = [_mm_setzero_si128(); 3];
    add128(&mut product, a, b);
    reduce128(from_parts(product.map(to_integer)))
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn inner_products64(rows: &[u8], stride: usize, coefficients: &[u64], out: &mut [u64]) {
    let coefficients = bytes_of(coefficients);
    let (fours, rest) = out.as_chunks_mut::<ROWS>();
    let after = fours.len() * ROWS;
    for (k, out) in fours.iter_mut().enumerate() {
        *out = sums64(&rows[k * ROWS * stride..], stride, coefficients);
    }
    for (k, out) in rest.iter_mut().enumerate() {
        [*out] = sums64(&rows[(after + k) * stride..], stride, coefficients);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn inner_products128(
    rows: &[u8],
    stride: usize,
    coefficients: &[u128],
    out: &mut [u128],
) {
    let coefficients = bytes_of(coefficients);
    let (fours, rest) = out.as_chunks_mut::<ROWS>();
    let after = fours.len() * ROWS;
    for (k, out) in fours.iter_mut().enumerate() {
        *out = sums128(&rows[k * ROWS * stride..], stride, coefficients);
    }
    for (k, out) in rest.iter_mut().enumerate() {
        [*out] = sums128(&rows[(after + k) * stride..], stride, coefficients);
    }
}

#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn sums64<const R: usize>(rows: &[u8], stride: usize, coefficients: &[u8]) -> [u64; R] {
    let mut sums = [_mm_setzero_si128(); R];
    let (wide, rest) = coefficients.as_chunks();
    for (k, c) in wide.iter().enumerate() {
        let c = load128(c);
        for (r, sum) in sums.iter_mut().enumerate() {
            add64(sum, load128_at(rows, r * stride + 16 * k), c);
        }
    }
    if !rest.is_empty() {
        for (r, sum) in sums.iter_mut().enumerate() {
            let start = r * stride + 16 * wide.len();
            add64(sum, load_half(&rows[start..start + 8]), load_half(rest));
        }
    }
    let mut out = [0; R];
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = reduce64(to_integer(sum));
    }
    out
}

/// Even and odd words, whose products have the same weight.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn add64(sum: &mut __m128i, x: __m128i, c: __m128i) {
    let even = _mm_clmulepi64_si128::<0x00>(x, c);
    let odd = _mm_clmulepi64_si128::<0x11>(x, c);
    *sum = xor3(*sum, even, odd);
}

#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn sums128<const R: usize>(rows: &[u8], stride: usize, coefficients: &[u8]) -> [u128; R] {
    let mut sums = [[_mm_setzero_si128(); 3]; R];
    for (k, c) in coefficients.as_chunks().0.iter().enumerate() {
        let c = load128(c);
        for (r, sum) in sums.iter_mut().enumerate() {
            add128(sum, load128_at(rows, r * stride + 16 * k), c);
        }
    }
    let mut out = [0; R];
    for (out, [low, middle, high]) in out.iter_mut().zip(sums) {
        let parts = [to_integer(low), to_integer(middle), to_integer(high)];
        *out = reduce128(from_parts(parts));
    }
    out
}

/// The products of the halves by their weight.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn add128([low, middle, high]: &mut [__m128i; 3], x: __m128i, c: __m128i) {
    let (cross, other) = (_mm_clmulepi64_si128::<0x01>(x, c), _mm_clmulepi64_si128::<0x10>(x, c));
    *low = _mm_xor_si128(*low, _mm_clmulepi64_si128::<0x00>(x, c));
    *middle = xor3(*middle, cross, other);
    *high = _mm_xor_si128(*high, _mm_clmulepi64_si128::<0x11>(x, c));
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor3(a: __m128i, b: __m128i, c: __m128i) -> __m128i {
    _mm_xor_si128(_mm_xor_si128(a, b), c)
}

/// Eight bytes, and a zero word above them.
#[inline(always)]
fn load_half(bytes: &[u8]) -> __m128i {
    let mut block = [0; 16];
    block[..8].copy_from_slice(bytes);
    load128(&block)
}

#[inline(always)]
fn to_integer(x: __m128i) -> u128 {
    let mut bytes = [0; 16];
    store128(&mut bytes, x);
    u128::from_le_bytes(bytes)
}
