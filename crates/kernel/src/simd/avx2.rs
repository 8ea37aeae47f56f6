//! AVX2: vectors of 256 bits.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx2` proves that they are there"
)]

pub(crate) mod doubles;
mod uniform;

use core::arch::x86_64::*;

use super::{
    MAX_WORDS, Simd, TWO_MORE, instructions, moves,
    packing::{Packing, Unpacking, ZERO},
};

/// Proof that the processor has all features of `Vectors::Avx2`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The processor has all features of `Vectors::Avx2`.
    #[inline(always)]
    pub(crate) const unsafe fn detected() -> Self {
        Self(())
    }
}

/// An expression of AVX2 and FMA instructions; an `Avx2` is at hand wherever this stands.
macro_rules! avx2 {
    ($instructions:expr) => {
        // SAFETY: an `Avx2` exists, so the processor has the instructions; those that touch memory
        // touch the bytes of an array reference.
        unsafe { $instructions }
    };
}

pub(crate) use avx2;

/// Repeats 16 bytes in both halves.
const fn twice(half: [u8; 16]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < 32 {
        bytes[i] = half[i % 16];
        i += 1;
    }
    bytes
}

const fn both(lower: [u8; 16], upper: [u8; 16]) -> [u8; 32] {
    let mut bytes = twice(lower);
    let mut i = 0;
    while i < 16 {
        bytes[16 + i] = upper[i];
        i += 1;
    }
    bytes
}

/// An order of bytes of which the first is found behind 16 − BITS others; no byte stays none.
#[expect(clippy::cast_possible_truncation, reason = "below 16")]
const fn found_later<const BITS: usize>(mut order: [u8; 16]) -> [u8; 16] {
    let mut i = 0;
    while i < 16 {
        if order[i] < 16 {
            order[i] += 16 - BITS as u8;
        }
        i += 1;
    }
    order
}

/// An order of BITS bytes, moved to the end of 16.
const fn moved_up<const BITS: usize>(order: [u8; 16]) -> [u8; 16] {
    let mut moved = [ZERO; 16];
    let mut i = 0;
    while i < BITS {
        moved[16 - BITS + i] = order[i];
        i += 1;
    }
    moved
}

/// The last of BITS bytes, as many as stand before BITS others in 16.
#[expect(clippy::cast_possible_truncation, reason = "below 16")]
const fn last<const BITS: usize>() -> [u8; 16] {
    let mut order = [ZERO; 16];
    let mut i = 0;
    while i < 16 - BITS {
        order[i] = (2 * BITS - 16 + i) as u8;
        i += 1;
    }
    order
}

/// The powers of two of both halves.
const fn factors(up: [i16; 8]) -> Aligned {
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < 32 {
        bytes[i] = (1u16 << up[i / 2 % 8]).to_le_bytes()[i % 2];
        i += 1;
    }
    Aligned(bytes)
}

/// Bytes where a vector can be loaded as one value.
#[repr(align(32))]
struct Aligned([u8; 32]);

impl Aligned {
    /// A vector that the compiler does not know to be constant: it takes apart instructions of
    /// which it knows an operand, into more that do the same.
    #[inline(always)]
    fn unknown(&'static self) -> __m256i {
        // SAFETY: a reference to 32 aligned bytes.
        unsafe { core::ptr::read_volatile((&raw const self.0).cast()) }
    }
}

impl Avx2 {
    #[inline(always)]
    fn bytes(self, bytes: &[u8; 32]) -> __m256i {
        avx2!(_mm256_loadu_si256(bytes.as_ptr().cast()))
    }

    /// Bytes `at` to `at + BITS` and some more that the caller ignores, as far as there are.
    #[inline(always)]
    fn group<const BITS: usize>(self, from: &[u8], at: usize) -> __m128i {
        if let Some(bytes) = from.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
            return avx2!(_mm_loadu_si128(bytes.as_ptr().cast()));
        }
        let mut bytes = [0; 16];
        bytes[..BITS].copy_from_slice(&from[at..at + BITS]);
        avx2!(_mm_loadu_si128(bytes.as_ptr().cast()))
    }
}

impl Simd for Avx2 {
    type Lanes = __m256i;
    type Words = __m256i;
    const LANES: usize = 16;
    const WORDS: usize = 8;
    const REGISTERS: usize = 16;

    moves!(__m256i, avx2!(_mm256_loadu_si256, _mm256_storeu_si256));

    instructions! {
        avx2, __m256i:
        add(a, b) = _mm256_add_epi16;
        sub(a, b) = _mm256_sub_epi16;
        mul_low(a, b) = _mm256_mullo_epi16;
        mul_high(a, b) = _mm256_mulhi_epi16;
        mul_round(a, b) = _mm256_mulhrs_epi16;
        min(a, b) = _mm256_min_epu16;
        and(a, b) = _mm256_and_si256;
        or(a, b) = _mm256_or_si256;
        sign_mask(a) = _mm256_srai_epi16::<15>;
        add_words(a, b) = _mm256_add_epi32;
        xor_words(a, b) = _mm256_xor_si256;
    }

