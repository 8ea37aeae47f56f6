//! Elligator 2 (Bernstein, Hamburg, Krasnova and Lange, CCS 2013, section 5) for Curve25519, with the
//! non-square 2: strings to points, and points to strings that cannot be told from random ones.

use super::{
    batch,
    constants::{A, ONE, SQRT_MINUS_A_2, SQRT_MINUS_TWO_ROOT, ZERO},
    edwards::Extended,
    field::{Field, Words, is_odd, is_zero, mask, negate_where, sqrt_ratio, square, zip},
    point::{self, Point},
};
use crate::Backend;

/// The x-coordinates of the points to which the strings map, on the curve: the u of
/// `map_to_curve_elligator2_curve25519` of RFC 9380, section 6.7.1. Bit 255 is ignored, and the rest
/// may be p or above. The points are of the whole group.
///
/// # Panics
/// Unless there is a string for each.
pub fn map(backend: Backend, strings: &[[u8; 32]], out: &mut [[u8; 32]]) {
    batch::check_each(strings.len(), out.len());
    dispatch!(backend, f => map_each(f, strings, out));
}

/// The points to which the strings map: `map_to_curve_elligator2_edwards25519` of RFC 9380, section
/// 6.8.2, otherwise as [`map`].
///
/// # Panics
/// Unless there is a string for each.
pub fn map_to_points(backend: Backend, strings: &[[u8; 32]], out: &mut [Point]) {
    batch::check_each(strings.len(), out.len());
    dispatch!(backend, f => points(f, strings, out));
}

/// Strings that [`map`] takes to these x-coordinates, of points of the curve. Sets bit i of `found`,
/// packed least significant first, if there is one for i, and clears it if not; then string i means
/// nothing.
///
/// A point has a string in about half of all cases: v = 0 in one, v ≠ 0 in two, r and −r, for each
/// of ±v. Three bits of a coin choose: bit 0 between ±v, bit 1 between ±r, and bit 2 is bit 255 of the
/// string. For a uniform point of the whole curve and a uniform coin the string, if there is one, is
/// uniform but for 2⁻²⁵⁰; so the coin must be drawn anew with the point when there is none.
///
/// # Panics
/// Unless there are an x-coordinate and a coin for each, or if there is no room for the bits.
pub fn inverse(
    backend: Backend,
    points: &[[u8; 32]],
    coins: &[u8],
    out: &mut [[u8; 32]],
    found: &mut [u8],
) {
    batch::check_each(points.len(), out.len());
    batch::check_each(coins.len(), out.len());
    assert!(found.len() >= out.len().div_ceil(8), "a bit for each");
    dispatch!(
        backend, f => inverse_each(f, points, coins, out, found));
}

/// u = N/D, and v.
struct Image<E> {
    numerator: E,
    denominator: E,
    v: E,
}

/// u and v, all tight. D = 1 + 2r² is not 0, as −1/2 is no square.
#[cfg_attr(not(unoptimized), inline(always))]
fn image<F: Field>(f: F, r: F::Element) -> Image<F::Element> {
    let (one, a) = (f.splat(&ONE), f.splat(&A));
    let r_square = square(f, r);
    let twice = f.carry(f.add(r_square, r_square));
    let d = f.carry(f.add(one, twice));
    // u₁ = −A/D; u₁³ + A·u₁² + u₁ = −A·(A² − A²·D + D²)/D³ = −A·(D² − 2·A²·r²)/D³.
    let d_square = square(f, d);
    let a_a = f.times(a, a);
    let inner = f.sub(d_square, f.times(a_a, twice));
    let numerator = f.times(f.negate(a), inner);
    let (first, root) = sqrt_ratio(f, numerator, f.times(d_square, d));
    // u₂ = −A − u₁ = −2r²·A/D otherwise, and the cubic there is 2r² times that at u₁. Its root comes
    // from that of √−1 times the value at u₁, which is what was found.
    let other = f.times(f.times(root, r), f.splat(&SQRT_MINUS_TWO_ROOT));
    let first_mask = mask(f, &first);
    let v = f.select(first_mask, root, other);
    // v is odd for u₁ and even for u₂.
    let flip = zip(&is_odd(f, v), &first, |odd, first| odd ^ first);
    let v = negate_where(f, &flip, v);
    let minus_a = f.negate(a);
    let u = f.select(first_mask, minus_a, f.times(minus_a, twice));
    Image { numerator: u, denominator: d, v }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn map_each<F: Field>(f: F, strings: &[[u8; 32]], out: &mut [[u8; 32]]) {
    let n = out.len();
    batch::divide(
        f,
        n,
        inlined!(|start| {
            let r = batch::load(f, start, n, strings);
            let image = f.outlined(
                #[cfg_attr(not(unoptimized), inline(always))]
                || image(f, r),
            );
            ([image.numerator], image.denominator)
        }),
        inlined!(|start, [numerator], inverse| batch::store(
            f,
            f.times(numerator, inverse),
            start,
            out
        )),
    );
}

#[cfg_attr(not(unoptimized), inline(always))]
fn points<F: Field>(f: F, strings: &[[u8; 32]], out: &mut [Point]) {
    point::each(
        f,
        out,
        inlined!(|start, n| {
            let r = batch::load(f, start, n, strings);
            let Image { numerator, denominator, v } = f.outlined(
                #[cfg_attr(not(unoptimized), inline(always))]
                || image(f, r),
            );
            // x = √(−A − 2)·u/v and y = (u − 1)/(u + 1).
            let x = f.times(numerator, f.splat(&SQRT_MINUS_A_2));
            let (below, above) = (f.sub(numerator, denominator), f.add(numerator, denominator));
            let below_x = f.times(denominator, v);
            let point = Extended {
                x: f.times(x, above),
                y: f.times(below, below_x),
                z: f.times(below_x, above),
                t: f.times(x, below),
            };
            // For v = 0 it is the identity, by convention.
            let nowhere = mask(f, &is_zero(f, point.z));
            Extended::select(f, nowhere, Extended::identity(f), point)
        }),
    );
}

#[cfg_attr(not(unoptimized), inline(always))]
fn inverse_each<F: Field>(
    f: F,
    points: &[[u8; 32]],
    coins: &[u8],
    out: &mut [[u8; 32]],
    found: &mut [u8],
) {
    let n = out.len();
    let zero = f.splat(&ZERO);
    for start in (0..n).step_by(F::LANES) {
        let (mut which, mut sign, mut top): (Words, Words, Words) = ([0; 8], [0; 8], [0; 8]);
        for lane in 0..F::LANES {
            let coin = u64::from(coins[(start + lane).min(n - 1)]);
            (which[lane], sign[lane], top[lane]) = (coin & 1, coin >> 1 & 1, coin >> 2 & 1);
        }
        // r² = −u/(2·(u + A)), or −(u + A)/(2u) for the other v.
        let u = batch::load(f, start, n, points);
        let u_a = f.carry(f.add(u, f.splat(&A)));
        let (a, b) = f.swap(mask(f, &which), u, u_a);
        let (valid, r) = sqrt_ratio(f, f.carry(f.sub(zero, a)), f.carry(f.add(b, b)));
        batch::store(f, negate_where(f, &sign, r), start, out);
        for (to, top) in out[start..].iter_mut().take(F::LANES).zip(top) {
            to[31] |= top.to_le_bytes()[0] << 7;
        }
        batch::store_bits(f, &valid, start, n, found);
    }
}
