//! One lane, on 64-bit words and products of 128 bits.
//!
//! Tight limbs are below 2⁵¹ + 2²³. A limb of weight w is at most 2⁵³·w, since a difference has
//! 4p added; factors are below 2⁵⁵.

use core::hint::black_box;

use super::{BITS, Columns, Field, LOW, Limbs, MAX_LANES, P, Sixteen, Words};
use crate::backend::Scalar;

const FACTOR: u64 = 1 << 55;

#[cfg_attr(not(unoptimized), inline(always))]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// Asserts in debug builds that the limbs are small enough for a factor.
#[cfg_attr(not(unoptimized), inline(always))]
fn assert_factor(x: &Limbs) {
    debug_assert!(x.iter().fold(0, |any, limb| any | limb) < FACTOR, "a factor");
}

#[cfg_attr(not(unoptimized), inline(always))]
fn zip<A: Copy, B>(a: [A; 5], b: [A; 5], operation: impl Fn(A, A) -> B) -> [B; 5] {
    core::array::from_fn(inlined!(|k| operation(a[k], b[k])))
}

/// All ones for 1, 0 for 0; the optimiser does not see that these are the only values.
#[cfg_attr(not(unoptimized), inline(always))]
fn spread(bit: u64) -> u64 {
    black_box(bit).wrapping_neg()
}

impl Field for Scalar {
    type Element = Limbs;
    type Wide = [u128; 5];
    type Word = u64;
    /// All ones or zero.
    type Mask = u64;
    const LANES: usize = 1;

