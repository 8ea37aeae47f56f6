//! Packing, and uniform residues from words.

use super::super::plain::{self, place};
use super::*;
use crate::{blocks::Blocks, simd::avx512::Avx512};

/// The most bits of a word for which it takes part of eight bytes only, and the fewest for which two
/// words at most are in one byte.
const MOST: u32 = 57;
const FEWEST: u32 = 8;

/// The first 64 bytes, or all if there are fewer.
#[cfg_attr(not(unoptimized), inline(always))]
fn load_bytes(l: Avx512, bytes: &[u8]) -> __m512i {
    match bytes.first_chunk::<64>() {
        Some(bytes) => Blocks::load(l, bytes),
        None => l.load_part(bytes),
    }
}

/// Returns, for each lane, the number of bits from the beginning of a byte to its word.
#[cfg_attr(not(unoptimized), inline(always))]
fn shifts(bits: u32) -> __m512i {
    load(&[0, 1, 2, 3, 4, 5, 6, 7].map(inlined!(|lane| place(bits, lane).1.into())))
}

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn pack(l: Avx512, bits: u32, words: &[u64], bytes: &mut [u8]) {
    let granule = bits as usize;
    if bits == 1 {
        for (words, byte) in words.chunks_exact(8).zip(bytes) {
            *byte = avx512!(_mm512_test_epi64_mask(load(words), set(1)));
        }
        return;
    }
    if !(FEWEST..=MOST).contains(&bits) {
        plain::pack(bits, words, bytes);
        return;
    }
    // Byte b of the granule begins in one word and ends in the same or the next: which bytes of the
    // shifted words these are. Bytes beyond the granule are any.
    let (mut begins, mut ends, mut two) = ([0; 64], [0; 64], 0u64);
    for b in 0..bits {
        let (first, last) = (8 * b / bits, (8 * b + 7) / bits);
        let within = |word: u32| (8 * word + b - place(bits, word).0).to_le_bytes()[0];
        begins[b as usize] = within(first);
        if last != first {
            ends[b as usize] = within(last);
            two |= 1 << b;
        }
    }
    let (begins, ends, shifts) = (Blocks::load(l, &begins), Blocks::load(l, &ends), shifts(bits));
    for (i, words) in words.chunks_exact(8).enumerate() {
        let packed = avx512!({
            let shifted = _mm512_sllv_epi64(load(words), shifts);
            let first = _mm512_permutexvar_epi8(begins, shifted);
            _mm512_or_si512(first, _mm512_maskz_permutexvar_epi8(two, ends, shifted))
        });
        let bytes = &mut bytes[i * granule..];
        match bytes.first_chunk_mut::<64>() {
            // What this writes beyond the granule the next one overwrites.
            Some(bytes) => Blocks::store(l, packed, bytes),
            None => l.store_part(packed, &mut bytes[..granule]),
        }
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn unpack(l: Avx512, bits: u32, bytes: &[u8], words: &mut [u64]) {
    let granule = bits as usize;
    if bits > MOST {
        plain::unpack(bits, bytes, words);
        return;
    }
    let mut table = [0; 64];
    for (b, byte) in (0..).zip(&mut table) {
        [*byte, ..] = (place(bits, b / 8).0 + b % 8).to_le_bytes();
    }
    let (table, shifts, mask) =
        (Blocks::load(l, &table), shifts(bits), set(u64::MAX >> (64 - bits)));
    for (i, words) in words.chunks_exact_mut(8).enumerate() {
        let packed = load_bytes(l, &bytes[i * granule..]);
        let unpacked = avx512!({
            let shifted = _mm512_srlv_epi64(_mm512_permutexvar_epi8(table, packed), shifts);
            _mm512_and_si512(shifted, mask)
        });
        l.suspend(unpacked, words);
    }
}

/// The low and the high word of w·p, for p < 2⁵⁰.
#[cfg_attr(not(unoptimized), inline(always))]
fn product(w: __m512i, p: __m512i) -> [__m512i; 2] {
    // w = 2¹²·a + b.
    let a = avx512!(_mm512_srli_epi64::<12>(w));
    let b = avx512!(_mm512_and_si512(w, set((1 << 12) - 1)));
    let zero = set(0);
    let (low_a, high_a) = (low(zero, a, p), high(zero, a, p));
    let (low_b, high_b) = (low(zero, b, p), high(zero, b, p));
    avx512!({
        let part = _mm512_slli_epi64::<12>(low_a);
        let sum = add(part, add(low_b, _mm512_slli_epi64::<52>(high_b)));
        let carry = _mm512_cmplt_epu64_mask(sum, part);
        [sum, _mm512_mask_add_epi64(high_a, carry, high_a, set(1))]
    })
}

#[cfg_attr(not(unoptimized), inline(always))]
fn load_words(l: Avx512, words: &[[u8; 8]]) -> __m512i {
    load_bytes(l, words.as_flattened())
}

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn accept(
    l: Avx512,
    p: &Modulus,
    threshold: u64,
    words: &[[u8; 8]],
    out: &mut [u64],
) -> usize {
    let (prime, bound) = (set(p.value()), set(threshold));
    let mut filled = 0;
    let mut eights = words.chunks_exact(8);
    for words in &mut eights {
        let [low, high] = product(load_words(l, words), prime);
        let accepted = avx512!(_mm512_cmpge_epu64_mask(low, bound));
        let residues = avx512!(_mm512_maskz_compress_epi64(accepted, high));
        let out = &mut out[filled..];
        let n = accepted.count_ones() as usize;
        if out.len() >= 8 {
            l.suspend(residues, out);
            filled += n;
        } else {
            let mut last = [0; 8];
            l.suspend(residues, &mut last);
            let n = n.min(out.len());
            out[..n].copy_from_slice(&last[..n]);
            filled += n;
        }
    }
    filled + plain::accept(p, threshold, eights.remainder(), &mut out[filled..])
}
