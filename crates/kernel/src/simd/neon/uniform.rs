//! Rejection sampling, and the same without a branch or an address that depends on what is
//! rejected.
//!
//! For the latter, in each step the accepted ones of eight candidates are moved together and
//! appended to a vector that is being filled; that vector is written to a slot of its own in every
//! step, full or not. Afterwards the full slots move together.

use core::arch::aarch64::*;

use super::{Neon, neon};
use crate::simd::Simd;

/// The most steps, eight candidates each, and room behind them for the longest move to look at.
const STEPS: usize = 128;
const ROOM: usize = STEPS + 32;

/// The order, for four acceptance bits, that puts the accepted ones first: two bits for each place.
const ORDER: [u8; 16] = {
    let mut order = [0; 16];
    let mut accepted = 0;
    while accepted < 16 {
        let (mut place, mut lane) = (0, 0);
        while lane < 4 {
            if accepted >> lane & 1 == 1 {
                order[accepted] |= lane << (2 * place);
                place += 1;
            }
            lane += 1;
        }
        accepted += 1;
    }
    order
};

/// The number of bytes that the accepted lanes take, for four acceptance bits.
#[expect(clippy::cast_possible_truncation, reason = "at most 8")]
const BYTES: [u8; 16] = {
    let mut bytes = [0; 16];
    let mut accepted = 0u32;
    while accepted < 16 {
        bytes[accepted as usize] = 2 * accepted.count_ones() as u8;
        accepted += 1;
    }
    bytes
};