    #[cfg_attr(not(unoptimized), inline(always))]
    fn outlined<R>(self, kernel: impl FnOnce() -> R) -> R {
        outlined(kernel)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn load(self, limbs: &Columns) -> Limbs {
        self.carry(limbs.lane(0))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn store(self, x: Limbs) -> Columns {
        let mut columns = [[0; MAX_LANES]; 5];
        for (column, limb) in columns.iter_mut().zip(self.carry(x)) {
            column[0] = limb;
        }
        Columns(columns)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn splat(self, limbs: &Limbs) -> Limbs {
        self.carry(*limbs)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn add(self, a: Limbs, b: Limbs) -> Limbs {
        zip(a, b, |a, b| a + b)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn sub(self, a: Limbs, b: Limbs) -> Limbs {
        // What is subtracted may be a difference itself, or a sum of two.
        let b = self.carry(b);
        let a = zip(a, P, |a, p| a + 4 * p);
        zip(a, b, |a, b| a - b)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn carry(self, a: Limbs) -> Limbs {
        // Limbs below 2⁵⁵ have carries below 2⁴, and 19 of the top one are below 2⁹: limbs are
        // tight.
        assert_factor(&a);
        let [c0, c1, c2, c3, c4] = a.map(|limb| limb >> BITS);
        let low = a.map(|limb| limb & LOW);
        zip(low, [19 * c4, c0, c1, c2, c3], |low, carry| low + carry)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn product(self, a: Limbs, b: Limbs) -> [u128; 5] {
        assert_factor(&a);
        assert_factor(&b);
        let [a0, a1, a2, a3, a4] = a;
        let [b0, b1, b2, b3, b4] = b;
        // Products of limbs whose numbers add up to 5 + k weigh 2²⁵⁵ times column k, that is 19
        // times. A column is below 2¹¹⁰·(1 + 4·19) < 2¹¹⁷, so four of them are below 2¹²⁰.
        let [c1, c2, c3, c4] = [19 * b1, 19 * b2, 19 * b3, 19 * b4];
        [
            wide(a0, b0) + wide(a1, c4) + wide(a2, c3) + wide(a3, c2) + wide(a4, c1),
            wide(a0, b1) + wide(a1, b0) + wide(a2, c4) + wide(a3, c3) + wide(a4, c2),
            wide(a0, b2) + wide(a1, b1) + wide(a2, b0) + wide(a3, c4) + wide(a4, c3),
            wide(a0, b3) + wide(a1, b2) + wide(a2, b1) + wide(a3, b0) + wide(a4, c4),
            wide(a0, b4) + wide(a1, b3) + wide(a2, b2) + wide(a3, b1) + wide(a4, b0),
        ]
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn square_product(self, a: Limbs) -> [u128; 5] {
        assert_factor(&a);
        let [a0, a1, a2, a3, a4] = a;
        // The same columns: every product of different limbs stands there twice.
        let [d0, d1, d2] = [2 * a0, 2 * a1, 2 * a2];
        let [c3, c4] = [19 * a3, 19 * a4];
        [
            wide(a0, a0) + wide(d1, c4) + wide(d2, c3),
            wide(d0, a1) + wide(d2, c4) + wide(a3, c3),
            wide(d0, a2) + wide(a1, a1) + wide(2 * a3, c4),
            wide(d0, a3) + wide(d1, a2) + wide(a4, c4),
            wide(d0, a4) + wide(d1, a3) + wide(a2, a2),
        ]
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn small_product(self, a: Limbs, k: u32) -> [u128; 5] {
        assert_factor(&a);
        a.map(|limb| wide(limb, k.into()))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn add_wide(self, a: [u128; 5], b: [u128; 5]) -> [u128; 5] {
        zip(a, b, |a, b| a + b)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn sub_wide(self, a: [u128; 5], b: [u128; 5]) -> [u128; 5] {
        // A product is below 2¹¹⁰·(1 + 4·19); this multiple of p is above.
        let a = zip(a, P.map(|p| u128::from(p) << 67), |a, p| a + p);
        zip(a, b, |a, b| a - b)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    #[expect(clippy::cast_possible_truncation, reason = "masked, or bounded as said")]
    fn reduce(self, mut a: [u128; 5]) -> Limbs {
        debug_assert!(a.iter().fold(0, |any, column| any | column) < 1 << 120, "four products");
        for k in 0..4 {
            a[k + 1] += a[k] >> BITS;
        }
        // The last carry is below 2⁶⁹, nineteen of it below 2⁷⁴: below 2²³ as a carry.
        let bottom = (a[0] & u128::from(LOW)) + 19 * (a[4] >> BITS);
        let mut limbs = a.map(|column| column as u64 & LOW);
        limbs[0] = bottom as u64 & LOW;
        limbs[1] += (bottom >> BITS) as u64;
        limbs
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn select(self, mask: u64, a: Limbs, b: Limbs) -> Limbs {
        zip(a, b, |a, b| b ^ mask & (a ^ b))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn words(self, words: &Words) -> u64 {
        words[0]
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn bit(self, word: u64, k: u32) -> u64 {
        spread(word >> k & 1)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn digit<const N: u32>(self, word: u64, k: u32) -> (u64, u64) {
        // The digit b stands for 2b − (2ᴺ − 1) = ±(2i + 1). With the top bit i is what is left of
        // b, without it the complement of that, and the sign is negative.
        let digit = word >> (N * k);
        let negative = spread(!digit >> (N - 1) & 1);
        ((digit ^ negative) & ((1 << (N - 1)) - 1), negative)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn lookup(self, from: &Sixteen, index: u64) -> [Limbs; 3] {
        // Every entry is read; index ^ entry is 0, and less 1 negative, for one of them only.
        let masks: [u64; 16] =
            core::array::from_fn(|entry| spread((index ^ entry as u64).wrapping_sub(1) >> 63));
        from.map(
            0,
            inlined!(|row| {
                let mut sum = 0;
                for (masks, halves) in masks.as_chunks::<8>().0.iter().zip(row.as_chunks::<16>().0)
                {
                    for (k, mask) in masks.iter().enumerate() {
                        sum |= mask & (u64::from(halves[k]) | u64::from(halves[k + 8]) << 32);
                    }
                }
                sum
            }),
        )
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn lookup_either(self, from: [&Sixteen; 2], second: u64, index: u64) -> [Limbs; 3] {
        let [a, b] = from.map(|from| self.lookup(from, index));
        core::array::from_fn(|k| self.select(second, b[k], a[k]))
    }
}

#[inline(never)]
fn outlined<R>(kernel: impl FnOnce() -> R) -> R {
    kernel()
}
