//! Elligator 2 (Bernstein, Hamburg, Krasnova and Lange, CCS 2013, section 5) for Curve25519, with the
//! non-square 2: strings to points, and points to strings that cannot be told from random ones.

use super::{
    batch,
    constants::{A, ONE, ZERO},
    field::{Field, Words, mask, negate_where, sqrt_ratio, square},
};
use crate::Backend;

/// The x-coordinates of the points to which the strings map, on the curve: the u of
/// `map_to_curve_elligator2_curve25519` of RFC 9380, section 6.7.1. Bit 255 is ignored, and the rest
/// may be p or above. The points are of the whole group.
pub fn map(backend: Backend, strings: &[[u8; 32]], out: &mut [[u8; 32]]) {
    batch::check_each(strings.len(), out.len());
    dispatch!(backend, f => map_each(f, strings, out));
}

/// Strings that [`map`] takes to these x-coordinates, of points of the curve. Sets bit i of `found`,
/// packed least significant first, if there is one for i, and clears it if not; then string i means
/// nothing.
///
/// A point has a string in about half of all cases: v = 0 in one, v ≠ 0 in two, r and −r, for each
/// of ±v. Three bits of a coin choose: bit 0 between ±v, bit 1 between ±r, and bit 2 is bit 255 of the
/// string. For a uniform point of the whole curve and a uniform coin the string, if there is one, is
/// uniform but for 2⁻²⁵⁰; so the coin must be drawn anew with the point when there is none.
pub fn inverse(
    backend: Backend,
    points: &[[u8; 32]],
    coins: &[u8],
    out: &mut [[u8; 32]],
    found: &mut [u8],
) {
    batch::check_each(points.len(), out.len());
    batch::check_each(coins.len(), out.len());
    batch::check_bits(found, out.len());
    dispatch!(
        backend, f => inverse_each(f, points, coins, out, found));
}

/// u of [`map`] as N/D, of r tight. D = 1 + 2r² is not 0, as −1/2 is no square.
#[cfg_attr(not(unoptimized), inline(always))]
fn image<F: Field>(f: F, r: F::Element) -> ([F::Element; 1], F::Element) {
    let (one, a) = (f.splat(&ONE), f.splat(&A));
    let r_square = square(f, r);
    let twice = f.carry(f.add(r_square, r_square));
    let d = f.carry(f.add(one, twice));
    // u₁ = −A/D; u₁³ + A·u₁² + u₁ = −A·(A² − A²·D + D²)/D³ = −A·(D² − 2·A²·r²)/D³.
    let d_square = square(f, d);
    let a_a = f.times(a, a);
    let inner = f.sub(d_square, f.times(a_a, twice));
    let minus_a = f.negate(a);
    let (first, _) = sqrt_ratio(f, f.times(minus_a, inner), f.times(d_square, d));
    // u₂ = −A − u₁ = −2r²·A/D otherwise: the cubic there is 2r² times that at u₁.
    ([f.select(mask(f, &first), minus_a, f.times(minus_a, twice))], d)
}

#[cfg_attr(not(unoptimized), inline(always))]
fn map_each<F: Field>(f: F, strings: &[[u8; 32]], out: &mut [[u8; 32]]) {
    let n = out.len();
    batch::divide(
        f,
        n,
        inlined!(|start| {
            let r = batch::load(f, start, n, strings);
            f.outlined(inlined!(|| image(f, r)))
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
