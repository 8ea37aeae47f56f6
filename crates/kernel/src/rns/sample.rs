//! Random coefficients, from keystreams of AES-128 in counter mode.
//!
//! [`Streams`] and the number of a *stream* determine a polynomial. Each is for one call; what is drawn, and
//! how many words of the stream it takes, is documented with the function, and is the same on every backend.
//! The words of a stream are 64 bits long, little endian.

use core::array;

use super::{Modulus, check, lanes::Lanes};
use crate::{Backend, aes::Aes128, erase, halves};

/// The parameter of [`binomial`]: 2·21 bits per coefficient, the variance is 21/2.
pub const ETA: u32 = 21;

/// Words of a stream that are made at a time.
const BUFFER: usize = 512;

/// Trits from one number of 128 bits.
const TRITS: usize = 32;

/// The streams of a key and a nonce ν: block j < 2⁵⁶ of stream s < 2⁸ is the encryption of
/// j + 2⁵⁶·s + 2⁶⁴·ν, little endian, so that streams do not meet.
///
/// Where every key has a nonce of its own, a search for one of many keys has to be done for each of
/// them.
pub struct Streams {
    aes: Aes128,
    nonce: u64,
}

impl Streams {
    /// Makes streams from 24 bytes: the key, then ν.
    #[must_use]
    pub fn new(backend: Backend, coins: &[u8; 24]) -> Self {
        let (key, nonce) = coins.split_at(16);
        let mut block = array::from_fn(|k| key[k]);
        let aes = Aes128::new(backend, &block);
        erase(&mut block, 0);
        Self { aes, nonce: u64::from_le_bytes(array::from_fn(|k| nonce[k])) }
    }

    /// A stream as it is.
    ///
    /// # Panics
    /// If `out` is not a multiple of 16 bytes, or there is no such stream.
    pub fn bytes(&self, stream: u64, out: &mut [u8]) {
        self.aes.ctr(self.first(stream), out);
    }

    /// The counter of a stream's first block.
    fn first(&self, stream: u64) -> u128 {
        assert!(stream < 1 << 8, "no such stream");
        u128::from(self.nonce) << 64 | u128::from(stream << 56)
    }

    fn backend(&self) -> Backend {
        self.aes.backend()
    }
}

redacted! {
    Streams;
}

/// A keystream by words; erased on drop.
struct Stream<'a> {
    aes: &'a Aes128,
    next: u128,
    bytes: [u8; 8 * BUFFER],
}

impl<'a> Stream<'a> {
    fn new(streams: &'a Streams, stream: u64) -> Self {
        Self { aes: &streams.aes, next: streams.first(stream), bytes: [0; 8 * BUFFER] }
    }

    /// The next words, an even number of them, at most [`BUFFER`].
    #[cfg_attr(not(unoptimized), inline(always))]
    fn words(&mut self, n: usize) -> &[[u8; 8]] {
        let bytes = &mut self.bytes[..8 * n];
        self.aes.ctr(self.next, bytes);
        self.next += n as u128 / 2;
        bytes.as_chunks().0
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        erase(&mut self.bytes, 0);
    }
}

/// Uniform residues for all to see, by rejection: exactly uniform, but time and addresses depend on
/// what is rejected.
///
/// The word w gives ⌊w·p/2⁶⁴⌋, unless w·p mod 2⁶⁴ is below 2⁶⁴ mod p (Lemire, *Fast random integer
/// generation in an interval*, 2019); the next word then takes its place.
pub fn uniform_public(streams: &Streams, stream: u64, p: &Modulus, out: &mut [u64]) {
    check(out.len(), &[]);
    let mut stream = Stream::new(streams, stream);
    // (2⁶⁴ − p) mod p = 2⁶⁴ mod p.
    let threshold = p.value().wrapping_neg() % p.value();
    let mut filled = 0;
    while filled < out.len() {
        let wanted = (out.len() - filled).next_multiple_of(2).min(BUFFER);
        let words = stream.words(wanted);
        let out = &mut out[filled..];
        filled += dispatch!(streams.backend(), l => l.accept(p, threshold, words, out));
    }
}

/// Uniform ternary coefficients, −1, 0 or 1.
///
/// Each number w of two words, the low one first, gives 32 of them: the digits of ⌊w·3³²/2¹²⁸⌋ to base 3,
/// the highest first, less 1. Their statistical distance from uniform is at most 3³²/2¹³⁰ < 2⁻⁷⁹.
pub fn ternary(streams: &Streams, stream: u64, out: &mut [i8]) {
    check(out.len(), &[]);
    let mut stream = Stream::new(streams, stream);
    for out in out.chunks_mut(BUFFER / 2 * TRITS) {
        let words = stream.words(2 * out.len().div_ceil(TRITS));
        streams.backend().run(inlined!(|| {
            for (out, [low, high]) in out.chunks_mut(TRITS).zip(words.as_chunks().0) {
                let [mut low, mut high] = [*low, *high].map(u64::from_le_bytes);
                for out in out {
                    // The carry out of 128 bits of 3w is the next digit; 3w mod 2¹²⁸ has those
                    // after it.
                    let [digit_low, carry] = halves(u128::from(low) * 3);
                    let [digit_high, digit] = halves(u128::from(high) * 3 + u128::from(carry));
                    (low, high) = (digit_low, digit_high);
                    *out = digit.to_le_bytes()[0].cast_signed() - 1;
                }
            }
        }));
    }
}

/// Centred binomial coefficients: the ones among the low 21 bits of a word less those among the next
/// 21 bits. Exact.
pub fn binomial(streams: &Streams, stream: u64, out: &mut [i8]) {
    check(out.len(), &[]);
    let mut stream = Stream::new(streams, stream);
    for out in out.chunks_mut(BUFFER) {
        let words = stream.words(out.len());
        streams.backend().run(inlined!(|| {
            for (out, word) in out.iter_mut().zip(words) {
                let word = u64::from_le_bytes(*word);
                let ones = |word: u64| ones(word & ((1 << ETA) - 1));
                *out = ones(word) - ones(word >> ETA);
            }
        }));
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn ones(x: u64) -> i8 {
    // Counts in two bits, in four, in eight; the product has their sum in its top byte.
    let x = x - (x >> 1 & 0x5555_5555);
    let x = (x & 0x3333_3333) + (x >> 2 & 0x3333_3333);
    let x = (x + (x >> 4)) & 0x0f0f_0f0f;
    (x.wrapping_mul(0x0101_0101) >> 24).to_le_bytes()[0].cast_signed()
}
