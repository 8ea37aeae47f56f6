//! AVX-512 as of Ice Lake and Zen 4: vectors of 512 bits.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx512` proves that they are there"
)]

mod uniform;
pub(crate) mod words;

use core::arch::x86_64::*;

use super::{MAX_WORDS, Simd, TWO_MORE, instructions, moves};

/// Proof that the processor has all features of `Vectors::Avx512`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The processor has all features of `Vectors::Avx512`.
    #[inline(always)]
    pub(crate) const unsafe fn detected() -> Self {
        Self(())
    }
}

/// An expression of AVX-512 instructions; an `Avx512` is at hand wherever this stands.
macro_rules! avx512 {
    ($instructions:expr) => {
        // SAFETY: an `Avx512` exists, so the processor has the instructions; those that touch
        // memory touch the bytes of an array reference, or those of a slice that a mask selects.
        unsafe { $instructions }
    };
}

pub(crate) use avx512;

/// Bytes that hold 32 lanes, and how they become lanes and back.
struct Packed<const BITS: usize>;

impl<const BITS: usize> Packed<BITS> {
    /// The bytes of 32 lanes.
    const MASK: u64 = u64::MAX >> (64 - 4 * BITS);

    /// Byte i of the eight that hold four lanes, for each four lanes.
    #[expect(clippy::cast_possible_truncation, reason = "below 64")]
    const FOURS: [u8; 64] = {
        assert!(BITS > 8 && BITS < 15);
        let mut bytes = [0; 64];
        let mut i = 0;
        while i < 64 {
            let byte = BITS * (i / 8) / 2 + i % 8;
            bytes[i] = if byte < 4 * BITS { byte as u8 } else { 0 };
            i += 1;
        }
        bytes
    };

    /// The bits of these that make a byte of a lane.
    #[expect(clippy::cast_possible_truncation, reason = "below 64")]
    const LANES: [u8; 64] = {
        let mut bits = [0; 64];
        let mut i = 0;
        while i < 64 {
            let start = 4 * BITS * (i / 8) % 8;
            bits[i] = ((start + BITS * (i % 8 / 2) + 8 * (i % 2)) % 64) as u8;
            i += 1;
        }
        bits
    };

    /// The numbers of 4·BITS bits, the even or the odd ones, from which packed bytes come; their
    /// index is beyond 63 where none does.
    const EVEN: ([u8; 64], u64) = Self::bytes(0);
    const ODD: ([u8; 64], u64) = Self::bytes(1);

    #[expect(clippy::cast_possible_truncation, reason = "below 64")]
    const fn bytes(parity: usize) -> ([u8; 64], u64) {
        let (mut bytes, mut mask) = ([0; 64], 0);
        let mut i = 0;
        while i < 4 * BITS {
            let (group, byte) = (i / BITS, i % BITS);
            let start = parity * (BITS / 2);
            if byte >= start && byte < start + 8 && (parity == 1 || byte <= BITS / 2) {
                bytes[i] = (16 * group + 8 * parity + byte - start) as u8;
                mask |= 1 << i;
            }
            i += 1;
        }
        (bytes, mask)
    }
}

/// 0, 1, 2, …
const IOTA: [u16; 32] = table(1, 0);

/// Indices i·step + offset mod 64.
#[expect(clippy::cast_possible_truncation, reason = "below 64")]
const fn table(step: usize, offset: usize) -> [u16; 32] {
    let mut indices = [0; 32];
    let mut i = 0;
    while i < 32 {
        indices[i] = ((i * step + offset) % 64) as u16;
        i += 1;
    }
    indices
}

/// The lanes of two vectors in turn, from that lane on.
#[expect(clippy::cast_possible_truncation, reason = "below 64")]
const fn in_turn(start: usize) -> [u16; 32] {
    let mut indices = [0; 32];
    let mut i = 0;
    while i < 32 {
        indices[i] = (start + i / 2 + 32 * (i % 2)) as u16;
        i += 1;
    }
    indices
}

impl Avx512 {
    #[inline(always)]
    fn bytes(self, bytes: &[u8; 64]) -> __m512i {
        avx512!(_mm512_loadu_si512(bytes.as_ptr().cast()))
    }

    #[inline(always)]
    fn lanes(self, lanes: &[u16; 32]) -> __m512i {
        avx512!(_mm512_loadu_si512(lanes.as_ptr().cast()))
    }

    /// The bytes of `from` that the mask selects.
    #[inline(always)]
    fn load_masked(self, from: &[u8], mask: u64) -> __m512i {
        assert!(64 - mask.leading_zeros() as usize <= from.len());
        avx512!(_mm512_maskz_loadu_epi8(mask, from.as_ptr().cast()))
    }