    #[inline(always)]
    fn splat(self, x: u16) -> __m256i {
        avx2!(_mm256_set1_epi16(x.cast_signed()))
    }

    #[inline(always)]
    fn add_carry(self, x: __m256i, sum: __m256i, part: __m256i) -> __m256i {
        avx2!({
            // A sum below its part has overflowed. `none` is −1 where it has not: plus 1 it is 0
            // there.
            let none = _mm256_cmpeq_epi16(_mm256_max_epu16(sum, part), sum);
            _mm256_add_epi16(x, _mm256_add_epi16(none, _mm256_set1_epi16(1)))
        })
    }

    #[inline(always)]
    fn sign_bits(self, a: __m256i, to: &mut [u8]) {
        // Saturation keeps signs. It packs within halves: eight lanes, and again, of either.
        let bits = avx2!({
            let bytes = _mm256_packs_epi16(a, a);
            _mm256_movemask_epi8(bytes)
        });
        let [low, _, high, _] = bits.to_le_bytes();
        to[..2].copy_from_slice(&[low, high]);
    }

    #[inline(always)]
    fn spread_bits(self, from: &[u8]) -> __m256i {
        let word = i16::from_le_bytes([from[0], from[1]]);
        avx2!({
            let bit = _mm256_setr_epi16(
                1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768,
            );
            _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(word), bit), bit)
        })
    }

    #[inline(always)]
    fn centred_binomial(self, from: &[u8]) -> __m256i {
        let from: &[u8; 8] = &from.as_chunks().0[0];
        avx2!({
            let bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(from.as_ptr().cast()));
            let halves = _mm256_or_si256(bytes, _mm256_slli_epi32::<12>(bytes));
            let halves = _mm256_and_si256(halves, _mm256_set1_epi16(15));
            // The zero in the upper byte of a lane also gives two more.
            let noise = _mm256_shuffle_epi8(self.bytes(const { &twice(TWO_MORE) }), halves);
            _mm256_sub_epi16(noise, _mm256_set1_epi16(0x0202))
        })
    }

    #[inline(always)]
    fn unpack<const BITS: usize>(self, from: &[u8]) -> __m256i {
        // Nothing behind the last byte is read: the upper half begins earlier.
        let (low, high) = (&from[..16], &from[2 * BITS - 16..2 * BITS]);
        let (low, high): (&[u8; 16], &[u8; 16]) = (&low.as_chunks().0[0], &high.as_chunks().0[0]);
        let bytes = avx2!(_mm256_set_m128i(
            _mm_loadu_si128(high.as_ptr().cast()),
            _mm_loadu_si128(low.as_ptr().cast())
        ));
        let [low, high] = const {
            let (low, high) = (Unpacking::<BITS>::LOW, Unpacking::<BITS>::HIGH);
            [&both(low, found_later::<BITS>(low)), &both(high, found_later::<BITS>(high))]
        };
        // Of multiplications by known powers of two LLVM would make shifts of words, and pack these.
        let factor = const { &factors(Unpacking::<BITS>::UP) }.unknown();
        avx2!({
            let low = _mm256_mulhi_epu16(_mm256_shuffle_epi8(bytes, self.bytes(low)), factor);
            let high = _mm256_mullo_epi16(_mm256_shuffle_epi8(bytes, self.bytes(high)), factor);
            _mm256_and_si256(_mm256_or_si256(low, high), _mm256_set1_epi16((1 << BITS) - 1))
        })
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "BITS is below 16")]
    fn pack<const BITS: usize>(self, x: __m256i, to: &mut [u8]) {
        let to = &mut to[..2 * BITS];
        avx2!({
            // Two lanes to 2·BITS bits, four to 4·BITS.
            let pairs = _mm256_madd_epi16(x, _mm256_set1_epi32(1 | 1 << (16 + BITS)));
            let gap = 32 - 2 * BITS as i32;
            let fours = _mm256_sllv_epi32(pairs, _mm256_set1_epi64x(gap.into()));
            let fours = _mm256_srlv_epi64(fours, _mm256_set1_epi64x(gap.into()));
            let up = Packing::<BITS>::UP;
            let fours = _mm256_sllv_epi64(fours, _mm256_setr_epi64x(0, up, 0, up));
            // The upper half at the end of its bytes, behind what is the end of the lower one.
            let [low, high] = const {
                let (low, high) = (Packing::<BITS>::LOWER, Packing::<BITS>::UPPER);
                [&both(low, moved_up::<BITS>(low)), &both(high, moved_up::<BITS>(high))]
            };
            let bytes = _mm256_or_si256(
                _mm256_shuffle_epi8(fours, self.bytes(low)),
                _mm256_shuffle_epi8(fours, self.bytes(high)),
            );
            let lower = _mm256_castsi256_si128(bytes);
            let order = _mm256_castsi256_si128(self.bytes(const { &twice(last::<BITS>()) }));
            let end = _mm_shuffle_epi8(lower, order);
            let upper = _mm_or_si128(_mm256_extracti128_si256::<1>(bytes), end);
            let first: &mut [u8; 16] = &mut to.as_chunks_mut().0[0];
            _mm_storeu_si128(first.as_mut_ptr().cast(), lower);
            let last: &mut [u8; 16] = &mut to[2 * BITS - 16..].as_chunks_mut().0[0];
            _mm_storeu_si128(last.as_mut_ptr().cast(), upper);
        });
    }

    #[inline(always)]
    fn exchange<const BIT: u32>(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        avx2!(match BIT {
            0 => (
                _mm256_blend_epi16::<0xaa>(a, _mm256_slli_epi32::<16>(b)),
                _mm256_blend_epi16::<0xaa>(_mm256_srli_epi32::<16>(a), b),
            ),
            1 => (
                _mm256_blend_epi32::<0xaa>(a, _mm256_slli_epi64::<32>(b)),
                _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(a), b),
            ),
            2 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
            3 =>
                (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b),),
            _ => unreachable!("four bits make the index of sixteen lanes"),
        })
    }

    #[inline(always)]
    fn interleave_eights(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        avx2!((_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)))
    }

    #[inline(always)]
    fn interleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        let (low, high) = self.interleave_eights(a, b);
        self.exchange::<3>(low, high)
    }

    #[inline(always)]
    fn deinterleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        const EVEN_THEN_ODD: [u8; 32] =
            twice([0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15]);
        let order = self.bytes(&EVEN_THEN_ODD);
        let (a, b) = avx2!((_mm256_shuffle_epi8(a, order), _mm256_shuffle_epi8(b, order)));
        let (low, high) = self.exchange::<3>(a, b);
        self.exchange::<2>(low, high)
    }

    #[inline(always)]
    fn uniform<const Q: u16, const BITS: usize>(
        self,
        one: (&[u8], &mut [u16]),
        other: Option<(&[u8], &mut [u16])>,
    ) {
        let (string, out) = other.map_or((one.0, None), |(string, out)| (string, Some(out)));
        self.uniform_pair::<Q, BITS>([one.0, string], one.1, out);
    }

    #[inline(always)]
    fn add_products_of_words(self, sums: __m256i, x: __m256i) -> __m256i {
        avx2!(_mm256_add_epi64(sums, _mm256_mul_epu32(x, _mm256_srli_epi64::<32>(x))))
    }

    #[inline(always)]
    fn sum_words(self, x: __m256i) -> u64 {
        let mut words = [0; 4];
        avx2!(_mm256_storeu_si256(words.as_mut_ptr().cast(), x));
        words.into_iter().fold(0, u64::wrapping_add)
    }

    #[inline(always)]
    fn splat_words(self, x: u32) -> __m256i {
        avx2!(_mm256_set1_epi32(x.cast_signed()))
    }

    #[inline(always)]
    fn rotate_words<const BITS: i32>(self, a: __m256i) -> __m256i {
        static BY_16: Aligned =
            Aligned(twice([2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13]));
        const BY_8: [u8; 32] = twice([1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12]);
        avx2!(match BITS {
            // Of a known order it would make two shuffles of words.
            16 => _mm256_shuffle_epi8(a, BY_16.unknown()),
            8 => _mm256_shuffle_epi8(a, self.bytes(&BY_8)),
            12 => _mm256_or_si256(_mm256_srli_epi32::<12>(a), _mm256_slli_epi32::<20>(a)),
            _ => _mm256_or_si256(_mm256_srli_epi32::<7>(a), _mm256_slli_epi32::<25>(a)),
        })
    }

    #[inline(always)]
    fn load_blocks(self, blocks: &[&[u8; 64]; MAX_WORDS]) -> [__m256i; 16] {
        let mut words = [self.splat_words(0); 16];
        for (half, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            for (word, block) in words.iter_mut().zip(blocks) {
                let bytes: &[u8; 32] = &block.as_chunks().0[half];
                *word = self.bytes(bytes);
            }
            *words = self.transpose(words);
        }
        words
    }

    #[inline(always)]
    fn store_blocks(self, words: &[__m256i; 16], to: &mut [u8], stride: usize) {
        for (half, words) in words.as_chunks::<8>().0.iter().enumerate() {
            for (l, word) in self.transpose(words).into_iter().enumerate() {
                let bytes: &mut [u8; 32] = &mut to[l * stride + 32 * half..].as_chunks_mut().0[0];
                avx2!(_mm256_storeu_si256(bytes.as_mut_ptr().cast(), word));
            }
        }
    }
}

impl Avx2 {
    /// Transposes 8 × 8 words.
    #[inline(always)]
    fn transpose(self, rows: &[__m256i; 8]) -> [__m256i; 8] {
        let mut x = *rows;
        for pair in x.as_chunks_mut::<2>().0 {
            let [a, b] = *pair;
            *pair = avx2!([_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)]);
        }
        for four in x.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = *four;
            let ((a, c), (b, d)) = (self.exchange::<2>(a, c), self.exchange::<2>(b, d));
            *four = [a, c, b, d];
        }
        for k in 0..4 {
            (x[k], x[k + 4]) = self.exchange::<3>(x[k], x[k + 4]);
        }
        x
    }
}
