//! Points in projective coordinates, and their multiples.

use core::hint::black_box;

use zeroize::Zeroize;

use super::{
    POINT_LEN,
    field::{Field, is_zero},
    scalar::{DIGITS, Scalar},
};
use crate::erase;

/// Multiples of a point for one digit: 1 to 8 times.
const MULTIPLES: usize = 8;

/// A point (x/z, y/z), or (0 : y : 0), the identity.
#[derive(Clone, Copy)]
pub struct Point {
    x: Field,
    y: Field,
    z: Field,
}

/// A point that is not the identity.
#[derive(Clone, Copy)]
struct Affine {
    x: Field,
    y: Field,
}

redacted! {
    Point;
    Table, _table => "…";
}

impl Point {
    const IDENTITY: Self = Self { x: Field::ZERO, y: Field::ONE, z: Field::ZERO };

    /// `one` where the choice is 1, `zero` where it is 0.
    #[must_use]
    pub fn select(zero: &Self, one: &Self, choice: u8) -> Self {
        zero.or_if(black_box(u64::from(choice & 1).wrapping_neg()), one)
    }

    /// The sum of two points.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (p, q) = (self, other);
        let [xx, yy, zz] = [p.x.times(&q.x), p.y.times(&q.y), p.z.times(&q.z)];
        let cross = |a: &Field, b: &Field, c: &Field, d: &Field, of_a: &Field, of_b: &Field| {
            a.plus(b).times(&c.plus(d)).minus(&of_a.plus(of_b))
        };
        let xy = cross(&p.x, &p.y, &q.x, &q.y, &xx, &yy);
        let yz = cross(&p.y, &p.z, &q.y, &q.z, &yy, &zz);
        let xz = cross(&p.x, &p.z, &q.x, &q.z, &xx, &zz);
        Self::of_products([xx, yy, zz], [xy, yz, xz])
    }

    fn plus_affine(&self, q: &Affine) -> Self {
        let [xx, yy] = [self.x.times(&q.x), self.y.times(&q.y)];
        let xy = self.x.plus(&self.y).times(&q.x.plus(&q.y)).minus(&xx.plus(&yy));
        let yz = q.y.times(&self.z).plus(&self.y);
        let xz = q.x.times(&self.z).plus(&self.x);
        Self::of_products([xx, yy, self.z], [xy, yz, xz])
    }

    /// A sum by the products x₁x₂, y₁y₂, z₁z₂ and x₁y₂ + x₂y₁, y₁z₂ + y₂z₁, x₁z₂ + x₂z₁.
    fn of_products([xx, yy, zz]: [Field; 3], [xy, yz, xz]: [Field; 3]) -> Self {
        let triple = |a: &Field| a.plus(a).plus(a);
        let u = triple(&xz.minus(&Field::B.times(&zz)));
        let [less, more] = [yy.minus(&u), yy.plus(&u)];
        let zz = triple(&zz);
        let v = triple(&Field::B.times(&xz).minus(&zz).minus(&xx));
        let w = triple(&xx).minus(&zz);
        Self {
            x: xy.times(&more).minus(&yz.times(&v)),
            y: more.times(&less).plus(&w.times(&v)),
            z: yz.times(&less).plus(&xy.times(&w)),
        }
    }

    fn doubled(&self) -> Self {
        let Self { x, y, z } = self;
        let twice = |a: &Field| a.plus(a);
        let triple = |a: &Field| a.plus(a).plus(a);
        let [xx, yy, zz] = [x.square(), y.square(), z.square()];
        let (xy, xz, yz) = (twice(&x.times(y)), twice(&x.times(z)), twice(&y.times(z)));
        let u = triple(&Field::B.times(&zz).minus(&xz));
        let [less, more] = [yy.minus(&u), yy.plus(&u)];
        let zz = triple(&zz);
        let v = triple(&Field::B.times(&xz).minus(&zz).minus(&xx));
        let w = triple(&xx).minus(&zz);
        Self {
            x: less.times(&xy).minus(&yz.times(&v)),
            y: less.times(&more).plus(&w.times(&v)),
            z: twice(&twice(&yz.times(&yy))),
        }
    }

    fn or_if(&self, mask: u64, other: &Self) -> Self {
        Self {
            x: self.x.or_if(mask, &other.x),
            y: self.y.or_if(mask, &other.y),
            z: self.z.or_if(mask, &other.z),
        }
    }

    /// The point from 1 to 8 times.
    fn multiples(&self) -> [Self; MULTIPLES] {
        let mut all = [*self; MULTIPLES];
        for i in 1..MULTIPLES {
            all[i] = match i % 2 {
                1 => all[i / 2].doubled(),
                _ => all[i - 1].plus(self),
            };
        }
        all
    }

    /// The sum of multiples of points, of which the scalars are secret.
    #[must_use]
    pub fn combine<const N: usize>(terms: [(&Self, &Scalar); N]) -> Self {
        let tables = terms.map(|(point, _)| point.multiples());
        let digits = terms.map(|(_, scalar)| scalar.digits());
        let mut sum = Self::IDENTITY;
        for place in (0..DIGITS).rev() {
            if place < DIGITS - 1 {
                sum = sum.doubled().doubled().doubled().doubled();
            }
            for (table, digits) in tables.iter().zip(&digits) {
                let (size, negative) = parts(digits.0[place]);
                let mut term = Self::IDENTITY;
                for (i, multiple) in (1..).zip(table) {
                    term = term.or_if(is_zero(size ^ i), multiple);
                }
                term.y = term.y.or_if(negative, &Field::ZERO.minus(&term.y));
                sum = sum.plus(&term);
            }
        }
        sum
    }
}

