//! Packed bits, rounding, hints on vectors.

use super::{add, from_fn, map};
use crate::simd::Simd;

const fn bytes<S: Simd, const BITS: usize>() -> usize {
    S::LANES / 8 * BITS
}

/// Writes the values, all below 2^BITS.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn pack<S: Simd, const N: usize, const BITS: usize>(
    simd: S,
    values: &[u16; N],
    to: &mut [u8],
) {
    assert_eq!(N / 8 * BITS, to.len());
    let vectors = values.chunks_exact(S::LANES);
    for (values, to) in vectors.zip(to.chunks_exact_mut(bytes::<S, BITS>())) {
        simd.pack::<BITS>(simd.load(values), to);
    }
}

/// Reads values of BITS bits; says whether all are below Q.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn unpack<S: Simd, const N: usize, const Q: u16, const BITS: usize>(
    simd: S,
    from: &[u8],
    values: &mut [u16; N],
) -> bool {
    assert_eq!(N / 8 * BITS, from.len());
    let mut all_below = simd.splat(u16::MAX);
    map(
        simd,
        values,
        inlined!(|i, _| {
            let x = simd.unpack::<BITS>(&from[i / 8 * BITS..]);
            // x and Q are below 2¹⁵: the difference is negative exactly where x < Q.
            all_below = simd.and(all_below, simd.sub(x, simd.splat(Q)));
            x
        }),
    );
    all_negative(simd, all_below)
}

/// Returns true if all lanes are negative.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn all_negative<S: Simd>(simd: S, x: S::Lanes) -> bool {
    // Fewer than 32 lanes leave the last bytes as they are.
    let mut signs = [0xff; 4];
    simd.sign_bits(x, &mut signs);
    signs == [0xff; 4]
}

/// `encode::round` for canonical lanes.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn round<S: Simd, const Q: u16, const BITS: usize>(
    simd: S,
    x: S::Lanes,
) -> S::Lanes {
    const { assert!(BITS <= 11 && Q > 1 << 12 && Q < 1 << 14) };
    // The quotient by a reciprocal that was rounded up is too large by one at most; then the remainder
    // is negative.
    let reciprocal = const { reciprocal::<Q, BITS>() };
    let y = simd.mul_round(x, simd.splat(reciprocal));
    let numerator = simd.add(simd.mul_low(x, simd.splat(1 << BITS)), simd.splat(Q / 2));
    let remainder = simd.sub(numerator, simd.mul_low(y, simd.splat(Q)));
    let y = simd.add(y, simd.sign_mask(remainder));
    simd.and(y, simd.splat(u16::MAX >> (16 - BITS)))
}

/// 2^(15 + BITS)/Q, rounded up.
#[expect(clippy::cast_possible_truncation, reason = "below 2¹⁵, as BITS is less than those of Q")]
const fn reciprocal<const Q: u16, const BITS: usize>() -> u16 {
    (1u32 << (15 + BITS)).div_ceil(Q as u32) as u16
}

/// `encode::unround` for lanes below 2^BITS.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn unround<S: Simd, const Q: u16, const BITS: usize>(
    simd: S,
    y: S::Lanes,
) -> S::Lanes {
    const { assert!(BITS <= 15) };
    // Q·y = 2^BITS·whole·y + part·y: only the last term is rounded.
    let (whole, part) = const { (Q >> BITS, Q & ((1 << BITS) - 1)) };
    // ⌊(part·y + 2^(BITS−1))/2^BITS⌋, numerator and denominator times 2^(15−BITS).
    let scaled = simd.mul_low(y, simd.splat(1 << (15 - BITS)));
    simd.add(simd.mul_low(y, simd.splat(whole)), simd.mul_round(scaled, simd.splat(part)))
}

/// Negative where low < x ≤ high, for lanes below 2¹⁵.
#[cfg_attr(not(unoptimized), inline(always))]
fn within<S: Simd>(simd: S, x: S::Lanes, low: u16, high: u16) -> S::Lanes {
    simd.and(simd.sub(simd.splat(low), x), simd.sub(x, simd.splat(high + 1)))
}

/// Negative where `encode::hint` is 1.
#[cfg_attr(not(unoptimized), inline(always))]
fn hint<S: Simd, const Q: u16>(simd: S, x: S::Lanes) -> S::Lanes {
    let e = (Q - 1) / 8;
    simd.or(within(simd, x, e, 3 * e), within(simd, x, 5 * e, 7 * e))
}

/// Negative where `encode::key_bit` is 1; the hint is a mask.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn key_bit<S: Simd, const Q: u16>(
    simd: S,
    x: S::Lanes,
    hint: S::Lanes,
) -> S::Lanes {
    // A hint turns the circle by Q/4, so that x is about Q/8 or more from where the bit changes.
    let e = (Q - 1) / 8;
    let turned = add::<S, Q>(simd, x, simd.and(hint, simd.splat(2 * e)));
    within(simd, turned, 2 * e, 6 * e)
}

/// The hints and key bits of a vector of canonical coefficients.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn hint_and_bit<S: Simd, const Q: u16>(
    simd: S,
    x: S::Lanes,
    hints: &mut [u8],
    key: &mut [u8],
) {
    let hint = hint::<S, Q>(simd, x);
    simd.sign_bits(hint, hints);
    simd.sign_bits(key_bit::<S, Q>(simd, x, simd.sign_mask(hint)), key);
}

/// The bits that `bit` makes of coefficients and masks, as signs.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn bits<S: Simd, const N: usize>(
    simd: S,
    f: &[u16; N],
    beside: &[u8],
    bits: &mut [u8],
    bit: impl Fn(u16, u16) -> u16,
) {
    let bytes = beside.chunks_exact(S::LANES / 8).zip(bits.chunks_exact_mut(S::LANES / 8));
    for (f, (beside, bits)) in f.chunks_exact(S::LANES).zip(bytes) {
        let mut masks = [0; 32];
        simd.store(simd.spread_bits(beside), &mut masks);
        simd.sign_bits(from_fn(simd, 0, inlined!(|k| bit(f[k], masks[k]))), bits);
    }
}
