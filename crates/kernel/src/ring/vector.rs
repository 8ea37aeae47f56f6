//! The ring's operations on vectors of 16-bit lanes, generic over the instruction set.
//!
//! Polynomials in memory are canonical; within a kernel lanes are signed, and bounds are multiples
//! of Q: the contracts below say "below β·Q" for absolute values.

mod encode;
mod ntt;

pub(super) use encode::{all_negative, bits, hint_and_bit, key_bit, pack, round, unpack, unround};
pub(super) use ntt::{forward, inverse};

use super::field::{inverse_mod_2_16, to_montgomery};
use crate::simd::Simd;

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn lanes<S: Simd>(_: S) -> usize {
    S::LANES
}

/// Loads a vector, works on it and stores it, for vector after vector of a polynomial.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn map<S: Simd>(
    simd: S,
    f: &mut [u16],
    mut operation: impl FnMut(usize, S::Lanes) -> S::Lanes,
) {
    for (i, lanes) in f.chunks_exact_mut(S::LANES).enumerate() {
        let x = operation(i * S::LANES, simd.load(lanes));
        simd.store(x, lanes);
    }
}

/// A vector of what plain Rust makes of the indices from i on.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn from_fn<S: Simd>(simd: S, i: usize, lane: impl Fn(usize) -> u16) -> S::Lanes {
    // Optimised builds keep it in a register.
    let mut lanes = [0; 32];
    for (k, x) in lanes.iter_mut().enumerate().take(S::LANES) {
        *x = lane(i + k);
    }
    simd.load(&lanes)
}

/// Adds the values of a polynomial to canonical ones; its coefficients, below Q, come by vectors, and
/// its values are left in `room`.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn add_transform<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    room: &mut [u16; N],
    mut coefficients: impl FnMut(usize) -> S::Lanes,
) {
    forward::<S, N, Q, 1>(
        simd,
        [room],
        inlined!(|_, _, i| coefficients(i)),
        inlined!(|_, i, x| {
            let x = canonical::<S, Q>(simd, x);
            let sum = add::<S, Q>(simd, x, simd.load(&f[i..]));
            simd.store(sum, &mut f[i..]);
            x
        }),
    );
}

/// a·b·2⁻¹⁶ mod Q, below Q/2 + |a·b|/2¹⁶; `b_q` is b/Q mod 2¹⁶.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn montgomery<S: Simd, const Q: u16>(
    simd: S,
    a: S::Lanes,
    b: S::Lanes,
    b_q: S::Lanes,
) -> S::Lanes {
    // m = a·b/Q mod 2¹⁶ makes the low halves of a·b and m·Q the same. So their difference is 2¹⁶
    // times that of the high halves; with sign |m| ≤ 2¹⁵, and t is at most Q/2.
    let t = simd.mul_high(simd.mul_low(a, b_q), simd.splat(Q));
    simd.sub(simd.mul_high(a, b), t)
}

/// Reduces every 16-bit input to the residue below Q.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn barrett<S: Simd, const Q: u16>(simd: S, a: S::Lanes) -> S::Lanes {
    const { assert!(Q > 1 << 12 && Q < 1 << 14, "one bit of the quotient's error is Q/2 at most") };
    // The reciprocal ⌊2¹⁵/Q⌋ has two or three bits, which is enough: the remainder is at most
    // Q/2 + |a|·(1 − Q·⌊2¹⁵/Q⌋/2¹⁵), below Q for |a| ≤ 2¹⁵.
    let quotient = simd.mul_round(a, simd.splat(const { (1 << 15) / Q }));
    simd.sub(a, simd.mul_low(quotient, simd.splat(Q)))
}

/// Canonical, from below Q.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn canonical<S: Simd, const Q: u16>(simd: S, a: S::Lanes) -> S::Lanes {
    // A negative lane is the greater one of the two without sign.
    simd.min(a, simd.add(a, simd.splat(Q)))
}

/// a + b, canonical from canonical.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn add<S: Simd, const Q: u16>(simd: S, a: S::Lanes, b: S::Lanes) -> S::Lanes {
    canonical::<S, Q>(simd, simd.sub(simd.add(a, b), simd.splat(Q)))
}

/// a − b, canonical from canonical.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn sub<S: Simd, const Q: u16>(simd: S, a: S::Lanes, b: S::Lanes) -> S::Lanes {
    canonical::<S, Q>(simd, simd.sub(a, b))
}

/// Noise for the LANES coefficients from index `i`, signed.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn noise_at<S: Simd>(simd: S, bytes: &[u8], i: usize) -> S::Lanes {
    simd.centred_binomial(&bytes[i / 2..i / 2 + S::LANES / 2])
}

/// 2¹⁶ mod Q, the one of least absolute value.
pub(super) const fn montgomery_one<const Q: u16>() -> u16 {
    centred::<Q>(to_montgomery::<Q>(1))
}

/// A canonical value as the signed one of least absolute value, mod 2¹⁶.
const fn centred<const Q: u16>(x: u16) -> u16 {
    if x > Q / 2 { x.wrapping_sub(Q) } else { x }
}

