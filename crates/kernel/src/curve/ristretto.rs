//! Ristretto255 (RFC 9496): the group of prime order ℓ, as classes of points of the curve.
//!
//! Points of one class are equal here, and have one encoding; which of them a function returns is
//! not specified. [`add`](super::add), [`mul`](super::mul) and so on work on classes as well.

use super::{
    batch,
    constants::{
        D, D_MINUS_ONE_SQUARED, INVSQRT_MINUS_ONE_MINUS_D, ONE, ONE_MINUS_D_SQUARED,
        SQRT_MINUS_D_MINUS_ONE, TWICE_D, ZERO,
    },
    edwards::Extended,
    field::{
        Field, SQRT_MINUS_ONE, Words, absolute, canonical, from_bytes, is_odd, is_zero, mask,
        negate_where, sqrt_ratio, square, zip,
    },
    point::{self, Invalid, Point},
};
use crate::Backend;

/// The encodings of the points' classes: `Encode`, section 4.3.2.
pub fn encode(backend: Backend, points: &[Point], out: &mut [[u8; 32]]) {
    batch::check_each(points.len(), out.len());
    dispatch!(backend, f => encode_each(f, points, out));
}

/// Points of the classes that these encode: `Decode`, section 4.3.1.
///
/// # Errors
/// [`Invalid`] if an encoding is none; then `out` is undefined.
pub fn decode(backend: Backend, encodings: &[[u8; 32]], out: &mut [Point]) -> Result<(), Invalid> {
    batch::check_each(encodings.len(), out.len());
    dispatch!(backend, f => decode_each(f, encodings, out))
}

/// Points from uniform strings, as of a hash; their classes are uniform: the element derivation of
/// section 4.3.4.
pub fn from_uniform(backend: Backend, strings: &[[u8; 64]], out: &mut [Point]) {
    batch::check_each(strings.len(), out.len());
    dispatch!(backend, f => point::each(f, out, inlined!(|start, n| {
        let first = mapped(f, half(f, start, n, strings, 0));
        let second = mapped(f, half(f, start, n, strings, 1));
        first.plus(f, second.cached(f, &TWICE_D))
    })));
}

