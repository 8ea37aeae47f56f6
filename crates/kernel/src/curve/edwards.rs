//! Points in extended coordinates of −x² + y² = 1 + d·x²·y²: the formulas, for any d that is not a
//! square.
//!
//! They are those of Hisil, Wong, Carter and Dawson (ASIACRYPT 2008, sections 3.1 and 3.3), and hold
//! for all pairs of points. Sums and differences of products are formed before they are reduced.

use super::{
    constants::{ONE, ZERO},
    field::{Field, Limbs, Words},
};
use crate::erase;

/// x = X/Z, y = Y/Z, xy = T/Z; tight.
#[derive(Clone, Copy)]
pub(super) struct Extended<E> {
    pub(super) x: E,
    pub(super) y: E,
    pub(super) z: E,
    pub(super) t: E,
}

/// x = X/Z, y = Y/Z; tight.
#[derive(Clone, Copy)]
pub(super) struct Projective<E> {
    pub(super) x: E,
    pub(super) y: E,
    pub(super) z: E,
}

/// x = E/G, y = H/F, and what follows: every product that is wanted is one of two of these. E and H
/// are tight, as are F and G.
#[derive(Clone, Copy)]
pub(super) struct Completed<E> {
    e: E,
    f: E,
    g: E,
    h: E,
}

/// An affine point to be added: y + x, y − x and 2d·xy, of weight 2 at most.
#[derive(Clone, Copy)]
pub(super) struct Niels<E> {
    sum: E,
    difference: E,
    product: E,
}

/// A point to be added: Y + X, Y − X, 2Z and 2d·T, tight.
#[derive(Clone, Copy)]
pub(super) struct Cached<E> {
    sum: E,
    difference: E,
    twice_z: E,
    product: E,
}

impl<E: Copy> Completed<E> {
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn extended<F: Field<Element = E>>(self, f: F) -> Extended<E> {
        let Projective { x, y, z } = self.projective(f);
        Extended { x, y, z, t: f.mul(self.e, self.h) }
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn projective<F: Field<Element = E>>(self, f: F) -> Projective<E> {
        let x = f.mul(self.e, self.f);
        let y = f.mul(self.h, self.g);
        let z = f.mul(self.f, self.g);
        Projective { x, y, z }
    }
}

impl<E: Copy> Projective<E> {
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn double<F: Field<Element = E>>(self, f: F) -> Completed<E> {
        // 2·(x, y) = (2xy/(y² − x²), (y² + x²)/(2 − y² + x²)). All four parts have the other sign
        // than in the paper: each is a sum less one product. E = −2XY, as X² + Y² − (X + Y)²,
        // G = X² − Y², H = X² + Y², F = 2Z² + G.
        let (a, b) = (f.square_product(self.x), f.square_product(self.y));
        let c = f.square_product(self.z);
        let both = f.square_product(f.carry(f.add(self.x, self.y)));
        let sum = f.add_wide(a, b);
        Completed {
            e: f.reduce(f.sub_wide(sum, both)),
            f: f.reduce(f.sub_wide(f.add_wide(f.add_wide(c, c), a), b)),
            g: f.reduce(f.sub_wide(a, b)),
            h: f.reduce(sum),
        }
    }
}

impl<E: Copy> Extended<E> {
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn identity<F: Field<Element = E>>(f: F) -> Self {
        let (zero, one) = (f.splat(&ZERO), f.splat(&ONE));
        Self { x: zero, y: one, z: one, t: zero }
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn projective(self) -> Projective<E> {
        Projective { x: self.x, y: self.y, z: self.z }
    }

    /// 2ⁿ times the point, n ≥ 1; out of line.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn double_times<F: Field<Element = E>>(self, f: F, n: usize) -> Self {
        f.outlined(inlined!(|| {
            let mut point = self.projective();
            let mut doubled = point.double(f);
            for _ in 1..n {
                point = doubled.projective(f);
                doubled = point.double(f);
            }
            doubled.extended(f)
        }))
    }

