//! The key schedule by AES-NI.

#![allow(
    unsafe_code,
    reason = "vector instructions, of which an `Avx2` proves that they are there"
)]

use core::arch::x86_64::*;

use super::RoundKeys;
use crate::{
    Block,
    blocks::Blocks,
    simd::avx2::{Avx2, avx2},
};

/// FIPS 197, section 5.2. All columns of the last round's input are the rotated last word of the
/// key, so that its ShiftRows does nothing, its SubBytes is SubWord, and its key is the constant.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn schedule(simd: Avx2, key: &Block) -> RoundKeys {
    const CONSTANTS: [i32; 10] = [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];
    let mut keys = RoundKeys([*key; 11]);
    let mut key = simd.splat(key);
    for (round_key, constant) in keys.0[1..].iter_mut().zip(CONSTANTS) {
        avx2!({
            let rotated = _mm_shuffle_epi8(key, _mm_set1_epi32(0x0c0f_0e0d));
            let word = _mm_aesenclast_si128(rotated, _mm_set1_epi32(constant));
            key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
            key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
            key = _mm_xor_si128(key, word);
        });
        simd.store(key, round_key);
    }
    keys
}
