//! Delta swaps between eight rows transpose 8 × 8 bits; interleaving bytes does the rest.

use core::arch::x86_64::*;

use crate::{Block, blocks::Blocks, erase, simd::avx2::Avx2};

/// Columns that are transposed together: those of a vector, or half of them at the end.
const COLUMNS: usize = 256;

#[target_feature(enable = "avx2")]
pub(super) fn transpose(simd: Avx2, rows: &[u8], stride: usize, first: usize, out: &mut [Block]) {
    let two = simd.longest();
    // Vector r of number b: rows 8r to 8r + 7 of the columns 8c + b, one byte each.
    let mut bytes = [[_mm256_setzero_si256(); 16]; 8];
    for (out, at) in out.chunks_mut(COLUMNS).zip((first..).step_by(COLUMNS / 8)) {
        let whole = out.len() == COLUMNS;
        for (r, rows) in rows.chunks_exact(8 * stride).enumerate() {
            let mut eight = [_mm256_setzero_si256(); 8];
            for (i, row) in eight.iter_mut().enumerate() {
                *row = if whole {
                    two.load_at(rows, i * stride + at)
                } else {
                    _mm256_zextsi128_si256(simd.load_at(rows, i * stride + at))
                };
            }
            transpose_bits(&mut eight);
            for (bytes, column) in bytes.iter_mut().zip(eight) {
                bytes[r] = column;
            }
        }
        for (b, bytes) in bytes.iter().enumerate() {
            for (c, columns) in transpose_bytes(bytes).into_iter().enumerate() {
                simd.store(_mm256_castsi256_si128(columns), &mut out[8 * c + b]);
                if whole {
                    let high = _mm256_extracti128_si256::<1>(columns);
                    simd.store(high, &mut out[8 * (16 + c) + b]);
                }
            }
        }
    }
    erase(&mut bytes, [_mm256_setzero_si256(); 16]);
}

/// Exchanges bit i of row j with bit j of row i, in every byte.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_bits(rows: &mut [__m256i; 8]) {
    // Bit 2 of the numbers of row and bit change places, then bit 1, then bit 0.
    for i in [0, 1, 2, 3] {
        swap_bits::<4>(rows, i, 0x0f);
    }
    for i in [0, 1, 4, 5] {
        swap_bits::<2>(rows, i, 0x33);
    }
    for i in [0, 2, 4, 6] {
        swap_bits::<1>(rows, i, 0x55);
    }
}

/// Exchanges the high bits of row i, those outside `low`, with the low ones of row i + `WIDTH`.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_bits<const WIDTH: i32>(rows: &mut [__m256i; 8], i: usize, low: i8) {
    let j = i + WIDTH as usize;
    // A delta swap: what differs is added to both. Bits that the shift brings over from the next
    // byte are outside `low`.
    let difference = _mm256_xor_si256(_mm256_srli_epi64::<WIDTH>(rows[i]), rows[j]);
    let difference = _mm256_and_si256(difference, _mm256_set1_epi8(low));
    rows[j] = _mm256_xor_si256(rows[j], difference);
    rows[i] = _mm256_xor_si256(rows[i], _mm256_slli_epi64::<WIDTH>(difference));
}

/// Byte c of lane l of vector r becomes byte r of lane l of vector c.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_bytes(bytes: &[__m256i; 16]) -> [__m256i; 16] {
    let zero = _mm256_setzero_si256();
    // Each step interleaves vectors that have the even and the odd rows of a column: bytes, then
    // pairs, fours and eights.
    let mut pairs = [[zero; 2]; 8];
    for (halves, [a, b]) in pairs.iter_mut().zip(bytes.as_chunks().0) {
        *halves = [_mm256_unpacklo_epi8(*a, *b), _mm256_unpackhi_epi8(*a, *b)];
    }
    let mut fours = [[zero; 4]; 4];
    for (quarters, [a, b]) in fours.iter_mut().zip(pairs.as_chunks().0) {
        for k in 0..2 {
            quarters[2 * k] = _mm256_unpacklo_epi16(a[k], b[k]);
            quarters[2 * k + 1] = _mm256_unpackhi_epi16(a[k], b[k]);
        }
    }
    let mut eights = [[zero; 8]; 2];
    for (eighths, [a, b]) in eights.iter_mut().zip(fours.as_chunks().0) {
        for k in 0..4 {
            eighths[2 * k] = _mm256_unpacklo_epi32(a[k], b[k]);
            eighths[2 * k + 1] = _mm256_unpackhi_epi32(a[k], b[k]);
        }
    }
    let [a, b] = eights;
    let mut columns = [zero; 16];
    for k in 0..8 {
        columns[2 * k] = _mm256_unpacklo_epi64(a[k], b[k]);
        columns[2 * k + 1] = _mm256_unpackhi_epi64(a[k], b[k]);
    }
    columns
}
