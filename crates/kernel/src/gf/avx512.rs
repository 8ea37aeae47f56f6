//! VPCLMULQDQ: four products at a time.

use core::arch::x86_64::*;

/// One product has no use for wide vectors.
pub(super) use super::avx2::{mul64, mul128};
use super::{from_parts, reduce64, reduce128};
use crate::x86::{bytes_of, load512, load512_at, load512_part, store128};

/// Rows that share their loads of the coefficients.
const ROWS: usize = 4;

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
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

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
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
#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
fn sums64<const R: usize>(rows: &[u8], stride: usize, coefficients: &[u8]) -> [u64; R] {
    let mut sums = [_mm512_setzero_si512(); R];
    let (wide, rest) = coefficients.as_chunks();
    for (k, c) in wide.iter().enumerate() {
        let c = load512(c);
        for (r, sum) in sums.iter_mut().enumerate() {
            add64(sum, load512_at(rows, r * stride + 64 * k), c);
        }
    }
    if !rest.is_empty() {
        let c = load512_part(rest);
        for (r, sum) in sums.iter_mut().enumerate() {
            let start = r * stride + 64 * wide.len();
            add64(sum, load512_part(&rows[start..start + rest.len()]), c);
        }
    }
    let mut out = [0; R];
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = reduce64(sum_of_lanes(sum));
    }
    out
}

/// Even and odd words, whose products have the same weight.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn add64(sum: &mut __m512i, x: __m512i, c: __m512i) {
    let even = _mm512_clmulepi64_epi128::<0x00>(x, c);
    let odd = _mm512_clmulepi64_epi128::<0x11>(x, c);
    *sum = xor3(*sum, even, odd);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
fn sums128<const R: usize>(rows: &[u8], stride: usize, coefficients: &[u8]) -> [u128; R] {
    let mut sums = [[_mm512_setzero_si512(); 3]; R];
    let (wide, rest) = coefficients.as_chunks();
    for (k, c) in wide.iter().enumerate() {
        let c = load512(c);
        for (r, sum) in sums.iter_mut().enumerate() {
            add128(sum, load512_at(rows, r * stride + 64 * k), c);
        }
    }
    if !rest.is_empty() {
        let c = load512_part(rest);
        for (r, sum) in sums.iter_mut().enumerate() {
            let start = r * stride + 64 * wide.len();
            add128(sum, load512_part(&rows[start..start + rest.len()]), c);
        }
    }
    let mut out = [0; R];
    for (out, [low, middle, high]) in out.iter_mut().zip(sums) {
        let parts = [sum_of_lanes(low), sum_of_lanes(middle), sum_of_lanes(high)];
        *out = reduce128(from_parts(parts));
    }
    out
}

/// The products of the halves by their weight.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn add128([low, middle, high]: &mut [__m512i; 3], x: __m512i, c: __m512i) {
    let (cross, other) =
        (_mm512_clmulepi64_epi128::<0x01>(x, c), _mm512_clmulepi64_epi128::<0x10>(x, c));
    *low = _mm512_xor_si512(*low, _mm512_clmulepi64_epi128::<0x00>(x, c));
    *middle = xor3(*middle, cross, other);
    *high = _mm512_xor_si512(*high, _mm512_clmulepi64_epi128::<0x11>(x, c));
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sum_of_lanes(x: __m512i) -> u128 {
    let x = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));
    let x = _mm_xor_si128(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
    let mut bytes = [0; 16];
    store128(&mut bytes, x);
    u128::from_le_bytes(bytes)
}
