//! Rejection sampling, and the same without a branch or an address that depends on what is
//! rejected.
//!
//! For the latter, two strings at once, one in each half of the vectors. In each step eight
//! candidates of each string are moved together within their half and appended to a vector that is
//! being filled; that vector is written to a slot of its own in every step, full or not. Afterwards
//! each slot moves left by the number of those before it that are not full, by one power of two
//! after another, the least first.
//!
//! Slots that are not full also move, and so do stale copies left in slots. In a pass by d none of
//! them comes to where a full slot stays: it began d places or more behind that place, the full one
//! less, so before it. Full, it also ends before it; then it has more of its way left, by 2d or
//! more, and a longer way in all. But ways only grow along the array.

use core::arch::x86_64::*;

use super::{Avx2, avx2, twice};
use crate::map_all;

/// The most steps, eight candidates each.
const STEPS: usize = 128;

/// Moves of all slots, and of none behind them for the longest move to look at.
const ROOM: usize = STEPS + 16 + 32;

/// The order, for eight acceptance bits, that puts the bytes of the accepted lanes first.
static TOGETHER: [[u8; 16]; 256] = {
    let mut all = [[0; 16]; 256];
    let mut accepted = 0;
    while accepted < 256 {
        let (mut place, mut lane) = (0, 0);
        while lane < 8 {
            if accepted >> lane & 1 == 1 {
                all[accepted][place] = 2 * lane;
                all[accepted][place + 1] = 2 * lane + 1;
                place += 2;
            }
            lane += 1;
        }
        accepted += 1;
    }
    all
};

/// A slot that is being filled, in each half.
struct Filling {
    slot: __m256i,
    /// Distance of each byte behind the place where the filling ends, counted round.
    from: __m256i,
    /// Flags in the top bits: the last sixteen slots that were not full, the latest one first.
    gaps: __m256i,
}

const PLACES: [u8; 32] = twice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

/// The weight of a rejected lane, in two bytes: 256, and a bit for the first three in the order in which
/// [`ACCEPTED`] takes four lanes, which is backwards for the first four.
const WEIGHTS: [u8; 32] = twice([255, 1, 255, 5, 255, 3, 255, 2, 255, 2, 255, 3, 255, 5, 255, 1]);

/// Selects the bits of a lane's own group of four.
const OWN_FOUR: [u8; 32] = twice([0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8]);

/// The part of [`ACCEPTED`] in which each accepted lane is looked up. For the third one it is the
/// last entry if none of the first three are rejected, else an index that shuffles to 0, as for the
/// fourth one always.
const COLUMNS: [u8; 32] = twice([128, 128, 127, 127, 8, 8, 0, 0, 0, 0, 8, 8, 127, 127, 128, 128]);

/// Twice the index of the first accepted one of four lanes, then of the second one, for the bits of
/// those rejected among the first three. The last entry, where there is no second one, is for the
/// third: what turns lane 3 into lane 2.
const ACCEPTED: [u8; 32] = twice([0, 2, 0, 4, 0, 2, 0, 6, 2, 4, 4, 6, 2, 6, 6, 2]);

/// Lane numbers in bytes, which are combined by ⊕ with the indices of [`ACCEPTED`]; backwards in the first four.
const LANES: [u8; 32] = twice([0, 1, 0, 1, 6, 7, 6, 7, 8, 9, 8, 9, 14, 15, 14, 15]);

/// A byte to shuffle to all places.
const EVERYWHERE: [[u8; 32]; 16] = {
    let mut all = [[0; 32]; 16];
    let mut k = 0;
    while k < 16 {
        all[k] = [PLACES[k]; 32];
        k += 1;
    }
    all
};

/// The making of 32-bit lanes that hold two candidates each, at their top.
struct Pairs<const BITS: usize>;

