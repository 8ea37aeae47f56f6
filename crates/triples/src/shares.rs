//! One party's part of a batch of triples.

use alloc::vec::Vec;

use crate::{
    erase::{Secret, erase},
    params::Set,
};

/// A party's shares of the triples of a batch, each of ℓ bits, little endian: (a, b, c) such that the sums with the
/// peer's (a′, b′, c′) satisfy c + c′ = (a + a′)·(b + b′) mod 2^ℓ.
///
/// A buffer to be used for one batch after another; erased on drop.
pub struct Shares {
    width: usize,
    n: usize,
    /// Triples for which there is room.
    room: usize,
    bytes: Secret<u8>,
}

impl Shares {
    /// Room for a batch of that set, all zero.
    #[must_use]
    pub fn new(set: &Set) -> Self {
        Self::with(set.width(), set.n())
    }

    /// Room for a batch of `n` triples with shares of `width` bytes, all zero.
    #[must_use]
    pub fn with(width: usize, n: usize) -> Self {
        Self { width, n, room: n, bytes: Secret::zeroed(3 * n * width) }
    }

    /// Returns the number of triples.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.n
    }

    /// Returns true if there are no triples: a batch from oblivious transfer may be empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Bytes of a share: ℓ/8.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// The shares of a, one after another.
    #[must_use]
    pub fn a(&self) -> &[u8] {
        self.part(0)
    }

    /// The shares of b.
    #[must_use]
    pub fn b(&self) -> &[u8] {
        self.part(1)
    }

    /// The shares of c.
    #[must_use]
    pub fn c(&self) -> &[u8] {
        self.part(2)
    }

    /// Triple i, as numbers below 2^ℓ.
    ///
    /// # Panics
    /// If there are fewer triples.
    #[must_use]
    pub fn triple(&self, i: usize) -> [u64; 3] {
        [self.a(), self.b(), self.c()].map(|part| word(&part[i * self.width..][..self.width]))
    }

    /// Takes the last triple out: the three shares, one after another, of a triple that the parties open to each other
    /// and so do not use. `None` if there is none.
    pub fn open_last(&mut self) -> Option<Vec<u8>> {
        let last = self.n.checked_sub(1)? * self.width;
        let parts = [self.a(), self.b(), self.c()].map(|part| &part[last..]);
        let record = parts.concat();
        self.n -= 1;
        Some(record)
    }

    /// Restores the room for the whole batch.
    pub fn restore(&mut self) {
        self.n = self.room;
    }

    fn part(&self, part: usize) -> &[u8] {
        &self.bytes[part * self.room * self.width..][..self.n * self.width]
    }

    /// The shares of a, b and c, to be written.
    pub fn parts_mut(&mut self) -> [&mut [u8]; 3] {
        let len = self.room * self.width;
        let (a, rest) = self.bytes.split_at_mut(len);
        let (b, c) = rest.split_at_mut(len);
        [a, b, c]
    }

    /// Returns true if this is a buffer for batches of the set.
    pub(crate) fn fits(&self, set: &Set) -> bool {
        self.width == set.width() && [self.n, self.room] == [set.n(); 2]
    }

    /// All zero again.
    pub fn clear(&mut self) {
        erase(&mut self.bytes);
    }
}

foxtrot_kernel::redacted! {
    Shares, shares => "{} of {} bytes, <redacted>", shares.n, shares.width;
}

