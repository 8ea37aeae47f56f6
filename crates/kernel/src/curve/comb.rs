//! Many multiples of one point, by a table of some.

use core::slice;

use super::{
    batch,
    constants::{D, ONE, TWICE_D, TWICE_TWIST_D, TWIST_D},
    edwards::{Extended, Niels, Running, odd_multiples},
    field::{
        Columns, Field, Limbs, MAX_LANES, Sixteen, canonical, from_bytes, invert, invert_all,
        is_zero, mask, negate_where,
    },
    point::{self, Point, x_of},
};
use crate::{Backend, backend::Scalar, erase};

/// Tables of odd multiples. Each serves the digits of two places.
const ODD: usize = 26;

/// The digits' places, odd ones first: those of odd place are multiplied by 32 before the others are added.
const PLACES: [core::ops::Range<u32>; 2] = [1..50, 0..53];

/// Digits in a word of those of [`odd_digits`].
const IN_WORD: u32 = 12;

/// Vectors that are worked on side by side, so that what one reads of a table is still in the nearest
/// cache when the others do.
const BLOCK: usize = 8;

/// The odd multiples up to 31 of 1024ʲ·P, for j below 26, as y + x, y − x and 2d·xy; and 32⁵¹·P and
/// (32⁵¹ − 1)·P, with which a sum ends.
struct Comb<'a>(&'a mut [Sixteen; ODD + 1]);

/// A point of the curve, prepared for many multiplications, in memory of the caller. That costs as much as
/// six to fifteen multiplications by [`mul`](super::mul). The memory is erased when the table is dropped.
pub struct Table<'a>(Comb<'a>);

/// A point of the curve and one of its twist, prepared for many multiplications of which only
/// x-coordinates are wanted, in memory of the caller; twice the cost of a [`Table`]. The memory is erased
/// when the table is dropped.
pub struct TwinTable<'a>([Comb<'a>; 2]);

redacted! {
    Table<'_>, _table => "…";
    TwinTable<'_>, _table => "…";
}

impl Drop for Comb<'_> {
    fn drop(&mut self) {
        erase(self.0, Sixteen::ZERO);
    }
}

impl<'a> Table<'a> {
    /// The length of a table's memory, 50 kB.
    pub const LEN: usize = ODD + 1;

    /// Prepares a point.
    #[must_use]
    pub fn new(backend: Backend, point: &Point, memory: &'a mut [Sixteen]) -> Self {
        Self(Comb::new(backend, point, &TWICE_D, whole(memory)))
    }

    /// k·P for the scalars k, one for each of `out`.
    pub fn mul(&self, backend: Backend, scalars: &[[u8; 32]], out: &mut [Point]) {
        batch::check_each(scalars.len(), out.len());
        dispatch!(backend, f => self.multiples(f, scalars, out));
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn multiples<F: Field>(&self, f: F, scalars: &[[u8; 32]], out: &mut [Point]) {
        let n = out.len();
        let mut points = [Extended::identity(f); BLOCK];
        for start in (0..n).step_by(BLOCK * F::LANES) {
            comb(
                f,
                start,
                n,
                scalars,
                inlined!(|_, table, digit| f.lookup(&self.0.0[table], digit)),
                &mut points,
            );
            for (start, &point) in (start..n).step_by(F::LANES).zip(&points) {
                point::store(f, point, start, out);
            }
        }
        erase(&mut points, Extended::identity(f));
    }
}

impl<'a> TwinTable<'a> {
    /// The length of the memory of both curves' tables, 100 kB.
    pub const LEN: usize = 2 * Table::LEN;

    /// Prepares the points with these x-coordinates, the first on the curve and the second on the
    /// twist; or `None` if they are not there. They are public: time depends on the answer.
    ///
    /// Bit 255 is ignored, and an x-coordinate may be p or above.
    #[must_use]
    pub fn new(
        backend: Backend,
        [on_curve, on_twist]: &[[u8; 32]; 2],
        memory: &'a mut [Sixteen],
    ) -> Option<Self> {
        let f = Scalar;
        let one = f.splat(&ONE);
        // y = (u − 1)/(u + 1) on the curve, and its inverse on the twist.
        let u = from_bytes(on_curve);
        let curve = with_y(f.sub(u, one), f.add(u, one), &D)?;
        let u = from_bytes(on_twist);
        let twist = with_y(f.add(u, one), f.sub(u, one), &TWIST_D)?;
        let (of_curve, of_twist) = memory.split_at_mut(Table::LEN);
        Some(Self([
            Comb::new(backend, &curve, &TWICE_D, whole(of_curve)),
            Comb::new(backend, &twist, &TWICE_TWIST_D, whole(of_twist)),
        ]))
    }

