//! Plain Rust: one lane, an unsigned integer. Narrow is below 2p, lazy below 4p.

use super::Lanes;
use crate::{
    backend::Scalar,
    halves,
    rns::modulus::{Factor, Modulus, below},
};

impl Lanes for Scalar {
    type Vector = u64;
    type Factor = Factor;
    type Prime = Modulus;
    const LANES: usize = 1;
    const MOST_LAYERS: u32 = 2;
    const GROUP: usize = 4;

    #[inline(always)]
    fn prime(self, modulus: &Modulus) -> Modulus {
        *modulus
    }

    #[inline(always)]
    fn load(self, from: &[u64]) -> u64 {
        from[0]
    }

    #[inline(always)]
    fn suspend(self, x: u64, to: &mut [u64]) {
        to[0] = x;
    }

    #[inline(always)]
    fn splat(self, word: u64) -> u64 {
        word
    }

    #[inline(always)]
    fn factor(self, [w, quotient]: [u64; 2]) -> Factor {
        Factor { w, quotient }
    }

    #[inline(always)]
    fn factors<const REPEAT: usize>(self, [w, quotient]: [&[u64]; 2]) -> Factor {
        Factor { w: w[0], quotient: quotient[0] }
    }

    #[inline(always)]
    fn factors_reversed<const REPEAT: usize>(self, roots: [&[u64]; 2]) -> Factor {
        self.factors::<REPEAT>(roots)
    }

    #[inline(always)]
    fn canonical(self, p: Modulus, x: u64) -> u64 {
        debug_assert!(x < 2 * p.value());
        below(x, p.value())
    }

    /// Uses q = ⌊x·⌊w·2⁵²/p⌋/2⁵²⌋, for which x·w/p − 2 < q ≤ x·w/p.
    #[inline(always)]
    fn mul_by(self, p: Modulus, x: u64, w: Factor) -> u64 {
        debug_assert!(x < 1 << 52);
        // The high word of (x·2¹²)·quotient is ⌊x·quotient/2⁵²⌋. x·w − q·p is in [0, 2p), so it is
        // right modulo 2⁶⁴.
        let [_, q] = halves(u128::from(x << 12) * u128::from(w.quotient));
        x.wrapping_mul(w.w).wrapping_sub(q.wrapping_mul(p.value()))
    }

    #[inline(always)]
    fn mul(self, p: Modulus, a: u64, b: u64) -> u64 {
        debug_assert!(a < p.value() && b < p.value());
        p.mul(a, b)
    }

    #[inline(always)]
    fn add(self, p: Modulus, a: u64, b: u64) -> u64 {
        self.narrow(p, a + b)
    }

    #[inline(always)]
    fn sub(self, p: Modulus, a: u64, b: u64) -> u64 {
        self.narrow(p, a + 2 * p.value() - b)
    }

    #[inline(always)]
    fn plain_add(self, a: u64, b: u64) -> u64 {
        a + b
    }

    #[inline(always)]
    fn plain_sub(self, a: u64, b: u64) -> u64 {
        a - b
    }

    #[inline(always)]
    fn narrow(self, p: Modulus, x: u64) -> u64 {
        debug_assert!(x < 4 * p.value());
        below(x, 2 * p.value())
    }

    #[inline(always)]
    fn forward(self, p: Modulus, x: u64, y: u64, w: Factor) -> [u64; 2] {
        // x and t below 2p: both results are below 4p < 2⁵², which the next product takes.
        let (x, t) = (self.narrow(p, x), self.mul_by(p, y, w));
        [x + t, x + 2 * p.value() - t]
    }

    #[inline(always)]
    fn inverse(self, p: Modulus, x: u64, y: u64, w: Factor) -> [u64; 2] {
        debug_assert!(x < 2 * p.value() && y < 2 * p.value());
        // y − x + 2p is above 0 and below 4p < 2⁵².
        [self.add(p, x, y), self.mul_by(p, y + 2 * p.value() - x, w)]
    }

    #[inline(always)]
    fn exchange<const WEIGHT: usize>(self, a: u64, b: u64) -> [u64; 2] {
        [a, b]
    }

    #[inline(always)]
    fn interleave(self, a: u64, b: u64) -> [u64; 2] {
        [a, b]
    }

    #[inline(always)]
    fn deinterleave(self, a: u64, b: u64) -> [u64; 2] {
        [a, b]
    }
}
