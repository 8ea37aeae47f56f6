//! AES-NI: one stream, whose rounds hide each other's latency.

use core::arch::x86_64::*;

use super::{CONSTANTS, STEP};
use crate::{
    Block, erase,
    x86::{load128, store128},
};

streams!(__m128i, "avx2,aes", _mm_xor_si128, _mm_and_si128, _mm_aesenc_si128);

#[inline]
#[target_feature(enable = "avx2,aes")]
pub(crate) fn begin(key: &Block, nonce: &Block) -> State {
    begin_with(load128(key), load128(nonce), [load128(&CONSTANTS[0]), load128(&CONSTANTS[1])])
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn keystream(key: &Block, nonce: &Block, out: &mut [u8]) {
    let mut state = begin(key, nonce);
    for out in out.as_chunks_mut::<STEP>().0 {
        for (block, vector) in out.as_chunks_mut().0.iter_mut().zip(next(&mut state)) {
            store128(block, vector);
        }
    }
    erase(&mut state, _mm_setzero_si128());
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn keystreams(keys: &[Block; 2], nonce: &Block, out: [&mut [u8]; 2]) {
    for (key, out) in keys.iter().zip(out) {
        keystream(key, nonce, out);
    }
}
