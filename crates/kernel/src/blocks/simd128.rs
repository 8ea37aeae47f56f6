//! One block: vectors of WebAssembly, which have no AES. Its rounds permute bytes within registers, in constant time.

#![allow(unsafe_code, reason = "vectors are read and written where array references point to")]

use core::arch::wasm32::*;

use super::{
    Aes, Blocks,
    nibbles::{CONSTANT, TABLES},
};
use crate::{Block, simd128::Simd128};

impl Blocks for Simd128 {
    type Vector = v128;
    const BLOCKS: usize = 1;

    #[inline(always)]
    fn zero(self) -> v128 {
        u64x2(0, 0)
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> v128 {
        load(block)
    }

    #[inline(always)]
    fn store(self, x: v128, bytes: &mut [u8]) {
        let bytes: &mut Block = &mut bytes.as_chunks_mut().0[0];
        // SAFETY: the reference is to 16 bytes; there is no alignment.
        unsafe { v128_store(bytes.as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn load_part(self, bytes: &[u8]) -> v128 {
        match bytes.first_chunk() {
            Some(block) => load(block),
            None if bytes.is_empty() => self.zero(),
            None => u64x2(u64::from_le_bytes(bytes.as_chunks().0[0]), 0),
        }
    }

    #[inline(always)]
    fn xor(self, a: v128, b: v128) -> v128 {
        v128_xor(a, b)
    }

    #[inline(always)]
    fn and(self, a: v128, b: v128) -> v128 {
        v128_and(a, b)
    }

    #[inline(always)]
    fn add(self, a: v128, b: v128) -> v128 {
        u64x2_add(a, b)
    }

    #[inline(always)]
    fn equal(self, a: v128, b: v128) -> v128 {
        u64x2_eq(a, b)
    }
}

impl Aes for Simd128 {
    #[inline(always)]
    fn round(self, x: v128, keys: v128) -> v128 {
        let x = substitute(x);
        // ShiftRows, and ShiftRows with each column's bytes moved up by one.
        let shifted = i8x16_shuffle::<0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11>(x, x);
        let next = i8x16_shuffle::<5, 10, 15, 0, 9, 14, 3, 4, 13, 2, 7, 8, 1, 6, 11, 12>(x, x);
        // MixColumns: 2·(s₀ + s₁) + s₁ + (s₂ + s₃).
        let sum = v128_xor(shifted, next);
        let other = i8x16_shuffle::<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(sum, sum);
        let reduced = v128_and(i8x16_lt(sum, u8x16_splat(0)), u8x16_splat(0x1b));
        let twice = v128_xor(i8x16_add(sum, sum), reduced);
        let key = v128_xor(keys, u8x16_splat(CONSTANT));
        v128_xor(v128_xor(twice, next), v128_xor(other, key))
    }
}

/// SubBytes without the constant.
#[inline(always)]
fn substitute(x: v128) -> v128 {
    let nibble = u8x16_splat(15);
    let [low, high] = [load(&TABLES.input[0]), load(&TABLES.input[1])];
    let split =
        v128_xor(u8x16_swizzle(low, v128_and(x, nibble)), u8x16_swizzle(high, u8x16_shr(x, 4)));
    let (inverse, ratio) = (load(&TABLES.inverse), load(&TABLES.ratio));
    let (i, k) = (u8x16_shr(split, 4), v128_and(split, nibble));
    let (j, ratio) = (v128_xor(i, k), u8x16_swizzle(ratio, k));
    let of = |x, other| {
        let sum = v128_xor(u8x16_swizzle(inverse, x), ratio);
        v128_xor(u8x16_swizzle(inverse, sum), other)
    };
    let (first, second) = (of(i, j), of(j, i));
    let [of_first, of_second] = [load(&TABLES.output[0]), load(&TABLES.output[1])];
    v128_xor(u8x16_swizzle(of_first, first), u8x16_swizzle(of_second, second))
}

#[inline(always)]
fn load(block: &Block) -> v128 {
    // SAFETY: the reference is to 16 bytes; there is no alignment.
    unsafe { v128_load(block.as_ptr().cast()) }
}
