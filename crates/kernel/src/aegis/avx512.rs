//! VAES: four streams, a lane for each; or two.

use core::arch::x86_64::*;

pub(super) use super::avx2::keystream;
use super::{CONSTANTS, STEP};
use crate::{
    Block, erase,
    x86::{load128, load512_at},
};

streams!(__m512i, "avx512f,vaes", _mm512_xor_si512, _mm512_and_si512, _mm512_aesenc_epi128);

#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(crate) fn begin(keys: &[Block; 4], nonce: &Block) -> State {
    let in_all = |block| _mm512_broadcast_i32x4(load128(block));
    let constants = CONSTANTS.each_ref().map(in_all);
    begin_with(load512_at(keys.as_flattened(), 0), in_all(nonce), constants)
}

#[target_feature(enable = "avx2,aes,vaes")]
pub(super) fn keystreams(keys: &[Block; 2], nonce: &Block, out: [&mut [u8]; 2]) {
    let [one, other] = out;
    let mut state = halves::begin(keys, nonce);
    let places = one.as_chunks_mut::<STEP>().0.iter_mut().zip(other.as_chunks_mut().0);
    for (one, other) in places {
        halves::store(one, other, halves::next(&mut state));
    }
    erase(&mut state, _mm256_setzero_si256());
}

/// Vectors of half the width, of which this processor may work on two at a time.
mod halves {
    use core::arch::x86_64::*;

    use crate::{
        Block,
        aegis::{CONSTANTS, STEP},
        x86::{load128, load256_at, store256},
    };

    streams!(__m256i, "avx2,vaes", _mm256_xor_si256, _mm256_and_si256, _mm256_aesenc_epi128);

    #[inline]
    #[target_feature(enable = "avx2,vaes")]
    pub(super) fn begin(keys: &[Block; 2], nonce: &Block) -> State {
        let in_all = |block| _mm256_broadcastsi128_si256(load128(block));
        let constants = CONSTANTS.each_ref().map(in_all);
        begin_with(load256_at(keys.as_flattened(), 0), in_all(nonce), constants)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn store(one: &mut [u8; STEP], other: &mut [u8; STEP], [a, b]: [__m256i; 2]) {
        store256(one, _mm256_permute2x128_si256::<0x20>(a, b));
        store256(other, _mm256_permute2x128_si256::<0x31>(a, b));
    }
}
