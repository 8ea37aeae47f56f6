//! One block: the AES instructions of ARMv8, where the processor has them: not all with NEON do.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which a `NeonAes` proves that they are there"
)]

use core::arch::aarch64::*;

use super::{Aes, Blocks, Clmul};
use crate::{
    Block,
    simd::{instructions, neon::Neon},
};

/// Proof that the processor has NEON and AES.
#[derive(Clone, Copy)]
pub(crate) struct NeonAes(());

/// An expression of these instructions; a `NeonAes` is at hand wherever this stands.
macro_rules! neon_aes {
    ($instructions:expr) => {
        // SAFETY: a `NeonAes` exists, so the processor has the instructions; those that touch memory
        // touch the bytes of an array reference.
        unsafe { $instructions }
    };
}

impl NeonAes {
    /// The proof, if the processor has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let present = std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(not(feature = "std"))]
        let present = cfg!(target_feature = "aes");
        present.then_some(Self(()))
    }

    /// Runs a kernel out of line, compiled for AES; the rules are those of `Backend::run`.
    #[inline(always)]
    pub(crate) fn run<R>(self, kernel: impl FnOnce() -> R) -> R {
        neon_aes!(run_neon_aes(kernel))
    }
}

impl Neon {
    /// One block, where the processor also has AES and products.
    #[inline(always)]
    pub(crate) fn wide(self) -> Option<NeonAes> {
        NeonAes::detect()
    }
}

#[inline(never)]
#[target_feature(enable = "neon,aes")]
fn run_neon_aes<R>(kernel: impl FnOnce() -> R) -> R {
    kernel()
}

impl Blocks for NeonAes {
    type Vector = uint8x16_t;
    const BLOCKS: usize = 1;

    instructions! {
        neon_aes, uint8x16_t:
        xor(a, b) = veorq_u8;
        and(a, b) = vandq_u8;
    }

    #[inline(always)]
    fn add(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        neon_aes!(vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))))
    }

    #[inline(always)]
    fn equal(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        neon_aes!(vreinterpretq_u8_u64(vceqq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))))
    }

    #[inline(always)]
    fn zero(self) -> uint8x16_t {
        neon_aes!(vdupq_n_u8(0))
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> uint8x16_t {
        neon_aes!(vld1q_u8(block.as_ptr()))
    }

    #[inline(always)]
    fn store(self, x: uint8x16_t, bytes: &mut [u8]) {
        let bytes: &mut Block = &mut bytes.as_chunks_mut().0[0];
        neon_aes!(vst1q_u8(bytes.as_mut_ptr(), x));
    }

    #[inline(always)]
    fn load_part(self, bytes: &[u8]) -> uint8x16_t {
        match bytes.first_chunk() {
            Some(block) => self.splat(block),
            None if bytes.is_empty() => self.zero(),
            None => neon_aes!(vreinterpretq_u8_u64(vsetq_lane_u64::<0>(
                u64::from_le_bytes(bytes.as_chunks().0[0]),
                vdupq_n_u64(0)
            ))),
        }
    }
}

impl Aes for NeonAes {
    #[inline(always)]
    fn round(self, x: uint8x16_t, keys: uint8x16_t) -> uint8x16_t {
        self.xor(neon_aes!(round_without_key(x)), keys)
    }
}

/// The instruction's own key, which comes first, is zero.
#[inline]
#[target_feature(enable = "neon,aes")]
fn round_without_key(x: uint8x16_t) -> uint8x16_t {
    vaesmcq_u8(vaeseq_u8(x, vdupq_n_u8(0)))
}

impl Clmul for NeonAes {
    #[inline(always)]
    fn product<const HALVES: i32>(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        let (a, b) = (self.words(a), self.words(b));
        let [a, b] = [a[const { (HALVES & 1) as usize }], b[const { (HALVES >> 4) as usize }]];
        neon_aes!(product(a, b))
    }

    #[inline(always)]
    fn swap(self, x: uint8x16_t) -> uint8x16_t {
        neon_aes!(vextq_u8::<8>(x, x))
    }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn product(a: u64, b: u64) -> uint8x16_t {
    vreinterpretq_u8_p128(vmull_p64(a, b))
}

impl NeonAes {
    #[inline(always)]
    fn words(self, x: uint8x16_t) -> [u64; 2] {
        neon_aes!({
            let x = vreinterpretq_u64_u8(x);
            [vgetq_lane_u64::<0>(x), vgetq_lane_u64::<1>(x)]
        })
    }

    /// Vectors of one block.
    #[inline(always)]
    pub(crate) fn single(self) -> Self {
        self
    }
}
