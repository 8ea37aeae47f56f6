//! Points of the curve in Edwards form, and operations on batches of them.

use core::fmt;

use super::{
    batch,
    constants::{BASE, D, ONE, TWICE_D, ZERO},
    edwards::{Extended, multiply, odd_digits},
    field::{
        Columns, Field, Limbs, Words, canonical, is_equal, is_odd, is_zero, negate_where,
        sqrt_ratio, square, zip,
    },
};
use crate::{Backend, erase};

/// A point of −x² + y² = 1 + d·x²·y², d = −121665/121666: X, Y, Z and T, with x = X/Z, y = Y/Z and
/// xy = T/Z. Erased when it is dropped.
#[derive(Clone)]
pub struct Point(pub(super) [Limbs; 4]);

/// An encoding that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The index of the first invalid encoding in the batch.
    pub index: usize,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "encoding {} of a batch is not one of a point", self.index)
    }
}

impl core::error::Error for Invalid {}

impl Point {
    /// (0, 1), the neutral one.
    pub const IDENTITY: Self = Self([ZERO, ONE, ONE, ZERO]);

    /// The base point of Ed25519 and of Ristretto, y = 4/5, of prime order ℓ.
    pub const BASE: Self = Self([BASE[0], BASE[1], ONE, BASE[2]]);
}

impl Drop for Point {
    fn drop(&mut self) {
        erase(&mut self.0, ZERO);
    }
}

redacted! {
    Point, _point => "…";
}

/// The points `start..` of a batch of n, one for each or one for all.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn load<F: Field>(f: F, start: usize, n: usize, from: &[Point]) -> Extended<F::Element> {
    let mut columns = [Columns::ZERO; 4];
    for lane in 0..F::LANES {
        let Point(limbs) = batch::of(from, (start + lane).min(n - 1));
        for (columns, limbs) in columns.iter_mut().zip(limbs) {
            columns.set(lane, limbs);
        }
    }
    let [x, y, z, t] = &columns;
    Extended { x: f.load(x), y: f.load(y), z: f.load(z), t: f.load(t) }
}

/// Writes the points that the batch from `start` on has left.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn store<F: Field>(f: F, point: Extended<F::Element>, start: usize, to: &mut [Point]) {
    let columns = [f.store(point.x), f.store(point.y), f.store(point.z), f.store(point.t)];
    for (lane, Point(limbs)) in to[start..].iter_mut().take(F::LANES).enumerate() {
        for (limbs, columns) in limbs.iter_mut().zip(&columns) {
            *limbs = columns.lane(lane);
        }
    }
}

/// Stores, for each vector of a batch, the points that are made from its start.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn each<F: Field>(
    f: F,
    out: &mut [Point],
    make: impl Fn(usize, usize) -> Extended<F::Element>,
) {
    let n = out.len();
    for start in (0..n).step_by(F::LANES) {
        store(f, make(start, n), start, out);
    }
}

#[inline(always)]
fn lanes<F: Field>(_: F) -> usize {
    F::LANES
}

/// a + b for points a and b, one for each of `out`, or one of them for all.
pub fn add(backend: Backend, a: &[Point], b: &[Point], out: &mut [Point]) {
    batch::check(a.len(), out.len());
    batch::check(b.len(), out.len());
    dispatch!(backend, f => sums(f, a, b, out, false));
}

/// a − b for points a and b, one for each of `out`, or one of them for all.
pub fn sub(backend: Backend, a: &[Point], b: &[Point], out: &mut [Point]) {
    batch::check(a.len(), out.len());
    batch::check(b.len(), out.len());
    dispatch!(backend, f => sums(f, a, b, out, true));
}

#[cfg_attr(not(unoptimized), inline(always))]
fn sums<F: Field>(f: F, a: &[Point], b: &[Point], out: &mut [Point], negative: bool) {
    each(
        f,
        out,
        inlined!(|start, n| {
            let b = load(f, start, n, b);
            let b = if negative { b.negate(f) } else { b };
            load(f, start, n, a).plus(f, b.cached(f, &TWICE_D))
        }),
    );
}

/// Selects one of two points for each of `out`: the second where the bit is 1. `zero` and `one` have a point
/// for each output or one for all.
pub fn select(backend: Backend, choices: &[u8], zero: &[Point], one: &[Point], out: &mut [Point]) {
    batch::check(zero.len(), out.len());
    batch::check(one.len(), out.len());
    batch::check_bits(choices, out.len());
    dispatch!(backend, f => each(f, out, inlined!(|start, n| {
        let second = super::field::mask(f, &batch::bits(f, start, n, choices));
        Extended::select(f, second, load(f, start, n, one), load(f, start, n, zero))
    })));
}