    /// The sum of both; out of line.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn plus<F: Field<Element = E>>(self, f: F, other: Cached<E>) -> Self {
        f.outlined(inlined!(|| self.add(f, other).extended(f)))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn negate<F: Field<Element = E>>(self, f: F) -> Self {
        Self { x: f.negate(self.x), t: f.negate(self.t), ..self }
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn select<F: Field<Element = E>>(f: F, mask: F::Mask, a: Self, b: Self) -> Self {
        Self {
            x: f.select(mask, a.x, b.x),
            y: f.select(mask, a.y, b.y),
            z: f.select(mask, a.z, b.z),
            t: f.select(mask, a.t, b.t),
        }
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn cached<F: Field<Element = E>>(self, f: F, twice_d: &Limbs) -> Cached<E> {
        Cached {
            sum: f.carry(f.add(self.y, self.x)),
            difference: f.carry(f.sub(self.y, self.x)),
            twice_z: f.carry(f.add(self.z, self.z)),
            product: f.times(self.t, f.splat(twice_d)),
        }
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn add<F: Field<Element = E>>(self, f: F, other: Cached<E>) -> Completed<E> {
        // A = (Y − X)·(Y′ − X′), B = (Y + X)·(Y′ + X′), C = 2d·T·T′, D = 2Z·Z′; E = B − A,
        // F = D − C, G = D + C, H = B + A. As d is no square, F and G are not 0.
        let a = f.product(f.sub(self.y, self.x), other.difference);
        let b = f.product(f.add(self.y, self.x), other.sum);
        let (c, d) = (f.product(self.t, other.product), f.product(self.z, other.twice_z));
        Completed {
            e: f.reduce(f.sub_wide(b, a)),
            f: f.reduce(f.sub_wide(d, c)),
            g: f.reduce(f.add_wide(d, c)),
            h: f.reduce(f.add_wide(b, a)),
        }
    }
}

/// Y + X, Y − X, Z and T; tight. What points are while they are summed up.
#[derive(Clone, Copy)]
pub(super) struct Running<E> {
    sum: E,
    difference: E,
    z: E,
    t: E,
}

impl<E: Copy> Running<E> {
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn new<F: Field<Element = E>>(f: F, point: Extended<E>) -> Self {
        Self {
            sum: f.carry(f.add(point.y, point.x)),
            difference: f.carry(f.sub(point.y, point.x)),
            z: point.z,
            t: point.t,
        }
    }

    /// A point alone, or its negative where the mask is set, with coordinates that are four times as
    /// large, for T: that is (y + x)² − (y − x)².
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn from_niels<F: Field<Element = E>>(
        f: F,
        point: Niels<E>,
        negative: F::Mask,
    ) -> Self {
        let (sum, difference) = f.swap(negative, point.sum, point.difference);
        let (sum, difference) = (f.carry(sum), f.carry(difference));
        let t = f.sub_wide(f.square_product(sum), f.square_product(difference));
        Self {
            sum: f.reduce(f.small_product(sum, 4)),
            difference: f.reduce(f.small_product(difference, 4)),
            z: f.splat(&[4, 0, 0, 0, 0]),
            t: f.reduce(t),
        }
    }

    /// The point, with coordinates that are twice as large.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn extended<F: Field<Element = E>>(self, f: F) -> Extended<E> {
        Extended {
            x: f.carry(f.sub(self.sum, self.difference)),
            y: f.carry(f.add(self.sum, self.difference)),
            z: f.carry(f.add(self.z, self.z)),
            t: f.carry(f.add(self.t, self.t)),
        }
    }

    /// The sum with the point, or with its negative where the mask is set.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn add<F: Field<Element = E>>(
        self,
        f: F,
        other: Niels<E>,
        negative: F::Mask,
    ) -> Self {
        let (sum, difference) = f.swap(negative, other.sum, other.difference);
        let a = f.product(self.difference, difference);
        let b = f.product(self.sum, sum);
        let c = f.mul(self.t, other.product);
        let d = f.add(self.z, self.z);
        // x = E/G, y = H/F.
        // The negative of a point has −x: its sum and difference change places, and C has the other
        // sign, so F and G change places.
        let (minus, g) = f.swap(negative, f.sub(d, c), f.add(d, c));
        let e = f.reduce(f.sub_wide(b, a));
        let f_tight = f.carry(minus);
        let h = f.reduce(f.add_wide(b, a));
        let (x, y) = (f.product(e, f_tight), f.product(h, g));
        Self {
            sum: f.reduce(f.add_wide(y, x)),
            difference: f.reduce(f.sub_wide(y, x)),
            z: f.mul(f_tight, g),
            t: f.mul(e, h),
        }
    }
}

impl<E> Niels<E> {
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn new([sum, difference, product]: [E; 3]) -> Self {
        Self { sum, difference, product }
    }
}

impl<E: Copy> Cached<E> {
    /// Negates the point where the mask is set.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn negate_where<F: Field<Element = E>>(self, f: F, mask: F::Mask) -> Self {
        let (sum, difference) = f.swap(mask, self.sum, self.difference);
        let product = f.select(mask, f.negate(self.product), self.product);
        Self { sum, difference, product, ..self }
    }

