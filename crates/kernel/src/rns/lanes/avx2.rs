//! Four lanes, by the fused multiply-add of doubles that are integers.
//!
//! Narrow is at most p in absolute value, lazy at most 8p < 2⁵³. The product of x and w is the double
//! next to it plus the rest, which a fused sum gives exactly, and q·p is subtracted from it by
//! another, where q is the integer next to x·(w/p): van der Hoeven, Lecerf and Quintin, *Modular SIMD
//! arithmetic in Mathemagix*, 2016, with signs. Why all is exact is in `rns.md`. No double here is
//! subnormal: the instructions take the same time for all.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx2` proves that they are there"
)]

use core::arch::x86_64::*;

use super::Lanes;
use crate::{
    rns::modulus::{Factor, Modulus},
    simd::avx2::{
        Avx2, avx2,
        doubles::{EXPONENT, add, from_words, set, sub, where_negative},
    },
};

/// A multiplier w from −p/2 to p/2, and the double next to w/p.
#[derive(Clone, Copy)]
pub(in crate::rns) struct Multiplier {
    w: __m256d,
    quotient: __m256d,
}

/// A prime, and the double next to 1/p.
#[derive(Clone, Copy)]
pub(in crate::rns) struct Prime {
    p: __m256d,
    inverse: __m256d,
}

/// The first four words, bit by bit.
#[inline(always)]
fn load(from: &[u64]) -> __m256d {
    let from: &[u64; 4] = from[..4].first_chunk().unwrap_or(&[0; 4]);
    avx2!(_mm256_loadu_pd(from.as_ptr().cast()))
}

#[inline(always)]
fn product(a: __m256d, b: __m256d) -> __m256d {
    avx2!(_mm256_mul_pd(a, b))
}

/// c − a·b, rounded once.
#[inline(always)]
fn less(c: __m256d, a: __m256d, b: __m256d) -> __m256d {
    avx2!(_mm256_fnmadd_pd(a, b, c))
}

/// The integer next to x.
#[inline(always)]
fn round(x: __m256d) -> __m256d {
    avx2!(_mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x))
}

/// a·b − q·p.
#[inline(always)]
fn remainder(p: Prime, a: __m256d, b: __m256d, q: __m256d) -> __m256d {
    // a·b = high + low exactly: low is a double, and the fused operation rounds nothing else. q is
    // next to a·b/p, so high − q·p is an integer of less than 53 bits, and exact in one fused
    // operation.
    let high = product(a, b);
    let low = avx2!(_mm256_fmsub_pd(a, b, high));
    add(less(high, q, p.p), low)
}

/// 4/REPEAT words, each in REPEAT lanes, the last one first if REVERSED.
#[inline(always)]
fn spread<const REPEAT: usize, const REVERSED: bool>(from: &[u64]) -> __m256d {
    match (REPEAT, REVERSED) {
        (1, false) => load(from),
        (1, true) => avx2!(_mm256_permute4x64_pd::<0b00_01_10_11>(load(from))),
        (_, reversed) => {
            let from: &[u64; 2] = from[..2].first_chunk().unwrap_or(&[0; 2]);
            avx2!({
                let x = _mm256_castpd128_pd256(_mm_loadu_pd(from.as_ptr().cast()));
                if reversed {
                    _mm256_permute4x64_pd::<0b00_00_01_01>(x)
                } else {
                    _mm256_permute4x64_pd::<0b01_01_00_00>(x)
                }
            })
        }
    }
}

/// Asserts in debug builds that all lanes are at most `most` times p in absolute value.
#[inline(always)]
fn assert_within(p: Prime, most: f64, x: __m256d) {
    if cfg!(debug_assertions) {
        assert!(all_within(p, most, x), "integers within {most}·p");
    }
}

/// Compares all lanes with the bound; for debug builds, out of line.
#[inline(never)]
fn all_within(p: Prime, most: f64, x: __m256d) -> bool {
    avx2!({
        let size = _mm256_andnot_pd(set(-0.0), x);
        let within = _mm256_cmp_pd::<_CMP_LE_OQ>(size, product(p.p, set(most)));
        _mm256_movemask_pd(_mm256_and_pd(within, _mm256_cmp_pd::<_CMP_EQ_OQ>(round(x), x)))
            == 0b1111
    })
}

/// [`assert_within`], for what is lazy or below 2⁵².
#[inline(always)]
fn assert_lazy(p: Prime, x: __m256d) {
    if cfg!(debug_assertions) {
        let small = Prime { p: set(EXPONENT), inverse: p.inverse };
        assert!(all_within(p, 8.0, x) || all_within(small, 1.0, x), "lazy");
    }
}

impl Lanes for Avx2 {
    type Vector = __m256d;
    type Factor = Multiplier;
    type Prime = Prime;
    const LANES: usize = 4;
    const MOST_LAYERS: u32 = 2;
    const GROUP: usize = 4;

    #[inline(always)]
    fn prime(self, modulus: &Modulus) -> Prime {
        let p = modulus.value() as f64;
        Prime { p: set(p), inverse: set(1.0 / p) }
    }

    #[inline(always)]
    fn entry(self, modulus: &Modulus, factor: Factor) -> [u64; 2] {
        let p = modulus.value();
        let centred = factor.w.cast_signed();
        let centred = if factor.w > p / 2 { centred - p.cast_signed() } else { centred };
        let w = centred as f64;
        [w.to_bits(), (w / p as f64).to_bits()]
    }

