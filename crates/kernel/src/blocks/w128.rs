//! One block: AES-NI and PCLMULQDQ.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx2` proves that they are there"
)]

use core::arch::x86_64::*;

use super::{Aes, Blocks, Cipher, Clmul};
use crate::{
    Block,
    simd::{
        avx2::{Avx2, avx2},
        instructions,
    },
};

impl Blocks for Avx2 {
    type Vector = __m128i;
    const BLOCKS: usize = 1;

    instructions! {
        avx2, __m128i:
        zero() = _mm_setzero_si128;
        xor(a, b) = _mm_xor_si128;
        and(a, b) = _mm_and_si128;
        add(a, b) = _mm_add_epi64;
        equal(a, b) = _mm_cmpeq_epi64;
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> __m128i {
        avx2!(_mm_loadu_si128(block.as_ptr().cast()))
    }

    #[inline(always)]
    fn store(self, x: __m128i, bytes: &mut [u8]) {
        let bytes: &mut Block = &mut bytes.as_chunks_mut().0[0];
        avx2!(_mm_storeu_si128(bytes.as_mut_ptr().cast(), x));
    }

    #[inline(always)]
    fn load_part(self, bytes: &[u8]) -> __m128i {
        match bytes.first_chunk() {
            Some(block) => self.splat(block),
            None if bytes.is_empty() => self.zero(),
            None => avx2!(_mm_loadu_si64(bytes[..8].as_ptr())),
        }
    }
}

impl Aes for Avx2 {
    instructions! {
        avx2, __m128i:
        round(x, keys) = _mm_aesenc_si128;
    }
}

impl Cipher for Avx2 {
    const GROUPS: usize = 8;

    instructions! {
        avx2, __m128i:
        last_round(x, keys) = _mm_aesenclast_si128;
    }

    #[inline(always)]
    fn interleave(self, a: __m128i, b: __m128i) -> [__m128i; 2] {
        [a, b]
    }

    #[inline(always)]
    fn signs(self, a: __m128i, b: __m128i) -> u32 {
        avx2!(_mm_movemask_pd(_mm_castsi128_pd(_mm_unpackhi_epi64(a, b)))).cast_unsigned()
    }
}

impl Clmul for Avx2 {
    #[inline(always)]
    fn product<const HALVES: i32>(self, a: __m128i, b: __m128i) -> __m128i {
        avx2!(_mm_clmulepi64_si128::<HALVES>(a, b))
    }

    #[inline(always)]
    fn swap(self, x: __m128i) -> __m128i {
        avx2!(_mm_shuffle_epi32::<0b01_00_11_10>(x))
    }
}

impl Avx2 {
    /// Vectors of one block.
    #[inline(always)]
    pub(crate) fn single(self) -> Self {
        self
    }
}
