//! The transform and the products of the ring with q = 7681 on packed 16-bit lanes (`crate::dsp`), two to a word.
//!
//! Products by constants are Plantard's [[Pla21](https://doi.org/10.1109/TETC.2021.3073475)] on signed lanes
//! [[HZZ+22](https://doi.org/10.46586/tches.v2022.i4.614-636)]: the constant ζ is kept as −2³²·ζ/q mod 2³², and a product has
//! absolute value q/2 at most for every 16-bit lane. Sums are reduced only where a lane could overflow. What a polynomial has
//! in memory is canonical, as for all backends.

use super::field::{inverse_mod_2_16, power, root_of_unity};
use crate::dsp::{
    add, canonical, lanes, lowers, smlabb, smlatt, smulwb, smulwt, sub, uppers, word,
};

const N: usize = 256;
const Q: u16 = 7681;
/// q in either lane.
const BOTH: u32 = Q as u32 * 0x1_0001;
/// The addend of Plantard's reduction, 2·q: right while |a·ζ| < q·2¹⁶ and below 2³² − 2·q·2¹⁶.
const ROUND: u32 = 2 * Q as u32;

/// A constant as products take it.
const fn constant(x: u64) -> u32 {
    // −2³²·x mod q, times q⁻¹ mod 2³².
    let q = Q as u64;
    let minus = (q - (1u64 << 32) % q) % q;
    let inverse = {
        let low = inverse_mod_2_16(Q) as u32;
        // Newton: right mod 2¹⁶, then mod 2³².
        low.wrapping_mul(2u32.wrapping_sub((Q as u32).wrapping_mul(low)))
    };
    ((x % q * minus % q) as u32).wrapping_mul(inverse)
}

/// ψ^(brv(k)·exponent), as constants.
const fn powers(exponent: u64) -> [u32; N] {
    let psi = root_of_unity::<Q>(2 * N as u64);
    let mut constants = [0; N];
    let mut k = 0;
    while k < N {
        let reversed = (k as u64).reverse_bits() >> (64 - N.ilog2());
        constants[k] = constant(power::<Q>(psi, reversed * exponent) as u64);
        k += 1;
    }
    constants
}

static ZETAS: [u32; N] = powers(1);
static INVERSE_ZETAS: [u32; N] = powers(2 * N as u64 - 1);
const ONE: u32 = constant(1);
/// 2¹⁶, by which factors are scaled.
const SCALE: u32 = constant(1 << 16);
const INVERSE_OF_N: u32 = constant(power::<Q>(N as u16, Q as u64 - 2) as u64);

type Words = [[u16; 2]];

/// ζ·a, lane by lane.
#[inline(always)]
fn multiply(a: u32, zeta: u32) -> u32 {
    multiply_each(a, zeta, zeta)
}

/// The lower lane by one constant, the upper one by another.
#[inline(always)]
fn multiply_each(a: u32, lower: u32, upper: u32) -> u32 {
    let (q, round) = (Q.into(), ROUND);
    uppers(smlabb(smulwt(upper, a), q, round), smlabb(smulwb(lower, a), q, round))
}

/// f ↦ f̂, from canonical values; each is multiplied by `scale` at the end.
#[inline(never)]
fn transform(f: &mut [u16; N], scale: u32) {
    let words = f.as_chunks_mut::<2>().0;
    // Values are below q, and each layer adds q/2.
    two_layers::<64>(words);
    two_layers::<16>(words);
    two_layers::<4>(words);
    // Below q + 6·q/2 < 2¹⁵ so far.
    for (block, pair) in words.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let [a, b] = pair.map(|it| multiply(word(it), ONE));
        let (zeta, [one, two]) = zetas(&ZETAS, N / 4, block);
        let t = multiply(b, zeta);
        let (a, b) = (add(a, t), sub(a, t));
        // Within words: one word of the lower lanes, and one of the products of the upper ones.
        let (x, y) = (lowers(a, b), multiply_each(uppers(b, a), one, two));
        let (sum, difference) = (add(x, y), sub(x, y));
        let out = [lowers(sum, difference), uppers(difference, sum)];
        *pair = out.map(|it| lanes(canonical(multiply(it, scale), BOTH)));
    }
}

