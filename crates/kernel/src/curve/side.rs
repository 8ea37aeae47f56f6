//! Tests on which of the two curves an x-coordinate lies.

use super::{
    batch,
    constants::{A, ONE},
    field::{Field, sqrt_ratio, square},
};
use crate::Backend;

/// Sets bit i, packed least significant first, if x-coordinate i is that of a point of the curve, and
/// clears it if it is one of the twist; 0 is both, and counts as one of the curve. Bit 255 of an
/// x-coordinate is ignored, and it may be p or above.
pub fn on_curve(backend: Backend, points: &[[u8; 32]], out: &mut [u8]) {
    batch::check_bits(out, points.len());
    dispatch!(backend, f => sides(f, points, out));
}

#[cfg_attr(not(unoptimized), inline(always))]
fn sides<F: Field>(f: F, points: &[[u8; 32]], out: &mut [u8]) {
    let n = points.len();
    let one = f.splat(&ONE);
    for start in (0..n).step_by(F::LANES) {
        let u = batch::load(f, start, n, points);
        // v² = u·(u² + A·u + 1).
        let u_a = f.carry(f.add(u, f.splat(&A)));
        let inner = f.carry(f.add(f.times(u, u_a), one));
        let (valid, _) = sqrt_ratio(f, f.times(u, inner), square(f, one));
        batch::store_bits(f, &valid, start, n, out);
    }
}