fn word(share: &[u8]) -> u64 {
    share.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Returns true if one triple is wrong, given two parties' shares of ℓ bits one after another.
pub(crate) fn is_wrong(bits: u32, ours: &[u8], theirs: &[u8]) -> bool {
    let width = bits as usize / 8;
    let words = |record: &[u8]| [0, 1, 2].map(|part| word(&record[part * width..][..width]));
    are_wrong(width, words(ours), words(theirs))
}

/// The wrong ones of 64 triples of bits, as bits, given two parties' words of a, b and c.
pub(crate) fn wrong_bits(ours: &[u8], theirs: &[u8]) -> u64 {
    let at = |part: usize| word(&ours[8 * part..][..8]) ^ word(&theirs[8 * part..][..8]);
    at(0) & at(1) ^ at(2)
}

fn are_wrong(width: usize, ours: [u64; 3], theirs: [u64; 3]) -> bool {
    let [a, b, c] = [0, 1, 2].map(|part| ours[part].wrapping_add(theirs[part]));
    // The bits above ℓ leave.
    a.wrapping_mul(b).wrapping_sub(c) << (64 - 8 * width) != 0
}

/// Counts the wrong triples of a batch: c + c′ ≠ (a + a′)·(b + b′) mod 2^ℓ. The function needs the secrets of both
/// parties: it is for tests, and for a person who holds both.
///
/// # Panics
/// If the two differ in length.
#[must_use]
pub fn wrong_in_batch(ours: &Shares, theirs: &Shares) -> usize {
    assert_eq!([ours.width, ours.n], [theirs.width, theirs.n], "shares of one length");
    (0..ours.n).filter(|&i| are_wrong(ours.width, ours.triple(i), theirs.triple(i))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Shares {
        /// Shares of these bytes of a, b and c.
        pub(crate) fn of_parts(width: usize, parts: [&[u8]; 3]) -> Self {
            let mut shares = Self::with(width, parts[0].len() / width);
            for (to, from) in shares.parts_mut().into_iter().zip(parts) {
                to.copy_from_slice(from);
            }
            shares
        }
    }

    #[test]
    fn only_shares_of_zero_triples_are_empty() {
        for n in 0..3 {
            let shares = Shares::with(4, n);
            assert_eq!((shares.len(), shares.is_empty()), (n, n == 0));
        }
    }

    #[test]
    fn the_last_triple_is_taken_out_and_its_room_used_again() {
        let mut shares = Shares::with(2, 3);
        for (part, first) in shares.parts_mut().into_iter().zip([0, 6, 12]) {
            part.iter_mut().zip(first..).for_each(|(byte, value)| *byte = value);
        }
        assert_eq!(shares.open_last().unwrap(), [4, 5, 10, 11, 16, 17]);
        assert_eq!(
            (shares.len(), shares.b(), shares.c()),
            (2, &[6, 7, 8, 9][..], &[12, 13, 14, 15][..])
        );
        assert_eq!(shares.triple(1), [0x0302, 0x0908, 0x0f0e]);
        shares.restore();
        assert_eq!(shares.b(), [6, 7, 8, 9, 10, 11]);
        assert_eq!(Shares::with(2, 0).open_last(), None);
    }

    #[test]
    fn triples_that_are_right_modulo_the_power_of_two_are_right() {
        for width in [1, 2, 4, 8] {
            let numbers = |a: u64, b: u64, c: u64| [a, b, c].map(|x| x.to_le_bytes());
            let (a, b): (u64, u64) = (0xfedc_ba98_7654_3210, 0x1234_5678_9abc_def1);
            let (a1, b1, c1): (u64, u64, u64) = (u64::MAX - 6, 1 << 63 | 76, 0x5555_aaaa_0f0f_1ee7);
            let c = a.wrapping_add(a1).wrapping_mul(b.wrapping_add(b1)).wrapping_sub(c1);
            let (ours, theirs) = (numbers(a, b, c), numbers(a1, b1, c1));
            let shares = |numbers: [[u8; 8]; 3]| {
                Shares::of_parts(width, numbers.each_ref().map(|number| &number[..width]))
            };
            let (ours, mut theirs) = (shares(ours), shares(theirs));
            assert_eq!(wrong_in_batch(&ours, &theirs), 0, "{width}");
            for part in 0..3 {
                theirs.parts_mut()[part][width - 1] ^= 0x80;
                assert_eq!(wrong_in_batch(&ours, &theirs), 1, "{width}");
                theirs.parts_mut()[part][width - 1] ^= 0x80;
            }
        }
    }
}
