//! A prime, and arithmetic modulo it on single words.

use crate::halves;

/// A prime p with 2¹³ < p < 2⁵⁰, and what arithmetic modulo it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    p: u64,
    /// k: 2^(k−1) < p < 2ᵏ.
    bits: u32,
    /// ⌊2^(52+k)/p⌋, of 53 bits.
    barrett: u64,
}

/// A multiplier w < p, and ⌊w·2⁵²/p⌋.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    pub(super) w: u64,
    pub(super) quotient: u64,
}

/// All ones if the top bit is set, else 0: a comparison could become a branch.
#[inline(always)]
const fn sign(x: u64) -> u64 {
    (x.cast_signed() >> 63).cast_unsigned()
}

/// x mod `bound`, for x < 2·bound < 2⁶³.
#[inline(always)]
pub(super) const fn below(x: u64, bound: u64) -> u64 {
    // Both are below 2⁶³, so the difference has its top bit set exactly where x < bound.
    let less = x.wrapping_sub(bound);
    less.wrapping_add(bound & sign(less))
}

impl Modulus {
    /// Arithmetic modulo `p`; `None` unless it is a prime between 2¹³ and 2⁵⁰.
    #[must_use]
    pub const fn new(p: u64) -> Option<Self> {
        if p < 1 << 13 || p >= 1 << 50 || p.is_multiple_of(2) {
            return None;
        }
        let bits = 64 - p.leading_zeros();
        let [barrett, _] = halves((1u128 << (52 + bits)) / p as u128);
        let modulus = Self { p, bits, barrett };
        if modulus.is_prime() { Some(modulus) } else { None }
    }

    /// p.
    #[must_use]
    #[inline(always)]
    pub const fn value(&self) -> u64 {
        self.p
    }

    /// Returns the number of bits of p, which a packed residue also takes.
    #[must_use]
    #[inline(always)]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// ⌊2^(52+k)/p⌋ for p of k bits.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) const fn barrett(&self) -> u64 {
        self.barrett
    }

    /// Miller and Rabin's test for the first nine primes, which has no liars below 2⁶¹ (Jiang and
    /// Deng, *Strong pseudoprimes to the first eight prime bases*, 2014). p is odd and above 2¹³; in a
    /// composite modulus products are right as well.
    const fn is_prime(&self) -> bool {
        const BASES: [u64; 9] = [2, 3, 5, 7, 11, 13, 17, 19, 23];
        let twos = (self.p - 1).trailing_zeros();
        let mut k = 0;
        while k < BASES.len() {
            let mut x = self.pow(BASES[k], (self.p - 1) >> twos);
            let mut passes = x == 1 || x == self.p - 1;
            let mut squarings = 1;
            while squarings < twos {
                x = self.mul(x, x);
                passes |= x == self.p - 1;
                squarings += 1;
            }
            if !passes {
                return false;
            }
            k += 1;
        }
        true
    }

    /// a + b, for a, b < p.
    #[must_use]
    #[inline(always)]
    pub const fn add(&self, a: u64, b: u64) -> u64 {
        below(a + b, self.p)
    }

    /// a − b, for a, b < p.
    #[must_use]
    #[inline(always)]
    pub const fn sub(&self, a: u64, b: u64) -> u64 {
        let difference = a.wrapping_sub(b);
        difference.wrapping_add(self.p & sign(difference))
    }

    /// −a, for a < p.
    #[must_use]
    #[inline(always)]
    pub const fn neg(&self, a: u64) -> u64 {
        self.sub(0, a)
    }

    /// a·b, for a, b < p.
    #[must_use]
    #[inline(always)]
    pub const fn mul(&self, a: u64, b: u64) -> u64 {
        self.reduce_wide(a as u128 * b as u128)
    }

    /// a^e, for a < p. Takes time that depends on e.
    #[must_use]
    pub const fn pow(&self, a: u64, e: u64) -> u64 {
        let (mut power, mut square, mut e) = (1, a, e);
        while e > 0 {
            if e & 1 == 1 {
                power = self.mul(power, square);
            }
            square = self.mul(square, square);
            e >>= 1;
        }
        power
    }

    /// 1/a, for a < p; that of 0 is 0.
    #[must_use]
    pub const fn inv(&self, a: u64) -> u64 {
        self.pow(a, self.p - 2)
    }

    /// x mod p.
    #[must_use]
    #[inline(always)]
    pub const fn reduce(&self, x: u64) -> u64 {
        self.reduce_wide(x as u128)
    }

    /// c mod p, for c < 2^(52+k).
    #[inline(always)]
    pub(super) const fn reduce_wide(&self, c: u128) -> u64 {
        let (_, r) = self.divide(c);
        r
    }

    /// The multiplier w < p.
    #[inline(always)]
    pub(super) const fn factor(&self, w: u64) -> Factor {
        let (quotient, _) = self.divide((w as u128) << 52);
        Factor { w, quotient }
    }

    /// ⌊c/p⌋ and c mod p, for c < 2^(52+k); the quotient is below 2⁵³.
    #[inline(always)]
    const fn divide(&self, c: u128) -> (u64, u64) {
        // q = ⌊⌊c/2ᵏ⌋·barrett/2⁵²⌋ falls short of c/p by less than 2ᵏ/p for the first rounding,
        // less than 1 for that of `barrett`, as c/2ᵏ < 2⁵², and less than 1 for the last: by less
        // than 4.
        let [top, _] = halves(c >> self.bits);
        let [mut quotient, _] = halves((top as u128 * self.barrett as u128) >> 52);
        let [mut r, _] = halves(c.wrapping_sub(quotient as u128 * self.p as u128));
        // The estimate is at most 3 too small: `rns.md`, "Products".
        quotient += 2 & !sign(r.wrapping_sub(2 * self.p));
        r = below(r, 2 * self.p);
        quotient += 1 & !sign(r.wrapping_sub(self.p));
        (quotient, below(r, self.p))
    }
}
