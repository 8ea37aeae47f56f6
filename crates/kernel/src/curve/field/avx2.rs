//! Four lanes, by the fused multiply-add of doubles.
//!
//! A limb is a double that is a signed integer. For factors whose product is below 2¹⁰², the fused
//! sum of the product and 3·2¹⁰² has a unit of 2⁵¹ in its last place: its bits are those of 3·2¹⁰²
//! plus h, the product rounded to multiples of 2⁵¹. The rest of the product, at most 2⁵⁰, is exact
//! by another such sum, and is brought to the bits of 3·2⁵¹ plus l. So a·b = 2⁵¹·h + l, and h and l
//! are added up as integers. The trick is that of Emmart, Zheng and Weems (ARITH 2018), with signs,
//! for rounding to nearest, and with the halves at the weights of limbs.
//!
//! Tight limbs are at most 2⁵⁰ + 2¹⁶ in absolute value; weights multiply that. All doubles here
//! are integers below 2¹⁰⁴, and none is subnormal: the instructions take the same time for all.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx2` proves that they are there"
)]

use core::arch::x86_64::*;

use super::{BITS, Columns, Field, LOW, Limbs, P, Sixteen, Words, map5, zip5};
use crate::simd::avx2::{
    Avx2, avx2,
    doubles::{add, from_words, set, sub, where_negative},
};

/// 3·2¹⁰², in the middle of the doubles whose last place is 2⁵¹.
const HIGH: f64 = 3.0 * (1u128 << 102) as f64;
/// 3·2⁵¹, in the middle of the doubles whose last place is 1.
const UNIT: f64 = 3.0 * (1u64 << 51) as f64;
/// The sum of both, which is exact.
const HIGH_UNIT: f64 = HIGH + UNIT;
const _: () = assert!(HIGH_UNIT - HIGH == UNIT && HIGH_UNIT - UNIT == HIGH);

/// Makes the columns of a [`Field::Wide`], at most 2⁶² in absolute value, positive, and rounds them.
const BIAS: u64 = (1 << 62) + (1 << 50);
/// The part of a carry that comes from the bias.
const CARRIED: u64 = 1 << 11;

/// Limbs of tight elements, in debug builds.
const TIGHT: f64 = ((1u64 << 50) + (1 << 16)) as f64;

