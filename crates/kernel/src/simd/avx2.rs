//! AVX2: vectors of 256 bits.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx2` proves that they are there"
)]

mod uniform;

use core::arch::x86_64::*;

use super::{
    MAX_WORDS, Simd,
    packing::{Packing, Unpacking},
};

/// Proof that the processor has AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub(crate) const unsafe fn detected() -> Self {
        Self(())
    }
}

/// An expression of AVX2 instructions; an `Avx2` is at hand wherever this stands.
macro_rules! avx2 {
    ($instructions:expr) => {
        // SAFETY: an `Avx2` exists, so the processor has the instructions; those that touch memory
        // touch the bytes of an array reference.
        unsafe { $instructions }
    };
}

use avx2;

/// The same 16 bytes in both halves.
const fn twice(half: [u8; 16]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < 32 {
        bytes[i] = half[i % 16];
        i += 1;
    }
    bytes
}

/// The powers of two of both halves.
const fn factors(up: [i16; 8]) -> [u16; 16] {
    let mut factors = [0; 16];
    let mut k = 0;
    while k < 16 {
        factors[k] = 1 << up[k % 8];
        k += 1;
    }
    factors
}

/// Bytes where a vector can be loaded as one value.
#[repr(align(32))]
struct Aligned([u8; 32]);

impl Avx2 {
    #[inline(always)]
    fn bytes(self, bytes: &[u8; 32]) -> __m256i {
        avx2!(_mm256_loadu_si256(bytes.as_ptr().cast()))
    }

    #[inline(always)]
    fn lanes(self, lanes: &[u16; 16]) -> __m256i {
        avx2!(_mm256_loadu_si256(lanes.as_ptr().cast()))
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

    /// Eight lanes of BITS bits from each of two groups of bytes.
    #[inline(always)]
    fn unpack_groups<const BITS: usize>(self, low: __m128i, high: __m128i) -> __m256i {
        let bytes = avx2!(_mm256_set_m128i(high, low));
        let factor = self.lanes(const { &factors(Unpacking::<BITS>::UP) });
        avx2!({
            let low =
                _mm256_shuffle_epi8(bytes, self.bytes(const { &twice(Unpacking::<BITS>::LOW) }));
            let high =
                _mm256_shuffle_epi8(bytes, self.bytes(const { &twice(Unpacking::<BITS>::HIGH) }));
            let low = _mm256_mulhi_epu16(low, factor);
            let high = _mm256_mullo_epi16(high, factor);
            _mm256_and_si256(_mm256_or_si256(low, high), _mm256_set1_epi16((1 << BITS) - 1))
        })
    }
}

/// Methods that are one instruction on vectors.
macro_rules! instructions {
    ($($method:ident($($x:ident),*) = $instruction:expr;)*) => {$(
        #[inline(always)]
        fn $method(self, $($x: __m256i),*) -> __m256i {
            avx2!($instruction($($x),*))
        }
    )*};
}

impl Simd for Avx2 {
    type Lanes = __m256i;
    type Words = __m256i;
    const LANES: usize = 16;
    const WORDS: usize = 8;

    instructions! {
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
    fn load(self, from: &[u16]) -> __m256i {
        let from: &[u16; 16] = &from.as_chunks().0[0];
        self.lanes(from)
    }

    #[inline(always)]
    fn load_bytes(self, from: &[u8]) -> __m256i {
        self.bytes(&from.as_chunks().0[0])
    }

    #[inline(always)]
    fn store(self, x: __m256i, to: &mut [u16]) {
        let to: &mut [u16; 16] = &mut to.as_chunks_mut().0[0];
        avx2!(_mm256_storeu_si256(to.as_mut_ptr().cast(), x));
    }

    #[inline(always)]
    fn splat(self, x: u16) -> __m256i {
        avx2!(_mm256_set1_epi16(x.cast_signed()))
    }

    #[inline(always)]
    fn add_carry(self, x: __m256i, sum: __m256i, part: __m256i) -> __m256i {
        avx2!({
            let none = _mm256_cmpeq_epi16(_mm256_max_epu16(sum, part), sum);
            _mm256_add_epi16(x, _mm256_add_epi16(none, _mm256_set1_epi16(1)))
        })
    }

    #[inline(always)]
    fn shift_right<const BITS: u32>(self, a: __m256i) -> __m256i {
        avx2!(_mm256_srl_epi16(a, _mm_cvtsi32_si128(BITS.cast_signed())))
    }

    #[inline(always)]
    fn rank(self, table: &[u16; 8], x: __m256i) -> __m256i {
        let mut rank = self.splat(0);
        for &entry in table {
            let below = self.splat(entry - 1);
            rank = avx2!(_mm256_sub_epi16(rank, _mm256_cmpgt_epi16(x, below)));
        }
        rank
    }

    #[inline(always)]
    fn sign_bits(self, a: __m256i, to: &mut [u8]) {
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
    fn spread_nibbles(self, from: &[u8]) -> __m256i {
        let from: &[u8; 8] = &from.as_chunks().0[0];
        avx2!({
            let bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(from.as_ptr().cast()));
            let both = _mm256_or_si256(bytes, _mm256_slli_epi32::<12>(bytes));
            _mm256_and_si256(both, _mm256_set1_epi16(15))
        })
    }

    #[inline(always)]
    fn unpack<const BITS: usize>(self, from: &[u8]) -> __m256i {
        self.unpack_groups::<BITS>(self.group::<BITS>(from, 0), self.group::<BITS>(from, BITS))
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "BITS is below 16")]
    fn pack<const BITS: usize>(self, x: __m256i, to: &mut [u8]) {
        let mut bytes = [0; 32];
        avx2!({
            // Two lanes to 2·BITS bits, four to 4·BITS.
            let pairs = _mm256_madd_epi16(x, _mm256_set1_epi32(1 | 1 << (16 + BITS)));
            let gap = 32 - 2 * BITS as i32;
            let fours = _mm256_sllv_epi32(pairs, _mm256_set1_epi64x(gap.into()));
            let fours = _mm256_srlv_epi64(fours, _mm256_set1_epi64x(gap.into()));
            let up = Packing::<BITS>::UP;
            let fours = _mm256_sllv_epi64(fours, _mm256_setr_epi64x(0, up, 0, up));
            let low =
                _mm256_shuffle_epi8(fours, self.bytes(const { &twice(Packing::<BITS>::LOWER) }));
            let high =
                _mm256_shuffle_epi8(fours, self.bytes(const { &twice(Packing::<BITS>::UPPER) }));
            _mm256_storeu_si256(bytes.as_mut_ptr().cast(), _mm256_or_si256(low, high));
        });
        to[..BITS].copy_from_slice(&bytes[..BITS]);
        to[BITS..2 * BITS].copy_from_slice(&bytes[16..16 + BITS]);
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
    fn interleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        let (low, high) = avx2!((_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)));
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
    fn uniform_public<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) -> bool {
        self.uniform_variable_time::<Q, BITS>(string, out)
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
            // A constant order the compiler would take apart into two shuffles of words.
            16 => _mm256_shuffle_epi8(a, core::ptr::read_volatile((&raw const BY_16.0).cast())),
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
    /// Of 8 × 8 words.
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