/// ζ of a block in the layer of so many blocks, and those of its halves in the next.
#[inline(always)]
fn zetas(all: &[u32; N], blocks: usize, block: usize) -> (u32, [u32; 2]) {
    let next = 2 * (blocks + block);
    (all[(blocks + block) % N], [all[next % N], all[(next + 1) % N]])
}

/// Two layers, for blocks of 2·HALF words.
#[inline(always)]
fn two_layers<const HALF: usize>(words: &mut Words) {
    let blocks = N / 4 / HALF;
    for (block, words) in words.chunks_exact_mut(2 * HALF).enumerate() {
        let (zeta, [one, two]) = zetas(&ZETAS, blocks, block);
        quarters(words, |[a, b, c, d]| {
            let (s, t) = (multiply(c, zeta), multiply(d, zeta));
            let (a, b, c, d) = (add(a, s), add(b, t), sub(a, s), sub(b, t));
            let (s, t) = (multiply(b, one), multiply(d, two));
            [add(a, s), sub(a, s), add(c, t), sub(c, t)]
        });
    }
}

/// The inverse of two layers. Values below q on entry and on return.
#[inline(always)]
fn two_inverse_layers<const HALF: usize>(words: &mut Words) {
    let blocks = N / 4 / HALF;
    for (block, words) in words.chunks_exact_mut(2 * HALF).enumerate() {
        let (zeta, [one, two]) = zetas(&INVERSE_ZETAS, blocks, block);
        quarters(words, |[a, b, c, d]| {
            let (s, t) = (multiply(sub(a, b), one), multiply(sub(c, d), two));
            let (a, c) = (add(a, b), add(c, d));
            // Below 4·q < 2¹⁵.
            [
                multiply(add(a, c), ONE),
                add(s, t),
                multiply(sub(a, c), zeta),
                multiply(sub(s, t), zeta),
            ]
        });
    }
}

/// Works on four words at a time, one of each quarter of a block.
#[inline(always)]
fn quarters(words: &mut Words, mut work: impl FnMut([u32; 4]) -> [u32; 4]) {
    let (low, high) = words.split_at_mut(words.len() / 2);
    let ((a, b), (c, d)) = (low.split_at_mut(low.len() / 2), high.split_at_mut(high.len() / 2));
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        let all = work([word(*a), word(*b), word(*c), word(*d)]);
        [*a, *b, *c, *d] = all.map(lanes);
    }
}

/// f ↦ f̂.
pub(super) fn forward(f: &mut [u16; N]) {
    transform(f, ONE);
}

/// f ↦ 2¹⁶·f̂.
pub(super) fn forward_scaled(f: &mut [u16; N]) {
    transform(f, SCALE);
}

/// The inverse of [`forward`].
#[inline(never)]
pub(super) fn inverse(f: &mut [u16; N]) {
    let words = f.as_chunks_mut::<2>().0;
    for (block, pair) in words.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let [a, b] = pair.map(word);
        let (zeta, [one, two]) = zetas(&INVERSE_ZETAS, N / 4, block);
        let (x, y) = (lowers(a, b), uppers(b, a));
        let (sum, difference) = (add(x, y), multiply_each(sub(x, y), one, two));
        let (a, b) = (lowers(sum, difference), uppers(difference, sum));
        // Below 4·q.
        *pair = [multiply(add(a, b), ONE), multiply(sub(a, b), zeta)].map(lanes);
    }
    two_inverse_layers::<4>(words);
    two_inverse_layers::<16>(words);
    two_inverse_layers::<64>(words);
    for pair in words {
        *pair = lanes(canonical(multiply(word(*pair), INVERSE_OF_N), BOTH));
    }
}

/// Σ aₖ·bₖ·2⁻¹⁶ of a pair of values, at most three products; below q, not canonical.
#[inline(always)]
fn product<const K: usize>(a: [[u16; 2]; K], b: [[u16; 2]; K]) -> u32 {
    // −q⁻¹ mod 2¹⁶, a signed lane. The result is at least −q/2 and below 3·q²/2¹⁶ + q/2 < q.
    let minus = const { inverse_mod_2_16(Q).wrapping_neg() as u32 };
    let (mut lower, mut upper) = (0, 0);
    for (&a, &b) in a.iter().zip(&b) {
        let (a, b) = (word(a), word(b));
        (lower, upper) = (smlabb(a, b, lower), smlatt(a, b, upper));
    }
    // m·q has minus the low half of the sum.
    let reduce = |sum| smlabb(smlabb(sum, minus, 0), Q.into(), sum);
    uppers(reduce(upper), reduce(lower))
}

