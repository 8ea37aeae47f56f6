//! Packed secret bits.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::memcheck;
use subtle::Choice;
use zeroize::Zeroize;

use crate::{Decode, expect_len};

/// Secret bits, packed eight to a byte, the least significant first; spare bits are zero.
///
/// Comparing two takes variable time: it is for tests.
#[derive(Default, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    /// Packs one bool per bit.
    pub fn from_bools(bits: impl IntoIterator<Item = bool>) -> Self {
        let bits = bits.into_iter();
        // Without growing, which would leave copies behind.
        let bytes = Vec::with_capacity(bits.size_hint().0.div_ceil(8));
        let mut packed = Self { bytes, len: 0 };
        for bit in bits {
            if packed.len.is_multiple_of(8) {
                packed.bytes.push(0);
            }
            packed.bytes[packed.len / 8] |= u8::from(bit) << (packed.len % 8);
            packed.len += 1;
        }
        packed
    }

    /// The first `len` of packed bits.
    ///
    /// # Panics
    /// If there are fewer than ⌈len/8⌉ bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8], len: usize) -> Self {
        Self::from_random(bytes[..len.div_ceil(8)].to_vec(), len)
    }

    /// Takes packed bytes, of which there are ⌈len/8⌉; spare bits are cleared.
    pub(crate) fn from_random(mut bytes: Vec<u8>, len: usize) -> Self {
        debug_assert_eq!(bytes.len(), len.div_ceil(8));
        if let (Some(last), spare @ 1..) = (bytes.last_mut(), len % 8) {
            *last &= (1 << spare) - 1;
        }
        Self { bytes, len }
    }

    /// Decodes packed bytes of the peer.
    ///
    /// # Errors
    /// [`Decode`] if their number is not ⌈len/8⌉ or spare bits are set.
    pub fn decode(message: &'static str, bytes: &[u8], len: usize) -> Result<Self, Decode> {
        expect_len(message, bytes, len.div_ceil(8))?;
        match (bytes.last(), len % 8) {
            (Some(last), spare @ 1..) if last >> spare != 0 => Err(Decode::SpareBits { message }),
            _ => Ok(Self { bytes: bytes.to_vec(), len }),
        }
    }

    /// Number of bits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no choices.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The packed bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bit i.
    ///
    /// # Panics
    /// If i is not below [`Bits::len`].
    #[must_use]
    pub fn get(&self, i: usize) -> Choice {
        assert!(i < self.len, "bit {i} of {}", self.len);
        Choice::from(self.bytes[i / 8] >> (i % 8) & 1)
    }

    /// The bits `range` of these.
    ///
    /// # Panics
    /// If the range ends behind the last bit.
    #[must_use]
    pub fn slice(&self, range: core::ops::Range<usize>) -> Self {
        assert!(range.end <= self.len, "bits to {} of {}", range.end, self.len);
        if range.start.is_multiple_of(8) {
            let bytes = self.bytes[range.start / 8..range.end.div_ceil(8)].to_vec();
            return Self::from_random(bytes, range.len());
        }
        let mut packed = vec![0; range.len().div_ceil(8)];
        for (k, i) in range.clone().enumerate() {
            packed[k / 8] |= self.get(i).unwrap_u8() << (k % 8);
        }
        Self { bytes: packed, len: range.len() }
    }

    /// Replaces the first bits of a packed list.
    pub(crate) fn copy_to(&self, all: &mut [u8]) {
        let (whole, rest) = self.bytes.split_at(self.len / 8);
        all[..whole.len()].copy_from_slice(whole);
        if let [rest] = rest {
            let kept = u8::MAX << (self.len % 8);
            all[whole.len()] = all[whole.len()] & kept | rest;
        }
    }

    /// These bits are sent, or about to be.
    pub(crate) fn make_public(&mut self) {
        memcheck::public(&mut self.bytes);
    }

    /// The bitwise sum of two lists of the same length.
    pub(crate) fn xor(&self, other: &Self) -> Self {
        debug_assert_eq!(self.len, other.len);
        let bytes = self.bytes.iter().zip(&other.bytes).map(|(a, b)| a ^ b).collect();
        Self { bytes, len: self.len }
    }
}

/// The outcome of a check, by which the run goes on or ends: the peer learns it.
pub(crate) fn verdict(check: Choice) -> bool {
    memcheck::decided(check.into())
}

/// Copies `one` or `zero` as the choice says, reading both.
///
/// # Panics
/// If the three have not the same length.
#[inline]
pub fn select(choice: Choice, zero: &[u8], one: &[u8], chosen: &mut [u8]) {
    assert!(zero.len() == chosen.len() && one.len() == chosen.len(), "strings of one length");
    let mask = choice.unwrap_u8().wrapping_neg();
    let (words, rest) = chosen.as_chunks_mut::<4>();
    let wide = u32::from_ne_bytes([mask; 4]);
    for ((chosen, &zero), &one) in words.iter_mut().zip(zero.as_chunks().0).zip(one.as_chunks().0) {
        let (zero, one) = (u32::from_ne_bytes(zero), u32::from_ne_bytes(one));
        *chosen = (zero ^ (zero ^ one) & wide).to_ne_bytes();
    }
    let ends = zero.as_chunks::<4>().1.iter().zip(one.as_chunks::<4>().1);
    for (chosen, (zero, one)) in rest.iter_mut().zip(ends) {
        *chosen = zero ^ (zero ^ one) & mask;
    }
}

impl Drop for Bits {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

foxtrot_kernel::redacted! {
    Bits, bits => "<{} redacted>", bits.len;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn select_copies_strings_of_every_length() {
        for len in 0..10 {
            let [zero, one] = [1, 101].map(|first| (first..).take(len).collect::<Vec<u8>>());
            for (choice, expected) in [(0, &zero), (1, &one)] {
                let mut chosen = alloc::vec![0; len];
                select(Choice::from(choice), &zero, &one, &mut chosen);
                assert_eq!(chosen, *expected);
            }
        }
    }

    #[test]
    fn bits_are_packed_least_significant_first() {
        let bits = Bits::from_bools([true, false, true, true, false, false, false, false, true]);
        assert_eq!((bits.as_bytes(), bits.len()), ([0x0d, 0x01].as_slice(), 9));
        assert_eq!(
            (0..9).map(|i| bits.get(i).unwrap_u8()).collect::<Vec<_>>(),
            [1, 0, 1, 1, 0, 0, 0, 0, 1]
        );
        assert_eq!(
            bits.slice(2..9),
            Bits::from_bools([true, true, false, false, false, false, true])
        );
    }

    #[test]
    fn decoding_is_strict() {
        assert!(Bits::decode("x", &[0xff, 0x01], 9).is_ok());
        assert!(Bits::decode("x", &[], 0).is_ok());
        assert_eq!(Bits::decode("x", &[0xff, 0x02], 9), Err(Decode::SpareBits { message: "x" }));
        for wrong in [&[0xff][..], &[0xff, 0, 0]] {
            assert!(matches!(Bits::decode("x", wrong, 9), Err(Decode::Length { .. })));
        }
    }

    #[test]
    fn random_bytes_lose_their_spare_bits() {
        assert_eq!(Bits::from_random(vec![0xff, 0xff], 9), Bits::from_bools([true; 9]));
        assert_eq!(Bits::from_random(vec![0xff], 8), Bits::from_bools([true; 8]));
    }
}
