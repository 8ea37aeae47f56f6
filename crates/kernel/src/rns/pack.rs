//! Words of few bits, one after another, the least significant bit first.

use super::{GRANULE, Modulus, OutOfRange, check, lanes::Lanes};
use crate::Backend;

/// Bytes that hold n words, a multiple of [`GRANULE`], of `bits` bits each.
#[must_use]
pub const fn packed_len(n: usize, bits: u32) -> usize {
    n / GRANULE * bits as usize
}

/// Packs words below 2^`bits`, 1 to 64 bits.
pub fn pack(backend: Backend, bits: u32, words: &[u64], bytes: &mut [u8]) {
    check_lengths(bits, words.len(), bytes.len());
    dispatch!(backend, l => l.pack(bits, words, bytes));
}

/// The inverse of [`pack`]; every string of that length is valid.
pub fn unpack(backend: Backend, bits: u32, bytes: &[u8], words: &mut [u64]) {
    check_lengths(bits, words.len(), bytes.len());
    dispatch!(backend, l => l.unpack(bits, bytes, words));
}

/// The inverse of [`pack`] for residues, which have the bits of p.
///
/// # Errors
/// [`OutOfRange`] if a word is not below p; the words are then of no use.
pub fn unpack_residues(
    backend: Backend,
    p: &Modulus,
    bytes: &[u8],
    words: &mut [u64],
) -> Result<(), OutOfRange> {
    unpack(backend, p.bits(), bytes, words);
    let beyond = backend.run(inlined!(|| words
        .iter()
        .fold(0, |beyond, word| beyond | u64::from(*word >= p.value()))));
    if beyond == 0 { Ok(()) } else { Err(OutOfRange) }
}

fn check_lengths(bits: u32, words: usize, bytes: usize) {
    check(words, &[]);
    assert!((1..=64).contains(&bits), "bits of a word");
    assert!(bytes == packed_len(words, bits), "bytes for all words");
}
