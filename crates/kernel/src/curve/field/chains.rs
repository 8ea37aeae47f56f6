//! Powers and inverses: chains of multiplications that are the same for every element.

use super::{Field, Limbs, SQRT_MINUS_ONE, Words, absolute, is_equal, is_zero, mask, zip};

/// x^(2ⁿ); x tight.
#[cfg_attr(not(unoptimized), inline(always))]
fn square_times<F: Field>(f: F, mut x: F::Element, n: usize) -> F::Element {
    for _ in 0..n {
        x = f.square(x);
    }
    x
}

/// x² out of line, for where it does not count; x tight.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::curve) fn square<F: Field>(f: F, x: F::Element) -> F::Element {
    f.outlined(inlined!(|| f.square(x)))
}

/// a^(2ⁿ)·b; a tight. x^(2ᵐ⁺ⁿ − 1) is that of x^(2ᵐ − 1) and x^(2ⁿ − 1).
#[cfg_attr(not(unoptimized), inline(always))]
fn join<F: Field>(f: F, a: F::Element, n: usize, b: F::Element) -> F::Element {
    f.outlined(inlined!(|| f.mul(square_times(f, a, n), b)))
}

/// x^(2²⁵⁰ − 1) and x¹¹: the chain of Bernstein's Curve25519, section 4. x tight.
#[cfg_attr(not(unoptimized), inline(always))]
fn power_2_250<F: Field>(f: F, x: F::Element) -> (F::Element, F::Element) {
    let one = f.splat(&[1, 0, 0, 0, 0]);
    let x2 = join(f, x, 1, one);
    let x9 = join(f, x2, 2, x);
    let x11 = f.times(x2, x9);
    let ones5 = join(f, x11, 1, x9);
    let ones10 = join(f, ones5, 5, ones5);
    let ones20 = join(f, ones10, 10, ones10);
    let ones40 = join(f, ones20, 20, ones20);
    let ones50 = join(f, ones40, 10, ones10);
    let ones100 = join(f, ones50, 50, ones50);
    let ones200 = join(f, ones100, 100, ones100);
    (join(f, ones200, 50, ones50), x11)
}

/// x^(p − 2): 1/x, and 0 for 0. x tight.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::curve) fn invert<F: Field>(f: F, x: F::Element) -> F::Element {
    f.outlined(inlined!(|| {
        let (ones250, x11) = power_2_250(f, x);
        // p − 2 = 2²⁵⁵ − 21 = 32·(2²⁵⁰ − 1) + 11.
        join(f, ones250, 5, x11)
    }))
}

/// x^((p − 5)/8). x tight.
#[cfg_attr(not(unoptimized), inline(always))]
fn power_p58<F: Field>(f: F, x: F::Element) -> F::Element {
    let (ones250, _) = power_2_250(f, x);
    // (p − 5)/8 = 2²⁵² − 3 = 4·(2²⁵⁰ − 1) + 1.
    join(f, ones250, 2, x)
}

/// `SQRT_RATIO_M1` of RFC 9496, section 4.2: 1 and the even root of u/v where that is a square,
/// 0 and the even root of √−1·u/v where it is not; for u = 0 it is 1 and 0, else for v = 0 it is 0
/// and 0. u and v tight; so is the root.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::curve) fn sqrt_ratio<F: Field>(
    f: F,
    u: F::Element,
    v: F::Element,
) -> (Words, F::Element) {
    f.outlined(inlined!(|| root(f, u, v)))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn root<F: Field>(f: F, u: F::Element, v: F::Element) -> (Words, F::Element) {
    // With r = u·v³·(u·v⁷)^((p − 5)/8), r²·v = u·(u·v⁷)^((p − 1)/4): u times a fourth root of 1.
    // For 1 r is the root; for −1 it is after a multiplication by i = √−1. For i it is the root of
    // i·u/v, for −i after that multiplication.
    let v3 = join(f, v, 1, v);
    let v7 = join(f, v3, 1, v);
    let r = f.times(f.times(u, v3), power_p58(f, f.times(u, v7)));
    let check = join(f, r, 1, v);
    let i: &Limbs = &SQRT_MINUS_ONE;
    let u_neg = f.negate(u);
    let correct = is_equal(f, check, u);
    let flipped = is_equal(f, check, u_neg);
    let flipped_i = is_equal(f, check, f.times(u_neg, f.splat(i)));
    let turn = zip(&flipped, &flipped_i, |a, b| a | b);
    let r = f.select(mask(f, &turn), f.times(r, f.splat(i)), r);
    (zip(&correct, &flipped, |a, b| a | b), absolute(f, r))
}

/// The inverse of every vector in place, 0 for 0, by one inversion; at most N vectors, tight.
/// `zeros` gets 1 where an element was 0.
///
/// Montgomery's trick, lane by lane: a zero is replaced by 1 in the running product.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::curve) fn invert_all<F: Field, const N: usize>(f: F, x: &mut [F::Element]) {
    let one = f.splat(&[1, 0, 0, 0, 0]);
    let nothing = f.splat(&[0; 5]);
    let mut before = [one; N];
    let mut zeros = [[0; super::MAX_LANES]; N];
    let mut product = one;
    for ((x, before), zeros) in x.iter_mut().zip(&mut before).zip(&mut zeros) {
        *before = product;
        *zeros = is_zero(f, *x);
        *x = f.select(mask(f, zeros), one, *x);
        product = f.times(product, *x);
    }
    let mut inverse = invert(f, product);
    for ((x, before), zeros) in x.iter_mut().zip(before).zip(&zeros).rev() {
        // `inverse` is that of the product up to x: times the product before x it is 1/x, times x
        // that of the product before.
        let own = f.times(inverse, before);
        inverse = f.times(inverse, *x);
        *x = f.select(mask(f, zeros), nothing, own);
    }
}
