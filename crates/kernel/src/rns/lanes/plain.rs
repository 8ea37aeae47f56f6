//! Packing, and uniform residues from words, in plain Rust.

use crate::{
    halves,
    rns::{GRANULE, Modulus},
};

/// Returns the beginning of word `i` of a granule: its first byte, and the bit in that byte.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) const fn place(bits: u32, i: u32) -> (u32, u32) {
    (bits * i / 8, bits * i % 8)
}

/// The most bits for which a word, wherever in a byte it begins, is within eight bytes.
const SHORT: u32 = 57;

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn pack(bits: u32, words: &[u64], bytes: &mut [u8]) {
    let granule = bits as usize;
    let (words, _) = words.as_chunks::<GRANULE>();
    for (i, words) in words.iter().enumerate() {
        let bytes = &mut bytes[i * granule..];
        if bits <= SHORT && bytes.len() >= granule + 8 {
            pack_short(bits, words, bytes);
        } else {
            pack_any(bits, words, &mut bytes[..granule]);
        }
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn unpack(bits: u32, bytes: &[u8], words: &mut [u64]) {
    let granule = bits as usize;
    let (words, _) = words.as_chunks_mut::<GRANULE>();
    for (i, words) in words.iter_mut().enumerate() {
        let bytes = &bytes[i * granule..];
        if bits <= SHORT && bytes.len() >= granule + 8 {
            for (k, word) in (0..).zip(words) {
                let (byte, shift) = place(bits, k);
                *word = word_at(&bytes[byte as usize..]) >> shift & (u64::MAX >> (64 - bits));
            }
        } else {
            unpack_any(bits, &bytes[..granule], words);
        }
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn word_at(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
}

/// Every word with the last bits before it; what that writes beyond the granule the next one
/// overwrites.
#[cfg_attr(not(unoptimized), inline(always))]
fn pack_short(bits: u32, words: &[u64; GRANULE], bytes: &mut [u8]) {
    let mut before = 0;
    for (k, word) in (0..).zip(words) {
        let (byte, shift) = place(bits, k);
        // shift is at most 7, so a word of 57 bits ends within the eight bytes.
        let packed = before | word << shift;
        bytes[byte as usize..][..8].copy_from_slice(&packed.to_le_bytes());
        let (next, _) = place(bits, k + 1);
        before = packed.checked_shr(8 * (next - byte)).unwrap_or(0);
    }
}

/// Eight words to as many bytes as a word has bits.
#[cfg_attr(not(unoptimized), inline(always))]
fn pack_any(bits: u32, words: &[u64; GRANULE], bytes: &mut [u8]) {
    let mut packed = [0u64; GRANULE + 1];
    let mut at = 0;
    for word in words {
        let (index, shift) = (at as usize / 64, at % 64);
        packed[index] |= word << shift;
        // In two shifts: by 64 at once, where shift is 0, would be none.
        packed[index + 1] |= word >> 1 >> (63 - shift);
        at += bits;
    }
    let (whole, rest) = bytes.as_chunks_mut::<8>();
    for (bytes, word) in whole.iter_mut().zip(&packed) {
        *bytes = word.to_le_bytes();
    }
    rest.copy_from_slice(&packed[whole.len()].to_le_bytes()[..rest.len()]);
}

#[cfg_attr(not(unoptimized), inline(always))]
fn unpack_any(bits: u32, bytes: &[u8], words: &mut [u64; GRANULE]) {
    let mut packed = [0u64; GRANULE + 1];
    let (whole, rest) = bytes.as_chunks::<8>();
    for (word, bytes) in packed.iter_mut().zip(whole) {
        *word = u64::from_le_bytes(*bytes);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    packed[whole.len()] = u64::from_le_bytes(last);
    let mut at = 0;
    for word in words {
        let (index, shift) = (at as usize / 64, at % 64);
        *word = (packed[index] >> shift | packed[index + 1] << 1 << (63 - shift))
            & (u64::MAX >> (64 - bits));
        at += bits;
    }
}

/// [`Lanes::accept`](super::Lanes::accept).
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn accept(p: &Modulus, threshold: u64, words: &[[u8; 8]], out: &mut [u64]) -> usize {
    let mut filled = 0;
    let (eights, rest) = words.as_chunks::<8>();
    for words in eights {
        let products = words.map(inlined!(|word| halves(
            u128::from(u64::from_le_bytes(word)) * u128::from(p.value())
        )));
        // A word is rejected with probability p/2⁶⁴ < 2⁻¹⁴ at most: one branch for eight words,
        // which goes one way nearly always.
        let all = products.iter().fold(true, |all, [low, _]| all & (*low >= threshold));
        if all && let Some(out) = out[filled..].first_chunk_mut::<8>() {
            *out = products.map(|[_, high]| high);
            filled += 8;
        } else {
            filled += accept_some(p, threshold, words, &mut out[filled..]);
        }
    }
    filled + accept_some(p, threshold, rest, &mut out[filled..])
}

fn accept_some(p: &Modulus, threshold: u64, words: &[[u8; 8]], out: &mut [u64]) -> usize {
    let mut filled = 0;
    for word in words {
        let product = u128::from(u64::from_le_bytes(*word)) * u128::from(p.value());
        let [low, high] = halves(product);
        if low >= threshold && filled < out.len() {
            out[filled] = high;
            filled += 1;
        }
    }
    filled
}
