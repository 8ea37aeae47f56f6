//! NH with a Toeplitz key, the universal hash of UMAC
//! [[BHKKR99](https://doi.org/10.1007/3-540-48405-1_14)], with words of 32 bits and four sums.
//!
//! Two texts of one length that are fixed before a uniform key is drawn have the same hash with
//! probability 2⁻¹²⁸ at most. It promises no more: a party that knows the key makes collisions at will.

use crate::Backend;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::simd::Simd;

/// The sums of a hash.
const SUMS: usize = 4;

/// Bytes of a hash.
pub const HASH_LEN: usize = 8 * SUMS;

/// Pairs of words in a block; texts are whole blocks.
const PAIRS: usize = 8;

/// Bytes of a key for texts of `text_len` bytes.
#[must_use]
pub const fn key_len(text_len: usize) -> usize {
    text_len + 8 * (SUMS - 1)
}

/// The hashes of texts of one length, one after another: sum l of pairs (a, b) of little-endian
/// words is Σ (a + κ)·(b + κ′) mod 2⁶⁴, summands mod 2³², where pair p takes pair p + l of the key.
///
/// # Panics
/// If a text has not a multiple of 64 bytes, the key not the length for it, or not every text a
/// hash.
pub fn hash(backend: Backend, key: &[u8], texts: &[u8], hashes: &mut [[u8; HASH_LEN]]) {
    let text_len = key.len().saturating_sub(8 * (SUMS - 1));
    assert!(text_len > 0 && text_len.is_multiple_of(8 * PAIRS), "whole blocks");
    assert_eq!(texts.len(), hashes.len() * text_len, "as many texts as hashes");
    let texts = texts.chunks_exact(text_len).zip(hashes);
    dispatch!(
        neon backend,
        simd => for (text, hash) in texts {
            set_hash(simd, key, text, hash);
        },
        for (text, hash) in texts {
            for (l, hash) in hash.as_chunks_mut().0.iter_mut().enumerate() {
                *hash = sum(&key[8 * l..][..text_len], text).to_le_bytes();
            }
        },
    );
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn set_hash<S: Simd>(simd: S, key: &[u8], text: &[u8], hash: &mut [u8; HASH_LEN]) {
    let mut sums = [simd.splat_words(0); SUMS];
    for (place, text) in (0..).step_by(4 * S::WORDS).zip(text.chunks_exact(4 * S::WORDS)) {
        let text = simd.load_words(text);
        let keys = &key[place..place + 4 * S::WORDS + 8 * (SUMS - 1)];
        for l in 0..SUMS {
            let pairs = simd.add_words(text, simd.load_words(&keys[8 * l..]));
            sums[l] = simd.add_products_of_words(sums[l], pairs);
        }
    }
    for l in 0..SUMS {
        hash[8 * l..8 * (l + 1)].copy_from_slice(&simd.sum_words(sums[l]).to_le_bytes());
    }
}

/// The sum with that part of the key.
#[inline(always)]
fn sum(key: &[u8], text: &[u8]) -> u64 {
    // Independent sums become vectors, where there are any; small machines have no registers for them.
    const WAYS: usize = if crate::SMALL { 1 } else { PAIRS };
    let mut sums = [0u64; WAYS];
    let blocks = text.as_chunks::<{ 8 * PAIRS }>().0.iter().zip(key.as_chunks::<{ 8 * PAIRS }>().0);
    for (text, key) in blocks {
        let pairs = text.as_chunks().0.iter().zip(key.as_chunks().0);
        for (p, (text, key)) in pairs.enumerate() {
            sums[p % WAYS] = sums[p % WAYS].wrapping_add(product(*text, *key));
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

/// (a + κ)·(b + κ′), summands mod 2³².
#[inline(always)]
fn product(pair: [u8; 8], key: [u8; 8]) -> u64 {
    let low = |x: u64| x & u64::from(u32::MAX);
    let (pair, key) = (u64::from_le_bytes(pair), u64::from_le_bytes(key));
    low(low(pair) + low(key)) * low((pair >> 32) + (key >> 32))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{vec, vec::Vec};

    use super::*;
    use crate::laws::{Stream, on_every_backend};

    /// Computes NH as the paper writes it, with words K₁ to K_{n+2(t−1)}.
    fn by_definition(key: &[u8], text: &[u8]) -> Vec<u8> {
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
        };
        let (key, text) = (words(key), words(text));
        let sum = |l: usize| {
            (0..text.len() / 2).fold(0u64, |sum, p| {
                let a = text[2 * p].wrapping_add(key[2 * (p + l)]);
                let b = text[2 * p + 1].wrapping_add(key[2 * (p + l) + 1]);
                sum.wrapping_add(u64::from(a) * u64::from(b))
            })
        };
        (0..4).flat_map(|l| sum(l).to_le_bytes()).collect()
    }

    fn is_what_the_paper_says(backend: Backend) {
        let mut stream = Stream(3);
        for text_len in [64, 192, 2176] {
            for number in [0, 1, 3] {
                for extreme in [false, true] {
                    let mut bytes = |len| if extreme { vec![255; len] } else { stream.bytes(len) };
                    let (key, texts) = (bytes(key_len(text_len)), bytes(number * text_len));
                    let mut hashes = vec![[0; HASH_LEN]; number];
                    hash(backend, &key, &texts, &mut hashes);
                    for (text, hash) in texts.chunks(text_len).zip(&hashes) {
                        assert_eq!(hash[..], by_definition(&key, text));
                    }
                }
            }
        }
    }

    fn sees_every_word_in_every_sum(backend: Backend) {
        let mut stream = Stream(5);
        let (key, text) = (stream.bytes(key_len(2176)), stream.bytes(2176));
        let sums = |text: &[u8]| {
            let mut hashes = [[0; HASH_LEN]];
            hash(backend, &key, text, &mut hashes);
            hashes[0]
        };
        let here = sums(&text);
        for word in 0..2176 / 4 {
            let mut changed = text.clone();
            changed[4 * word] ^= 1;
            for (here, there) in here.chunks(8).zip(sums(&changed).chunks(8)) {
                assert_ne!(here, there, "{word}");
            }
        }
    }

    on_every_backend! {
        the_hash_is_what_the_paper_says => is_what_the_paper_says;
        every_sum_sees_every_word => sees_every_word_in_every_sum;
    }

    #[test]
    #[should_panic(expected = "as many texts")]
    fn a_key_of_the_wrong_length_is_refused() {
        hash(Backend::best(), &[0; 64 + 24], &[0; 128], &mut [[0; HASH_LEN]]);
    }
}
