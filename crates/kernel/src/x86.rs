//! Loads and stores of exactly the bytes of an array or a slice.

#![allow(unsafe_code, reason = "these intrinsics take pointers")]

use core::arch::x86_64::*;

use crate::Block;

#[inline(always)]
pub(crate) fn load128(bytes: &Block) -> __m128i {
    // SAFETY: reads 16 bytes of an array of 16, at any alignment; SSE2 is in the baseline.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// 16 bytes from `at` on.
#[inline(always)]
pub(crate) fn load128_at(bytes: &[u8], at: usize) -> __m128i {
    let bytes = &bytes[at..at + 16];
    // SAFETY: reads 16 bytes of a slice of 16, at any alignment; SSE2 is in the baseline.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline(always)]
pub(crate) fn store128(bytes: &mut Block, vector: __m128i) {
    // SAFETY: writes 16 bytes of an array of 16, at any alignment; SSE2 is in the baseline.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), vector) }
}

/// 32 bytes from `at` on.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load256_at(bytes: &[u8], at: usize) -> __m256i {
    let bytes = &bytes[at..at + 32];
    // SAFETY: reads 32 bytes of a slice of 32, at any alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Writes 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store256(bytes: &mut [u8; 32], vector: __m256i) {
    // SAFETY: writes 32 bytes of an array of 32, at any alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load512(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: reads 64 bytes of an array of 64, at any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// 64 bytes from `at` on.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load512_at(bytes: &[u8], at: usize) -> __m512i {
    let bytes = &bytes[at..at + 64];
    // SAFETY: reads 64 bytes of a slice of 64, at any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store512(bytes: &mut [u8; 64], vector: __m512i) {
    // SAFETY: writes 64 bytes of an array of 64, at any alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
}

/// The first `bytes.len()` bytes of a vector, the rest zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn load512_part(bytes: &[u8]) -> __m512i {
    // SAFETY: reads the bytes that the mask selects: those of the slice, at most 64.
    unsafe { _mm512_maskz_loadu_epi8(first(bytes.len()), bytes.as_ptr().cast()) }
}

/// Writes the first `bytes.len()` bytes of a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn store512_part(bytes: &mut [u8], vector: __m512i) {
    // SAFETY: writes the bytes that the mask selects: those of the slice, at most 64.
    unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), first(bytes.len()), vector) }
}

/// A mask of the first `n` bytes of a vector.
#[inline(always)]
fn first(n: usize) -> __mmask64 {
    assert!(n <= 64, "a part of a vector");
    if n == 0 { 0 } else { u64::MAX >> (64 - n) }
}

/// Integers.
///
/// # Safety
/// An implementation has no padding: all of its bytes are initialized.
#[allow(unsafe_code, reason = "`bytes_of` relies on it")]
pub(crate) unsafe trait Word {}

#[allow(unsafe_code, reason = "`bytes_of` relies on it")]
// SAFETY: a primitive integer has no padding.
unsafe impl Word for u64 {}
#[allow(unsafe_code, reason = "`bytes_of` relies on it")]
// SAFETY: a primitive integer has no padding.
unsafe impl Word for u128 {}

/// The words in little-endian order, which is that of x86.
#[inline(always)]
pub(crate) fn bytes_of<T: Word>(words: &[T]) -> &[u8] {
    // SAFETY: a `Word` has no padding, so every byte is initialized; bytes need no alignment.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}
