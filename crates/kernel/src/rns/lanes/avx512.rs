//! Eight lanes, by the 52-bit products of AVX-512 IFMA.
//!
//! The instructions multiply unsigned factors, of which they take the low 52 bits, and add the low, or
//! the high, 52 bits of the product. Narrow is below 2p, lazy below 4p < 2⁵², as in plain Rust.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx512` proves that they are there"
)]

mod words;

use core::arch::x86_64::*;

use super::Lanes;
use crate::{
    rns::modulus::Modulus,
    simd::avx512::{
        Avx512, avx512,
        words::{self as lanes, add, high, low, set, sub},
    },
};

const LOW: u64 = (1 << 52) - 1;

/// A multiplier, and its quotient.
#[derive(Clone, Copy)]
pub(in crate::rns) struct Multiplier {
    w: __m512i,
    quotient: __m512i,
}

/// A prime and what goes with it.
#[derive(Clone, Copy)]
pub(in crate::rns) struct Prime {
    p: __m512i,
    twice: __m512i,
    /// 2⁵² − p.
    minus: __m512i,
    /// The constant of Barrett's reduction without its top bit.
    barrett: __m512i,
    /// k, and 52 − k.
    bits: __m512i,
    shift: __m512i,
}

/// The first eight words.
#[inline(always)]
fn load(from: &[u64]) -> __m512i {
    lanes::load(from[..8].first_chunk().unwrap_or(&[0; 8]))
}

/// Asserts in debug builds that all lanes are below the bound.
#[inline(always)]
fn assert_below(x: __m512i, bound: __m512i) {
    if cfg!(debug_assertions) {
        assert!(all_below(x, bound), "in range");
    }
}

/// Compares all lanes with the bound; for debug builds, out of line.
#[inline(never)]
fn all_below(x: __m512i, bound: __m512i) -> bool {
    avx512!(_mm512_cmpge_epu64_mask(x, bound)) == 0
}

/// x mod `bound`, for x below twice the bound.
#[inline(always)]
fn below(x: __m512i, bound: __m512i) -> __m512i {
    assert_below(x, add(bound, bound));
    // Where x is below the bound, the difference wraps to the greater one of the two.
    avx512!(_mm512_min_epu64(x, sub(x, bound)))
}

/// Modulo 2⁵².
#[inline(always)]
fn low_bits(x: __m512i) -> __m512i {
    avx512!(_mm512_and_si512(x, set(LOW)))
}

/// Lanes of x by index.
#[inline(always)]
fn permute(x: __m512i, index: &[u64; 8]) -> __m512i {
    avx512!(_mm512_permutexvar_epi64(load(index), x))
}

/// Lanes of a by index, and from 8 on those of b.
#[inline(always)]
fn choose(a: __m512i, b: __m512i, index: &[u64; 8]) -> __m512i {
    avx512!(_mm512_permutex2var_epi64(a, load(index), b))
}

/// 8/REPEAT words, each in REPEAT lanes.
#[inline(always)]
fn spread<const REPEAT: usize>(from: &[u64]) -> __m512i {
    match REPEAT {
        1 => load(from),
        2 => {
            let from: &[u64; 4] = from[..4].first_chunk().unwrap_or(&[0; 4]);
            let x = avx512!(_mm512_castsi256_si512(_mm256_loadu_si256(from.as_ptr().cast())));
            permute(x, &[0, 0, 1, 1, 2, 2, 3, 3])
        }
        _ => {
            let from: &[u64; 2] = from[..2].first_chunk().unwrap_or(&[0; 2]);
            let x = avx512!(_mm512_castsi128_si512(_mm_loadu_si128(from.as_ptr().cast())));
            permute(x, &[0, 0, 0, 0, 1, 1, 1, 1])
        }
    }
}

impl Lanes for Avx512 {
    type Vector = __m512i;
    type Factor = Multiplier;
    type Prime = Prime;
    const LANES: usize = 8;
    const MOST_LAYERS: u32 = 3;
    const GROUP: usize = 8;

    #[inline(always)]
    fn prime(self, modulus: &Modulus) -> Prime {
        let p = modulus.value();
        Prime {
            p: set(p),
            twice: set(2 * p),
            minus: set((1 << 52) - p),
            barrett: set(modulus.barrett() & LOW),
            bits: set(modulus.bits().into()),
            shift: set(52 - u64::from(modulus.bits())),
        }
    }

    #[inline(always)]
    fn load(self, from: &[u64]) -> __m512i {
        load(from)
    }

    #[inline(always)]
    fn suspend(self, x: __m512i, to: &mut [u64]) {
        let Some(to) = to[..8].first_chunk_mut::<8>() else { unreachable!("a vector") };
        avx512!(_mm512_storeu_si512(to.as_mut_ptr().cast(), x));
    }

    #[inline(always)]
    fn splat(self, word: u64) -> __m512i {
        set(word)
    }

    #[inline(always)]
    fn factor(self, [w, quotient]: [u64; 2]) -> Multiplier {
        Multiplier { w: set(w), quotient: set(quotient) }
    }

    #[inline(always)]
    fn factors<const REPEAT: usize>(self, [w, quotient]: [&[u64]; 2]) -> Multiplier {
        Multiplier { w: spread::<REPEAT>(w), quotient: spread::<REPEAT>(quotient) }
    }

