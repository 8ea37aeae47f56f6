//! NEON: vectors of 128 bits.

#![allow(unsafe_code, reason = "vector instructions, of which a `Neon` proves that they are there")]

mod uniform;

use core::arch::aarch64::*;

use super::{
    MAX_WORDS, Simd, TWO_MORE, instructions,
    packing::{Packing, Unpacking},
};

/// Proof that the processor has NEON.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Neon(());

impl Neon {
    /// # Safety
    /// The processor has NEON.
    #[inline(always)]
    pub(crate) const unsafe fn detected() -> Self {
        Self(())
    }
}

/// An expression of NEON instructions; a `Neon` is at hand wherever this stands.
macro_rules! neon {
    ($instructions:expr) => {
        // SAFETY: a `Neon` exists, so the processor has the instructions; those that touch memory
        // touch the bytes of an array reference.
        unsafe { $instructions }
    };
}

use neon;

/// Bit k in lane k.
const BITS: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

impl Neon {
    #[inline(always)]
    fn bytes(self, bytes: &[u8; 16]) -> uint8x16_t {
        neon!(vld1q_u8(bytes.as_ptr()))
    }

    #[inline(always)]
    fn lanes(self, lanes: &[u16; 8]) -> uint16x8_t {
        neon!(vld1q_u16(lanes.as_ptr()))
    }

    /// The first BITS bytes and some more that the caller ignores, as far as there are.
    #[inline(always)]
    fn group<const BITS: usize>(self, from: &[u8]) -> uint8x16_t {
        if let Some(bytes) = from.first_chunk::<16>() {
            return self.bytes(bytes);
        }
        let mut bytes = [0; 16];
        bytes[..BITS].copy_from_slice(&from[..BITS]);
        self.bytes(&bytes)
    }
}

impl Simd for Neon {
    type Lanes = uint16x8_t;
    type Words = uint32x4_t;
    const LANES: usize = 8;
    const WORDS: usize = 4;
    const REGISTERS: usize = 32;

    instructions! {
        neon, uint16x8_t:
        add(a, b) = vaddq_u16;
        sub(a, b) = vsubq_u16;
        mul_low(a, b) = vmulq_u16;
        min(a, b) = vminq_u16;
        and(a, b) = vandq_u16;
        or(a, b) = vorrq_u16;
    }

    instructions! {
        neon, uint32x4_t:
        add_words(a, b) = vaddq_u32;
        xor_words(a, b) = veorq_u32;
    }

    #[inline(always)]
    fn load(self, from: &[u16]) -> uint16x8_t {
        self.lanes(&from.as_chunks().0[0])
    }

    #[inline(always)]
    fn store(self, x: uint16x8_t, to: &mut [u16]) {
        let to: &mut [u16; 8] = &mut to.as_chunks_mut().0[0];
        neon!(vst1q_u16(to.as_mut_ptr(), x));
    }

    #[inline(always)]
    fn splat(self, x: u16) -> uint16x8_t {
        neon!(vdupq_n_u16(x))
    }

    #[inline(always)]
    fn add_carry(self, x: uint16x8_t, sum: uint16x8_t, part: uint16x8_t) -> uint16x8_t {
        neon!(vsubq_u16(x, vcltq_u16(sum, part)))
    }

    #[inline(always)]
    fn mul_high(self, a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
        neon!({
            let (a, b) = (vreinterpretq_s16_u16(a), vreinterpretq_s16_u16(b));
            let low = vmull_s16(vget_low_s16(a), vget_low_s16(b));
            let high = vmull_high_s16(a, b);
            vuzp2q_u16(vreinterpretq_u16_s32(low), vreinterpretq_u16_s32(high))
        })
    }

    #[inline(always)]
    fn mul_round(self, a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
        neon!({
            let (a, b) = (vreinterpretq_s16_u16(a), vreinterpretq_s16_u16(b));
            vreinterpretq_u16_s16(vqrdmulhq_s16(a, b))
        })
    }

    #[inline(always)]
    fn sign_mask(self, a: uint16x8_t) -> uint16x8_t {
        neon!(vcltzq_s16(vreinterpretq_s16_u16(a)))
    }

    #[inline(always)]
    fn sign_bits(self, a: uint16x8_t, to: &mut [u8]) {
        let bits = self.and(self.sign_mask(a), self.lanes(&BITS));
        [to[0], _] = neon!(vaddvq_u16(bits)).to_le_bytes();
    }

    #[inline(always)]
    fn spread_bits(self, from: &[u8]) -> uint16x8_t {
        neon!(vtstq_u16(self.splat(from[0].into()), self.lanes(&BITS)))
    }