fn pairs<const M: usize>(f: &[u16; M]) -> &Words {
    f.as_chunks().0
}

/// Σ aₖ·bₖ·2⁻¹⁶.
#[inline(never)]
pub(super) fn products<const M: usize, const K: usize>(
    a: [&[u16; M]; K],
    b: [&[u16; M]; K],
    sum: &mut [u16; M],
) {
    let (a, b) = (a.map(pairs), b.map(pairs));
    for (i, x) in sum.as_chunks_mut().0.iter_mut().enumerate() {
        *x = lanes(canonical(product(a.map(|a| a[i]), b.map(|b| b[i])), BOTH));
    }
}

/// Σ aₖ·bₖ·2⁻¹⁶ where the first b was.
#[inline(never)]
pub(super) fn products_in_first<const M: usize, const K: usize>(
    a: [&[u16; M]; K],
    b: &mut [[u16; M]; K],
) {
    let a = a.map(pairs);
    for i in 0..M / 2 {
        let b_i = b.each_ref().map(|b| pairs(b)[i]);
        b[0].as_chunks_mut().0[i] = lanes(canonical(product(a.map(|a| a[i]), b_i), BOTH));
    }
}

/// Adds a·b·2⁻¹⁶.
#[inline(never)]
pub(super) fn add_product<const M: usize>(a: &[u16; M], b: &[u16; M], sum: &mut [u16; M]) {
    let products = pairs(a).iter().zip(pairs(b)).map(|(&a, &b)| product([a], [b]));
    for (x, product) in sum.as_chunks_mut().0.iter_mut().zip(products) {
        *x = self::sum(*x, lanes(canonical(product, BOTH)));
    }
}

/// a + b of pairs of canonical values.
#[inline(always)]
pub(super) fn sum(a: [u16; 2], b: [u16; 2]) -> [u16; 2] {
    lanes(canonical(sub(add(word(a), word(b)), BOTH), BOTH))
}

/// a − b of pairs of canonical values.
#[inline(always)]
pub(super) fn difference(a: [u16; 2], b: [u16; 2]) -> [u16; 2] {
    lanes(canonical(sub(word(a), word(b)), BOTH))
}

/// Works on pairs of values of two polynomials.
#[inline(always)]
pub(super) fn map<const M: usize>(
    a: &mut [u16; M],
    b: &[u16; M],
    operation: impl Fn([u16; 2], [u16; 2]) -> [u16; 2],
) {
    for (a, &b) in a.as_chunks_mut().0.iter_mut().zip(pairs(b)) {
        *a = operation(*a, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_by_constants_are_right_and_small_for_every_lane() {
        let q = i64::from(Q);
        for x in [0, 1, 2, 62, 3840, 3841, 7679, 7680] {
            let zeta = constant(x);
            for a in i16::MIN..=i16::MAX {
                let pair = word([a.cast_unsigned(), (!a).cast_unsigned()]);
                let got = lanes(multiply(pair, zeta)).map(|it| i64::from(it.cast_signed()));
                for (got, a) in got.into_iter().zip([a, !a]) {
                    assert!(got.abs() <= q / 2, "{a} {x}");
                    assert_eq!((got - i64::from(a) * x.cast_signed()).rem_euclid(q), 0, "{a} {x}");
                }
            }
        }
    }

    #[test]
    fn transforms_match_plain_rust_at_extreme_values() {
        let fill = |x: u16, y: u16| core::array::from_fn(|i| if i % 3 == 0 { x } else { y });
        for f in [fill(0, 7680), fill(7680, 7680), fill(7680, 0), fill(3841, 3840), fill(1, 7679)] {
            let (mut packed, mut plain) = (f, f);
            forward(&mut packed);
            crate::ring::ntt::forward::<N, Q>(crate::Backend::PORTABLE, &mut plain);
            assert_eq!(packed, plain);
            let (mut packed, mut plain) = (f, f);
            inverse(&mut packed);
            crate::ring::ntt::inverse::<N, Q>(crate::Backend::PORTABLE, &mut plain);
            assert_eq!(packed, plain);
        }
    }
}
