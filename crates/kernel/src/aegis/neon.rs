//! The AES instructions of ARMv8, where the processor has them: not all with NEON do.

#![allow(unsafe_code, reason = "loads and stores take pointers, and not every processor has AES")]

use core::arch::aarch64::*;

use super::{STEP, Stream, portable};
use crate::{Block, erase};

/// Where a stream is.
pub(crate) struct State(portable::State);

impl Stream for State {
    fn begin(key: &Block, nonce: &Block) -> Self {
        Self(portable::State::begin(key, nonce))
    }

    fn fill(&mut self, out: &mut [[u8; STEP]]) {
        #[cfg(feature = "std")]
        let present = std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(not(feature = "std"))]
        let present = cfg!(target_feature = "aes");
        if present {
            // SAFETY: the feature was detected; NEON is in the baseline.
            unsafe { fill_with(self.0.blocks(), out) };
        } else {
            self.0.fill(out);
        }
    }
}

pub(super) fn keystream(key: &Block, nonce: &Block, out: &mut [u8]) {
    State::begin(key, nonce).fill(out.as_chunks_mut().0);
}

pub(super) fn keystreams(keys: &[Block; 2], nonce: &Block, out: [&mut [u8]; 2]) {
    for (key, out) in keys.iter().zip(out) {
        keystream(key, nonce, out);
    }
}

/// Steps from a state on.
#[target_feature(enable = "neon,aes")]
fn fill_with(state: &mut [Block], out: &mut [[u8; STEP]]) {
    let mut s: [_; 8] = core::array::from_fn(|i| {
        // SAFETY: reads 16 bytes of an array of 16.
        unsafe { vld1q_u8(state[i].as_ptr()) }
    });
    for out in out {
        let first = veorq_u8(veorq_u8(s[6], s[1]), vandq_u8(s[2], s[3]));
        let second = veorq_u8(veorq_u8(s[2], s[5]), vandq_u8(s[6], s[7]));
        // SAFETY: writes 32 bytes of an array of 32.
        unsafe {
            vst1q_u8(out.as_mut_ptr(), first);
            vst1q_u8(out.as_mut_ptr().add(16), second);
        }
        let last = s[7];
        for i in (1..8).rev() {
            s[i] = round(s[i - 1], s[i]);
        }
        s[0] = round(last, s[0]);
    }
    for (block, vector) in state.iter_mut().zip(s.iter().copied()) {
        // SAFETY: writes 16 bytes of an array of 16.
        unsafe { vst1q_u8(block.as_mut_ptr(), vector) };
    }
    erase(&mut s, vdupq_n_u8(0));
}

/// Adds its key last: that of the instruction, which comes first, is zero.
#[inline]
#[target_feature(enable = "neon,aes")]
fn round(block: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    veorq_u8(vaesmcq_u8(vaeseq_u8(block, vdupq_n_u8(0))), key)
}
