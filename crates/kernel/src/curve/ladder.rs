//! Scalar multiplication by x-coordinates alone, on the curve and its twist alike.

use core::mem::MaybeUninit;

use super::{
    batch,
    constants::{A24, ONE, ZERO},
    field::{Field, mask},
};
use crate::Backend;

/// A point by X/Z.
#[derive(Clone, Copy)]
struct Projective<E> {
    x: E,
    z: E,
}

/// k·P for scalars k and points P, one for each of `out`, or one of them for all: its x-coordinate,
/// 0 for the point at infinity. Scalars are 255 bits, not clamped, bit 255 is ignored. So it is in
/// points, which are on the curve or on the twist, and may be above p.
pub fn mul(backend: Backend, scalars: &[[u8; 32]], points: &[[u8; 32]], out: &mut [[u8; 32]]) {
    batch::check(scalars.len(), out.len());
    batch::check(points.len(), out.len());
    dispatch!(
        backend, f => each(f, scalars, out, inlined!(|start, n| batch::load(f, start, n, points))));
}

/// k·P_b for scalars k, one for each of `out` or one for all, and bits b, packed least significant
/// first: which of two points each scalar multiplies. Otherwise as [`mul`].
pub fn mul_either(
    backend: Backend,
    scalars: &[[u8; 32]],
    points: &[[u8; 32]; 2],
    choices: &[u8],
    out: &mut [[u8; 32]],
) {
    batch::check(scalars.len(), out.len());
    batch::check_bits(choices, out.len());
    dispatch!(
        backend, f => each(
            f,
            scalars,
            out,
            inlined!(|start, n| chosen(f, start, n, points, choices))));
}

#[cfg_attr(not(unoptimized), inline(always))]
fn chosen<F: Field>(
    f: F,
    start: usize,
    n: usize,
    points: &[[u8; 32]; 2],
    choices: &[u8],
) -> F::Element {
    let choice = mask(f, &batch::bits(f, start, n, choices));
    let [zero, one] = points;
    let zero = batch::load(f, start, n, core::slice::from_ref(zero));
    let one = batch::load(f, start, n, core::slice::from_ref(one));
    f.select(choice, one, zero)
}

/// Multiplies the points of each vector by its scalars, and divides GROUP vectors at a time.
#[cfg_attr(not(unoptimized), inline(always))]
fn each<F: Field>(
    f: F,
    scalars: &[[u8; 32]],
    out: &mut [[u8; 32]],
    points: impl Fn(usize, usize) -> F::Element,
) {
    let n = out.len();
    batch::divide(
        f,
        n,
        inlined!(|start| {
            // Bit i tells whether bits i and i + 1 differ, bit 255 is bit 0.
            let changes = batch::scalars(
                f,
                start,
                n,
                scalars,
                #[cfg_attr(not(unoptimized), inline(always))]
                |[a, b, c, d]| {
                    let d = d & u64::MAX >> 1;
                    let next = [a >> 1 | b << 63, b >> 1 | c << 63, c >> 1 | d << 63, d >> 1];
                    [a ^ next[0], b ^ next[1], c ^ next[2], d ^ next[3] | a << 63]
                },
            );
            let Projective { x, z } = ladder(f, &changes, points(start, n));
            ([x], z)
        }),
        inlined!(|start, [x], inverse| batch::store(f, f.mul(x, inverse), start, out)),
    );
}

/// A cache line: a frame that has one begins where it does.
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

/// The ladder of Montgomery (Math. Comp. 48, 1987; RFC 7748, section 5), from bit 254 down. The pair
/// is swapped where neighbouring bits differ. Out of line: it is long, and callers are many.
#[cfg_attr(not(unoptimized), inline(always))]
fn ladder<F: Field>(f: F, changes: &[F::Word; 4], point: F::Element) -> Projective<F::Element> {
    f.outlined(
        #[inline(always)]
        || {
            if F::LANES > 1 {
                // LLVM aligns a frame for its variables, not for vectors that are spilled. Without this line spilled vectors
                // can straddle two cache lines, as the caller's frame has it, and that slows the ladder on AVX2.
                core::hint::black_box(&MaybeUninit::<Line>::uninit());
            }
            let (one, zero) = (f.splat(&ONE), f.splat(&ZERO));
            let (mut a, mut b) = (Projective { x: one, z: zero }, Projective { x: point, z: one });
            for (index, &word) in changes.iter().enumerate().rev() {
                let top = if index == 3 { 63 } else { 64 };
                for k in (0..top).rev() {
                    // b − a is the point throughout. A swap where this bit differs from the one
                    // above undoes the last swap and does the next: one for each bit.
                    let change = f.bit(word, k);
                    (a.x, b.x) = f.swap(change, a.x, b.x);
                    (a.z, b.z) = f.swap(change, a.z, b.z);
                    (a, b) = step(f, a, b, point);
                }
            }
            let change = f.bit(changes[3], 63);
            Projective { x: f.select(change, b.x, a.x), z: f.select(change, b.z, a.z) }
        },
    )
}

/// 2a and a + b, of a and b whose difference is the point: section 10.3.1 of Montgomery's paper, as
/// in RFC 7748.
#[cfg_attr(not(unoptimized), inline(always))]
fn step<F: Field>(
    f: F,
    a: Projective<F::Element>,
    b: Projective<F::Element>,
    difference: F::Element,
) -> (Projective<F::Element>, Projective<F::Element>) {
    // With A = X + Z, B = X − Z of a and C, D of b: the sum is (DA + CB)² : x·(DA − CB)², x that of
    // the difference. Twice a is A²·B² : E·(A² + 121665·E), where E = A² − B² = 4XZ.
    let (sum_a, diff_a) = (f.carry(f.add(a.x, a.z)), f.carry(f.sub(a.x, a.z)));
    let (sum_b, diff_b) = (f.add(b.x, b.z), f.sub(b.x, b.z));
    let (da, cb) = (f.product(diff_b, sum_a), f.product(sum_b, diff_a));
    let x = f.square(f.reduce(f.add_wide(da, cb)));
    let z = f.mul(difference, f.square(f.reduce(f.sub_wide(da, cb))));
    let b = Projective { x, z };
    let (aa, bb) = (f.square_product(sum_a), f.square_product(diff_a));
    let (aa_tight, bb) = (f.reduce(aa), f.reduce(bb));
    let e = f.sub(aa_tight, bb);
    let x = f.mul(aa_tight, bb);
    let z = f.mul(e, f.reduce(f.add_wide(aa, f.small_product(e, A24))));
    (Projective { x, z }, b)
}
