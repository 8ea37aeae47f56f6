//! Plain Rust: one block, an integer.

use core::hint::black_box;

use super::{Blocks, Clmul, reduce_64, reduce_128};
use crate::{Block, backend::Scalar, halves, joined};

impl Blocks for Scalar {
    type Vector = u128;
    const BLOCKS: usize = 1;

    #[inline(always)]
    fn zero(self) -> u128 {
        0
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> u128 {
        u128::from_le_bytes(*block)
    }

    #[inline(always)]
    fn store(self, x: u128, bytes: &mut [u8]) {
        bytes.as_chunks_mut().0[0] = x.to_le_bytes();
    }

    #[inline(always)]
    fn load_part(self, bytes: &[u8]) -> u128 {
        match bytes.first_chunk() {
            Some(block) => self.splat(block),
            None if bytes.is_empty() => 0,
            None => u64::from_le_bytes(bytes.as_chunks().0[0]).into(),
        }
    }

    #[inline(always)]
    fn xor(self, a: u128, b: u128) -> u128 {
        a ^ b
    }

    #[inline(always)]
    fn and(self, a: u128, b: u128) -> u128 {
        a & b
    }

    #[inline(always)]
    fn add(self, a: u128, b: u128) -> u128 {
        let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
        joined([a0.wrapping_add(b0), a1.wrapping_add(b1)])
    }

    /// A word is zero if neither it nor its negative has the topmost bit.
    #[inline(always)]
    fn equal(self, a: u128, b: u128) -> u128 {
        let zero = |x: u64| (black_box(x | x.wrapping_neg()) >> 63).wrapping_sub(1);
        let [low, high] = halves(a ^ b);
        joined([zero(low), zero(high)])
    }
}

impl Clmul for Scalar {
    #[inline(always)]
    fn product<const HALVES: i32>(self, a: u128, b: u128) -> u128 {
        let [of_a, of_b] = const { [HALVES & 1 != 0, HALVES >> 4 != 0] };
        carryless(halves(a)[usize::from(of_a)], halves(b)[usize::from(of_b)])
    }

    #[inline(always)]
    fn sum(self, x: u128) -> u128 {
        x
    }

    #[inline(always)]
    fn swap(self, x: u128) -> u128 {
        x.rotate_left(64)
    }

    #[inline(always)]
    fn multiply(self, a: u128, b: u128) -> u128 {
        let mut sums = [0; 3];
        self.add_products(&mut sums, a, b);
        reduce_128(sums)
    }

    #[inline(always)]
    fn scale(self, a: u128, b: u128) -> u128 {
        let ([low, high], [b, _]) = (halves(a), halves(b));
        joined([low, high].map(inlined!(|half| reduce_64(carryless(half, b)))))
    }

    /// Uses Karatsuba's three products.
    #[inline(always)]
    fn add_products(self, [low, middle, high]: &mut [u128; 3], a: u128, b: u128) {
        let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
        let (lows, highs) = (carryless(a0, b0), carryless(a1, b1));
        *low ^= lows;
        *middle ^= carryless(a0 ^ a1, b0 ^ b1) ^ lows ^ highs;
        *high ^= highs;
    }
}

/// The carry-less product of two words, by integer multiplication. Its high half is the low half of the product of the
/// reversed words, reversed.
#[inline(always)]
fn carryless(a: u64, b: u64) -> u128 {
    let low = low_product(a, b);
    let high = low_product(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    u128::from(high) << 64 | u128::from(low)
}

/// The low half of a carry-less product.
///
/// With three holes after every bit, at most 16 terms meet at one, and only at the topmost: there
/// the carry leaves the word, elsewhere it ends in a hole.
#[inline(always)]
fn low_product(a: u64, b: u64) -> u64 {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let a = [0, 1, 2, 3].map(|k| a & EVERY_FOURTH << k);
    let b = [0, 1, 2, 3].map(|k| b & EVERY_FOURTH << k);
    let mut product = 0;
    for k in 0..4 {
        let sum = (0..4).fold(0, |sum, i| sum ^ a[i].wrapping_mul(b[(k + 4 - i) % 4]));
        product |= sum & EVERY_FOURTH << k;
    }
    product
}

impl Scalar {
    /// Vectors of one block.
    #[inline(always)]
    pub(crate) fn single(self) -> Self {
        self
    }

    /// The longest vectors of the backend.
    #[inline(always)]
    pub(crate) fn longest(self) -> Self {
        self
    }
}
