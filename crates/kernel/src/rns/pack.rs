//! Words of few bits, one after another, the least significant bit first.

use super::{GRANULE, Modulus, OutOfRange, check};
use crate::Backend;

/// Bytes that hold n words, a multiple of [`GRANULE`], of that many bits.
#[must_use]
pub const fn packed_len(n: usize, bits: u32) -> usize {
    n / GRANULE * bits as usize
}

/// Packs words below 2^`bits`.
///
/// # Panics
/// Unless `bits` is 1 to 64 and the lengths fit.
pub fn pack(backend: Backend, bits: u32, words: &[u64], bytes: &mut [u8]) {
    check_lengths(bits, words.len(), bytes.len());
    backend.run(
        #[inline(always)]
        || {
            let (words, _) = words.as_chunks::<GRANULE>();
            for (words, bytes) in words.iter().zip(bytes.chunks_exact_mut(bits as usize)) {
                pack_granule(bits, words, bytes);
            }
        },
    );
}

/// The inverse of [`pack`]; every string of that length is valid.
///
/// # Panics
/// As [`pack`].
pub fn unpack(backend: Backend, bits: u32, bytes: &[u8], words: &mut [u64]) {
    check_lengths(bits, words.len(), bytes.len());
    backend.run(
        #[inline(always)]
        || {
            let (words, _) = words.as_chunks_mut::<GRANULE>();
            for (words, bytes) in words.iter_mut().zip(bytes.chunks_exact(bits as usize)) {
                unpack_granule(bits, bytes, words);
            }
        },
    );
}

/// The inverse of [`pack`] for residues, which have the bits of p.
///
/// # Errors
/// [`OutOfRange`] if a word is not below p; the words are then of no use.
///
/// # Panics
/// If the lengths do not fit.
pub fn unpack_residues(
    backend: Backend,
    p: &Modulus,
    bytes: &[u8],
    words: &mut [u64],
) -> Result<(), OutOfRange> {
    unpack(backend, p.bits(), bytes, words);
    let beyond = backend.run(
        #[inline(always)]
        || words.iter().fold(0, |beyond, word| beyond | u64::from(*word >= p.value())),
    );
    if beyond == 0 { Ok(()) } else { Err(OutOfRange) }
}

fn check_lengths(bits: u32, words: usize, bytes: usize) {
    check(words, &[]);
    assert!((1..=64).contains(&bits), "bits of a word");
    assert!(bytes == packed_len(words, bits), "bytes for all words");
}

/// Eight words to as many bytes as a word has bits.
#[inline(always)]
fn pack_granule(bits: u32, words: &[u64; GRANULE], bytes: &mut [u8]) {
    let mut packed = [0u64; GRANULE + 1];
    let mut at = 0;
    for word in words {
        let (index, shift) = (at as usize / 64, at % 64);
        packed[index] |= word << shift;
        packed[index + 1] |= word >> 1 >> (63 - shift);
        at += bits;
    }
    let (whole, rest) = bytes.as_chunks_mut::<8>();
    for (bytes, word) in whole.iter_mut().zip(&packed) {
        *bytes = word.to_le_bytes();
    }
    rest.copy_from_slice(&packed[whole.len()].to_le_bytes()[..rest.len()]);
}

#[inline(always)]
fn unpack_granule(bits: u32, bytes: &[u8], words: &mut [u64; GRANULE]) {
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