    #[inline(always)]
    fn factors_reversed<const REPEAT: usize>(self, roots: [&[u64]; 2]) -> Multiplier {
        const REVERSED: [u64; 8] = [7, 6, 5, 4, 3, 2, 1, 0];
        let Multiplier { w, quotient } = self.factors::<REPEAT>(roots);
        Multiplier { w: permute(w, &REVERSED), quotient: permute(quotient, &REVERSED) }
    }

    #[inline(always)]
    fn canonical(self, p: Prime, x: __m512i) -> __m512i {
        below(x, p.p)
    }

    #[inline(always)]
    fn mul_by(self, p: Prime, x: __m512i, w: Multiplier) -> __m512i {
        assert_below(x, set(1 << 52));
        // As in plain Rust, but modulo 2⁵²: q·(2⁵² − p) is −q·p there, so the sum of two low
        // products is x·w − q·p, in [0, 2p).
        let q = high(set(0), x, w.quotient);
        low_bits(low(low(set(0), x, w.w), q, p.minus))
    }

    #[inline(always)]
    fn mul(self, p: Prime, a: __m512i, b: __m512i) -> __m512i {
        assert_below(a, p.p);
        assert_below(b, p.p);
        let (lows, highs) = (low(set(0), a, b), high(set(0), a, b));
        // c = a·b = 2⁵²·highs + lows, so ⌊c/2ᵏ⌋ = 2^(52 − k)·highs + ⌊lows/2ᵏ⌋: `top`, below 2⁵².
        // Barrett's constant is 2⁵² + `barrett`, so its product by top, over 2⁵², is
        // top + ⌊top·barrett/2⁵²⌋.
        let top = avx512!(add(_mm512_sllv_epi64(highs, p.shift), _mm512_srlv_epi64(lows, p.bits)));
        let q = high(top, top, p.barrett);
        below(low_bits(low(lows, q, p.minus)), p.twice)
    }

    #[inline(always)]
    fn add(self, p: Prime, a: __m512i, b: __m512i) -> __m512i {
        below(add(a, b), p.twice)
    }

    #[inline(always)]
    fn sub(self, p: Prime, a: __m512i, b: __m512i) -> __m512i {
        assert_below(a, p.twice);
        assert_below(b, p.twice);
        let x = sub(a, b);
        // One of them is negative, and large as an unsigned integer, or they differ by 2p.
        avx512!(_mm512_min_epu64(x, add(x, p.twice)))
    }

    #[inline(always)]
    fn plain_add(self, a: __m512i, b: __m512i) -> __m512i {
        add(a, b)
    }

    #[inline(always)]
    fn plain_sub(self, a: __m512i, b: __m512i) -> __m512i {
        sub(a, b)
    }

    #[inline(always)]
    fn narrow(self, p: Prime, x: __m512i) -> __m512i {
        below(x, p.twice)
    }

    /// x + y·w < 4p needs no more than its low 52 bits, so that one sum has it all.
    #[inline(always)]
    fn forward(self, p: Prime, x: __m512i, y: __m512i, w: Multiplier) -> [__m512i; 2] {
        assert_below(y, add(p.twice, p.twice));
        let x = below(x, p.twice);
        let q = high(set(0), y, w.quotient);
        let sum = low_bits(low(low(x, y, w.w), q, p.minus));
        // x − y·w + 2p = 2x + 2p − (x + y·w): above 0 and below 4p, like the sum.
        [sum, sub(add(add(x, x), p.twice), sum)]
    }

    #[inline(always)]
    fn inverse(self, p: Prime, x: __m512i, y: __m512i, w: Multiplier) -> [__m512i; 2] {
        assert_below(x, p.twice);
        assert_below(y, p.twice);
        // Above 0 and below 4p.
        let difference = sub(add(y, p.twice), x);
        [self.add(p, x, y), self.mul_by(p, difference, w)]
    }

    #[inline(always)]
    fn exchange<const WEIGHT: usize>(self, a: __m512i, b: __m512i) -> [__m512i; 2] {
        match WEIGHT {
            1 => avx512!([_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)]),
            2 => [
                choose(a, b, &[0, 1, 8, 9, 4, 5, 12, 13]),
                choose(a, b, &[2, 3, 10, 11, 6, 7, 14, 15]),
            ],
            _ => avx512!([_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xee>(a, b)]),
        }
    }

    #[inline(always)]
    fn interleave(self, a: __m512i, b: __m512i) -> [__m512i; 2] {
        [choose(a, b, &[0, 8, 1, 9, 2, 10, 3, 11]), choose(a, b, &[4, 12, 5, 13, 6, 14, 7, 15])]
    }

    #[inline(always)]
    fn deinterleave(self, a: __m512i, b: __m512i) -> [__m512i; 2] {
        [choose(a, b, &[0, 2, 4, 6, 8, 10, 12, 14]), choose(a, b, &[1, 3, 5, 7, 9, 11, 13, 15])]
    }

    #[inline(always)]
    fn pack(self, bits: u32, words: &[u64], bytes: &mut [u8]) {
        words::pack(self, bits, words, bytes);
    }

    #[inline(always)]
    fn unpack(self, bits: u32, bytes: &[u8], words: &mut [u64]) {
        words::unpack(self, bits, bytes, words);
    }

    #[inline(always)]
    fn accept(self, p: &Modulus, threshold: u64, words: &[[u8; 8]], out: &mut [u64]) -> usize {
        words::accept(self, p, threshold, words, out)
    }
}
