//! Numbers modulo p, times 2²⁵⁶ (Montgomery's form), always below p.

use core::{array, hint::black_box};

/// Sixty-four bits each, the least first.
type Limbs = [u64; 4];

const P: Limbs = [0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_ffff, 0, 0xffff_ffff_0000_0001];

/// 2⁵¹² modulo p.
const R2: Field = Field([3, 0xffff_fffb_ffff_ffff, 0xffff_ffff_ffff_fffe, 0x0000_0004_ffff_fffd]);

/// A number modulo p.
#[derive(Clone, Copy)]
pub(super) struct Field(Limbs);

impl Field {
    pub(super) const ZERO: Self = Self([0; 4]);
    pub(super) const ONE: Self =
        Self([1, 0xffff_ffff_0000_0000, 0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_fffe]);
    /// The curve's coefficient b.
    pub(super) const B: Self = Self([
        0xd89c_df62_29c4_bddf,
        0xacf0_05cd_7884_3090,
        0xe5a2_20ab_f721_2ed6,
        0xdc30_061d_0487_4834,
    ]);

    /// The number with these bytes, the most significant first; `None` unless it is below p. Takes variable time.
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let limbs = limbs_of(bytes);
        let (_, below) = minus(&limbs, &P);
        (below == u64::MAX).then(|| Self(limbs).times(&R2))
    }

    pub(super) fn to_bytes(self) -> [u8; 32] {
        let Self(limbs) = self.times(&Self([1, 0, 0, 0]));
        let mut bytes = [0; 32];
        for (bytes, limb) in bytes.rchunks_exact_mut(8).zip(limbs) {
            bytes.copy_from_slice(&limb.to_be_bytes());
        }
        bytes
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn plus(&self, other: &Self) -> Self {
        let (sum, carry) = sum(&self.0, &other.0);
        Self(reduced(&sum, carry, &P))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn minus(&self, other: &Self) -> Self {
        let (difference, below) = minus(&self.0, &other.0);
        Self(sum(&difference, &array::from_fn(|i| P[i] & below)).0)
    }

    /// The product over 2²⁵⁶. As p is −1 modulo 2⁶⁴, the multiple of p that clears a limb is that limb itself.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn times(&self, other: &Self) -> Self {
        let mut t = [0; 5];
        for &factor in &self.0 {
            let [t0, t1, t2, t3, t4, t5] = add_multiple(&t, factor, &other.0);
            // t₀·p = t₀·2⁶⁴ − t₀ + (2³² − 1)·t₀·2⁶⁴ + P₃·t₀·2¹⁹².
            let (t1, carry) = wide(u128::from(t1) + (u128::from(t0) << 32));
            let (t2, carry) = wide(u128::from(t2) + carry);
            let (t3, carry) = wide(u128::from(t3) + u128::from(t0) * u128::from(P[3]) + carry);
            let (t4, carry) = wide(u128::from(t4) + carry);
            t = [t1, t2, t3, t4, t5 + low(carry)];
        }
        let [t0, t1, t2, t3, carry] = t;
        Self(reduced(&[t0, t1, t2, t3], carry, &P))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn square(&self) -> Self {
        self.times(self)
    }

    fn squares(&self, times: u32) -> Self {
        (0..times).fold(*self, |x, _| x.square())
    }

    /// x to the powers 2ᵏ − 1 for k = 2, 4, 8, 16, 32.
    fn ones(&self) -> [Self; 5] {
        let mut all = [self.square().times(self); 5];
        for i in 1..5 {
            all[i] = all[i - 1].squares(1 << i).times(&all[i - 1]);
        }
        all
    }

    /// 1/x by Fermat, x^(p − 2); of zero it is zero.
    pub(super) fn inverse(&self) -> Self {
        let [x2, x4, x8, x16, x32] = self.ones();
        let head = x32.squares(32).times(self).squares(128).times(&x32).squares(32).times(&x32);
        let tail = head.squares(16).times(&x16).squares(8).times(&x8).squares(4).times(&x4);
        tail.squares(2).times(&x2).squares(2).times(self)
    }

    /// A square root, x^((p + 1)/4), if there is one: p is 3 modulo 4. Its existence is public.
    pub(super) fn root(&self) -> Option<Self> {
        let [.., x32] = self.ones();
        let root = x32.squares(32).times(self).squares(96).times(self).squares(94);
        (root.square().minus(self).is_zero() == u64::MAX).then_some(root)
    }

    /// All ones if it is zero, else nothing.
    pub(super) fn is_zero(&self) -> u64 {
        let [a, b, c, d] = self.0;
        is_zero(a | b | c | d)
    }

    /// 1 if the number is odd.
    pub(super) fn parity(&self) -> u8 {
        self.to_bytes()[31] & 1
    }

    /// `other` where the mask is all ones, this where it is nothing.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn or_if(&self, mask: u64, other: &Self) -> Self {
        Self(array::from_fn(|i| self.0[i] ^ (mask & (self.0[i] ^ other.0[i]))))
    }
}

/// All ones if it is zero, else nothing.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn is_zero(x: u64) -> u64 {
    // The top bit of x | −x says that x is not zero. The compiler must not make jumps of what the mask selects.
    black_box(((x | x.wrapping_neg()) >> 63).wrapping_sub(1))
}

fn limbs_of(bytes: &[u8; 32]) -> Limbs {
    array::from_fn(|i| {
        let bytes = &bytes[24 - 8 * i..][..8];
        bytes.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte))
    })
}

#[cfg_attr(not(unoptimized), inline(always))]
#[allow(clippy::cast_possible_truncation, reason = "the other half is the carry")]
fn low(x: u128) -> u64 {
    x as u64
}

/// The low half, and the other.
#[cfg_attr(not(unoptimized), inline(always))]
fn wide(x: u128) -> (u64, u128) {
    (low(x), x >> 64)
}

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn sum(a: &Limbs, b: &Limbs) -> (Limbs, u64) {
    let mut carry = 0;
    let sum = array::from_fn(|i| {
        let limb;
        (limb, carry) = wide(u128::from(a[i]) + u128::from(b[i]) + carry);
        limb
    });
    (sum, low(carry))
}

/// The difference modulo 2²⁵⁶, and all ones if it is negative.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn minus(a: &Limbs, b: &Limbs) -> (Limbs, u64) {
    let mut borrow = false;
    let difference = array::from_fn(|i| {
        let (limb, first) = a[i].overflowing_sub(b[i]);
        let (limb, second) = limb.overflowing_sub(borrow.into());
        borrow = first | second;
        limb
    });
    (difference, u64::from(borrow).wrapping_neg())
}

/// x + 2²⁵⁶·carry, which is below twice the modulus, less the modulus if it is not below.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn reduced(x: &Limbs, carry: u64, modulus: &Limbs) -> Limbs {
    let (less, below) = minus(x, modulus);
    let keep = below & carry.wrapping_sub(1);
    array::from_fn(|i| less[i] ^ (keep & (less[i] ^ x[i])))
}

/// t + factor·x.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn add_multiple(t: &[u64; 5], factor: u64, x: &Limbs) -> [u64; 6] {
    let mut all = [0; 6];
    let mut carry = 0;
    for i in 0..4 {
        let next = u128::from(t[i]) + u128::from(factor) * u128::from(x[i]) + carry;
        (all[i], carry) = wide(next);
    }
    (all[4], carry) = wide(u128::from(t[4]) + carry);
    all[5] = low(carry);
    all
}