#[cfg_attr(not(unoptimized), inline(always))]
fn encode_each<F: Field>(f: F, points: &[Point], out: &mut [[u8; 32]]) {
    let n = out.len();
    let (one, i) = (f.splat(&ONE), f.splat(&SQRT_MINUS_ONE));
    for start in (0..n).step_by(F::LANES) {
        let Extended { x, y, z, t } = point::load(f, start, n, points);
        let u1 = f.times(f.carry(f.add(z, y)), f.sub(z, y));
        let u2 = f.times(x, y);
        let (_, root) = sqrt_ratio(f, one, f.times(u1, square(f, u2)));
        let (den1, den2) = (f.times(root, u1), f.times(root, u2));
        let z_inverse = f.times(f.times(den1, den2), t);
        // A class is a point plus all of order 4 at most. Where xy is negative, the point is turned by
        // i = √−1 to (i·y, i·x); then y is negated where x is negative. So all points of a class give
        // the same s.
        let rotate = mask(f, &is_odd(f, f.times(t, z_inverse)));
        let enchanted = f.times(den1, f.splat(&INVSQRT_MINUS_ONE_MINUS_D));
        let x_turned = f.select(rotate, f.times(y, i), x);
        let y_turned = f.select(rotate, f.times(x, i), y);
        let den = f.select(rotate, enchanted, den2);
        let y_turned = negate_where(f, &is_odd(f, f.times(x_turned, z_inverse)), y_turned);
        let s = absolute(f, f.times(den, f.sub(z, y_turned)));
        batch::store(f, s, start, out);
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn decode_each<F: Field>(f: F, encodings: &[[u8; 32]], out: &mut [Point]) -> Result<(), Invalid> {
    let n = out.len();
    let one = f.splat(&ONE);
    for start in (0..n).step_by(F::LANES) {
        let mut valid: Words = [0; 8];
        for (lane, valid) in valid.iter_mut().enumerate().take(F::LANES) {
            let encoding = &encodings[(start + lane).min(n - 1)];
            let s = from_bytes(encoding);
            *valid = u64::from(canonical(&s) == s && (encoding[31] >> 7 | encoding[0] & 1) == 0);
        }
        let s = batch::load(f, start, n, encodings);
        // y = (1 − s²)/(1 + s²) and x = 2s/√v, with v = −d·(1 − s²)² − (1 + s²)²: one inverse
        // square root gives both denominators.
        let s_square = square(f, s);
        let (u1, u2) = (f.carry(f.sub(one, s_square)), f.carry(f.add(one, s_square)));
        let u2_square = square(f, u2);
        let sum = f.add(f.times(f.splat(&D), square(f, u1)), u2_square);
        let v = f.carry(f.sub(f.splat(&ZERO), sum));
        let (was_square, root) = sqrt_ratio(f, one, f.times(v, u2_square));
        let den_x = f.times(root, u2);
        let den_y = f.times(f.times(root, den_x), v);
        let x = absolute(f, f.times(f.add(s, s), den_x));
        let y = f.times(u1, den_y);
        let t = f.times(x, y);
        let wrong = zip(&is_odd(f, t), &is_zero(f, y), |odd, zero| odd | zero);
        let valid = zip(&valid, &was_square, |a, b| a & b);
        let valid = zip(&valid, &wrong, |valid, wrong| valid & (1 ^ wrong));
        if let Some(lane) = valid.iter().take(F::LANES).position(|&valid| valid == 0) {
            return Err(Invalid { index: (start + lane).min(n - 1) });
        }
        point::store(f, Extended { x, y, z: one, t }, start, out);
    }
    Ok(())
}

/// The first or the second half of each string.
#[cfg_attr(not(unoptimized), inline(always))]
fn half<F: Field>(f: F, start: usize, n: usize, strings: &[[u8; 64]], half: usize) -> F::Element {
    f.load(&batch::gather(f, start, n, inlined!(|i| from_bytes(&strings[i].as_chunks().0[half]))))
}

/// [`map`] out of line.
#[cfg_attr(not(unoptimized), inline(always))]
fn mapped<F: Field>(f: F, t: F::Element) -> Extended<F::Element> {
    f.outlined(inlined!(|| map(f, t)))
}

/// `MAP` of section 4.3.4.
#[cfg_attr(not(unoptimized), inline(always))]
fn map<F: Field>(f: F, t: F::Element) -> Extended<F::Element> {
    let (one, d) = (f.splat(&ONE), f.splat(&D));
    let r = f.times(f.splat(&SQRT_MINUS_ONE), square(f, t));
    let r_one = f.carry(f.add(r, one));
    let u = f.times(r_one, f.splat(&ONE_MINUS_D_SQUARED));
    // (−1 − r·d)·(r + d)
    let rd = f.times(r, d);
    let v = f.times(f.negate(f.add(one, rd)), f.add(r, d));
    let (was_square, s) = sqrt_ratio(f, u, v);
    let was_square = mask(f, &was_square);
    let s_other = f.negate(absolute(f, f.times(s, t)));
    let s = f.select(was_square, s, s_other);
    let c = f.select(was_square, f.negate(one), r);
    let r_less = f.times(f.times(c, f.sub(r, one)), f.splat(&D_MINUS_ONE_SQUARED));
    let n = f.carry(f.sub(r_less, v));
    let w0 = f.times(f.add(s, s), v);
    let w1 = f.times(n, f.splat(&SQRT_MINUS_D_MINUS_ONE));
    let s_square = square(f, s);
    let (w2, w3) = (f.sub(one, s_square), f.carry(f.add(one, s_square)));
    Extended { x: f.times(w0, w3), y: f.times(w2, w1), z: f.times(w1, w3), t: f.times(w0, w2) }
}
