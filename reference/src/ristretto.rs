//! The group Ristretto255 of RFC 9496: points of −x² + y² = 1 + d·x²·y² over the field of p = 2²⁵⁵ − 19
//! elements, of which four are one element of the group.

use std::sync::LazyLock;

use crate::p256::{Number, add, bits, less, multiply, subtract};

/// The prime p of the field.
pub(crate) const P: Number =
    [0xffff_ffff_ffff_ffed, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0x7fff_ffff_ffff_ffff];

/// The prime order of the group.
const ORDER: Number = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 0x1000_0000_0000_0000];

const GENERATOR: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f,
    0x58, 0xe3, 0x0b, 0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// An element of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field(pub(crate) Number);

impl Field {
    pub(crate) const ZERO: Self = Self([0; 4]);
    pub(crate) const ONE: Self = Self([1, 0, 0, 0]);

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(add(&self.0, &other.0, &P))
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self(subtract(&self.0, &other.0, &P))
    }

    pub(crate) fn times(self, other: Self) -> Self {
        Self(multiply(&self.0, &other.0, &P))
    }

    pub(crate) fn negated(self) -> Self {
        Self::ZERO.minus(self)
    }

    pub(crate) fn squared(self) -> Self {
        self.times(self)
    }

    pub(crate) fn power(self, exponent: &Number) -> Self {
        bits(exponent).fold(Self::ONE, |power, bit| {
            let square = power.squared();
            if bit { square.times(self) } else { square }
        })
    }

    pub(crate) fn is_negative(self) -> bool {
        self.0[0] & 1 == 1
    }

    fn absolute(self) -> Self {
        if self.is_negative() { self.negated() } else { self }
    }

    /// Returns √−1 = 2^((p − 1)/4).
    fn sqrt_minus_one() -> Self {
        static ROOT: LazyLock<Field> = LazyLock::new(|| {
            let exponent = [0xffff_ffff_ffff_fffb, u64::MAX, u64::MAX, 0x1fff_ffff_ffff_ffff];
            Field([2, 0, 0, 0]).power(&exponent).absolute()
        });
        *ROOT
    }

    /// Returns d = −121665/121666.
    pub(crate) fn d() -> Self {
        static D: LazyLock<Field> = LazyLock::new(|| {
            let mut exponent = P;
            exponent[0] -= 2;
            let inverse = Field([121_666, 0, 0, 0]).power(&exponent);
            inverse.times(Field([121_665, 0, 0, 0])).negated()
        });
        *D
    }

    /// RFC 9496, 4.2: whether u/v is a square, and the non-negative root of u/v or of √−1·u/v.
    pub(crate) fn sqrt_ratio(u: Self, v: Self) -> (bool, Self) {
        // (p − 5)/8.
        let exponent = [0xffff_ffff_ffff_fffd, u64::MAX, u64::MAX, 0x0fff_ffff_ffff_ffff];
        let v_3 = v.squared().times(v);
        let v_7 = v_3.squared().times(v);
        let mut r = u.times(v_3).times(u.times(v_7).power(&exponent));
        let (check, i) = (v.times(r.squared()), Self::sqrt_minus_one());
        let (correct, flipped) = (check == u, check == u.negated());
        if flipped || check == u.negated().times(i) {
            r = r.times(i);
        }
        (correct || flipped, r.absolute())
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Number {
        let mut number = [0; 4];
        for (word, bytes) in number.iter_mut().zip(bytes.chunks(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        number
    }
}

/// An element (X/Z, Y/Z) of the group, T = XY/Z.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    pub(crate) x: Field,
    pub(crate) y: Field,
    pub(crate) z: Field,
    pub(crate) t: Field,
}

impl Element {
    pub(crate) const ZERO: Self =
        Self { x: Field::ZERO, y: Field::ONE, z: Field::ONE, t: Field::ZERO };

    /// Returns the generator G.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn generator() -> Self {
        Self::decode(&GENERATOR).expect("an element")
    }

    /// RFC 9496, 4.3.1: returns the element that 32 bytes encode, if they do.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let s = Field(Field::from_bytes(bytes));
        if !less(&s.0, &P) || s.is_negative() {
            return None;
        }
        let (one, s_2) = (Field::ONE, s.squared());
        let (u_1, u_2) = (one.minus(s_2), one.plus(s_2));
        let v = Field::d().times(u_1.squared()).negated().minus(u_2.squared());
        let (was_square, root) = Field::sqrt_ratio(one, v.times(u_2.squared()));
        let den_x = root.times(u_2);
        let den_y = root.times(den_x).times(v);
        let x = s.plus(s).times(den_x).absolute();
        let y = u_1.times(den_y);
        let t = x.times(y);
        let valid = was_square && !t.is_negative() && y != Field::ZERO;
        valid.then_some(Self { x, y, z: one, t })
    }

    /// RFC 9496, 4.3.2: returns the 32 bytes that encode the element.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Self { x, y, z, t } = *self;
        let u_1 = z.plus(y).times(z.minus(y));
        let u_2 = x.times(y);
        let (_, root) = Field::sqrt_ratio(Field::ONE, u_1.times(u_2.squared()));
        let (den_1, den_2) = (root.times(u_1), root.times(u_2));
        let z_inv = den_1.times(den_2).times(t);
        let i = Field::sqrt_minus_one();
        let minus_one = Field::ONE.negated();
        let (_, of_a_minus_d) = Field::sqrt_ratio(Field::ONE, minus_one.minus(Field::d()));
        let (x, mut y, den_inv) = if t.times(z_inv).is_negative() {
            (y.times(i), x.times(i), den_1.times(of_a_minus_d))
        } else {
            (x, y, den_2)
        };
        if x.times(z_inv).is_negative() {
            y = y.negated();
        }
        let s = den_inv.times(z.minus(y)).absolute();
        s.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// RFC 9496, 4.3.4: returns the element that 64 uniform bytes stand for.
    #[must_use]
    pub fn from_uniform(bytes: &[u8]) -> Self {
        let (first, second) = bytes.split_at(32);
        Self::map(first).plus(&Self::map(second))
    }

    fn map(bytes: &[u8]) -> Self {
        let mut t = Field::from_bytes(bytes);
        t[3] &= u64::MAX >> 1;
        // Reduced.
        let t = Field(add(&t, &[0; 4], &P));
        let (one, d) = (Field::ONE, Field::d());
        let minus_one = one.negated();
        let r = Field::sqrt_minus_one().times(t.squared());
        let u = r.plus(one).times(one.minus(d.squared()));
        let v = minus_one.minus(r.times(d)).times(r.plus(d));
        let (was_square, mut s) = Field::sqrt_ratio(u, v);
        let mut c = minus_one;
        if !was_square {
            s = s.times(t).absolute().negated();
            c = r;
        }
        let n = c.times(r.minus(one)).times(d.minus(one).squared()).minus(v);
        // √(ad − 1) is the negative root.
        let (_, root) = Field::sqrt_ratio(d.negated().minus(one), one);
        let w_0 = s.plus(s).times(v);
        let w_1 = n.times(root.negated());
        let (w_2, w_3) = (one.minus(s.squared()), one.plus(s.squared()));
        Self { x: w_0.times(w_3), y: w_2.times(w_1), z: w_1.times(w_3), t: w_0.times(w_2) }
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let d = Field::d();
        let a = self.y.minus(self.x).times(other.y.minus(other.x));
        let b = self.y.plus(self.x).times(other.y.plus(other.x));
        let c = self.t.times(other.t).times(d.plus(d));
        let zz = self.z.times(other.z);
        let (e, f, g, h) = (b.minus(a), zz.plus(zz).minus(c), zz.plus(zz).plus(c), b.plus(a));
        Self { x: e.times(f), y: g.times(h), z: f.times(g), t: e.times(h) }
    }

    /// Returns the difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&Self { x: other.x.negated(), t: other.t.negated(), ..*other })
    }

    /// Returns the multiple.
    #[must_use]
    pub fn times(&self, scalar: &Number) -> Self {
        bits(scalar).fold(Self::ZERO, |sum, bit| {
            let twice = sum.plus(&sum);
            if bit { twice.plus(self) } else { twice }
        })
    }
}