impl Zeroize for Point {
    fn zeroize(&mut self) {
        erase(core::slice::from_mut(self), Self::IDENTITY);
    }
}

/// The size of a digit, and all ones if it is negative.
fn parts(digit: i8) -> (u64, u64) {
    let digit = i64::from(digit);
    let negative = digit >> 63;
    (((digit ^ negative) - negative).cast_unsigned(), black_box(negative.cast_unsigned()))
}

/// Places of digits between two rows of a table.
const STEP: usize = 4;
const ROWS: usize = DIGITS.div_ceil(STEP);

/// A public point, prepared for many multiplications: the multiples of 16⁴ʲ·P for every j. That costs less than two
/// multiplications, and 9 kB.
pub struct Table([[Affine; MULTIPLES]; ROWS]);

impl Table {
    /// Prepares a point that is not the identity.
    #[must_use]
    pub fn new(point: &Point) -> Self {
        let mut all = [[*point; MULTIPLES]; ROWS];
        let mut power = *point;
        for row in &mut all {
            *row = power.multiples();
            power = (0..4 * STEP).fold(power, |power, _| power.doubled());
        }
        let mut table = [[Affine { x: Field::ZERO, y: Field::ZERO }; MULTIPLES]; ROWS];
        normalised(all.as_flattened(), table.as_flattened_mut());
        Self(table)
    }

    /// The sum of multiples of points, of which the scalars are secret.
    #[must_use]
    pub fn combine<const N: usize>(terms: [(&Self, &Scalar); N]) -> Point {
        let terms = terms.map(|(table, scalar)| (table, scalar.digits()));
        Self::sum(|row, place, add| {
            for (Self(table), digits) in &terms {
                add(digits.0[place], Affine::IN_NO_TABLE.or_multiple(&table[row], digits.0[place]));
            }
        })
    }

    /// The multiple of one of two points, of which the choice and the scalar are secret.
    #[must_use]
    pub fn times_one_of([zero, one]: [&Self; 2], choice: u8, scalar: &Scalar) -> Point {
        let digits = scalar.digits();
        let is_one = black_box(u64::from(choice & 1).wrapping_neg());
        Self::sum(|row, place, add| {
            let digit = digits.0[place];
            let of = |table: &Self| Affine::IN_NO_TABLE.or_multiple(&table.0[row], digit);
            add(digit, of(zero).or_if(is_one, &of(one)));
        })
    }