    /// Selects in each lane the point of that index, 0 to 7, by reading all.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn choose<F: Field<Element = E>>(f: F, from: &[Self; 8], index: F::Word) -> Self {
        let bits = [f.bit(index, 0), f.bit(index, 1), f.bit(index, 2)];
        let [a, b, c, d, e, g, h, i] = from;
        macro_rules! choose {
            ($field:ident) => {{
                let (ab, cd) =
                    (f.select(bits[0], b.$field, a.$field), f.select(bits[0], d.$field, c.$field));
                let (eg, hi) =
                    (f.select(bits[0], g.$field, e.$field), f.select(bits[0], i.$field, h.$field));
                f.select(bits[2], f.select(bits[1], hi, eg), f.select(bits[1], cd, ab))
            }};
        }
        Self {
            sum: choose!(sum),
            difference: choose!(difference),
            twice_z: choose!(twice_z),
            product: choose!(product),
        }
    }
}

/// P, 3P, … (2N − 1)·P.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn odd_multiples<F: Field, const N: usize>(
    f: F,
    point: Extended<F::Element>,
    twice_d: &Limbs,
) -> [Extended<F::Element>; N] {
    // Each is the one before plus 2P.
    let twice = point.double_times(f, 1).cached(f, twice_d);
    let mut multiples = [point; N];
    let mut multiple = point;
    for to in &mut multiples[1..] {
        multiple = multiple.plus(f, twice);
        *to = multiple;
    }
    multiples
}

/// Digits ±1, ±3, … ±15 of k + 1 or k, whichever is odd, 0 ≤ k < 2²⁵⁶: the number whose digit i of
/// four bits is b where the odd one has 2b − 15 at 16ⁱ. It is (odd + 2²⁵⁶ − 1)/2.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) const fn odd_digits([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    // With odd = 2m + 1, (odd + 2²⁵⁶ − 1)/2 = m + 2²⁵⁵. m is ⌊k/2⌋ for both: k is odd, or k + 1 is.
    [a >> 1 | b << 63, b >> 1 | c << 63, c >> 1 | d << 63, d >> 1 | 1 << 63]
}

/// k·P in each lane, of order-independent k below 2²⁵⁶, by its digits of [`odd_digits`]; `even` is 1
/// where k is even.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn multiply<F: Field>(
    f: F,
    digits: &[F::Word; 4],
    even: &Words,
    point: Extended<F::Element>,
    twice_d: &Limbs,
) -> Extended<F::Element> {
    let mut multiples = [point.cached(f, twice_d); 8];
    for (to, multiple) in multiples.iter_mut().zip(&odd_multiples::<F, 8>(f, point, twice_d)) {
        *to = multiple.cached(f, twice_d);
    }
    let mut sum = Extended::identity(f);
    for (index, &word) in digits.iter().enumerate().rev() {
        for k in (0..16).rev() {
            if (index, k) != (3, 15) {
                sum = sum.double_times(f, 4);
            }
            let (digit, negative) = f.digit::<4>(word, k);
            let term = Cached::choose(f, &multiples, digit).negate_where(f, negative);
            sum = sum.plus(f, term);
        }
    }
    let zero = f.splat(&ZERO);
    erase(&mut multiples, Cached { sum: zero, difference: zero, twice_z: zero, product: zero });
    // Where k is even the digits are those of k + 1.
    let less = sum.plus(f, point.negate(f).cached(f, twice_d));
    Extended::select(f, super::field::mask(f, even), less, sum)
}
