//! Integers of many bits, schoolbook.

use std::vec::Vec;

/// Limbs of 32 bits, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Big(Vec<u32>);

impl Big {
    pub(super) fn zero() -> Self {
        Self(Vec::new())
    }

    /// self·a + b.
    pub(super) fn mul_add(&self, a: u64, b: u64) -> Self {
        let (mut limbs, mut carry) = (Vec::new(), u128::from(b));
        for limb in &self.0 {
            carry += u128::from(*limb) * u128::from(a);
            limbs.push(carry as u32);
            carry >>= 32;
        }
        while carry > 0 {
            limbs.push(carry as u32);
            carry >>= 32;
        }
        Self(limbs)
    }

    /// The quotient and the remainder.
    pub(super) fn divide(&self, a: u64) -> (Self, u64) {
        let (mut limbs, mut remainder) = (self.0.clone(), 0);
        for limb in limbs.iter_mut().rev() {
            let dividend = u128::from(remainder) << 32 | u128::from(*limb);
            *limb = (dividend / u128::from(a)) as u32;
            remainder = (dividend % u128::from(a)) as u64;
        }
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        (Self(limbs), remainder)
    }

    pub(super) fn modulo(&self, a: u64) -> u64 {
        self.divide(a).1
    }

    /// Modulo 2⁶⁴.
    pub(super) fn low(&self) -> u64 {
        let limb = |i: usize| u64::from(self.0.get(i).copied().unwrap_or(0));
        limb(0) | limb(1) << 32
    }

    /// Returns true if self > other.
    pub(super) fn exceeds(&self, other: &Self) -> bool {
        let key = |x: &Self| (x.0.len(), x.0.iter().rev().copied().collect::<Vec<_>>());
        key(self) > key(other)
    }
}
