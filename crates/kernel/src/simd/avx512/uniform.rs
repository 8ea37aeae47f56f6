//! Rejection sampling, and the same without a branch or an address that depends on what is
//! rejected.
//!
//! For the latter, in each step 32 candidates are compressed within their register and appended to a vector that is
//! being filled; that vector is written to a slot of its own in every step, full or not.
//! Afterwards the full slots move together. `vpcompressw` takes the same time for every mask as
//! long as its destination is a register.

use core::arch::x86_64::*;

use super::{Avx512, IOTA, Packed, Simd, avx512};

/// The most steps, 32 candidates each, and room behind them for the longest move to look at.
const STEPS: usize = 32;
const ROOM: usize = STEPS + 16;

/// A vector that is being filled.
struct Filling {
    lanes: __m512i,
    /// The number of lanes that are filled, below 32.
    filled: u32,
}

impl Avx512 {
    /// The first candidates below Q, as many as there is room for; all zero if there are too few.
    #[cfg_attr(not(unoptimized), inline(always))]
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

    /// `Simd::uniform_public`: what is accepted is written behind what was accepted before.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn uniform_variable_time<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) -> bool {
        assert!(string.len().is_multiple_of(BITS));
        let (mut bytes, mut room) = (string, out);
        // Whole vectors, as long as all of one has room and 64 bytes can be loaded.
        while let (Some(group), Some(places)) = (bytes.first_chunk(), room.first_chunk_mut::<32>())
        {
            let lanes = self.unpack_lanes::<BITS>(self.bytes(group));
            let (together, number) = self.accepted_first::<Q>(lanes, u32::MAX);
            avx512!(_mm512_storeu_si512(places.as_mut_ptr().cast(), together));
            bytes = &bytes[4 * BITS..];
            room = &mut core::mem::take(&mut room)[number as usize..];
        }
        while !bytes.is_empty() && !room.is_empty() {
            let (group, behind) = bytes.split_at(bytes.len().min(4 * BITS));
            let (lanes, candidates) = self.unpack_rest::<BITS>(group);
            let (together, number) = self.accepted_first::<Q>(lanes, candidates);
            let number = (number as usize).min(room.len());
            let mut accepted = [0; 32];
            self.store(together, &mut accepted);
            room[..number].copy_from_slice(&accepted[..number]);
            bytes = behind;
            room = &mut core::mem::take(&mut room)[number..];
        }
        room.is_empty()
    }

    /// Gathers the candidates below Q at the low end, and counts them.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn accepted_first<const Q: u16>(self, lanes: __m512i, candidates: u32) -> (__m512i, u32) {
        avx512!({
            let q = _mm512_set1_epi16(Q.cast_signed());
            let accepted = _mm512_mask_cmplt_epu16_mask(candidates, lanes, q);
            (_mm512_maskz_compress_epi16(accepted, lanes), accepted.count_ones())
        })
    }

    /// Lanes of BITS bits from 4·BITS bytes or fewer, and which of them are: eight for each BITS bytes.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn unpack_rest<const BITS: usize>(self, rest: &[u8]) -> (__m512i, u32) {
        let bytes = self.load_masked(rest, Packed::<BITS>::MASK >> (4 * BITS - rest.len()));
        (self.unpack_lanes::<BITS>(bytes), u32::MAX >> (32 - rest.len() / BITS * 8))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn splat_opaque(self, x: u16) -> __m512i {
        avx512!(_mm512_set1_epi16(x.cast_signed()))
    }

    /// Writes a slot per step, and where in it or behind it the filling ended: at 32 or more the
    /// slot is full.
    #[cfg_attr(not(unoptimized), inline(always))]
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
            let lanes = self.unpack::<BITS>(group);
            (*slot, *end) = self.step::<Q>(lanes, u32::MAX, &mut filling);
        }
        if let Some(slot) = slots.get_mut(whole) {
            let (lanes, candidates) = self.unpack_rest::<BITS>(rest);
            (*slot, ends[whole]) = self.step::<Q>(lanes, candidates, &mut filling);
        }
    }

    /// Appends the accepted ones of a group of candidates. Returns what is then being filled and
    /// where that ends.
    #[cfg_attr(not(unoptimized), inline(always))]
    #[expect(clippy::cast_possible_truncation, reason = "counts of lanes, masks cut in two")]
    fn step<const Q: u16>(
        self,
        lanes: __m512i,
        candidates: u32,
        filling: &mut Filling,
    ) -> (__m512i, u16) {
        let (together, number) = self.accepted_first::<Q>(lanes, candidates);
        avx512!({
            // Rotated to where the filling ends, they fill up one slot and begin the next.
            let filled = filling.filled;
            let from = _mm512_sub_epi16(self.lanes(&IOTA), _mm512_set1_epi16(filled as i16));
            let turned = _mm512_permutexvar_epi16(from, together);
            let slot = _mm512_mask_mov_epi16(turned, (1 << filled) - 1, filling.lanes);
            let end = filled + number;
            let behind = (((1u64 << end) - 1) >> 32) as u32;
            filling.lanes = _mm512_mask_mov_epi16(slot, behind, turned);
            filling.filled = end % 32;
            (slot, end as u16)
        })
    }

    /// Returns the distance that each slot is to move, 0 for slots that are not full; and in every
    /// lane the number of slots that are not full.
    #[cfg_attr(not(unoptimized), inline(always))]
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

    /// Writes for each pass all ones for the places to which a slot comes from 2^pass places on.
    #[cfg_attr(not(unoptimized), inline(always))]
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