impl Neon {
    /// `Simd::uniform_public`.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn uniform_variable_time<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) -> bool {
        let steps = string.len() / BITS;
        assert!(string.len() == steps * BITS);
        let mut filled = 0;
        for step in 0..steps {
            let mut candidates = [0; 8];
            self.store(self.unpack::<BITS>(&string[step * BITS..]), &mut candidates);
            for x in candidates {
                if filled == out.len() {
                    return true;
                }
                // Overwritten by the next one unless it is accepted.
                out[filled] = x;
                filled += usize::from(x < Q);
            }
        }
        filled == out.len()
    }

    /// The first candidates below Q, as many as there is room for; all zero if there are too few.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn uniform_single<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) {
        let steps = string.len() / BITS;
        let wanted = out.len() / 8;
        assert!(string.len() == steps * BITS);
        assert!(out.len() == wanted * 8 && steps - wanted < 64);
        assert!((wanted..=STEPS).contains(&steps));

        let mut slots = [neon!(vdupq_n_u8(0)); ROOM];
        let mut moves = [0; ROOM];
        let enough = self.fill_slots::<Q, BITS>(string, wanted, &mut slots[..steps], &mut moves);
        // Kept from the optimiser, which could make a branch of masks that it knows.
        let moves = core::hint::black_box(&mut moves);

        let mut distance = 1;
        while distance <= steps - wanted {
            let masks = move_moves(moves, distance);
            for i in 0..steps {
                slots[i] = neon!(vbslq_u8(vdupq_n_u8(masks[i]), slots[i + distance], slots[i]));
            }
            distance *= 2;
        }
        for (out, slot) in out.as_chunks_mut::<8>().0.iter_mut().zip(&slots) {
            self.store(neon!(vreinterpretq_u16_u8(vandq_u8(*slot, enough))), out);
        }
    }

    /// Writes a slot per step, and by how many places it is to move; 0 for those that are not full.
    /// Returns all ones if there are as many full slots as are wanted.
    #[cfg_attr(not(unoptimized), inline(always))]
    #[expect(clippy::cast_possible_truncation, reason = "below 128")]
    fn fill_slots<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        wanted: usize,
        slots: &mut [uint8x16_t],
        moves: &mut [u8; ROOM],
    ) -> uint8x16_t {
        const PLACES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        const TO_WORDS: [u8; 16] = [0, 128, 0, 128, 0, 128, 0, 128, 8, 128, 8, 128, 8, 128, 8, 128];
        const DOWN: [i16; 8] = [0, -2, -4, -6, 0, -2, -4, -6];
        const TO_BYTES: [u16; 8] = [0x0100, 0x0100, 0x0100, 0x0100, 0x0908, 0x0908, 0x0908, 0x0908];
        const WEIGHTS: [u16; 8] = [1, 2, 4, 8, 1, 2, 4, 8];
        let spare = (slots.len() - wanted) as u8;
        neon!({
            let places = self.bytes(&PLACES);
            let (order, bytes_of) = (self.bytes(&ORDER), self.bytes(&BYTES));
            let to_words = self.bytes(&TO_WORDS);
            let down = vld1q_s16(DOWN.as_ptr());
            let (weights, to_bytes) = (self.lanes(&WEIGHTS), self.lanes(&TO_BYTES));
            let zero = vdupq_n_u8(0);

            // What is being filled, how many bytes of it are filled, and how many slots were not
            // full; the latter two in every byte.
            let (mut filling, mut filled, mut gaps) = (zero, zero, zero);
            for (step, (slot, move_by)) in slots.iter_mut().zip(moves).enumerate() {
                let candidates = self.unpack::<BITS>(&string[step * BITS..]);

                // Within each four lanes the accepted ones first.
                let accepted = vandq_u16(vcltq_u16(candidates, self.splat(Q)), weights);
                let four_bits = vreinterpretq_u8_u64(vpaddlq_u32(vpaddlq_u16(accepted)));
                let code = vqtbl1q_u8(vqtbl1q_u8(order, four_bits), to_words);
                let lane = vshlq_u16(vreinterpretq_u16_u8(code), down);
                let lane = vandq_u16(lane, self.splat(3));
                let lane = vmlaq_u16(to_bytes, lane, self.splat(0x0202));
                let fours =
                    vqtbl1q_u8(vreinterpretq_u8_u16(candidates), vreinterpretq_u8_u16(lane));

                // First the first four, then the others.
                let bytes = vqtbl1q_u8(bytes_of, four_bits);
                let (first, others) = (vdupq_laneq_u8::<0>(bytes), vdupq_laneq_u8::<8>(bytes));
                let behind = vcgeq_u8(places, first);
                let gap = vandq_u8(behind, vsubq_u8(vdupq_n_u8(8), first));
                let together = vqtbl1q_u8(fours, vaddq_u8(places, gap));

                // Append: rotated to where the filling ends, it fills up one slot and begins the
                // next.
                let from = vandq_u8(vsubq_u8(places, filled), vdupq_n_u8(15));
                let turned = vqtbl1q_u8(together, from);
                filling = vbslq_u8(vcgtq_u8(filled, places), filling, turned);
                *slot = filling;
                filled = vaddq_u8(filled, vaddq_u8(first, others));
                let full = vcgtq_u8(filled, vdupq_n_u8(15));
                filling = vbslq_u8(full, turned, filling);
                filled = vandq_u8(filled, vdupq_n_u8(15));

                *move_by = vgetq_lane_u8::<0>(vandq_u8(gaps, full));
                gaps = vaddq_u8(gaps, vaddq_u8(full, vdupq_n_u8(1)));
            }
            vcgeq_u8(vdupq_n_u8(spare), gaps)
        })
    }
}

/// One pass over how far slots have to go: moves those that have the bit `distance`. Returns all ones
/// for the places to which one comes.
#[cfg_attr(not(unoptimized), inline(always))]
fn move_moves(moves: &mut [u8; ROOM], distance: usize) -> [u8; STEPS] {
    let mut masks = [0; STEPS];
    let bit = distance.ilog2();
    let from = *moves;
    let pairs = from.iter().zip(&from[distance..]);
    for ((mask, to), (&here, &there)) in masks.iter_mut().zip(moves).zip(pairs) {
        let comes = (there >> bit & 1).wrapping_neg();
        let goes = (here >> bit & 1).wrapping_neg();
        *mask = comes;
        *to = there & comes | here & !comes & !goes;
    }
    masks
}
