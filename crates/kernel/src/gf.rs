//! Binary fields. Bit k of an integer is the coefficient of x^k.
//!
//! Nothing here depends on the values in time: the portable code multiplies integers that have
//! holes between their bits (which some microcontrollers, like the Cortex-M3, do in variable time),
//! the rest has instructions for it.

use crate::halves;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// GF(2^64) = GF(2)\[x\] / (x^64 + x^4 + x^3 + x + 1).
pub mod gf64 {
    #[cfg(target_arch = "x86_64")]
    use super::{avx2, avx512};
    use super::{check, portable};
    use crate::Backend;

    /// a·b.
    #[must_use]
    pub fn mul(backend: Backend, a: u64, b: u64) -> u64 {
        per_isa!(backend, mul64(a, b))
    }

    /// For every row r, which starts at `rows[r * stride]`, the sum of `coefficients[b]` times the
    /// little-endian u64 number b of the row. What follows them in the row is ignored.
    ///
    /// # Panics
    /// If the coefficients do not fit into `stride` bytes, or `rows` has fewer rows than `out`.
    pub fn inner_products(
        backend: Backend,
        rows: &[u8],
        stride: usize,
        coefficients: &[u64],
        out: &mut [u64],
    ) {
        check(rows.len(), stride, 8 * coefficients.len(), out.len());
        per_isa!(backend, inner_products64(rows, stride, coefficients, out));
    }
}

/// GF(2^128) = GF(2)\[x\] / (x^128 + x^7 + x^2 + x + 1).
pub mod gf128 {
    #[cfg(target_arch = "x86_64")]
    use super::{avx2, avx512};
    use super::{check, portable};
    use crate::Backend;

    /// a·b.
    #[must_use]
    pub fn mul(backend: Backend, a: u128, b: u128) -> u128 {
        per_isa!(backend, mul128(a, b))
    }

    /// For every row r, which starts at `rows[r * stride]`, the sum of `coefficients[b]` times the
    /// little-endian u128 number b of the row. What follows them in the row is ignored.
    ///
    /// # Panics
    /// If the coefficients do not fit into `stride` bytes, or `rows` has fewer rows than `out`.
    pub fn inner_products(
        backend: Backend,
        rows: &[u8],
        stride: usize,
        coefficients: &[u128],
        out: &mut [u128],
    ) {
        check(rows.len(), stride, 16 * coefficients.len(), out.len());
        per_isa!(backend, inner_products128(rows, stride, coefficients, out));
    }
}

/// `n` rows of `len` bytes, `stride` apart; the last may end where its `len` bytes end.
fn check(available: usize, stride: usize, len: usize, n: usize) {
    assert!(len <= stride, "a row holds what the coefficients multiply");
    let end = n.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(len));
    assert!(end.is_some_and(|end| end <= available), "a row for every output");
}

/// Reduces a product of two elements of GF(2^64): x^64 = x^4 + x^3 + x + 1.
#[inline(always)]
const fn reduce64(product: u128) -> u64 {
    let [low, high] = halves(product);
    let carry = high >> 63 ^ high >> 61 ^ high >> 60;
    let folded = high ^ carry;
    low ^ folded ^ folded << 1 ^ folded << 3 ^ folded << 4
}

/// A product of double words from those of their halves: low by low, the two mixed ones, high by
/// high.
#[inline(always)]
const fn from_parts([low, middle, high]: [u128; 3]) -> [u128; 2] {
    [low ^ middle << 64, high ^ middle >> 64]
}

/// Reduces a product of two elements of GF(2^128), low half first: x^128 = x^7 + x^2 + x + 1.
#[inline(always)]
const fn reduce128([low, high]: [u128; 2]) -> u128 {
    let carry = high >> 127 ^ high >> 126 ^ high >> 121;
    let folded = high ^ carry;
    low ^ folded ^ folded << 1 ^ folded << 2 ^ folded << 7
}

#[cfg(test)]
mod tests;
