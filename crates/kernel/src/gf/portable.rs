//! Carry-less products by integer multiplication.

use super::{from_parts, reduce64, reduce128};
use crate::halves;

pub(super) fn mul64(a: u64, b: u64) -> u64 {
    reduce64(product64(a, b))
}

pub(super) fn mul128(a: u128, b: u128) -> u128 {
    reduce128(product128(a, b))
}

pub(super) fn inner_products64(rows: &[u8], stride: usize, coefficients: &[u64], out: &mut [u64]) {
    for (r, out) in out.iter_mut().enumerate() {
        let (words, _) = rows[r * stride..].as_chunks();
        let terms = words.iter().zip(coefficients);
        *out = reduce64(terms.fold(0, |sum, (x, &c)| sum ^ product64(u64::from_le_bytes(*x), c)));
    }
}

pub(super) fn inner_products128(
    rows: &[u8],
    stride: usize,
    coefficients: &[u128],
    out: &mut [u128],
) {
    for (r, out) in out.iter_mut().enumerate() {
        let (words, _) = rows[r * stride..].as_chunks();
        let mut sum = [0; 2];
        for (x, &c) in words.iter().zip(coefficients) {
            let [low, high] = product128(u128::from_le_bytes(*x), c);
            sum = [sum[0] ^ low, sum[1] ^ high];
        }
        *out = reduce128(sum);
    }
}

/// The carry-less product of two words. Its high half is the low half of the product of the
/// reversed words, reversed.
fn product64(a: u64, b: u64) -> u128 {
    let low = low_product(a, b);
    let high = low_product(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    u128::from(high) << 64 | u128::from(low)
}

/// The low half of a carry-less product.
///
/// With three holes after every bit, at most 16 terms meet at one, and only at the topmost: there
/// the carry leaves the word, elsewhere it ends in a hole.
#[inline(always)]
fn low_product(a: u64, b: u64) -> u64 {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let a = [0, 1, 2, 3].map(|k| a & EVERY_FOURTH << k);
    let b = [0, 1, 2, 3].map(|k| b & EVERY_FOURTH << k);
    let mut product = 0;
    for k in 0..4 {
        let sum = (0..4).fold(0, |sum, i| sum ^ a[i].wrapping_mul(b[(k + 4 - i) % 4]));
        product |= sum & EVERY_FOURTH << k;
    }
    product
}

/// The carry-less product of two double words, low half first, by Karatsuba.
fn product128(a: u128, b: u128) -> [u128; 2] {
    let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
    let (low, high) = (product64(a0, b0), product64(a1, b1));
    let middle = product64(a0 ^ a1, b0 ^ b1) ^ low ^ high;
    from_parts([low, middle, high])
}
