//! Four blocks: AVX-512, VAES and VPCLMULQDQ.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx512` proves that they are there"
)]

use core::arch::x86_64::*;

use super::{Aes, Blocks, Cipher, Clmul, w256::Two};
use crate::{
    Block,
    simd::{
        avx2::Avx2,
        avx512::{Avx512, avx512},
        instructions,
    },
};

impl Blocks for Avx512 {
    type Vector = __m512i;
    const BLOCKS: usize = 4;

    instructions! {
        avx512, __m512i:
        zero() = _mm512_setzero_si512;
        xor(a, b) = _mm512_xor_si512;
        and(a, b) = _mm512_and_si512;
        add(a, b) = _mm512_add_epi64;
        xor3(a, b, c) = _mm512_ternarylogic_epi64::<0x96>;
    }

    #[inline(always)]
    fn equal(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_movm_epi64(_mm512_cmpeq_epi64_mask(a, b)))
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> __m512i {
        avx512!(_mm512_broadcast_i32x4(_mm_loadu_si128(block.as_ptr().cast())))
    }

    #[inline(always)]
    fn load(self, bytes: &[u8]) -> __m512i {
        let bytes: &[u8; 64] = &bytes.as_chunks().0[0];
        avx512!(_mm512_loadu_si512(bytes.as_ptr().cast()))
    }

    #[inline(always)]
    fn store(self, x: __m512i, bytes: &mut [u8]) {
        let bytes: &mut [u8; 64] = &mut bytes.as_chunks_mut().0[0];
        avx512!(_mm512_storeu_si512(bytes.as_mut_ptr().cast(), x));
    }

    /// Any number of bytes.
    #[inline(always)]
    fn load_part(self, bytes: &[u8]) -> __m512i {
        avx512!(_mm512_maskz_loadu_epi8(first(bytes.len()), bytes.as_ptr().cast()))
    }

    /// Any number of bytes.
    #[inline(always)]
    fn store_part(self, x: __m512i, bytes: &mut [u8]) {
        avx512!(_mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), first(bytes.len()), x));
    }
}

/// A mask of the first `n` bytes of a vector.
#[inline(always)]
fn first(n: usize) -> __mmask64 {
    assert!(n <= 64, "a part of a vector");
    if n == 0 { 0 } else { u64::MAX >> (64 - n) }
}

impl Aes for Avx512 {
    instructions! {
        avx512, __m512i:
        round(x, keys) = _mm512_aesenc_epi128;
    }
}

impl Cipher for Avx512 {
    const GROUPS: usize = 1;

    instructions! {
        avx512, __m512i:
        last_round(x, keys) = _mm512_aesenclast_epi128;
    }

    #[inline(always)]
    fn interleave(self, a: __m512i, b: __m512i) -> [__m512i; 2] {
        avx512!({
            let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            [low, high].map(|order| _mm512_permutex2var_epi64(a, order, b))
        })
    }

    #[inline(always)]
    fn signs(self, a: __m512i, b: __m512i) -> u32 {
        avx512!(_mm512_movepi64_mask(_mm512_unpackhi_epi64(a, b))).into()
    }
}

impl Clmul for Avx512 {
    #[inline(always)]
    fn product<const HALVES: i32>(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_clmulepi64_epi128::<HALVES>(a, b))
    }

    #[inline(always)]
    fn sum(self, x: __m512i) -> u128 {
        let high = avx512!(_mm512_extracti64x4_epi64::<1>(x));
        let two = self.two();
        two.sum(two.xor(avx512!(_mm512_castsi512_si256(x)), high))
    }

    #[inline(always)]
    fn swap(self, x: __m512i) -> __m512i {
        avx512!(_mm512_shuffle_epi32::<0b01_00_11_10>(x))
    }
}

impl Avx512 {
    #[inline(always)]
    pub(crate) fn single(self) -> Avx2 {
        // SAFETY: `Vectors::Avx512` is detected by the features of `Vectors::Avx2` and others.
        unsafe { Avx2::detected() }
    }

    /// Vectors of two blocks: a processor may work on two of them at a time, but on one of four blocks.
    #[inline(always)]
    pub(crate) fn two(self) -> Two<true> {
        Two::of(self)
    }

    /// The lower and the upper two blocks of two vectors.
    #[inline(always)]
    pub(crate) fn halves(self, [a, b]: [__m512i; 2]) -> [[__m256i; 2]; 2] {
        avx512!([
            [_mm512_castsi512_si256(a), _mm512_castsi512_si256(b)],
            [_mm512_extracti64x4_epi64::<1>(a), _mm512_extracti64x4_epi64::<1>(b)],
        ])
    }

    /// Zeros in place of the first block.
    #[inline(always)]
    pub(crate) fn but_first(self, x: __m512i) -> __m512i {
        avx512!(_mm512_maskz_mov_epi64(0b1111_1100, x))
    }

    /// The longest vectors of the backend.
    #[inline(always)]
    pub(crate) fn longest(self) -> Self {
        self
    }
}
