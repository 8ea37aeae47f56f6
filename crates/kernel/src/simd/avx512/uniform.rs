//! Rejection sampling, and the same without a branch or an address that depends on what is
//! rejected.
//!
//! For the latter, in each step 32 candidates are compressed within their register and appended to a vector that is
//! being filled; that vector is written to a slot of its own in every step, full or not.
//! Afterwards the full slots move together. `vpcompressw` takes the same time for every mask as
//! long as its destination is a register.

use core::arch::x86_64::*;

use super::{Avx512, IOTA, Packed, avx512};

/// The most steps, 32 candidates each, and room behind them for the longest move to look at.
const STEPS: usize = 32;
const ROOM: usize = STEPS + 16;

/// A vector that is being filled.
struct Filling {
    lanes: __m512i,
    /// How many of its lanes are, below 32.
    filled: u32,
}

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
        let mut ends = [0; STEPS];
        self.fill_slots::<Q, BITS>(string, &mut slots[..steps], &mut ends);
        let (moves, gaps) = self.moves_of_ends(&ends);
        let mut masks = [[0; STEPS]; 4];
        self.masks_of_moves(moves, &mut masks);
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
        // The steps behind the last one have no full slot either.
        let enough = avx512!({
            let allowed = _mm512_set1_epi16((STEPS - wanted) as i16);
            _mm512_movm_epi16(_mm512_cmple_epu16_mask(gaps, allowed))
        });
        for (out, slot) in out.as_chunks_mut::<32>().0.iter_mut().zip(&slots) {
            avx512!({
                let slot = _mm512_and_si512(*slot, enough);
                _mm512_storeu_si512(out.as_mut_ptr().cast(), slot);
            });
        }
    }

    /// The same for a public string: what is accepted is written behind what was accepted before.
    #[inline(always)]
    pub(super) fn uniform_variable_time<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) -> bool {
        assert!(string.len().is_multiple_of(BITS));
        let mut filled = 0;
        for group in string.chunks(4 * BITS) {
            let mask = Packed::<BITS>::MASK >> (4 * BITS - group.len());
            let (together, accepted) = self.accepted::<Q, BITS>(group, mask);
            let number = accepted.count_ones() as usize;
            if let Some(out) = out[filled..].first_chunk_mut::<32>() {
                avx512!(_mm512_storeu_si512(out.as_mut_ptr().cast(), together));
                filled += number;
            } else {
                let rest = &mut out[filled..];
                let mask = (1u32 << rest.len()) - 1;
                avx512!(_mm512_mask_storeu_epi16(rest.as_mut_ptr().cast(), mask, together));
                filled += number;
                if number >= rest.len() {
                    return true;
                }
            }
        }
        let enough = filled == out.len();
        if !enough {
            out.fill(0);
        }
        enough
    }

    /// The accepted ones of a group of candidates, together at the low end, and which they are.
    #[inline(always)]
    fn accepted<const Q: u16, const BITS: usize>(self, group: &[u8], mask: u64) -> (__m512i, u32) {
        avx512!({
            let lanes = self.unpack_lanes::<BITS>(self.load_masked(group, mask));
            let q = _mm512_set1_epi16(Q.cast_signed());
            let accepted = if mask == Packed::<BITS>::MASK {
                _mm512_cmplt_epu16_mask(lanes, q)
            } else {
                // Eight lanes for each BITS bytes.
                let candidates = u32::MAX >> (32 - mask.count_ones() as usize / BITS * 8);
                _mm512_mask_cmplt_epu16_mask(candidates, lanes, q)
            };
            (_mm512_maskz_compress_epi16(accepted, lanes), accepted)
        })
    }

    #[inline(always)]
    fn splat_opaque(self, x: u16) -> __m512i {
        avx512!(_mm512_set1_epi16(x.cast_signed()))
    }

    /// Writes a slot per step, and where in it or behind it the filling ended: at 32 or more the
    /// slot is full.
    #[inline(always)]
    fn fill_slots<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        slots: &mut [__m512i],
        ends: &mut [u16; STEPS],
    ) {
        let mut filling = Filling { lanes: avx512!(_mm512_setzero_si512()), filled: 0 };
        let groups = string.chunks_exact(4 * BITS);
        let rest = groups.remainder();
        let whole = slots.len() - usize::from(!rest.is_empty());
        for ((slot, end), group) in slots[..whole].iter_mut().zip(&mut *ends).zip(groups) {
            (*slot, *end) = self.step::<Q, BITS>(group, Packed::<BITS>::MASK, &mut filling);
        }
        if let Some(slot) = slots.get_mut(whole) {
            let mask = Packed::<BITS>::MASK >> (4 * BITS - rest.len());
            (*slot, ends[whole]) = self.step::<Q, BITS>(rest, mask, &mut filling);
        }
    }

    /// Appends the accepted ones of a group of candidates. Returns what is then being filled and
    /// where that ends.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "counts of lanes, masks cut in two")]
    fn step<const Q: u16, const BITS: usize>(
        self,
        group: &[u8],
        mask: u64,
        filling: &mut Filling,
    ) -> (__m512i, u16) {
        let (together, accepted) = self.accepted::<Q, BITS>(group, mask);
        avx512!({
            // Rotated to where the filling ends, they fill up one slot and begin the next.
            let filled = filling.filled;
            let from = _mm512_sub_epi16(self.lanes(&IOTA), _mm512_set1_epi16(filled as i16));
            let turned = _mm512_permutexvar_epi16(from, together);
            let slot = _mm512_mask_mov_epi16(turned, (1 << filled) - 1, filling.lanes);
            let end = filled + accepted.count_ones();
            let behind = (((1u64 << end) - 1) >> 32) as u32;
            filling.lanes = _mm512_mask_mov_epi16(slot, behind, turned);
            filling.filled = end % 32;
            (slot, end as u16)
        })
    }

    /// By how many places each slot is to move, 0 for those that are not full; and in every lane
    /// how many are not full.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "at most 32 steps")]
    fn moves_of_ends(self, ends: &[u16; STEPS]) -> (__m512i, __m512i) {
        let iota = self.lanes(&IOTA);
        avx512!({
            let full = _mm512_cmpge_epu16_mask(self.lanes(ends), _mm512_set1_epi16(32));
            let mut gaps = _mm512_maskz_set1_epi16(!full, 1);
            // Sums of the lanes up to each.
            let mut distance = 1;
            while distance < STEPS as i16 {
                let from = _mm512_sub_epi16(iota, _mm512_set1_epi16(distance));
                let before = _mm512_maskz_permutexvar_epi16(u32::MAX << distance, from, gaps);
                gaps = _mm512_add_epi16(gaps, before);
                distance *= 2;
            }
            let all = _mm512_permutexvar_epi16(_mm512_set1_epi16(STEPS as i16 - 1), gaps);
            (_mm512_maskz_mov_epi16(full, gaps), all)
        })
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