    /// Adds up what `terms` adds for the digits of every place.
    fn sum(mut terms: impl FnMut(usize, usize, &mut dyn FnMut(i8, Affine))) -> Point {
        let mut sum = Point::IDENTITY;
        for offset in (0..STEP).rev() {
            if offset < STEP - 1 {
                sum = sum.doubled().doubled().doubled().doubled();
            }
            for row in 0..ROWS {
                let place = row * STEP + offset;
                if place < DIGITS {
                    terms(row, place, &mut |digit, term| {
                        let (size, negative) = parts(digit);
                        let y = term.y.or_if(negative, &Field::ZERO.minus(&term.y));
                        let next = sum.plus_affine(&Affine { x: term.x, y });
                        sum = next.or_if(is_zero(size), &sum);
                    });
                }
            }
        }
        sum
    }
}

impl Affine {
    /// A stand-in for a multiple by zero, which is not added.
    const IN_NO_TABLE: Self = Self { x: Field::ZERO, y: Field::ZERO };

    /// The multiple by the size of a digit, or this if it is zero; every entry is read.
    fn or_multiple(&self, multiples: &[Self; MULTIPLES], digit: i8) -> Self {
        let (size, _) = parts(digit);
        let entries = (1..).zip(multiples);
        entries.fold(*self, |found, (i, entry)| found.or_if(is_zero(size ^ i), entry))
    }

    fn or_if(&self, mask: u64, other: &Self) -> Self {
        Self { x: self.x.or_if(mask, &other.x), y: self.y.or_if(mask, &other.y) }
    }
}

/// Divides by z with one inversion for all. The identity becomes (0, 0).
fn normalised(points: &[Point], affine: &mut [Affine]) {
    let or_one = |z: &Field| z.or_if(z.is_zero(), &Field::ONE);
    let mut product = Field::ONE;
    for (point, affine) in points.iter().zip(&mut *affine) {
        // The product of all before it, in the meantime.
        affine.x = product;
        product = product.times(&or_one(&point.z));
    }
    let mut inverse = product.inverse();
    for (point, affine) in points.iter().zip(affine).rev() {
        let of_z = inverse.times(&affine.x);
        inverse = inverse.times(&or_one(&point.z));
        let of_z = of_z.or_if(point.z.is_zero(), &Field::ZERO);
        *affine = Affine { x: point.x.times(&of_z), y: point.y.times(&of_z) };
    }
}

/// The encodings of points that are not the identity, which would be taken for a point with x = 0.
#[must_use]
pub fn encode<const N: usize>(points: &[Point; N]) -> [[u8; POINT_LEN]; N] {
    let mut affine = [Affine::IN_NO_TABLE; N];
    normalised(points, &mut affine);
    let bytes = affine.map(|Affine { x, y }| {
        let mut bytes = [2 | y.parity(); POINT_LEN];
        bytes[1..].copy_from_slice(&x.to_bytes());
        bytes
    });
    erase(&mut affine, Affine::IN_NO_TABLE);
    bytes
}

/// The point that is encoded so; the identity has no encoding of this length. Takes variable time.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Point> {
    let (&tag, x) = bytes.split_first()?;
    if tag & !1 != 2 {
        return None;
    }
    let x = Field::from_bytes(x.try_into().ok()?)?;
    let triple = x.plus(&x).plus(&x);
    let root = x.square().times(&x).minus(&triple).plus(&Field::B).root()?;
    // No point has y = 0: the order is odd.
    let y = if root.parity() == tag & 1 { root } else { Field::ZERO.minus(&root) };
    Some(Point { x, y, z: Field::ONE })
}

impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        let same =
            |a: [&Field; 2], b: [&Field; 2]| a[0].times(b[1]).minus(&b[0].times(a[1])).is_zero();
        let of_x = same([&self.x, &self.z], [&other.x, &other.z]);
        let of_y = same([&self.y, &self.z], [&other.y, &other.z]);
        of_x & of_y == u64::MAX
    }
}

impl Eq for Point {}
