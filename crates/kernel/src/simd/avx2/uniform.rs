//! Rejection sampling, and the same without a branch or an address that depends on what is
//! rejected.
//!
//! For the latter, two strings at once, one in each half of the vectors. In each step eight candidates of each
//! string are moved together within their half and appended to a vector that is being filled; that
//! vector is written to a slot of its own in every step, full or not. Afterwards the full slots
//! move together.

use core::arch::x86_64::*;

use super::{Avx2, avx2, twice};
use crate::simd::compaction::{BYTES, ORDER, ROOM, STEPS, move_moves};

/// For eight acceptance bits the order that puts the bytes of the accepted lanes first.
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

/// How 32-bit lanes are made that hold two candidates each, at their top.
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
    /// The first candidates below Q, as many as there is room for; all zero if there are too few.
    /// Addresses depend on which these are.
    #[inline(always)]
    pub(super) fn uniform_variable_time<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) -> bool {
        assert!(string.len().is_multiple_of(BITS));
        let (mut bytes, mut room) = (string, &mut *out);
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
        let enough = room.is_empty();
        if !enough {
            out.fill(0);
        }
        enough
    }

    /// The candidates of two groups, in each those below Q first, and how many these are.
    #[inline(always)]
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
            let [low, high] = [(halves[0], low_bits), (halves[1], high_bits)].map(
                #[inline(always)]
                |(half, bits)| {
                    let order = TOGETHER[usize::from(bits)].as_ptr();
                    (_mm_shuffle_epi8(half, _mm_loadu_si128(order.cast())), bits.count_ones())
                },
            );
            ([low.0, high.0], [low.1 as usize, high.1 as usize])
        })
    }

    #[inline(always)]
    fn eight(self, lanes: __m128i) -> [u16; 8] {
        let mut eight = [0; 8];
        avx2!(_mm_storeu_si128(eight.as_mut_ptr().cast(), lanes));
        eight
    }

    /// Eight candidates of BITS bits from each half, each in the top bits of its lane; below them
    /// are bits of its neighbours.
    #[inline(always)]
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
    /// are too few.
    #[inline(always)]
    pub(super) fn uniform_pair<const Q: u16, const BITS: usize>(
        self,
        strings: [&[u8]; 2],
        out: [&mut [u16]; 2],
    ) {
        let steps = strings[0].len() / BITS;
        let wanted = out[0].len() / 8;
        assert!(strings.iter().all(|string| string.len() == steps * BITS));
        assert!(out.iter().all(|out| out.len() == wanted * 8) && steps - wanted < 64);
        assert!((wanted..=STEPS).contains(&steps));

        let mut slots = [avx2!(_mm256_setzero_si256()); ROOM];
        let mut moves = [[0; ROOM]; 2];
        let enough = self.fill_slots::<Q, BITS>(strings, wanted, &mut slots[..steps], &mut moves);
        // Kept from the optimiser, which could make a branch of masks that it knows.
        let moves = core::hint::black_box(&mut moves);

        let mut distance = 1;
        while distance <= steps - wanted {
            let masks = moves.each_mut().map(
                #[inline(always)]
                |moves| move_moves(moves, distance),
            );
            for i in 0..steps {
                let [low, high] = masks.each_ref().map(|masks| masks[i].cast_signed());
                slots[i] = avx2!({
                    let mask = _mm256_set_m128i(_mm_set1_epi8(high), _mm_set1_epi8(low));
                    _mm256_blendv_epi8(slots[i], slots[i + distance], mask)
                });
            }
            distance *= 2;
        }
        let [low, high] = out;
        let pairs = low.as_chunks_mut::<8>().0.iter_mut().zip(high.as_chunks_mut::<8>().0);
        for ((low, high), slot) in pairs.zip(&slots) {
            avx2!({
                let slot = _mm256_and_si256(*slot, enough);
                _mm_storeu_si128(low.as_mut_ptr().cast(), _mm256_castsi256_si128(slot));
                _mm_storeu_si128(high.as_mut_ptr().cast(), _mm256_extracti128_si256::<1>(slot));
            });
        }
    }

    /// Writes a slot per step, and by how many places it is to move for each half; 0 for those
    /// that are not full. Returns all ones for a half that has as many full slots as are wanted.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "below 128")]
    fn fill_slots<const Q: u16, const BITS: usize>(
        self,
        strings: [&[u8]; 2],
        wanted: usize,
        slots: &mut [__m256i],
        moves: &mut [[u8; ROOM]; 2],
    ) -> __m256i {
        const PLACES: [u8; 32] = twice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        const TO_WORDS: [u8; 32] =
            twice([0, 128, 0, 128, 0, 128, 0, 128, 8, 128, 8, 128, 8, 128, 8, 128]);
        const TO_BYTES: [u16; 16] = {
            let (low, high) = (0x0100, 0x0908);
            [low, low, low, low, high, high, high, high, low, low, low, low, high, high, high, high]
        };
        const ONE_HOT: [u8; 64] = {
            let mut bytes = [0; 64];
            bytes[32] = 255;
            bytes
        };
        let spare = (slots.len() - wanted) as i8;
        avx2!({
            let places = self.bytes(&PLACES);
            let places_and_one = _mm256_add_epi8(places, _mm256_set1_epi8(1));
            let order = self.bytes(&twice(ORDER));
            let bytes_of = self.bytes(&twice(BYTES));
            let weights = _mm256_set1_epi64x(0x0008_0004_0002_0001);
            let places_to_top = _mm256_set1_epi64x(0x0100_0400_1000_4000);
            let zero = _mm256_setzero_si256();

            // What is being filled, how many bytes of it are filled, and how many slots were not
            // full; the latter two in every byte.
            let (mut filling, mut filled, mut gaps) = (zero, zero, zero);
            let mut sixteen_moves = zero;
            let steps = slots.len();
            for (step, slot) in slots.iter_mut().enumerate() {
                let [low, high] = strings.map(
                    #[inline(always)]
                    |s| self.group::<BITS>(s, step * BITS),
                );
                let candidates = self.unpack_groups::<BITS>(low, high);

                // Within each four lanes the accepted ones first.
                let accepted = _mm256_cmpgt_epi16(_mm256_set1_epi16(Q.cast_signed()), candidates);
                let four_bits = _mm256_sad_epu8(_mm256_and_si256(accepted, weights), zero);
                let code = _mm256_shuffle_epi8(order, four_bits);
                let code = _mm256_shuffle_epi8(code, self.bytes(&TO_WORDS));
                let lane = _mm256_srli_epi16::<14>(_mm256_mullo_epi16(code, places_to_top));
                let lane = _mm256_mullo_epi16(lane, _mm256_set1_epi16(0x0202));
                let lane = _mm256_add_epi16(lane, self.lanes(&TO_BYTES));
                let fours = _mm256_shuffle_epi8(candidates, lane);

                // Within each half the first four, then the others.
                let bytes = _mm256_shuffle_epi8(bytes_of, four_bits);
                let first = _mm256_shuffle_epi8(bytes, zero);
                let others = _mm256_shuffle_epi8(bytes, _mm256_set1_epi8(8));
                let behind = _mm256_cmpgt_epi8(places_and_one, first);
                let gap = _mm256_and_si256(behind, _mm256_sub_epi8(_mm256_set1_epi8(8), first));
                let together = _mm256_shuffle_epi8(fours, _mm256_add_epi8(places, gap));

                // Append: rotated to where the filling ends, it fills up one slot and begins the
                // next.
                let from = _mm256_and_si256(_mm256_sub_epi8(places, filled), _mm256_set1_epi8(15));
                let turned = _mm256_shuffle_epi8(together, from);
                let old = _mm256_cmpgt_epi8(filled, places);
                filling = _mm256_blendv_epi8(turned, filling, old);
                *slot = filling;
                filled = _mm256_add_epi8(filled, _mm256_add_epi8(first, others));
                let full = _mm256_cmpgt_epi8(filled, _mm256_set1_epi8(15));
                filling = _mm256_blendv_epi8(filling, turned, full);
                filled = _mm256_and_si256(filled, _mm256_set1_epi8(15));

                let one_hot: &[u8; 32] = &ONE_HOT[32 - step % 16..].as_chunks().0[0];
                let half = _mm256_castsi256_si128(self.bytes(one_hot));
                let here = _mm256_and_si256(full, _mm256_set_m128i(half, half));
                sixteen_moves = _mm256_or_si256(sixteen_moves, _mm256_and_si256(gaps, here));
                gaps = _mm256_add_epi8(gaps, _mm256_add_epi8(full, _mm256_set1_epi8(1)));
                if step % 16 == 15 || step + 1 == steps {
                    let [low, high] = moves;
                    let low: &mut [u8; 16] = &mut low[step / 16 * 16..].as_chunks_mut().0[0];
                    let high: &mut [u8; 16] = &mut high[step / 16 * 16..].as_chunks_mut().0[0];
                    let both = sixteen_moves;
                    _mm_storeu_si128(low.as_mut_ptr().cast(), _mm256_castsi256_si128(both));
                    _mm_storeu_si128(high.as_mut_ptr().cast(), _mm256_extracti128_si256::<1>(both));
                    sixteen_moves = zero;
                }
            }
            _mm256_cmpgt_epi8(_mm256_set1_epi8(spare + 1), gaps)
        })
    }
}