    #[inline(always)]
    fn unpack_lanes<const BITS: usize>(self, bytes: __m512i) -> __m512i {
        avx512!({
            let fours = self.bytes(const { &Packed::<BITS>::FOURS });
            let fours = _mm512_permutexvar_epi8(fours, bytes);
            let bits = self.bytes(const { &Packed::<BITS>::LANES });
            let lanes = _mm512_multishift_epi64_epi8(bits, fours);
            _mm512_and_si512(lanes, _mm512_set1_epi16((1 << BITS) - 1))
        })
    }
}

impl Simd for Avx512 {
    type Lanes = __m512i;
    type Words = __m512i;
    const LANES: usize = 32;
    const WORDS: usize = 16;
    const REGISTERS: usize = 32;

    moves!(__m512i, avx512!(_mm512_loadu_si512, _mm512_storeu_si512));

    instructions! {
        avx512, __m512i:
        add(a, b) = _mm512_add_epi16;
        sub(a, b) = _mm512_sub_epi16;
        mul_low(a, b) = _mm512_mullo_epi16;
        mul_high(a, b) = _mm512_mulhi_epi16;
        mul_round(a, b) = _mm512_mulhrs_epi16;
        min(a, b) = _mm512_min_epu16;
        and(a, b) = _mm512_and_si512;
        or(a, b) = _mm512_or_si512;
        sign_mask(a) = _mm512_srai_epi16::<15>;
        add_words(a, b) = _mm512_add_epi32;
        xor_words(a, b) = _mm512_xor_si512;
    }

    #[inline(always)]
    fn splat(self, x: u16) -> __m512i {
        avx512!(_mm512_set1_epi16(x.cast_signed()))
    }

    #[inline(always)]
    fn add_carry(self, x: __m512i, sum: __m512i, part: __m512i) -> __m512i {
        avx512!({
            let carry = _mm512_cmplt_epu16_mask(sum, part);
            _mm512_mask_sub_epi16(x, carry, x, _mm512_set1_epi16(-1))
        })
    }

    #[inline(always)]
    fn sign_bits(self, a: __m512i, to: &mut [u8]) {
        let bits = avx512!(_mm512_movepi16_mask(a));
        to[..4].copy_from_slice(&bits.to_le_bytes());
    }

    #[inline(always)]
    fn spread_bits(self, from: &[u8]) -> __m512i {
        let bits = u32::from_le_bytes(from.as_chunks().0[0]);
        avx512!(_mm512_movm_epi16(bits))
    }