/// Multiplies every point by 8: the result is in the subgroup of prime order, and the identity for
/// the eight points of small order.
pub fn mul_by_cofactor(backend: Backend, points: &mut [Point]) {
    let n = points.len();
    dispatch!(backend, f => for start in (0..n).step_by(lanes(f)) {
        let point = load(f, start, n, points).double_times(f, 3);
        store(f, point, start, points);
    });
}

/// k·P for scalars k and points P, one for each of `out`, or one of them for all.
pub fn mul(backend: Backend, scalars: &[[u8; 32]], points: &[Point], out: &mut [Point]) {
    batch::check(scalars.len(), out.len());
    batch::check(points.len(), out.len());
    dispatch!(backend, f => each(f, out, inlined!(|start, n| {
        let digits = batch::scalars(f, start, n, scalars, odd_digits);
        let even = batch::even(f, start, n, scalars);
        multiply(f, &digits, &even, load(f, start, n, points), &TWICE_D)
    })));
}

/// Sets bit i, packed least significant first, if point i is the identity, and clears it if not.
pub fn is_identity(backend: Backend, points: &[Point], out: &mut [u8]) {
    batch::check_bits(out, points.len());
    let n = points.len();
    dispatch!(backend, f => for start in (0..n).step_by(lanes(f)) {
        let Extended { x, y, z, .. } = load(f, start, n, points);
        // (0, 1): not (0, −1), which has order 2.
        let both = zip(&is_zero(f, x), &is_equal(f, y, z), |a, b| a & b);
        batch::store_bits(f, &both, start, n, out);
    });
}

/// The encodings of RFC 8032, section 5.1.2: y below p, and the parity of x in bit 255.
pub fn compress(backend: Backend, points: &[Point], out: &mut [[u8; 32]]) {
    batch::check_each(points.len(), out.len());
    dispatch!(backend, f => compress_each(f, points, out));
}

#[cfg_attr(not(unoptimized), inline(always))]
fn compress_each<F: Field>(f: F, points: &[Point], out: &mut [[u8; 32]]) {
    let n = out.len();
    batch::divide(
        f,
        n,
        inlined!(|start| {
            let Extended { x, y, z, .. } = load(f, start, n, points);
            ([x, y], z)
        }),
        inlined!(|start, [x, y], inverse| {
            batch::store(f, f.times(y, inverse), start, out);
            let signs = is_odd(f, f.times(x, inverse));
            for (to, sign) in out[start..].iter_mut().take(F::LANES).zip(signs) {
                to[31] |= sign.to_le_bytes()[0] << 7;
            }
        }),
    );
}

/// The points of the encodings of RFC 8032, section 5.1.3: y must be below p and be that of a point,
/// and x = 0 has no sign. Points of small order are points.
///
/// # Errors
/// [`Invalid`] if an encoding is none; then `out` is undefined.
pub fn decompress(
    backend: Backend,
    encodings: &[[u8; 32]],
    out: &mut [Point],
) -> Result<(), Invalid> {
    batch::check_each(encodings.len(), out.len());
    dispatch!(
        backend, f => decompress_each(f, encodings, out))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn decompress_each<F: Field>(
    f: F,
    encodings: &[[u8; 32]],
    out: &mut [Point],
) -> Result<(), Invalid> {
    let n = out.len();
    for start in (0..n).step_by(F::LANES) {
        let y = batch::load(f, start, n, encodings);
        let (valid, x) = x_of(f, y, &D);
        let mut signs: Words = [0; 8];
        let mut below: Words = [0; 8];
        for lane in 0..F::LANES {
            let encoding = &encodings[(start + lane).min(n - 1)];
            signs[lane] = u64::from(encoding[31] >> 7);
            // A y from p on has other limbs than its residue.
            let y = super::field::from_bytes(encoding);
            below[lane] = u64::from(canonical(&y) == y);
        }
        // x is even.
        let x_zero = is_zero(f, x);
        let unsigned = zip(&x_zero, &signs, |zero, sign| 1 ^ zero & sign);
        let valid = zip(&zip(&valid, &below, |a, b| a & b), &unsigned, |a, b| a & b);
        if let Some(lane) = valid.iter().take(F::LANES).position(|&valid| valid == 0) {
            return Err(Invalid { index: (start + lane).min(n - 1) });
        }
        let x = negate_where(f, &signs, x);
        let point = Extended { x, y, z: f.splat(&ONE), t: f.times(x, y) };
        store(f, point, start, out);
    }
    Ok(())
}

/// The even x of (x, y) on −x² + y² = 1 + d·x²·y², and 1 where there is one, else 0; y tight.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn x_of<F: Field>(f: F, y: F::Element, d: &Limbs) -> (Words, F::Element) {
    let one = f.splat(&ONE);
    let square = square(f, y);
    // x²·(1 + d·y²) = y² − 1.
    let numerator = f.carry(f.sub(square, one));
    let denominator = f.carry(f.add(f.times(square, f.splat(d)), one));
    sqrt_ratio(f, numerator, denominator)
}
