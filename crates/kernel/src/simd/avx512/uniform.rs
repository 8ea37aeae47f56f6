//! Rejection sampling without a branch or an address that depends on what is rejected.
//!
//! In each step 32 candidates are compressed within their register and appended to a vector that is
//! being filled; that vector is written to a slot of its own in every step, full or not.
//! Afterwards the full slots move together. `vpcompressw` takes the same time for every mask as
//! long as its destination is a register.

use core::arch::x86_64::*;

use super::{Avx512, IOTA, Packed, avx512};

/// The most steps, 32 candidates each, and room behind them for the longest move to look at.
const STEPS: usize = 32;
const ROOM: usize = STEPS + 16;

impl Avx512 {
    /// The first candidates below Q, as many as there is room for; all zero if there are too few.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "at most 32 steps")]
    pub(super) fn uniform_one<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) {
        let (steps, wanted) = (string.len().div_ceil(4 * BITS), out.len() / 32);
        assert!(string.len().is_multiple_of(BITS) && out.len() == wanted * 32);
        assert!((wanted..=STEPS).contains(&steps) && steps - wanted < 16);

        let mut slots = [avx512!(_mm512_setzero_si512()); ROOM];
        let mut moves = [0; STEPS];
        let gaps = self.fill_slots::<Q, BITS>(string, &mut slots[..steps], &mut moves);
        let mut masks = [[0; STEPS]; 4];
        self.masks_of_moves(self.lanes(&moves), &mut masks);
        // Kept from the optimiser, which could make a branch of masks that it knows.
        let masks = core::hint::black_box(&mut masks);

        for (pass, masks) in masks.iter().enumerate() {
            let distance = 1 << pass;
            if distance > steps - wanted {
                break;
            }
            for i in 0..steps {
                let comes = self.splat_opaque(masks[i]);
                // comes ? slots[i + distance] : slots[i].
                let (x, y) = (slots[i], slots[i + distance]);
                slots[i] = avx512!(_mm512_ternarylogic_epi64::<0xca>(comes, y, x));
            }
        }
        // Without a partly filled one, which is the last.
        let enough = u16::from(gaps <= (steps - wanted) as u16).wrapping_neg();
        let enough = self.splat_opaque(core::hint::black_box(enough));
        for (out, slot) in out.as_chunks_mut::<32>().0.iter_mut().zip(slots) {
            avx512!({
                let slot = _mm512_and_si512(slot, enough);
                _mm512_storeu_si512(out.as_mut_ptr().cast(), slot);
            });
        }
    }

    #[inline(always)]
    fn splat_opaque(self, x: u16) -> __m512i {
        avx512!(_mm512_set1_epi16(x.cast_signed()))
    }

    /// Writes a slot per step, and by how many places it is to move; 0 for those that are not full.
    /// Returns how many are not.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "counts of at most 32 lanes and steps")]
    fn fill_slots<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        slots: &mut [__m512i],
        moves: &mut [u16; STEPS],
    ) -> u16 {
        let iota = self.lanes(&IOTA);
        let mut filling = avx512!(_mm512_setzero_si512());
        // Lanes that are filled, slots that were not full.
        let (mut filled, mut gaps) = (0u32, 0u16);
        let groups = slots.iter_mut().zip(moves).zip(string.chunks(4 * BITS));
        for ((slot, moves), group) in groups {
            let bytes = self.load_masked(group, Packed::<BITS>::MASK >> (4 * BITS - group.len()));
            // 32, or 8 for each BITS bytes of a last group.
            let candidates = u32::MAX >> (32 - group.len() / BITS * 8);
            avx512!({
                let lanes = self.unpack_lanes::<BITS>(bytes);
                let q = _mm512_set1_epi16(Q.cast_signed());
                let accepted = _mm512_mask_cmplt_epu16_mask(candidates, lanes, q);
                let together = _mm512_maskz_compress_epi16(accepted, lanes);

                // Append: rotated to where the filling ends, it fills up one slot and begins the
                // next.
                let from = _mm512_sub_epi16(iota, _mm512_set1_epi16(filled as i16));
                let turned = _mm512_permutexvar_epi16(from, together);
                filling = _mm512_mask_mov_epi16(turned, (1 << filled) - 1, filling);
                *slot = filling;
                filled += accepted.count_ones();
                // Kept from the optimiser, which would branch on a single bit.
                let full = core::hint::black_box(filled / 32);
                filling = _mm512_mask_mov_epi16(filling, full.wrapping_neg(), turned);
                filled %= 32;
                *moves = gaps & (full as u16).wrapping_neg();
                gaps += 1 - full as u16;
            });
        }
        gaps
    }

    /// For each pass, all ones for the places to which a slot comes from 2^pass places on.
    #[inline(always)]
    fn masks_of_moves(self, mut moves: __m512i, masks: &mut [[u16; STEPS]; 4]) {
        let iota = self.lanes(&IOTA);
        for (pass, masks) in masks.iter_mut().enumerate() {
            let distance = 1i16 << pass;
            avx512!({
                let bit = _mm512_set1_epi16(distance);
                let from = _mm512_add_epi16(iota, bit);
                let there = _mm512_maskz_permutexvar_epi16(u32::MAX >> distance, from, moves);
                let comes = _mm512_test_epi16_mask(there, bit);
                let stays = _mm512_testn_epi16_mask(moves, bit);
                _mm512_storeu_si512(masks.as_mut_ptr().cast(), _mm512_movm_epi16(comes));
                let here = _mm512_maskz_mov_epi16(stays, moves);
                moves = _mm512_mask_mov_epi16(here, comes, there);
            });
        }
    }
}
