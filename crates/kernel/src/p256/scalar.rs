//! Scalars: numbers modulo the order of the curve.

use core::array;

use super::field::{add_multiple, reduced, sum};
use crate::erase;

type Limbs = [u64; 4];

/// The order n of the curve.
const N: Limbs =
    [0xf3b9_cac2_fc63_2551, 0xbce6_faad_a717_9e84, 0xffff_ffff_ffff_ffff, 0xffff_ffff_0000_0000];

/// −1/n modulo 2⁶⁴.
const FACTOR: u64 = 0xccd1_c8aa_ee00_bc4f;

/// 2⁴⁴⁸ modulo n.
const TWO_TO_448: Limbs =
    [0x2275_11de_4a40_048f, 0x27f6_0529_0a16_ad07, 0x7931_8f1c_e2b8_f21e, 0x012f_fd85_edaf_9e78];

pub(super) const DIGITS: usize = 65;

/// A number modulo the order of the curve; erased on drop.
pub struct Scalar(Limbs);

impl Scalar {
    /// Bytes of coins for a scalar: 384 bits, so that reduction leaves it within 2⁻¹²⁸ of uniform.
    pub const COINS: usize = 48;

    /// The scalar of a little-endian number.
    #[must_use]
    pub fn from_coins(coins: &[u8; Self::COINS]) -> Self {
        let limb = |i: usize| {
            coins[8 * i..][..8].iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte))
        };
        let [low, high] = [0, 3].map(|i| Self([limb(i), limb(i + 1), limb(i + 2), 0]));
        let high = Self(times_over_r(&high.0, &TWO_TO_448));
        let (sum, carry) = sum(&low.0, &high.0);
        Self(reduced(&sum, carry, &N))
    }

    /// Digits from −8 to 7, by powers of 16, the least first; the last is 0 or 1.
    pub(super) fn digits(&self) -> Digits {
        // Eights in all places make each digit at least zero.
        let (limbs, carry) = sum(&self.0, &[0x8888_8888_8888_8888; 4]);
        let byte = |x: u64| x.to_le_bytes()[0].cast_signed();
        Digits(array::from_fn(|i| match limbs.get(i / 16) {
            Some(limb) => byte((limb >> (4 * (i % 16))) & 15) - 8,
            None => byte(carry),
        }))
    }
}

impl Drop for Scalar {
    fn drop(&mut self) {
        erase(&mut self.0, 0);
    }
}

redacted! {
    Scalar;
}

/// The digits of a scalar; erased on drop.
pub(super) struct Digits(pub(super) [i8; DIGITS]);

impl Drop for Digits {
    fn drop(&mut self) {
        erase(&mut self.0, 0);
    }
}

/// x·y/2²⁵⁶ modulo n, of numbers below n.
fn times_over_r(x: &Limbs, y: &Limbs) -> Limbs {
    let mut t = [0; 5];
    for &factor in x {
        let [t0, t1, t2, t3, t4, t5] = add_multiple(&t, factor, y);
        let [_, t1, t2, t3, t4, carry] =
            add_multiple(&[t0, t1, t2, t3, t4], t0.wrapping_mul(FACTOR), &N);
        t = [t1, t2, t3, t4, t5 + carry];
    }
    let [t0, t1, t2, t3, carry] = t;
    reduced(&[t0, t1, t2, t3], carry, &N)
}
