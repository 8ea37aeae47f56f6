//! Four doubles that are integers, for implementations of traits for an `Avx2`.

use core::arch::x86_64::*;

use super::avx2;

/// 2⁵², whose bits and those of an integer below are those of the sum of the two.
pub(crate) const EXPONENT: f64 = (1u64 << 52) as f64;

/// Copies a double to all lanes.
#[inline(always)]
pub(crate) fn set(x: f64) -> __m256d {
    avx2!(_mm256_set1_pd(x))
}

/// a + b.
#[inline(always)]
pub(crate) fn add(a: __m256d, b: __m256d) -> __m256d {
    avx2!(_mm256_add_pd(a, b))
}

/// a − b.
#[inline(always)]
pub(crate) fn sub(a: __m256d, b: __m256d) -> __m256d {
    avx2!(_mm256_sub_pd(a, b))
}

/// a where the sign of x is set, else b.
#[inline(always)]
pub(crate) fn where_negative(x: __m256d, a: __m256d, b: __m256d) -> __m256d {
    avx2!(_mm256_blendv_pd(b, a, x))
}

/// The integers as doubles, from words below 2⁵².
#[inline(always)]
pub(crate) fn from_words(words: __m256d) -> __m256d {
    sub(avx2!(_mm256_or_pd(words, set(EXPONENT))), set(EXPONENT))
}