    #[inline(always)]
    fn centred_binomial(self, from: &[u8]) -> __m512i {
        /// Twice: the fifth bit of an index belongs to the other half.
        const ENTRIES: [u16; 32] = {
            let mut entries = [0; 32];
            let mut bits = 0;
            while bits < 32 {
                entries[bits] = (TWO_MORE[bits % 16] as u16).wrapping_sub(2);
                bits += 1;
            }
            entries
        };
        let from: &[u8; 16] = &from.as_chunks().0[0];
        avx512!({
            let bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(from.as_ptr().cast()));
            let halves = _mm512_or_si512(bytes, _mm512_slli_epi32::<12>(bytes));
            _mm512_permutexvar_epi16(halves, self.lanes(&ENTRIES))
        })
    }

    #[inline(always)]
    fn unpack<const BITS: usize>(self, from: &[u8]) -> __m512i {
        self.unpack_lanes::<BITS>(self.load_masked(from, Packed::<BITS>::MASK))
    }

    #[inline(always)]
    fn pack<const BITS: usize>(self, x: __m512i, to: &mut [u8]) {
        assert!(to.len() >= 4 * BITS);
        avx512!({
            // Two lanes to 2·BITS bits, four to 4·BITS.
            let pairs = _mm512_madd_epi16(x, _mm512_set1_epi32(1 | 1 << (16 + BITS)));
            let gap = _mm512_set1_epi64(32 - 2 * BITS as i64);
            let fours = _mm512_srlv_epi64(_mm512_sllv_epi32(pairs, gap), gap);
            let up = (4 * BITS % 8) as i64;
            let up = _mm512_set_epi64(up, 0, up, 0, up, 0, up, 0);
            let fours = _mm512_sllv_epi64(fours, up);
            let (even, odd) = const { (&Packed::<BITS>::EVEN, &Packed::<BITS>::ODD) };
            let even = _mm512_maskz_permutexvar_epi8(even.1, self.bytes(&even.0), fours);
            let odd = _mm512_maskz_permutexvar_epi8(odd.1, self.bytes(&odd.0), fours);
            let bytes = _mm512_or_si512(even, odd);
            _mm512_mask_storeu_epi8(to.as_mut_ptr().cast(), Packed::<BITS>::MASK, bytes);
        });
    }

    #[inline(always)]
    fn exchange<const BIT: u32>(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        avx512!(match BIT {
            0 => (
                _mm512_mask_blend_epi16(0xaaaa_aaaa, a, _mm512_slli_epi32::<16>(b)),
                _mm512_mask_blend_epi16(0xaaaa_aaaa, _mm512_srli_epi32::<16>(a), b),
            ),
            1 => (
                _mm512_mask_shuffle_epi32::<0b10_10_00_00>(a, 0xaaaa, b),
                _mm512_mask_shuffle_epi32::<0b11_11_01_01>(b, 0x5555, a),
            ),
            2 => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
            3 => (
                _mm512_mask_shuffle_i64x2::<0b10_10_00_00>(a, 0b1100_1100, b, b),
                _mm512_mask_shuffle_i64x2::<0b11_11_01_01>(b, 0b0011_0011, a, a),
            ),
            4 => (
                _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b),
                _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b),
            ),
            _ => unreachable!("five bits make the index of 32 lanes"),
        })
    }

    #[inline(always)]
    fn interleave_eights(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        avx512!((_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b)))
    }

    #[inline(always)]
    fn interleave(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        const LOW: [u16; 32] = in_turn(0);
        const HIGH: [u16; 32] = in_turn(16);
        avx512!((
            _mm512_permutex2var_epi16(a, self.lanes(&LOW), b),
            _mm512_permutex2var_epi16(a, self.lanes(&HIGH), b),
        ))
    }

    #[inline(always)]
    fn deinterleave(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        const EVEN: [u16; 32] = table(2, 0);
        const ODD: [u16; 32] = table(2, 1);
        avx512!((
            _mm512_permutex2var_epi16(a, self.lanes(&EVEN), b),
            _mm512_permutex2var_epi16(a, self.lanes(&ODD), b),
        ))
    }

    #[inline(always)]
    fn uniform<const Q: u16, const BITS: usize>(
        self,
        one: (&[u8], &mut [u16]),
        other: Option<(&[u8], &mut [u16])>,
    ) {
        for (string, out) in [Some(one), other].into_iter().flatten() {
            self.uniform_one::<Q, BITS>(string, out);
        }
    }

    #[inline(always)]
    fn add_products_of_words(self, sums: __m512i, x: __m512i) -> __m512i {
        avx512!(_mm512_add_epi64(sums, _mm512_mul_epu32(x, _mm512_srli_epi64::<32>(x))))
    }

    #[inline(always)]
    fn sum_words(self, x: __m512i) -> u64 {
        avx512!(_mm512_reduce_add_epi64(x)).cast_unsigned()
    }

    #[inline(always)]
    fn splat_words(self, x: u32) -> __m512i {
        avx512!(_mm512_set1_epi32(x.cast_signed()))
    }

    #[inline(always)]
    fn rotate_words<const BITS: i32>(self, a: __m512i) -> __m512i {
        avx512!(_mm512_ror_epi32::<BITS>(a))
    }

    #[inline(always)]
    fn load_blocks(self, blocks: &[&[u8; 64]; MAX_WORDS]) -> [__m512i; 16] {
        let mut words = [self.splat_words(0); 16];
        for (word, block) in words.iter_mut().zip(blocks) {
            *word = self.bytes(block);
        }
        self.transpose(words)
    }

    #[inline(always)]
    fn store_blocks(self, words: &[__m512i; 16], to: &mut [u8], stride: usize) {
        for (l, word) in self.transpose(*words).into_iter().enumerate() {
            let bytes: &mut [u8; 64] = &mut to[l * stride..].as_chunks_mut().0[0];
            avx512!(_mm512_storeu_si512(bytes.as_mut_ptr().cast(), word));
        }
    }
}

impl Avx512 {
    /// Transposes 16 × 16 words.
    #[inline(always)]
    fn transpose(self, mut x: [__m512i; 16]) -> [__m512i; 16] {
        for pair in x.as_chunks_mut::<2>().0 {
            let [a, b] = *pair;
            *pair = avx512!([_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)]);
        }
        for four in x.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = *four;
            let ((a, c), (b, d)) = (self.exchange::<2>(a, c), self.exchange::<2>(b, d));
            *four = [a, c, b, d];
        }
        for eight in x.as_chunks_mut::<8>().0 {
            let (low, high) = eight.split_at_mut(4);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = self.exchange::<3>(*a, *b);
            }
        }
        for k in 0..8 {
            (x[k], x[k + 8]) = self.exchange::<4>(x[k], x[k + 8]);
        }
        x
    }
}
