//! Two blocks: AVX2, and with it VAES and VPCLMULQDQ.

#![allow(unsafe_code, reason = "vector instructions, of which a `Two` proves that they are there")]

use core::arch::x86_64::*;

use super::{Aes, Blocks, Cipher, Clmul};
use crate::{
    Block,
    backend::has_wide_aes,
    simd::{
        avx2::{Avx2, avx2},
        avx512::Avx512,
        instructions,
    },
};

/// Proof that the processor has all features of `Vectors::Avx2`; and, if `WIDE`, VAES and VPCLMULQDQ.
#[derive(Clone, Copy)]
pub(crate) struct Two<const WIDE: bool>(Avx2);

run!(Two<true>: "avx2,fma,bmi1,bmi2,popcnt,aes,pclmulqdq,vaes,vpclmulqdq");

impl<const WIDE: bool> Blocks for Two<WIDE> {
    type Vector = __m256i;
    const BLOCKS: usize = 2;

    instructions! {
        avx2, __m256i:
        zero() = _mm256_setzero_si256;
        xor(a, b) = _mm256_xor_si256;
        and(a, b) = _mm256_and_si256;
        add(a, b) = _mm256_add_epi64;
        equal(a, b) = _mm256_cmpeq_epi64;
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> __m256i {
        avx2!(_mm256_broadcastsi128_si256(_mm_loadu_si128(block.as_ptr().cast())))
    }

    #[inline(always)]
    fn load(self, bytes: &[u8]) -> __m256i {
        let bytes: &[u8; 32] = &bytes.as_chunks().0[0];
        avx2!(_mm256_loadu_si256(bytes.as_ptr().cast()))
    }

    #[inline(always)]
    fn store(self, x: __m256i, bytes: &mut [u8]) {
        let bytes: &mut [u8; 32] = &mut bytes.as_chunks_mut().0[0];
        avx2!(_mm256_storeu_si256(bytes.as_mut_ptr().cast(), x));
    }

    #[inline(always)]
    fn load_part(self, bytes: &[u8]) -> __m256i {
        let (low, high) = bytes.split_at(bytes.len().min(16));
        avx2!(_mm256_set_m128i(self.0.load_part(high), self.0.load_part(low)))
    }

    #[inline(always)]
    fn store_part(self, x: __m256i, bytes: &mut [u8]) {
        let (low, high) = bytes.split_at_mut(bytes.len().min(16));
        self.0.store_part(avx2!(_mm256_castsi256_si128(x)), low);
        self.0.store_part(avx2!(_mm256_extracti128_si256::<1>(x)), high);
    }
}

impl Aes for Two<true> {
    instructions! {
        avx2, __m256i:
        round(x, keys) = _mm256_aesenc_epi128;
    }
}

impl Cipher for Two<true> {
    const GROUPS: usize = 8;

    instructions! {
        avx2, __m256i:
        last_round(x, keys) = _mm256_aesenclast_epi128;
    }

    #[inline(always)]
    fn interleave(self, a: __m256i, b: __m256i) -> [__m256i; 2] {
        avx2!({
            let low = _mm256_permute2x128_si256::<0x20>(a, b);
            [low, _mm256_permute2x128_si256::<0x31>(a, b)]
        })
    }

    #[inline(always)]
    fn signs(self, a: __m256i, b: __m256i) -> u32 {
        avx2!(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_unpackhi_epi64(a, b)))).cast_unsigned()
    }
}

impl Clmul for Two<true> {
    #[inline(always)]
    fn product<const HALVES: i32>(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_clmulepi64_epi128::<HALVES>(a, b))
    }

    #[inline(always)]
    fn sum(self, x: __m256i) -> u128 {
        let high = avx2!(_mm256_extracti128_si256::<1>(x));
        self.0.sum(self.0.xor(avx2!(_mm256_castsi256_si128(x)), high))
    }

    #[inline(always)]
    fn swap(self, x: __m256i) -> __m256i {
        avx2!(_mm256_shuffle_epi32::<0b01_00_11_10>(x))
    }
}

impl Two<true> {
    /// AVX-512 comes with both.
    #[inline(always)]
    pub(super) fn of(simd: Avx512) -> Self {
        Self(simd.single())
    }

    /// Vectors of one block.
    #[inline(always)]
    pub(crate) fn single(self) -> Avx2 {
        self.0
    }

    /// The first blocks of two vectors, and the second ones.
    #[inline(always)]
    pub(crate) fn apart(self, [a, b]: [__m256i; 2]) -> [__m256i; 2] {
        avx2!([_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)])
    }

    /// Zeros in place of the first block.
    #[inline(always)]
    pub(crate) fn second(self, x: __m256i) -> __m256i {
        avx2!(_mm256_blend_epi32::<0b1111_0000>(self.zero(), x))
    }
}

impl Avx2 {
    /// The longest vectors of the backend, for what is neither AES nor products.
    #[inline(always)]
    pub(crate) fn longest(self) -> Two<false> {
        Two(self)
    }

    /// Two blocks, where the processor has VAES and VPCLMULQDQ, as many have without AVX-512.
    #[inline(always)]
    pub(crate) fn wide(self) -> Option<Two<true>> {
        has_wide_aes().then_some(Two(self))
    }
}
