//! Eight lanes, by the 52-bit products of AVX-512 IFMA.
//!
//! The instructions multiply unsigned factors below 2⁵² and add the low, or the high, 52 bits of
//! the product. So no limb may reach 2⁵², and every sum is carried at once: all elements are tight,
//! with limbs below 2⁵¹ + 2¹⁸, whatever their weight. The high half of a product weighs 2⁵², which
//! is twice a limb: it is doubled when the columns are put together.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx512` proves that they are there"
)]

use core::arch::x86_64::*;

use super::{BITS, Columns, Field, LOW, Limbs, P, Sixteen, Words, map5, zip5};
use crate::simd::avx512::{
    Avx512, avx512,
    words::{add, high, load, low, set, sub},
};

/// Hides a value's origin from the compiler. Else it turns a selection that is stored over one of its two inputs into a
/// masked store, whose time may depend on the mask.
#[inline]
#[target_feature(enable = "avx512f")]
fn opaque(mut x: __m512i) -> __m512i {
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!(
            "/* {0} */",
            inout(zmm_reg) x,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    x
}

/// Limbs of elements, in debug builds.
const TIGHT: u64 = (1 << 51) + (1 << 18);

/// Columns of a [`Field::Wide`], in debug builds.
const WIDE: u64 = 1 << 63;

/// A multiple of p whose limbs are above every column of a product, which has at most
/// 5·2⁵² + 2·5·2⁵² below 2⁵⁶, and 19 times as much from above 2²⁵⁵.
const ABOVE: Limbs = {
    let mut limbs = P;
    let mut k = 0;
    while k < 5 {
        limbs[k] <<= 10;
        assert!(limbs[k] > (20 * 15) << 52);
        k += 1;
    }
    limbs
};

#[cfg_attr(not(unoptimized), inline(always))]
fn load_halves(words: &[u32; 16]) -> __m512i {
    avx512!(_mm512_loadu_si512(words.as_ptr().cast()))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn double(a: __m512i) -> __m512i {
    avx512!(_mm512_slli_epi64::<1>(a))
}

/// Asserts in debug builds that all words are below the bound.
#[cfg_attr(not(unoptimized), inline(always))]
fn assert_below(x: [__m512i; 5], bound: u64) {
    if cfg!(debug_assertions) {
        assert!(all_below(&x, bound), "limbs are below {bound:x}");
    }
}

/// Compares all words with the bound; for debug builds, out of line.
#[inline(never)]
fn all_below(x: &[__m512i; 5], bound: u64) -> bool {
    x.iter().all(|words| avx512!(_mm512_cmpge_epu64_mask(*words, set(bound))) == 0)
}

/// Carries every limb to the next at once, from limbs below 2⁶³: below 2⁵¹ + 19·2¹² after that.
#[cfg_attr(not(unoptimized), inline(always))]
fn carry(x: [__m512i; 5]) -> [__m512i; 5] {
    assert_below(x, WIDE);
    avx512!({
        let [c0, c1, c2, c3, c4] = map5(x, inlined!(|limb| _mm512_srli_epi64::<BITS>(limb)));
        let [x0, x1, x2, x3, x4] = map5(x, inlined!(|limb| _mm512_and_si512(limb, set(LOW))));
        [low(x0, c4, set(19)), add(x1, c0), add(x2, c1), add(x3, c2), add(x4, c3)]
    })
}

#[cfg_attr(not(unoptimized), inline(always))]
fn double_all(columns: [__m512i; 10]) -> [__m512i; 10] {
    let [a, b, c, d, e, rest @ ..] = columns;
    let [a, b, c, d, e] = map5([a, b, c, d, e], double);
    let [f, g, h, i, j] = map5(rest, double);
    [a, b, c, d, e, f, g, h, i, j]
}

/// Columns k and k + 5, which weigh 2²⁵⁵ = 19 more, to one.
#[cfg_attr(not(unoptimized), inline(always))]
fn fold(columns: [__m512i; 10]) -> [__m512i; 5] {
    let [a0, a1, a2, a3, a4, rest @ ..] = columns;
    let b = map5(rest, inlined!(|x| avx512!(_mm512_mullo_epi64(x, set(19)))));
    zip5([a0, a1, a2, a3, a4], b, add)
}

/// Returns the places of the halves of the lanes' entries in a row.
#[cfg_attr(not(unoptimized), inline(always))]
fn places(index: __m512i) -> __m512i {
    avx512!({
        let in_eight = _mm512_and_si512(index, set(7));
        let low =
            _mm512_or_si512(in_eight, _mm512_slli_epi64::<1>(_mm512_and_si512(index, set(8))));
        _mm512_or_si512(low, _mm512_slli_epi64::<32>(add(low, set(8))))
    })
}

/// Looks up each lane's entry: a permutation within registers, so no address depends on the index.
#[cfg_attr(not(unoptimized), inline(always))]
fn entry(row: &[u32; 32], places: __m512i) -> __m512i {
    let [low, high] = row.as_chunks().0 else { unreachable!("thirty-two halves") };
    avx512!(_mm512_permutex2var_epi32(load_halves(low), places, load_halves(high)))
}

impl Field for Avx512 {
    type Element = [__m512i; 5];
    type Wide = [__m512i; 5];
    type Word = __m512i;
    type Mask = __mmask8;
    const LANES: usize = 8;

    #[inline(always)]
    fn outlined<R>(self, kernel: impl FnOnce() -> R) -> R {
        self.run(kernel)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn load(self, limbs: &Columns) -> [__m512i; 5] {
        let [a, b, c, d, e] = &limbs.0;
        carry([load(a), load(b), load(c), load(d), load(e)])
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn store(self, x: [__m512i; 5]) -> Columns {
        assert_below(x, TIGHT);
        let mut columns = Columns::ZERO;
        for (column, limb) in columns.0.iter_mut().zip(x) {
            avx512!(_mm512_storeu_si512(column.as_mut_ptr().cast(), limb));
        }
        columns
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn splat(self, limbs: &Limbs) -> [__m512i; 5] {
        map5(*limbs, set)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn add(self, a: [__m512i; 5], b: [__m512i; 5]) -> [__m512i; 5] {
        carry(zip5(a, b, add))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn sub(self, a: [__m512i; 5], b: [__m512i; 5]) -> [__m512i; 5] {
        assert_below(b, TIGHT);
        // Limbs of 2p are above all tight ones: no difference of limbs is negative.
        let twice_p = map5(P, inlined!(|limb| set(2 * limb)));
        carry(zip5(zip5(a, twice_p, add), b, sub))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn carry(self, a: [__m512i; 5]) -> [__m512i; 5] {
        a
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn product(self, a: [__m512i; 5], b: [__m512i; 5]) -> [__m512i; 5] {
        assert_below(a, TIGHT);
        assert_below(b, TIGHT);
        // High halves weigh 2⁵², twice the next limb: they are summed up and doubled first, and low halves
        // are added to that.
        let mut sums = [set(0); 10];
        for (i, a) in a.into_iter().enumerate() {
            for (j, b) in b.into_iter().enumerate() {
                sums[i + j + 1] = high(sums[i + j + 1], a, b);
            }
        }
        sums = double_all(sums);
        for (i, a) in a.into_iter().enumerate() {
            for (j, b) in b.into_iter().enumerate() {
                sums[i + j] = low(sums[i + j], a, b);
            }
        }
        fold(sums)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn square_product(self, a: [__m512i; 5]) -> [__m512i; 5] {
        assert_below(a, TIGHT);
        // High halves of mixed products count four times; their low halves, and high halves of squares,
        // twice; low halves of squares once. Doubling twice in between counts them so.
        let mut sums = [set(0); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                sums[i + j + 1] = high(sums[i + j + 1], a[i], a[j]);
            }
        }
        sums = double_all(sums);
        for i in 0..5 {
            sums[2 * i + 1] = high(sums[2 * i + 1], a[i], a[i]);
            for j in i + 1..5 {
                sums[i + j] = low(sums[i + j], a[i], a[j]);
            }
        }
        sums = double_all(sums);
        for i in 0..5 {
            sums[2 * i] = low(sums[2 * i], a[i], a[i]);
        }
        fold(sums)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn small_product(self, a: [__m512i; 5], k: u32) -> [__m512i; 5] {
        assert_below(a, TIGHT);
        let (zero, k) = (set(0), set(k.into()));
        let lows = map5(a, inlined!(|limb| low(zero, limb, k)));
        let [h0, h1, h2, h3, h4] = map5(a, inlined!(|limb| double(high(zero, limb, k))));
        zip5(lows, [low(zero, h4, set(19)), h0, h1, h2, h3], add)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn add_wide(self, a: [__m512i; 5], b: [__m512i; 5]) -> [__m512i; 5] {
        zip5(a, b, add)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn sub_wide(self, a: [__m512i; 5], b: [__m512i; 5]) -> [__m512i; 5] {
        zip5(zip5(a, map5(ABOVE, set), add), b, sub)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn reduce(self, a: [__m512i; 5]) -> [__m512i; 5] {
        carry(a)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn select(self, mask: __mmask8, a: [__m512i; 5], b: [__m512i; 5]) -> [__m512i; 5] {
        zip5(a, b, inlined!(|a, b| avx512!(opaque(_mm512_mask_blend_epi64(mask, b, a)))))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn words(self, words: &Words) -> __m512i {
        load(words)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn bit(self, word: __m512i, k: u32) -> __mmask8 {
        avx512!(_mm512_test_epi64_mask(word, set(1 << k)))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn digit<const N: u32>(self, word: __m512i, k: u32) -> (__m512i, __mmask8) {
        let (top, low) = (set(1 << (N - 1)), set((1 << (N - 1)) - 1));
        avx512!({
            // As in plain Rust: where the top bit is not set, the index is the complement of the
            // low bits.
            let digit = _mm512_srl_epi64(word, _mm_cvtsi64_si128(i64::from(N * k)));
            let negative = _mm512_testn_epi64_mask(digit, top);
            let index = _mm512_mask_xor_epi64(digit, negative, digit, low);
            (_mm512_and_si512(index, low), negative)
        })
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn lookup(self, from: &Sixteen, index: __m512i) -> [[__m512i; 5]; 3] {
        let places = places(index);
        from.map(set(0), inlined!(|row| entry(row, places)))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn lookup_either(
        self,
        [first, second]: [&Sixteen; 2],
        in_second: __mmask8,
        index: __m512i,
    ) -> [[__m512i; 5]; 3] {
        let (mut found, second) = (self.lookup(first, index), self.lookup(second, index));
        for (found, second) in found.iter_mut().zip(&second) {
            for (found, &second) in found.iter_mut().zip(second) {
                *found = avx512!(_mm512_mask_blend_epi64(in_second, *found, second));
            }
        }
        found
    }
}
