//! Eight words of 64 bits, and the 52-bit products of IFMA, for implementations of traits for an `Avx512`.

use core::arch::x86_64::*;

use super::avx512;

/// Copies a word to all lanes.
#[inline(always)]
pub(crate) fn set(x: u64) -> __m512i {
    avx512!(_mm512_set1_epi64(x.cast_signed()))
}

/// Eight words.
#[inline(always)]
pub(crate) fn load(words: &[u64; 8]) -> __m512i {
    avx512!(_mm512_loadu_si512(words.as_ptr().cast()))
}

/// a + b.
#[inline(always)]
pub(crate) fn add(a: __m512i, b: __m512i) -> __m512i {
    avx512!(_mm512_add_epi64(a, b))
}

/// a − b.
#[inline(always)]
pub(crate) fn sub(a: __m512i, b: __m512i) -> __m512i {
    avx512!(_mm512_sub_epi64(a, b))
}

/// sum + the low 52 bits of a·b.
#[inline(always)]
pub(crate) fn low(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    avx512!(_mm512_madd52lo_epu64(sum, a, b))
}

/// sum + the bits of a·b above the low 52.
#[inline(always)]
pub(crate) fn high(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    avx512!(_mm512_madd52hi_epu64(sum, a, b))
}
