//! Bit matrices and strings: transposition, products with public matrices, and XOR.
//!
//! Bits of a byte are numbered from the least significant one.

use core::hint::black_box;

#[cfg(target_arch = "x86_64")]
use crate::backend::Vectors;
use crate::{Backend, Block};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod product;

pub use product::add_product;

/// Transposes columns `first..first + out.len()` of a matrix of 128 rows, each `stride` bytes long
/// and one after the other in `rows`: bit r of `out[j]` is bit `first` + j of row r. Whole lines of
/// 512 columns are the fastest; strides that are large powers of two miss the caches.
///
/// # Panics
/// If `first` or `out.len()` is not a multiple of 128, the columns go beyond `stride`, or `rows`
/// is not 128 rows long.
pub fn transpose(backend: Backend, rows: &[u8], stride: usize, first: usize, out: &mut [Block]) {
    assert!(first.is_multiple_of(128) && out.len().is_multiple_of(128), "columns come by 128");
    assert!(first / 8 + out.len() / 8 <= stride, "the columns are those of the matrix");
    assert!(stride.checked_mul(128) == Some(rows.len()), "128 rows");
    let first = first / 8;
    match backend.vectors() {
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code, reason = "calls code compiled for a detected instruction set")]
        // SAFETY: an `Avx2` exists only where its features were detected.
        Vectors::Avx2(simd) => unsafe { avx2::transpose(simd, rows, stride, first, out) },
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code, reason = "calls code compiled for a detected instruction set")]
        // SAFETY: an `Avx512` exists only where its features were detected.
        Vectors::Avx512(simd) => unsafe { avx512::transpose(simd, rows, stride, first, out) },
        _ => portable::transpose(rows, stride, first, out),
    }
}

/// `out` ⊕= `a`.
///
/// # Panics
/// If the lengths differ.
pub fn xor(backend: Backend, out: &mut [u8], a: &[u8]) {
    assert!(out.len() == a.len(), "strings of one length");
    backend.run(
        #[inline(always)]
        || out.iter_mut().zip(a).for_each(|(out, a)| *out ^= a),
    );
}

/// `out` ⊕= `a` ∧ `mask`, byte by byte, whatever the mask is. To add `a` or nothing by a secret
/// bit, the mask is 0xff or 0.
///
/// # Panics
/// If the lengths differ.
pub fn xor_masked(backend: Backend, out: &mut [u8], a: &[u8], mask: u8) {
    assert!(out.len() == a.len(), "strings of one length");
    // Keeps the compiler from making two loops of it, for 0 and for the rest.
    let mask = black_box(mask);
    backend.run(
        #[inline(always)]
        || out.iter_mut().zip(a).for_each(|(out, a)| *out ^= a & mask),
    );
}

#[cfg(test)]
mod tests;