#[cfg_attr(not(unoptimized), inline(always))]
fn integer(x: u64) -> __m256i {
    avx2!(_mm256_set1_epi64x(x.cast_signed()))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn bits(x: __m256d) -> __m256i {
    avx2!(_mm256_castpd_si256(x))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn double(x: __m256i) -> __m256d {
    avx2!(_mm256_castsi256_pd(x))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn load(words: &[u64; 4]) -> __m256i {
    avx2!(_mm256_loadu_si256(words.as_ptr().cast()))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn load_halves(words: &[u32; 8]) -> __m256i {
    avx2!(_mm256_loadu_si256(words.as_ptr().cast()))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn load_both(words: &[u64; 8]) -> [__m256i; 2] {
    let [low, high] = words.as_chunks::<4>().0 else { unreachable!("eight words") };
    [load(low), load(high)]
}

/// a·b + c, rounded once.
#[cfg_attr(not(unoptimized), inline(always))]
fn fused(a: __m256d, b: __m256d, c: __m256d) -> __m256d {
    avx2!(_mm256_fmadd_pd(a, b, c))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn add_integers(a: __m256i, b: __m256i) -> __m256i {
    avx2!(_mm256_add_epi64(a, b))
}

/// Hides a value's origin from the compiler. Else it turns additions into multiplications, and a selection that is
/// stored over one of its two inputs into a masked store, whose time may depend on the mask.
#[inline]
#[target_feature(enable = "avx2")]
fn opaque(mut x: __m256i) -> __m256i {
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!(
            "/* {0} */",
            inout(ymm_reg) x,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    x
}

/// Hides three values from the compiler, and only together: code that uses one comes after all are
/// there. Otherwise it does all products of a multiplication first, and spills them.
#[inline]
#[target_feature(enable = "avx2")]
fn in_order(mut a: __m256i, mut b: __m256i, mut high: __m256d) -> (__m256i, __m256i, __m256d) {
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!(
            "/* {0} {1} {2} */",
            inout(ymm_reg) a,
            inout(ymm_reg) b,
            inout(ymm_reg) high,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    (a, b, high)
}

#[cfg_attr(not(unoptimized), inline(always))]
fn sub_integers(a: __m256i, b: __m256i) -> __m256i {
    avx2!(_mm256_sub_epi64(a, b))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn shift_right<const N: i32>(x: __m256i) -> __m256i {
    avx2!(_mm256_srli_epi64::<N>(x))
}

/// The greatest absolute value of a limb; for debug builds, out of line.
#[inline(never)]
fn greatest(x: &[__m256d; 5]) -> f64 {
    let mut greatest = 0f64;
    for limbs in x {
        let mut lanes = [0f64; 4];
        avx2!(_mm256_storeu_pd(lanes.as_mut_ptr(), *limbs));
        greatest = lanes.into_iter().fold(greatest, |greatest, lane| greatest.max(lane.abs()));
    }
    greatest
}

/// Asserts in debug builds that all limbs have at most that weight.
#[cfg_attr(not(unoptimized), inline(always))]
fn assert_weight(x: [__m256d; 5], weight: f64) {
    if cfg!(debug_assertions) {
        let greatest = greatest(&x);
        assert!(greatest <= weight * TIGHT, "limbs weigh {weight} at most: {greatest:e}");
    }
}

/// Asserts in debug builds that all products of limbs are below 2¹⁰².
#[cfg_attr(not(unoptimized), inline(always))]
fn assert_factors(a: [__m256d; 5], b: [__m256d; 5]) {
    if cfg!(debug_assertions) {
        let product = greatest(&a) * greatest(&b);
        assert!(product < (1u128 << 102) as f64, "factors weigh 3 at most: {product:e}");
    }
}

/// Columns of a product, as sums of bits of doubles.
struct Sums {
    columns: [__m256i; 10],
    /// HIGH.
    high: __m256d,
}

impl Sums {
    /// Sums to which as many halves of products will be added as the columns of all twenty-five
    /// products have, `lows[k]` and `highs[k]`.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn new(lows: [u64; 10], highs: [u64; 10]) -> Self {
        let mut sums = [integer(0); 10];
        for ((sum, low), high) in sums.iter_mut().zip(lows).zip(highs) {
            // The bits of what the halves are added to.
            let offset =
                low.wrapping_mul(UNIT.to_bits()).wrapping_add(high.wrapping_mul(HIGH.to_bits()));
            *sum = integer(offset.wrapping_neg());
        }
        Self { columns: sums, high: set(HIGH) }
    }

    /// Adds products to column k.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn add<const N: usize>(&mut self, k: usize, products: [(__m256d, __m256d); N]) {
        for (a, b) in products {
            // high = HIGH + 2⁵¹·h with h the integer next to a·b/2⁵¹. HIGH_UNIT − high is
            // UNIT − 2⁵¹·h exactly, so low = UNIT + l with l = a·b − 2⁵¹·h. As integers the bits of
            // high and low are those of HIGH plus h and of UNIT plus l.
            let high = fused(a, b, self.high);
            let low = fused(a, b, sub(set(HIGH_UNIT), high));
            let lows = add_integers(self.columns[k], bits(low));
            let highs = add_integers(self.columns[k + 1], bits(high));
            (self.columns[k], self.columns[k + 1], self.high) =
                avx2!(in_order(lows, highs, self.high));
        }
    }

    /// Columns k and k + 5, which weigh 2²⁵⁵ = 19 more, to one.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn fold(self) -> [__m256i; 5] {
        let [a0, a1, a2, a3, a4, rest @ ..] = self.columns;
        zip5(
            [a0, a1, a2, a3, a4],
            rest,
            inlined!(|a, b| {
                // AVX2 has no 64-bit products: 19·b = b + 2b + 16b.
                let twice = avx2!(opaque(add_integers(b, b)));
                let sixteen = avx2!(_mm256_slli_epi64::<3>(twice));
                add_integers(add_integers(a, b), add_integers(twice, sixteen))
            }),
        )
    }
}

/// The places of the entries of the lanes' indices among sixteen.
#[derive(Clone, Copy)]
struct Place {
    /// Its place among eight, for both halves of a lane.
    in_eight: __m256i,
    /// Bit 3 of the index, as a sign.
    second: __m256d,
}

impl Place {
    #[cfg_attr(not(unoptimized), inline(always))]
    fn new(index: __m256i) -> Self {
        avx2!({
            let in_eight = _mm256_and_si256(index, integer(7));
            // One index for the low and the high 32 bits of the lane; bit 3 becomes the sign bit of
            // a blend.
            let both = _mm256_or_si256(in_eight, _mm256_slli_epi64::<32>(in_eight));
            Self { in_eight: both, second: double(_mm256_slli_epi64::<60>(index)) }
        })
    }

    /// Looks up each lane's entry: permutations within registers and blends, so no address depends
    /// on the index.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn of(self, row: &[u32; 32]) -> __m256i {
        let [low0, high0, low1, high1] = row.as_chunks().0 else {
            unreachable!("four times eight")
        };
        let [first, second] = [self.join(low0, high0), self.join(low1, high1)];
        bits(where_negative(self.second, second, first))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn of_all(self, from: &Sixteen) -> [[__m256i; 5]; 3] {
        from.map(integer(0), inlined!(|row| self.of(row)))
    }

    /// One of eight entries, of which the halves are given.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn join(self, low: &[u32; 8], high: &[u32; 8]) -> __m256d {
        avx2!({
            let low = _mm256_permutevar8x32_epi32(load_halves(low), self.in_eight);
            let high = _mm256_permutevar8x32_epi32(load_halves(high), self.in_eight);
            double(_mm256_blend_epi32::<0b1010_1010>(low, high))
        })
    }
}

impl Avx2 {
    /// Tight, from limbs of any weight below 8.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn carry_doubles(self, x: [__m256d; 5]) -> [__m256d; 5] {
        assert_weight(x, 7.0);
        // limb/2⁵¹ + 3·2⁵¹ is rounded to an integer, so c is the integer next to limb/2⁵¹, and
        // limb − c·2⁵¹ is at most 2⁵⁰ in absolute value: both are exact.
        let down = set(1.0 / (1u64 << BITS) as f64);
        let up = set(-((1u64 << BITS) as f64));
        let [c0, c1, c2, c3, c4] =
            map5(x, inlined!(|limb| sub(fused(limb, down, set(UNIT)), set(UNIT))));
        let [x0, x1, x2, x3, x4] =
            zip5([c0, c1, c2, c3, c4], x, inlined!(|c, limb| fused(c, up, limb)));
        [fused(c4, set(19.0), x0), add(x1, c0), add(x2, c1), add(x3, c2), add(x4, c3)]
    }

    /// Elements of limbs below 2⁵², of weight 4.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn doubles(self, limbs: [__m256i; 5]) -> [__m256d; 5] {
        map5(limbs, inlined!(|limb| from_words(double(limb))))
    }
}

impl Field for Avx2 {
    type Element = [__m256d; 5];
    type Wide = [__m256i; 5];
    type Word = __m256i;
    /// The sign bits.
    type Mask = __m256d;
    const LANES: usize = 4;

    #[inline(always)]
    fn outlined<R>(self, kernel: impl FnOnce() -> R) -> R {
        self.run(kernel)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn load(self, limbs: &Columns) -> [__m256d; 5] {
        let [a, b, c, d, e] = &limbs.0;
        let limbs = map5([a, b, c, d, e], inlined!(|column| load_both(column)[0]));
        self.carry_doubles(self.doubles(limbs))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn store(self, x: [__m256d; 5]) -> Columns {
        // Tight limbs and those of 4p are positive.
        let four_p = map5(P, inlined!(|limb| integer((4 * limb).wrapping_sub(UNIT.to_bits()))));
        let x = map5(self.carry_doubles(x), inlined!(|limb| bits(add(limb, set(UNIT)))));
        let x = zip5(x, four_p, add_integers);
        let [c0, c1, c2, c3, c4] = map5(x, shift_right::<51>);
        let [x0, x1, x2, x3, x4] =
            map5(x, inlined!(|limb| avx2!(_mm256_and_si256(limb, integer(LOW)))));
        let c4 = avx2!(_mm256_mul_epu32(c4, integer(19)));
        let carries = [c4, c0, c1, c2, c3];
        let mut columns = Columns::ZERO;
        for (column, limb) in
            columns.0.iter_mut().zip(zip5([x0, x1, x2, x3, x4], carries, add_integers))
        {
            let first: &mut [u64; 4] = &mut column.as_chunks_mut().0[0];
            avx2!(_mm256_storeu_si256(first.as_mut_ptr().cast(), limb));
        }
        columns
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn splat(self, limbs: &Limbs) -> [__m256d; 5] {
        self.carry_doubles(self.doubles(map5(*limbs, integer)))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn add(self, a: [__m256d; 5], b: [__m256d; 5]) -> [__m256d; 5] {
        zip5(a, b, add)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn sub(self, a: [__m256d; 5], b: [__m256d; 5]) -> [__m256d; 5] {
        zip5(a, b, sub)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn carry(self, a: [__m256d; 5]) -> [__m256d; 5] {
        self.carry_doubles(a)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn product(self, a: [__m256d; 5], b: [__m256d; 5]) -> [__m256i; 5] {
        assert_factors(a, b);
        let mut sums = Sums::new([1, 2, 3, 4, 5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5, 4, 3, 2, 1]);
        let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (a, b);
        sums.add(0, [(a0, b0)]);
        sums.add(1, [(a0, b1), (a1, b0)]);
        sums.add(2, [(a0, b2), (a1, b1), (a2, b0)]);
        sums.add(3, [(a0, b3), (a1, b2), (a2, b1), (a3, b0)]);
        sums.add(4, [(a0, b4), (a1, b3), (a2, b2), (a3, b1), (a4, b0)]);
        sums.add(5, [(a1, b4), (a2, b3), (a3, b2), (a4, b1)]);
        sums.add(6, [(a2, b4), (a3, b3), (a4, b2)]);
        sums.add(7, [(a3, b4), (a4, b3)]);
        sums.add(8, [(a4, b4)]);
        sums.fold()
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn square_product(self, a: [__m256d; 5]) -> [__m256i; 5] {
        assert_weight(a, 1.0);
        let mut sums = Sums::new([1, 1, 2, 2, 3, 2, 2, 1, 1, 0], [0, 1, 1, 2, 2, 3, 2, 2, 1, 1]);
        let [a0, a1, a2, a3, a4] = a;
        let [d0, d1, d2, d3] = [add(a0, a0), add(a1, a1), add(a2, a2), add(a3, a3)];
        sums.add(0, [(a0, a0)]);
        sums.add(1, [(d0, a1)]);
        sums.add(2, [(d0, a2), (a1, a1)]);
        sums.add(3, [(d0, a3), (d1, a2)]);
        sums.add(4, [(d0, a4), (d1, a3), (a2, a2)]);
        sums.add(5, [(d1, a4), (d2, a3)]);
        sums.add(6, [(d2, a4), (a3, a3)]);
        sums.add(7, [(d3, a4)]);
        sums.add(8, [(a4, a4)]);
        sums.fold()
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn small_product(self, a: [__m256d; 5], k: u32) -> [__m256i; 5] {
        assert_weight(a, 3.0);
        let mut sums = Sums::new([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
        let [a0, a1, a2, a3, a4] = a;
        let k = set(k.into());
        sums.add(0, [(a0, k)]);
        sums.add(1, [(a1, k)]);
        sums.add(2, [(a2, k)]);
        sums.add(3, [(a3, k)]);
        sums.add(4, [(a4, k)]);
        sums.fold()
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn add_wide(self, a: [__m256i; 5], b: [__m256i; 5]) -> [__m256i; 5] {
        zip5(a, b, add_integers)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn sub_wide(self, a: [__m256i; 5], b: [__m256i; 5]) -> [__m256i; 5] {
        zip5(a, b, sub_integers)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn reduce(self, a: [__m256i; 5]) -> [__m256d; 5] {
        let x = map5(a, inlined!(|column| add_integers(column, integer(BIAS))));
        let [c0, c1, c2, c3, c4] = map5(x, shift_right::<51>);
        let [x0, x1, x2, x3, x4] =
            map5(x, inlined!(|column| avx2!(_mm256_and_si256(column, integer(LOW)))));
        let c4 = avx2!(_mm256_mul_epu32(c4, integer(19)));
        // Without what the bias added, as the bits of a double.
        let offset = UNIT.to_bits() - (1 << 50);
        let (first, other) = (integer(offset - 19 * CARRIED), integer(offset - CARRIED));
        let x = zip5([x0, x1, x2, x3, x4], [c4, c0, c1, c2, c3], add_integers);
        let reduced = zip5(
            x,
            [first, other, other, other, other],
            inlined!(|x, offset| sub(double(add_integers(x, offset)), set(UNIT))),
        );
        assert_weight(reduced, 1.0);
        reduced
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn select(self, mask: __m256d, a: [__m256d; 5], b: [__m256d; 5]) -> [__m256d; 5] {
        zip5(a, b, inlined!(|a, b| double(avx2!(opaque(bits(where_negative(mask, a, b)))))))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn words(self, words: &Words) -> __m256i {
        load_both(words)[0]
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn bit(self, word: __m256i, k: u32) -> __m256d {
        avx2!(double(_mm256_sll_epi64(word, _mm_cvtsi64_si128(63 - i64::from(k)))))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn digit<const N: u32>(self, word: __m256i, k: u32) -> (__m256i, __m256d) {
        let (top, low) = (integer(1 << (N - 1)), integer((1 << (N - 1)) - 1));
        avx2!({
            let digit = _mm256_srl_epi64(word, _mm_cvtsi64_si128(i64::from(N * k)));
            // As in plain Rust: where the top bit is not set, the index is the complement of the
            // low bits.
            let top = _mm256_and_si256(digit, top);
            let negative = _mm256_cmpeq_epi64(top, integer(0));
            let index = _mm256_xor_si256(digit, negative);
            (_mm256_and_si256(index, low), double(negative))
        })
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn lookup(self, from: &Sixteen, index: __m256i) -> [[__m256d; 5]; 3] {
        let [a, b, c] = Place::new(index).of_all(from);
        [self.doubles(a), self.doubles(b), self.doubles(c)]
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn lookup_either(
        self,
        [first, second]: [&Sixteen; 2],
        in_second: __m256d,
        index: __m256i,
    ) -> [[__m256d; 5]; 3] {
        let place = Place::new(index);
        let (first, second) = (place.of_all(first), place.of_all(second));
        let mut found = [[set(0.0); 5]; 3];
        for (k, found) in found.iter_mut().enumerate() {
            let limbs = zip5(
                first[k],
                second[k],
                inlined!(|a, b| bits(where_negative(in_second, double(b), double(a)))),
            );
            *found = self.doubles(limbs);
        }
        found
    }
}
