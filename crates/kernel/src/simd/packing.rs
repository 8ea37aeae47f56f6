//! The orders in which bytes are shuffled to unpack eight lanes of BITS bits, and to pack them.

/// An index that shuffles to zero on every instruction set.
pub(super) const ZERO: u8 = 0x80;

/// Lane k is ⌊low·2^UP\[k\]/2¹⁶⌋ | high·2^UP\[k\] mod 2¹⁶, cut to BITS bits, where low and high are
/// words of four bytes in a row.
pub(super) struct Unpacking<const BITS: usize>;

impl<const BITS: usize> Unpacking<BITS> {
    pub(super) const LOW: [u8; 16] = Self::bytes(0);
    pub(super) const HIGH: [u8; 16] = Self::bytes(2);
    /// 8 to 15.
    pub(super) const UP: [i16; 8] = {
        let mut up = [15; 8];
        let mut k = 0;
        while k < 8 {
            // One to eight bits of the low word belong to the lane before.
            let mut more = (BITS * k + 7) % 8;
            while more > 0 {
                (up[k], more) = (up[k] - 1, more - 1);
            }
            k += 1;
        }
        up
    };

    /// Byte `first` and the next one of those from which each lane comes; ZERO outside the BITS
    /// bytes.
    #[expect(clippy::cast_possible_truncation, reason = "below 16")]
    const fn bytes(first: usize) -> [u8; 16] {
        assert!(BITS > 8 && BITS < 15);
        let mut order = [ZERO; 16];
        let mut i = 0;
        while i < 16 {
            // One more than the index, which is −1 for the bits before the first.
            let next = (BITS * (i / 2)).div_ceil(8) + first + i % 2;
            if next >= 1 && next <= BITS {
                order[i] = (next - 1) as u8;
            }
            i += 1;
        }
        order
    }
}

/// The composition of two numbers of 4·BITS bits, in two 64-bit lanes.
pub(super) struct Packing<const BITS: usize>;

impl<const BITS: usize> Packing<BITS> {
    /// Bits that the upper number moves left, to begin where the lower one ends in its byte.
    pub(super) const UP: i64 = (4 * BITS % 8) as i64;
    pub(super) const LOWER: [u8; 16] = Self::bytes(0);
    pub(super) const UPPER: [u8; 16] = Self::bytes(1);

    #[expect(clippy::cast_possible_truncation, reason = "below 16")]
    const fn bytes(number: usize) -> [u8; 16] {
        // The factor by which pairs are made is signed.
        assert!(BITS > 8 && BITS < 15);
        let mut order = [ZERO; 16];
        let mut i = 0;
        while i < BITS {
            let start = number * (4 * BITS / 8);
            if i >= start && i < start + 8 && (number == 1 || i < (4 * BITS).div_ceil(8)) {
                order[i] = (8 * number + i - start) as u8;
            }
            i += 1;
        }
        order
    }
}