    /// The x-coordinate, 0 for the point at infinity, of k·P_b for scalars k and bits b, packed least
    /// significant first, one of each for each of `out`: b tells whether it is the point of the
    /// twist.
    pub fn mul(
        &self,
        backend: Backend,
        scalars: &[[u8; 32]],
        on_twist: &[u8],
        out: &mut [[u8; 32]],
    ) {
        batch::check_each(scalars.len(), out.len());
        batch::check_bits(on_twist, out.len());
        dispatch!(
            backend, f => self.multiples(f, scalars, on_twist, out));
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn multiples<F: Field>(
        &self,
        f: F,
        scalars: &[[u8; 32]],
        on_twist: &[u8],
        out: &mut [[u8; 32]],
    ) {
        let n = out.len();
        let Self([curve, twist]) = self;
        let mut points = [Extended::identity(f); BLOCK];
        batch::divide(
            f,
            n,
            inlined!(|start| {
                let in_block = start / F::LANES % BLOCK;
                if in_block == 0 {
                    let mut sides = [mask(f, &[0; MAX_LANES]); BLOCK];
                    for (start, side) in (start..n).step_by(F::LANES).zip(&mut sides) {
                        *side = mask(f, &batch::bits(f, start, n, on_twist));
                    }
                    comb(
                        f,
                        start,
                        n,
                        scalars,
                        #[cfg_attr(not(unoptimized), inline(always))]
                        |k, table, digit| {
                            f.lookup_either([&curve.0[table], &twist.0[table]], sides[k], digit)
                        },
                        &mut points,
                    );
                }
                let point = points[in_block];
                let numerator = f.carry(f.add(point.z, point.y));
                ([numerator], f.carry(f.sub(point.z, point.y)))
            }),
            inlined!(|start, [numerator], inverse| {
                // (1 + y)/(1 − y), and the negative of that on the twist.
                let on_twist = batch::bits(f, start, n, on_twist);
                let u = negate_where(f, &on_twist, f.times(numerator, inverse));
                batch::store(f, u, start, out);
            }),
        );
        erase(&mut points, Extended::identity(f));
    }
}

/// The point with y = numerator/denominator and an even x, if there is one. A denominator of 0 is
/// that of u = −1 on the curve, or u = 1 on the twist, which are on the other side.
fn with_y(numerator: Limbs, denominator: Limbs, d: &Limbs) -> Option<Point> {
    let f = Scalar;
    let y = f.times(numerator, invert(f, f.carry(denominator)));
    let (valid, x) = x_of(f, y, d);
    let valid = valid[0] == 1 && is_zero(f, denominator)[0] == 0;
    valid.then(|| Point([x, y, ONE, f.times(x, y)]))
}

/// Digits ±1, ±3, … ±31 of k + 1 or k, whichever is odd, 0 ≤ k < 2²⁵⁶: the number whose digit i of
/// five bits is b where the odd one has 2b − 31 at 32ⁱ. It is (odd + 2²⁶⁰ − 1)/2, so digit 51 is 1
/// always. It is left out, and place 52 has what looks up 32⁵¹·P where k is odd, and P less where k is even.
#[cfg_attr(not(unoptimized), inline(always))]
const fn odd_digits([a, b, c, d]: [u64; 4]) -> [u64; 5] {
    // With odd = 2m + 1 the number is m + 2²⁵⁹, and m = ⌊k/2⌋. The last digit's top bit makes it
    // positive: entry 0 for odd k, 1 for even k.
    let end = 0b10000 | !a & 1;
    let [a, b, c, d] = [a >> 1 | b << 63, b >> 1 | c << 63, c >> 1 | d << 63, d >> 1];
    [a, a >> 60 | b << 4, b >> 56 | c << 8, c >> 52 | d << 12, d >> 48 | end << (52 % IN_WORD * 5)]
}

/// Σ dᵢ·32ⁱ·P for the odd digits d of each scalar, less P where the scalar is even: k·P, for a block of
/// vectors from `start` on, or as many as there are.
///
/// `entry` looks up a digit for a vector of the block in one of the tables.
#[cfg_attr(not(unoptimized), inline(always))]
fn comb<F: Field>(
    f: F,
    start: usize,
    n: usize,
    scalars: &[[u8; 32]],
    entry: impl Fn(usize, usize, F::Word) -> [F::Element; 3],
    points: &mut [Extended<F::Element>; BLOCK],
) {
    let starts = (start..n).step_by(F::LANES).take(BLOCK);
    let zero = f.words(&[0; MAX_LANES]);
    let mut digits = [[zero; BLOCK]; 5];
    let mut sums = [Running::new(f, points[0]); BLOCK];
    let vectors = starts.len();
    for (k, start) in starts.enumerate() {
        let words = batch::scalars(f, start, n, scalars, odd_digits);
        for (digits, word) in digits.iter_mut().zip(words) {
            digits[k] = word;
        }
    }
    for places in PLACES {
        if places.start == 0 {
            for sum in &mut sums[..vectors] {
                *sum = Running::new(f, sum.extended(f).double_times(f, 5));
            }
        }
        for place in places.step_by(2) {
            let (digits, in_word) = (&digits[(place / IN_WORD) as usize], place % IN_WORD);
            for (k, (sum, &digits)) in sums[..vectors].iter_mut().zip(digits).enumerate() {
                let (digit, negative) = f.digit::<5>(digits, in_word);
                let term = Niels::new(entry(k, place as usize / 2, digit));
                *sum = if place == 1 {
                    Running::from_niels(f, term, negative)
                } else {
                    sum.add(f, term, negative)
                };
            }
        }
    }
    for (point, sum) in points.iter_mut().zip(&sums[..vectors]) {
        *point = sum.extended(f);
    }
    erase(&mut digits, [zero; BLOCK]);
    erase(&mut sums, Running::new(f, Extended::identity(f)));
}

fn whole(memory: &mut [Sixteen]) -> &mut [Sixteen; ODD + 1] {
    memory.try_into().expect("as much memory as a table takes")
}

impl<'a> Comb<'a> {
    fn new(
        backend: Backend,
        point: &Point,
        twice_d: &Limbs,
        memory: &'a mut [Sixteen; ODD + 1],
    ) -> Self {
        let [odd @ .., ends] = &mut *memory;
        // One after the other, so in one lane.
        let f = Scalar;
        let mut bases = [const { Point::IDENTITY }; ODD];
        bases[0] = point.clone();
        for j in 1..ODD {
            let base = point::load(f, 0, 1, &bases[j - 1..j]).double_times(f, 10);
            point::store(f, base, 0, &mut bases[j..=j]);
        }
        let end = point::load(f, 0, 1, &bases[ODD - 1..]).double_times(f, 5);
        // The digits of an even k are those of k + 1: one P less in the end.
        let less = point::load(f, 0, 1, &bases[..1]).negate(f).cached(f, twice_d);
        fill(f, &[end, end.plus(f, less)], twice_d, slice::from_mut(ends));
        dispatch!(
            backend, f => fill_odd(f, &bases, twice_d, odd));
        Self(memory)
    }
}

/// Sets tables to the odd multiples of their bases.
#[cfg_attr(not(unoptimized), inline(always))]
fn fill_odd<F: Field>(f: F, bases: &[Point; ODD], twice_d: &Limbs, tables: &mut [Sixteen]) {
    for start in (0..ODD).step_by(F::LANES) {
        let base = point::load(f, start, ODD, bases);
        fill(f, &odd_multiples::<F, 16>(f, base, twice_d), twice_d, &mut tables[start..]);
    }
}

/// Sets the first entries of tables to points, each table from a lane.
#[cfg_attr(not(unoptimized), inline(always))]
fn fill<F: Field, const N: usize>(
    f: F,
    points: &[Extended<F::Element>; N],
    twice_d: &Limbs,
    tables: &mut [Sixteen],
) {
    let mut inverses = points.map(|point| point.z);
    invert_all::<F, N>(f, &mut inverses);
    for (entry, (point, inverse)) in points.iter().zip(inverses).enumerate() {
        // Affine, so that an addition needs no product by Z.
        let (x, y) = (f.times(point.x, inverse), f.times(point.y, inverse));
        let product = f.times(f.times(x, y), f.splat(twice_d));
        let triple: [Columns; 3] = [f.store(f.add(y, x)), f.store(f.sub(y, x)), f.store(product)];
        for (lane, table) in tables.iter_mut().enumerate().take(F::LANES) {
            let [sum, difference, product] = &triple;
            table.set(entry, &[sum, difference, product].map(|x| canonical(&x.lane(lane))));
        }
    }
}