    #[inline(always)]
    fn load(self, from: &[u64]) -> __m256d {
        from_words(load(from))
    }

    #[inline(always)]
    fn store(self, p: Prime, x: __m256d, to: &mut [u64]) {
        // The sum has x in its low bits, below those of 2⁵² itself.
        let x = add(self.canonical(p, x), set(EXPONENT));
        self.suspend(avx2!(_mm256_xor_pd(x, set(EXPONENT))), to);
    }

    #[inline(always)]
    fn resume(self, from: &[u64]) -> __m256d {
        load(from)
    }

    #[inline(always)]
    fn suspend(self, x: __m256d, to: &mut [u64]) {
        let Some(to) = to[..4].first_chunk_mut::<4>() else { unreachable!("a vector") };
        avx2!(_mm256_storeu_pd(to.as_mut_ptr().cast(), x));
    }

    #[inline(always)]
    fn splat(self, word: u64) -> __m256d {
        set(word as f64)
    }

    #[inline(always)]
    fn factor(self, [w, quotient]: [u64; 2]) -> Multiplier {
        Multiplier { w: set(f64::from_bits(w)), quotient: set(f64::from_bits(quotient)) }
    }

    #[inline(always)]
    fn factors<const REPEAT: usize>(self, [w, quotient]: [&[u64]; 2]) -> Multiplier {
        Multiplier { w: spread::<REPEAT, false>(w), quotient: spread::<REPEAT, false>(quotient) }
    }

    #[inline(always)]
    fn factors_reversed<const REPEAT: usize>(self, [w, quotient]: [&[u64]; 2]) -> Multiplier {
        Multiplier { w: spread::<REPEAT, true>(w), quotient: spread::<REPEAT, true>(quotient) }
    }

    #[inline(always)]
    fn canonical(self, p: Prime, x: __m256d) -> __m256d {
        assert_within(p, 1.0, x);
        // From −p to p; after this from 0 to p, where only p itself is not canonical.
        let x = where_negative(x, add(x, p.p), x);
        let below = sub(x, p.p);
        where_negative(below, x, below)
    }

    #[inline(always)]
    fn mul_by(self, p: Prime, x: __m256d, w: Multiplier) -> __m256d {
        assert_lazy(p, x);
        remainder(p, x, w.w, round(product(x, w.quotient)))
    }

    #[inline(always)]
    fn mul(self, p: Prime, a: __m256d, b: __m256d) -> __m256d {
        remainder(p, a, b, round(product(product(a, b), p.inverse)))
    }

    #[inline(always)]
    fn add(self, p: Prime, a: __m256d, b: __m256d) -> __m256d {
        assert_within(p, 1.0, a);
        assert_within(p, 1.0, b);
        self.settle(p, add(a, b))
    }

    #[inline(always)]
    fn sub(self, p: Prime, a: __m256d, b: __m256d) -> __m256d {
        self.settle(p, sub(a, b))
    }

    #[inline(always)]
    fn plain_add(self, a: __m256d, b: __m256d) -> __m256d {
        add(a, b)
    }

    #[inline(always)]
    fn plain_sub(self, a: __m256d, b: __m256d) -> __m256d {
        sub(a, b)
    }

    #[inline(always)]
    fn settle(self, p: Prime, x: __m256d) -> __m256d {
        assert_within(p, 8.0, x);
        // x − p·round(x/p): about p/2 at most. It is an integer, and exact, as the fused operation
        // rounds once.
        less(x, round(product(x, p.inverse)), p.p)
    }

    #[inline(always)]
    fn narrow(self, p: Prime, x: __m256d) -> __m256d {
        self.settle(p, x)
    }

    #[inline(always)]
    fn forward(self, p: Prime, x: __m256d, y: __m256d, w: Multiplier) -> [__m256d; 2] {
        assert_within(p, 7.0, x);
        let y = self.mul_by(p, y, w);
        // The product is at most p, so lanes grow by p per layer: to 8p at most, below 2⁵³, where
        // integers are exact.
        [add(x, y), sub(x, y)]
    }

    #[inline(always)]
    fn inverse(self, p: Prime, x: __m256d, y: __m256d, w: Multiplier) -> [__m256d; 2] {
        assert_within(p, 4.0, x);
        assert_within(p, 4.0, y);
        // Sums double, to 8p at most; products are narrow again.
        [add(x, y), self.mul_by(p, sub(y, x), w)]
    }

    #[inline(always)]
    fn exchange<const WEIGHT: usize>(self, a: __m256d, b: __m256d) -> [__m256d; 2] {
        match WEIGHT {
            1 => avx2!([_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)]),
            _ => {
                avx2!([_mm256_permute2f128_pd::<0x20>(a, b), _mm256_permute2f128_pd::<0x31>(a, b)])
            }
        }
    }

    #[inline(always)]
    fn interleave(self, a: __m256d, b: __m256d) -> [__m256d; 2] {
        let [even, odd] = self.exchange::<1>(a, b);
        self.exchange::<2>(even, odd)
    }

    #[inline(always)]
    fn deinterleave(self, a: __m256d, b: __m256d) -> [__m256d; 2] {
        let [low, high] = self.exchange::<2>(a, b);
        self.exchange::<1>(low, high)
    }
}