/// x·2¹⁶ mod Q, below Q.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn scale<S: Simd, const Q: u16>(simd: S, x: S::Lanes) -> S::Lanes {
    let factor = const { centred::<Q>(to_montgomery::<Q>(to_montgomery::<Q>(1))) };
    let quotient = const {
        centred::<Q>(to_montgomery::<Q>(to_montgomery::<Q>(1))).wrapping_mul(inverse_mod_2_16(Q))
    };
    montgomery::<S, Q>(simd, x, simd.splat(factor), simd.splat(quotient))
}

/// Σ aₖ·bₖ·2⁻¹⁶ for LANES values below Q from index i, below Q.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn products<S: Simd, const N: usize, const Q: u16, const K: usize>(
    simd: S,
    a: [&[u16; N]; K],
    b: [&[u16; N]; K],
    i: usize,
) -> S::Lanes {
    const { assert!(K * (Q as usize * Q as usize / (1 << 16) + 1) < Q as usize / 2) };
    // One reduction for the sum of 32-bit products, by halves.
    let (mut low, mut high) = (simd.splat(0), simd.splat(0));
    for k in 0..K {
        let (a, b) = (simd.load(&a[k][i..]), simd.load(&b[k][i..]));
        let (product_low, product_high) = (simd.mul_low(a, b), simd.mul_high(a, b));
        low = simd.add(low, product_low);
        high = simd.add(high, product_high);
        if k > 0 {
            high = simd.add_carry(high, low, product_low);
        }
    }
    let inverse = simd.splat(const { inverse_mod_2_16(Q) });
    // As in `montgomery`, with m = low/Q mod 2¹⁶. The high half is below Q/2, by the assertion, and
    // so is that of m·Q.
    simd.sub(high, simd.mul_high(simd.mul_low(low, inverse), simd.splat(Q)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, backend::Vectors};

    /// Checks the reductions at every value that a lane can have.
    fn reductions_hold<const Q: u16>(backend: Backend) {
        let q = i32::from(Q);
        for start in (0..=u16::MAX).step_by(256) {
            let lanes: [u16; 256] = core::array::from_fn(|i| start + u16::try_from(i).unwrap());
            let (mut reduced, mut ended) = (lanes, lanes);
            dispatch!(
                neon backend,
                simd => {
                    map(simd, &mut reduced, inlined!(|_, x| barrett::<_, Q>(simd, x)));
                    map(simd, &mut ended, inlined!(|_, x| {
                        canonical::<_, Q>(simd, barrett::<_, Q>(simd, x))
                    }));
                },
                unreachable!("has no vectors"),
            );
            for ((x, reduced), ended) in lanes.into_iter().zip(reduced).zip(ended) {
                let (x, reduced) = (i32::from(x.cast_signed()), i32::from(reduced.cast_signed()));
                assert!(reduced.abs() < q && (x - reduced) % q == 0, "{x}");
                assert_eq!(i32::from(ended), x.rem_euclid(q));
            }
        }
    }

    /// Compares packing with the portable functions, with every value of BITS bits in some lane.
    fn packs<const BITS: usize>(backend: Backend) {
        for start in (0..1u16 << BITS).step_by(256) {
            let values: [u16; 256] =
                core::array::from_fn(|i| (start + u16::try_from(i).unwrap() * 37) % (1 << BITS));
            let (mut expected, mut got) = ([0; 512], [0xa5; 512]);
            let (expected, got) = (&mut expected[..32 * BITS], &mut got[..32 * BITS]);
            crate::ring::encode::pack::<BITS>(&values, expected);
            let mut back = [0; 256];
            dispatch!(
                neon backend,
                simd => {
                    pack::<_, 256, BITS>(simd, &values, got);
                    unpack::<_, 256, 13313, BITS>(simd, got, &mut back);
                },
                unreachable!("has no vectors"),
            );
            assert_eq!((&*got, back), (&*expected, values), "{BITS}");
        }
    }

    fn rounds<const Q: u16, const BITS: usize>(backend: Backend) {
        for start in (0..Q).step_by(256) {
            let values: [u16; 256] =
                core::array::from_fn(|i| (start + u16::try_from(i).unwrap()).min(Q - 1));
            let mut rounded = values;
            dispatch!(
                neon backend,
                simd => map(simd, &mut rounded, inlined!(|_, x| {
                    round::<_, Q, BITS>(simd, x)
                })),
                unreachable!("has no vectors"),
            );
            assert_eq!(rounded, values.map(crate::ring::encode::round::<Q, BITS>));
        }
    }

    #[test]
    fn values_are_packed_and_rounded_as_by_the_portable_code() {
        for backend in Backend::all() {
            if !matches!(backend.vectors(), Vectors::None) {
                packs::<9>(backend);
                packs::<10>(backend);
                packs::<11>(backend);
                packs::<12>(backend);
                packs::<13>(backend);
                packs::<14>(backend);
                rounds::<7681, 9>(backend);
                rounds::<7681, 10>(backend);
                rounds::<7681, 11>(backend);
                rounds::<13313, 11>(backend);
            }
        }
    }

    #[test]
    fn reductions_hold_at_every_lane() {
        for backend in Backend::all() {
            if !matches!(backend.vectors(), Vectors::None) {
                reductions_hold::<7681>(backend);
                reductions_hold::<13313>(backend);
            }
        }
    }
}