#[expect(clippy::cast_possible_truncation, reason = "at most 32")]
impl<const BITS: usize> Pairs<BITS> {
    /// The bits of a lane beside a candidate.
    const REST: i32 = 16 - BITS as i32;
    /// The four bytes from that in which a pair begins.
    const BYTES: [u8; 16] = {
        let mut order = [0; 16];
        let mut i = 0;
        while i < 16 {
            order[i] = (2 * BITS * (i / 4) / 8 + i % 4) as u8;
            i += 1;
        }
        order
    };
    /// The bits behind the pair in these bytes.
    const UP: [u32; 8] = {
        let mut up = [0; 8];
        let mut i = 0;
        while i < 8 {
            let bits = 2 * BITS * (i % 4) % 8 + 2 * BITS;
            assert!(bits <= 32, "a pair is in four bytes");
            up[i] = 32 - bits as u32;
            i += 1;
        }
        up
    };
}

impl Avx2 {
    /// `Simd::uniform_public`.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn uniform_variable_time<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) -> bool {
        assert!(string.len().is_multiple_of(BITS));
        let (mut bytes, mut room) = (string, out);
        // Two groups of eight, as long as all of both have room and can be loaded as 16 bytes.
        while let (Some(two), Some(places)) = (bytes.first_chunk::<32>(), room.first_chunk_mut()) {
            let places: &mut [u16; 16] = places;
            let groups = [self.group::<BITS>(two, 0), self.group::<BITS>(two, BITS)];
            let ([low, high], numbers) = self.accepted_first::<Q, BITS>(groups);
            places[..8].copy_from_slice(&self.eight(low));
            places[numbers[0]..numbers[0] + 8].copy_from_slice(&self.eight(high));
            bytes = &bytes[2 * BITS..];
            room = &mut core::mem::take(&mut room)[numbers[0] + numbers[1]..];
        }
        while !bytes.is_empty() && !room.is_empty() {
            let group = self.group::<BITS>(bytes, 0);
            let ([lanes, _], [number, _]) = self.accepted_first::<Q, BITS>([group; 2]);
            let number = number.min(room.len());
            room[..number].copy_from_slice(&self.eight(lanes)[..number]);
            bytes = &bytes[BITS..];
            room = &mut core::mem::take(&mut room)[number..];
        }
        room.is_empty()
    }

    /// The candidates of two groups, in each those below Q first, and how many these are.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn accepted_first<const Q: u16, const BITS: usize>(
        self,
        [low, high]: [__m128i; 2],
    ) -> ([__m128i; 2], [usize; 2]) {
        avx2!({
            let candidates = self.unpack_to_top::<BITS>(_mm256_set_m128i(high, low));
            let candidates = _mm256_srl_epi16(candidates, _mm_cvtsi32_si128(Pairs::<BITS>::REST));
            let accepted = _mm256_cmpgt_epi16(_mm256_set1_epi16(Q.cast_signed()), candidates);
            let bits = _mm256_movemask_epi8(_mm256_packs_epi16(accepted, accepted));
            let [low_bits, _, _, high_bits] = bits.to_le_bytes();
            let halves =
                [_mm256_castsi256_si128(candidates), _mm256_extracti128_si256::<1>(candidates)];
            let [low, high] = map_all(
                [(halves[0], low_bits), (halves[1], high_bits)],
                inlined!(|(half, bits)| {
                    let order = TOGETHER[usize::from(bits)].as_ptr();
                    (_mm_shuffle_epi8(half, _mm_loadu_si128(order.cast())), bits.count_ones())
                }),
            );
            ([low.0, high.0], [low.1 as usize, high.1 as usize])
        })
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn eight(self, lanes: __m128i) -> [u16; 8] {
        let mut eight = [0; 8];
        avx2!(_mm_storeu_si128(eight.as_mut_ptr().cast(), lanes));
        eight
    }

    /// Eight candidates of BITS bits from each half, each in the top bits of its lane; below them
    /// are bits of its neighbours.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn unpack_to_top<const BITS: usize>(self, bytes: __m256i) -> __m256i {
        avx2!({
            let pairs =
                _mm256_shuffle_epi8(bytes, self.bytes(const { &twice(Pairs::<BITS>::BYTES) }));
            let up = _mm256_loadu_si256(const { &Pairs::<BITS>::UP }.as_ptr().cast());
            let second = _mm256_sllv_epi32(pairs, up);
            let first = _mm256_srl_epi32(second, _mm_cvtsi32_si128(Pairs::<BITS>::REST));
            _mm256_blend_epi16::<0xaa>(first, second)
        })
    }

    /// The first candidates below Q of each string, as many as there is room for; all zero if there
    /// are too few. Without room for those of the second string they are not written.
    #[cfg_attr(not(unoptimized), inline(always))]
    #[expect(clippy::cast_possible_truncation, reason = "below 256")]
    pub(super) fn uniform_pair<const Q: u16, const BITS: usize>(
        self,
        strings: [&[u8]; 2],
        low: &mut [u16],
        high: Option<&mut [u16]>,
    ) {
        let steps = strings[0].len() / BITS;
        let wanted = low.len() / 8;
        assert!(strings.iter().all(|string| string.len() == steps * BITS));
        assert!(low.len() == wanted * 8 && wanted.is_multiple_of(8));
        assert!(high.as_ref().is_none_or(|high| high.len() == low.len()));
        assert!((wanted..=STEPS).contains(&steps) && steps - wanted < 64);
        // With those behind the last step, which stay empty, at least eight more than are wanted.
        let all = (steps / 16 + 1) * 16;

        let mut slots = [[avx2!(_mm256_setzero_si256()); 8]; (STEPS + 16) / 8];
        let mut moves = [[0; ROOM]; 2];
        let slots = &mut slots[..all / 8];
        let gaps = self.fill_slots::<Q, BITS>(strings, slots, &mut moves);
        // Kept from the optimiser, which could make a branch of masks that it knows.
        let moves = core::hint::black_box(&mut moves);

        self.move_by_1_2_4(slots, moves);
        let mut distance = 8;
        while 2 * distance <= steps - wanted {
            for i in 0..(steps - distance).div_ceil(8) {
                let come = self.come_from(moves, 8 * i, distance);
                let (here, there) = slots[i..].split_at_mut(distance / 8);
                for (k, (here, there)) in here[0].iter_mut().zip(&there[0]).enumerate() {
                    *here = self.choose(*here, *there, come, k);
                }
            }
            for at in (0..all).step_by(16) {
                let (here, there) = (self.moves(moves, at), self.moves(moves, at + distance));
                let come = self.come_from(moves, at, distance);
                self.set_moves(moves, at, avx2!(_mm256_blendv_epi8(here, there, come)));
            }
            distance *= 2;
        }

        // The last move on the way out, where bits of neighbours are cut off.
        let enough = avx2!({
            let spare = _mm256_set1_epi8((all - wanted) as i8);
            _mm256_cmpeq_epi8(_mm256_subs_epu8(gaps, spare), _mm256_setzero_si256())
        });
        let down = avx2!(_mm_cvtsi32_si128(Pairs::<BITS>::REST));
        // Kept from the optimiser, which would not write what nobody reads, and ask at each slot.
        let mut unwanted = [[0; 8]; 8];
        let unwanted = core::hint::black_box(&mut unwanted);
        let mut high = high.map(inlined!(|high| high.as_chunks_mut().0.as_chunks_mut().0));
        for (i, low) in low.as_chunks_mut::<8>().0.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let high: &mut [[u16; 8]; 8] = match &mut high {
                Some(high) => &mut high[i],
                None => unwanted,
            };
            let come = self.come_from(moves, 8 * i, distance);
            let (here, there) = (&slots[i], &slots[i + distance / 8]);
            for k in 0..8 {
                avx2!({
                    let slot = self.choose(here[k], there[k], come, k);
                    let lanes = _mm256_srl_epi16(_mm256_and_si256(slot, enough), down);
                    let halves =
                        (_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
                    _mm_storeu_si128(low[k].as_mut_ptr().cast(), halves.0);
                    _mm_storeu_si128(high[k].as_mut_ptr().cast(), halves.1);
                });
            }
        }
    }

    /// Writes a slot per step, full or not, and for each how far it is to move: by the number of
    /// those before it that are not full. Those behind the last step are not; returns the number
    /// of all that are not, in every byte of a half.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn fill_slots<const Q: u16, const BITS: usize>(
        self,
        strings: [&[u8]; 2],
        slots: &mut [[__m256i; 8]],
        moves: &mut [[u8; ROOM]; 2],
    ) -> __m256i {
        const REVERSED: [u8; 32] = twice([15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        const { assert!(BITS > 8) };
        let steps = strings[0].len() / BITS;
        assert!(steps > 0 && strings.iter().all(|string| string.len() == steps * BITS));
        let last = steps - 1;
        let zero = avx2!(_mm256_setzero_si256());
        let mut filling = Filling { slot: zero, from: self.bytes(&PLACES), gaps: zero };
        let mut gaps_before = zero;
        for (i, slots) in slots.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let slots = slots.as_flattened_mut();
            let mut filled = last.saturating_sub(16 * i).min(16);
            for (step, slot) in (16 * i..).zip(&mut slots[..filled]) {
                let [low, high] = map_all(
                    strings,
                    #[cfg_attr(not(unoptimized), inline(always))]
                    // SAFETY: AVX2 is there, and a step but the last begins at least 2·BITS bytes
                    // before the end of the string, which are more than 16.
                    |string| unsafe { _mm_loadu_si128(string.as_ptr().add(step * BITS).cast()) },
                );
                *slot = self.append::<Q, BITS>(&mut filling, low, high);
            }
            if last / 16 == i {
                let [low, high] =
                    map_all(strings, inlined!(|string| self.group::<BITS>(string, last * BITS)));
                slots[filled] = self.append::<Q, BITS>(&mut filling, low, high);
                filled += 1;
            }
            avx2!({
                for _ in filled..16 {
                    filling.gaps = _mm256_alignr_epi8::<15>(filling.gaps, _mm256_set1_epi8(-1));
                }

                // Sums of ones and zeros up to each.
                let gaps = _mm256_shuffle_epi8(filling.gaps, self.bytes(&REVERSED));
                let ones = _mm256_and_si256(_mm256_srli_epi16::<7>(gaps), _mm256_set1_epi8(1));
                let sums = _mm256_add_epi8(ones, _mm256_slli_si256::<1>(ones));
                let sums = _mm256_add_epi8(sums, _mm256_slli_si256::<2>(sums));
                let sums = _mm256_add_epi8(sums, _mm256_slli_si256::<4>(sums));
                let sums = _mm256_add_epi8(sums, _mm256_slli_si256::<8>(sums));
                let sums = _mm256_add_epi8(sums, gaps_before);
                self.set_moves(moves, 16 * i, _mm256_sub_epi8(sums, ones));
                gaps_before = _mm256_shuffle_epi8(sums, _mm256_set1_epi8(15));
            });
        }
        gaps_before
    }

    /// Appends the accepted candidates of eight of each string; returns the slot, with what is new
    /// if it is full, else what it has so far.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn append<const Q: u16, const BITS: usize>(
        self,
        filling: &mut Filling,
        low: __m128i,
        high: __m128i,
    ) -> __m256i {
        const { assert!(Q >> (BITS - 1) == 1 && !Q.is_power_of_two()) };
        avx2!({
            let candidates = self.unpack_to_top::<BITS>(_mm256_set_m128i(high, low));

            // The sum of four lanes' weights: in its low byte bits for the first three of them, in
            // the next one the number of all.
            let least = _mm256_set1_epi16((Q << Pairs::<BITS>::REST).cast_signed() - 1);
            let above = _mm256_subs_epu16(candidates, least);
            let weights = _mm256_sign_epi16(self.bytes(&WEIGHTS), above);
            let rejected = _mm256_sad_epu8(weights, _mm256_setzero_si256());

            // Within the first four the accepted ones last, within the others first.
            let four = _mm256_shuffle_epi8(rejected, self.bytes(&OWN_FOUR));
            let order = _mm256_add_epi8(four, self.bytes(&COLUMNS));
            let order = _mm256_shuffle_epi8(self.bytes(&ACCEPTED), order);
            let order = _mm256_xor_si256(order, self.bytes(&LANES));
            let middle = _mm256_shuffle_epi8(candidates, order);

            // Turned to where the filling ends, they fill up one slot and begin the next. Whatever
            // comes from byte 16 or further is none of them.
            let numbers = _mm256_add_epi16(rejected, rejected);
            let first = _mm256_shuffle_epi8(numbers, _mm256_set1_epi8(1));
            let others = _mm256_shuffle_epi8(numbers, _mm256_set1_epi8(9));
            let old = _mm256_cmpgt_epi8(filling.from, self.bytes(&PLACES));
            let from = _mm256_add_epi8(filling.from, first);
            let turned = _mm256_shuffle_epi8(middle, from);
            let behind = _mm256_add_epi8(from, others);
            let none = _mm256_add_epi8(behind, _mm256_set1_epi8(112));
            let slot = _mm256_blendv_epi8(turned, filling.slot, old);
            filling.slot = _mm256_blendv_epi8(turned, slot, none);
            filling.from = _mm256_and_si256(behind, _mm256_set1_epi8(15));
            filling.gaps = _mm256_alignr_epi8::<15>(filling.gaps, none);
            slot
        })
    }

    /// The moves by 1, 2 and 4, in one pass from the last slot to the first.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn move_by_1_2_4(self, slots: &mut [[__m256i; 8]], moves: &mut [[u8; ROOM]; 2]) {
        let zero = avx2!(_mm256_setzero_si256());
        // What is behind: slots that have not moved, have moved by 1, and by 2; and their moves.
        let (mut not, mut by_1, mut by_2) = (zero, [zero; 2], [zero; 4]);
        let mut behind = [zero; 3];
        for (i, sixteen) in slots.as_chunks_mut::<2>().0.iter_mut().enumerate().rev() {
            let mut come = [zero; 3];
            avx2!({
                let here = self.moves(moves, 16 * i);
                let there = _mm256_alignr_epi8::<1>(behind[0], here);
                // Words would make the optimiser ask for a lowest bit instead.
                (behind[0], come[0]) = (here, _mm256_slli_epi64::<7>(there));
                let here = _mm256_blendv_epi8(here, there, come[0]);
                let there = _mm256_alignr_epi8::<2>(behind[1], here);
                (behind[1], come[1]) = (here, _mm256_slli_epi16::<6>(there));
                let here = _mm256_blendv_epi8(here, there, come[1]);
                let there = _mm256_alignr_epi8::<4>(behind[2], here);
                (behind[2], come[2]) = (here, _mm256_slli_epi16::<5>(there));
                self.set_moves(moves, 16 * i, _mm256_blendv_epi8(here, there, come[2]));
            });
            for (k, slot) in sixteen.as_flattened_mut().iter_mut().enumerate().rev() {
                let once = self.choose(*slot, not, come[0], k);
                let twice = self.choose(once, by_1[1], come[1], k);
                not = *slot;
                *slot = self.choose(twice, by_2[3], come[2], k);
                by_1 = [once, by_1[0]];
                by_2 = [twice, by_2[0], by_2[1], by_2[2]];
            }
        }
    }

    /// `there` in the halves in which byte k of `come` has its top bit.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn choose(self, here: __m256i, there: __m256i, come: __m256i, k: usize) -> __m256i {
        let come = avx2!(_mm256_shuffle_epi8(come, self.bytes(&EVERYWHERE[k])));
        avx2!(_mm256_blendv_epi8(here, there, come))
    }

    /// Sets the top bit of each byte where a slot comes from this distance.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn come_from(self, moves: &[[u8; ROOM]; 2], at: usize, distance: usize) -> __m256i {
        let there = self.moves(moves, at + distance);
        avx2!(_mm256_sll_epi16(there, _mm_cvtsi32_si128(7 - distance.ilog2().cast_signed())))
    }

    /// Returns the distances that sixteen slots are to move.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn moves(self, moves: &[[u8; ROOM]; 2], at: usize) -> __m256i {
        let [low, high] = map_all(moves.each_ref(), inlined!(|moves| self.group::<16>(moves, at)));
        avx2!(_mm256_set_m128i(high, low))
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn set_moves(self, moves: &mut [[u8; ROOM]; 2], at: usize, to: __m256i) {
        let halves = avx2!([_mm256_castsi256_si128(to), _mm256_extracti128_si256::<1>(to)]);
        for (moves, half) in moves.iter_mut().zip(halves) {
            let sixteen: &mut [u8; 16] = &mut moves[at..].as_chunks_mut().0[0];
            avx2!(_mm_storeu_si128(sixteen.as_mut_ptr().cast(), half));
        }
    }
}