    #[inline(always)]
    fn centred_binomial(self, from: &[u8]) -> uint16x8_t {
        const TO_LANES: [u8; 16] = [0, 128, 0, 128, 1, 128, 1, 128, 2, 128, 2, 128, 3, 128, 3, 128];
        const DOWN: [i16; 8] = [0, -4, 0, -4, 0, -4, 0, -4];
        let from: &[u8; 4] = &from.as_chunks().0[0];
        neon!({
            let bytes = vreinterpretq_u8_u32(vdupq_n_u32(u32::from_le_bytes(*from)));
            let lanes = vreinterpretq_u16_u8(vqtbl1q_u8(bytes, self.bytes(&TO_LANES)));
            let halves = vshlq_u16(lanes, vld1q_s16(DOWN.as_ptr()));
            let halves = vreinterpretq_u8_u16(vandq_u16(halves, vdupq_n_u16(15)));
            // The zero in the upper byte of a lane also gives two more.
            let noise = vreinterpretq_u16_u8(vqtbl1q_u8(self.bytes(&TWO_MORE), halves));
            vsubq_u16(noise, vdupq_n_u16(0x0202))
        })
    }

    #[inline(always)]
    fn unpack<const BITS: usize>(self, from: &[u8]) -> uint16x8_t {
        const { assert!(BITS < 16) };
        let bytes = self.group::<BITS>(from);
        neon!({
            let low = vqtbl1q_u8(bytes, self.bytes(const { &Unpacking::<BITS>::LOW }));
            let high = vqtbl1q_u8(bytes, self.bytes(const { &Unpacking::<BITS>::HIGH }));
            let up = vld1q_s16(const { &Unpacking::<BITS>::UP }.as_ptr());
            // A shift by a negative number is one to the right.
            let low = vshlq_u16(vreinterpretq_u16_u8(low), vsubq_s16(up, vdupq_n_s16(16)));
            let high = vshlq_u16(vreinterpretq_u16_u8(high), up);
            vandq_u16(vorrq_u16(low, high), vdupq_n_u16((1 << BITS) - 1))
        })
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "BITS is below 16")]
    fn pack<const BITS: usize>(self, x: uint16x8_t, to: &mut [u8]) {
        let mut bytes = [0; 16];
        neon!({
            // Two lanes to 2·BITS bits, four to 4·BITS.
            let x = vreinterpretq_u32_u16(x);
            let upper = vshlq_u32(vshrq_n_u32::<16>(x), vdupq_n_s32(BITS as i32));
            let pairs = vorrq_u32(vandq_u32(x, vdupq_n_u32(0xffff)), upper);
            let pairs = vreinterpretq_u64_u32(pairs);
            let upper = vshlq_u64(vshrq_n_u64::<32>(pairs), vdupq_n_s64(2 * BITS as i64));
            let fours = vorrq_u64(vandq_u64(pairs, vdupq_n_u64(0xffff_ffff)), upper);
            let up = vcombine_s64(vdup_n_s64(0), vdup_n_s64(Packing::<BITS>::UP));
            let fours = vreinterpretq_u8_u64(vshlq_u64(fours, up));
            let low = vqtbl1q_u8(fours, self.bytes(const { &Packing::<BITS>::LOWER }));
            let high = vqtbl1q_u8(fours, self.bytes(const { &Packing::<BITS>::UPPER }));
            vst1q_u8(bytes.as_mut_ptr(), vorrq_u8(low, high));
        });
        to[..BITS].copy_from_slice(&bytes[..BITS]);
    }

    #[inline(always)]
    fn exchange<const BIT: u32>(self, a: uint16x8_t, b: uint16x8_t) -> (uint16x8_t, uint16x8_t) {
        neon!(match BIT {
            0 => (vtrn1q_u16(a, b), vtrn2q_u16(a, b)),
            1 => {
                let (a, b) = (vreinterpretq_u32_u16(a), vreinterpretq_u32_u16(b));
                (vreinterpretq_u16_u32(vtrn1q_u32(a, b)), vreinterpretq_u16_u32(vtrn2q_u32(a, b)))
            }
            2 => {
                let (a, b) = (vreinterpretq_u64_u16(a), vreinterpretq_u64_u16(b));
                (vreinterpretq_u16_u64(vtrn1q_u64(a, b)), vreinterpretq_u16_u64(vtrn2q_u64(a, b)))
            }
            _ => unreachable!("three bits make the index of eight lanes"),
        })
    }

    #[inline(always)]
    fn interleave_eights(self, a: uint16x8_t, b: uint16x8_t) -> (uint16x8_t, uint16x8_t) {
        self.interleave(a, b)
    }

    #[inline(always)]
    fn interleave(self, a: uint16x8_t, b: uint16x8_t) -> (uint16x8_t, uint16x8_t) {
        neon!((vzip1q_u16(a, b), vzip2q_u16(a, b)))
    }

    #[inline(always)]
    fn deinterleave(self, a: uint16x8_t, b: uint16x8_t) -> (uint16x8_t, uint16x8_t) {
        neon!((vuzp1q_u16(a, b), vuzp2q_u16(a, b)))
    }

    #[inline(always)]
    fn uniform<const Q: u16, const BITS: usize>(
        self,
        one: (&[u8], &mut [u16]),
        other: Option<(&[u8], &mut [u16])>,
    ) {
        for (string, out) in core::iter::once(one).chain(other) {
            self.uniform_single::<Q, BITS>(string, out);
        }
    }

    #[inline(always)]
    fn uniform_public<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) -> bool {
        self.uniform_variable_time::<Q, BITS>(string, out)
    }

    #[inline(always)]
    fn load_words(self, from: &[u8]) -> uint32x4_t {
        neon!(vreinterpretq_u32_u8(self.bytes(&from.as_chunks().0[0])))
    }

    #[inline(always)]
    fn add_products_of_words(self, sums: uint32x4_t, x: uint32x4_t) -> uint32x4_t {
        neon!({
            let pairs = vreinterpretq_u64_u32(x);
            let (low, high) = (vmovn_u64(pairs), vshrn_n_u64::<32>(pairs));
            vreinterpretq_u32_u64(vmlal_u32(vreinterpretq_u64_u32(sums), low, high))
        })
    }

    #[inline(always)]
    fn sum_words(self, x: uint32x4_t) -> u64 {
        neon!(vaddvq_u64(vreinterpretq_u64_u32(x)))
    }

    #[inline(always)]
    fn splat_words(self, x: u32) -> uint32x4_t {
        neon!(vdupq_n_u32(x))
    }

    #[inline(always)]
    fn rotate_words<const BITS: i32>(self, a: uint32x4_t) -> uint32x4_t {
        const BY_8: [u8; 16] = [1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12];
        neon!(match BITS {
            16 => vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(a))),
            8 => vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(a), self.bytes(&BY_8))),
            12 => vsriq_n_u32::<12>(vshlq_n_u32::<20>(a), a),
            _ => vsriq_n_u32::<7>(vshlq_n_u32::<25>(a), a),
        })
    }

    #[inline(always)]
    fn load_blocks(self, blocks: &[&[u8; 64]; MAX_WORDS]) -> [uint32x4_t; 16] {
        let mut words = [self.splat_words(0); 16];
        for (quarter, words) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            for (word, block) in words.iter_mut().zip(blocks) {
                let bytes: &[u8; 16] = &block.as_chunks().0[quarter];
                *word = neon!(vreinterpretq_u32_u8(self.bytes(bytes)));
            }
            *words = self.transpose(words);
        }
        words
    }

    #[inline(always)]
    fn store_blocks(self, words: &[uint32x4_t; 16], to: &mut [u8], stride: usize) {
        for (quarter, words) in words.as_chunks::<4>().0.iter().enumerate() {
            for (l, word) in self.transpose(words).into_iter().enumerate() {
                let bytes: &mut [u8; 16] =
                    &mut to[l * stride + 16 * quarter..].as_chunks_mut().0[0];
                neon!(vst1q_u8(bytes.as_mut_ptr(), vreinterpretq_u8_u32(word)));
            }
        }
    }
}

impl Neon {
    /// Transposes 4 × 4 words.
    #[inline(always)]
    fn transpose(self, rows: &[uint32x4_t; 4]) -> [uint32x4_t; 4] {
        let [a, b, c, d] = *rows;
        let double = |x| neon!(vreinterpretq_u64_u32(x));
        let single = |x| neon!(vreinterpretq_u32_u64(x));
        neon!({
            let (ab, cd) = (double(vtrn1q_u32(a, b)), double(vtrn1q_u32(c, d)));
            let (ab2, cd2) = (double(vtrn2q_u32(a, b)), double(vtrn2q_u32(c, d)));
            [
                single(vtrn1q_u64(ab, cd)),
                single(vtrn1q_u64(ab2, cd2)),
                single(vtrn2q_u64(ab, cd)),
                single(vtrn2q_u64(ab2, cd2)),
            ]
        })
    }
}
