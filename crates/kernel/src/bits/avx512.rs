//! GFNI transposes 8 × 8 bits in every word; byte permutations do the rest.

use core::arch::x86_64::*;

use crate::{
    Block,
    blocks::Blocks,
    erase,
    simd::{avx2::Avx2, avx512::Avx512},
};

/// Bytes of a row that are transposed together: a cache line.
const LINE: usize = 64;

/// Byte 8c + 7 − i is byte c + `FIRST` of row i, where a pair of vectors has eight rows of 16 bytes.
const fn words_of_columns<const FIRST: u8>() -> [u8; 64] {
    let mut index = [0; 64];
    let mut at = 0;
    while at < 64 {
        index[at as usize] = (7 - at % 8) * 16 + at / 8 + FIRST;
        at += 1;
    }
    index
}

/// Interleaves the bytes of two vectors; lane l has from each those at 4·p + l, for eight p from
/// `FIRST` on.
const fn interleaved<const FIRST: u8>() -> [u8; 64] {
    let mut index = [0; 64];
    let mut at = 0;
    while at < 64 {
        index[at as usize] = 4 * (at % 16 / 2 + FIRST) + at / 16 + 64 * (at % 2);
        at += 1;
    }
    index
}

const EIGHT_COLUMNS: [[u8; 64]; 2] = [words_of_columns::<0>(), words_of_columns::<8>()];
const INTERLEAVED: [[u8; 64]; 2] = [interleaved::<0>(), interleaved::<8>()];

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn transpose(simd: Avx512, rows: &[u8], stride: usize, first: usize, out: &mut [Block]) {
    // Of every 64 columns, 16 vectors of one byte per column.
    let mut bytes = [[_mm512_setzero_si512(); 16]; LINE / 8];
    for (out, at) in out.chunks_mut(8 * LINE).zip((first..).step_by(LINE)) {
        let bytes = &mut bytes[..out.len() / 64];
        for (r, rows) in rows.chunks_exact(8 * stride).enumerate() {
            for (k, bytes) in bytes.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                [bytes[0][r], bytes[1][r]] = transpose_eight_rows(simd, rows, stride, at + 16 * k);
            }
        }
        for (bytes, out) in bytes.iter().zip(out.as_chunks_mut::<64>().0) {
            transpose_bytes(simd, bytes, out);
        }
    }
    erase(&mut bytes, [_mm512_setzero_si512(); 16]);
}

/// 128 columns of eight rows: byte c has column c.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose_eight_rows(simd: Avx512, rows: &[u8], stride: usize, at: usize) -> [__m512i; 2] {
    let one = simd.single();
    let low = four_rows(one, rows, stride, at);
    let high = four_rows(one, &rows[4 * stride..], stride, at);
    let mut columns = [_mm512_setzero_si512(); 2];
    for (columns, index) in columns.iter_mut().zip(&EIGHT_COLUMNS) {
        let words = _mm512_permutex2var_epi8(low, simd.load(index), high);
        // The instruction multiplies the matrix in a word by a vector: by 1 << i it gives bit i of
        // every byte, that of byte 7 − b as bit b. So row b has to be byte 7 − b.
        let identity = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
        *columns = _mm512_gf2p8affine_epi64_epi8::<0>(identity, words);
    }
    columns
}

/// 16 bytes of each of four rows.
#[inline]
#[target_feature(enable = "avx512f")]
fn four_rows(one: Avx2, rows: &[u8], stride: usize, at: usize) -> __m512i {
    let mut four = _mm512_castsi128_si512(one.load_at(rows, at));
    four = _mm512_inserti32x4::<1>(four, one.load_at(rows, stride + at));
    four = _mm512_inserti32x4::<2>(four, one.load_at(rows, 2 * stride + at));
    _mm512_inserti32x4::<3>(four, one.load_at(rows, 3 * stride + at))
}

/// Turns 16 vectors of 64 bytes into 64 blocks of 16 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn transpose_bytes(simd: Avx512, bytes: &[__m512i; 16], out: &mut [Block; 64]) {
    let index = [simd.load(&INTERLEAVED[0]), simd.load(&INTERLEAVED[1])];
    let zero = _mm512_setzero_si512();
    let mut pairs = [[zero; 2]; 8];
    for (halves, [a, b]) in pairs.iter_mut().zip(bytes.as_chunks().0) {
        *halves = [
            _mm512_permutex2var_epi8(*a, index[0], *b),
            _mm512_permutex2var_epi8(*a, index[1], *b),
        ];
    }
    let mut fours = [[zero; 4]; 4];
    for (quarters, [a, b]) in fours.iter_mut().zip(pairs.as_chunks().0) {
        for k in 0..2 {
            quarters[2 * k] = _mm512_unpacklo_epi16(a[k], b[k]);
            quarters[2 * k + 1] = _mm512_unpackhi_epi16(a[k], b[k]);
        }
    }
    let mut eights = [[zero; 8]; 2];
    for (eighths, [a, b]) in eights.iter_mut().zip(fours.as_chunks().0) {
        for k in 0..4 {
            eighths[2 * k] = _mm512_unpacklo_epi32(a[k], b[k]);
            eighths[2 * k + 1] = _mm512_unpackhi_epi32(a[k], b[k]);
        }
    }
    let [a, b] = eights;
    for (k, out) in out.as_flattened_mut().as_chunks_mut::<128>().0.iter_mut().enumerate() {
        simd.store(_mm512_unpacklo_epi64(a[k], b[k]), out);
        simd.store(_mm512_unpackhi_epi64(a[k], b[k]), &mut out[64..]);
    }
}