/// Returns a little-endian number of any length mod the order of the group.
#[must_use]
pub fn scalar(bytes: &[u8]) -> Number {
    let bits = bytes.iter().rev().flat_map(|byte| (0..8).rev().map(move |k| byte >> k & 1 == 1));
    bits.fold([0; 4], |x, bit| {
        let twice = add(&x, &x, &ORDER);
        if bit { add(&twice, &[1, 0, 0, 0], &ORDER) } else { twice }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    #[test]
    fn multiples_and_hashes_match_the_rfc() {
        let g = Element::generator();
        assert_eq!(hex(&Element::ZERO.encode()), "00".repeat(32));
        let two = "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919";
        assert_eq!(hex(&g.times(&[2, 0, 0, 0]).encode()), two);
        assert_eq!(hex(&g.times(&ORDER).encode()), "00".repeat(32));
        let uniform = "5d1be09e3d0c82fc538112490e35701979d99e06ca3e2b5b54bffe8b4dc772c1\
            4d98b696a1bbfb5ca32c436cc61c16563790306c79eaca7705668b47dffe5bb6";
        let byte = |k| u8::from_str_radix(&uniform[k..k + 2], 16).expect("hex");
        let uniform: Vec<u8> = (0..128).step_by(2).map(byte).collect();
        let hashed = "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46";
        assert_eq!(hex(&Element::from_uniform(&uniform).encode()), hashed);
    }

    #[test]
    fn encodings_are_strict_and_differences_undo_sums() {
        let g = Element::generator();
        assert!(Element::decode(&[0xff; 32]).is_none());
        assert!(Element::decode(&[[1].as_slice(), &[0; 31]].concat()).is_none());
        let h = g.times(&scalar(&[9; 64]));
        assert_eq!(g.plus(&h).minus(&h).encode(), g.encode());
        assert_eq!(Element::decode(&h.encode()).expect("an element").encode(), h.encode());
    }
}
