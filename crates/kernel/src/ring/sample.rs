//! Noise and uniform coefficients from given random bytes: plain Rust for every backend.

#[cfg(not(dsp))]
use super::field::opaque;
use super::{encode::unpack, field::sub};

/// Centred binomial with η = 2: b₀ + b₁ − b₂ − b₃ from four bits per coefficient.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn centred_binomial<const N: usize, const Q: u16>(
    bytes: &[u8],
    coefficients: &mut [u16; N],
) {
    assert_eq!(bytes.len(), N / 2, "four bits per coefficient");
    for (pair, &byte) in coefficients.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        // Each two bits of `sums` hold the sum of two neighbouring bits.
        let sums = u16::from((byte & 0x55) + (byte >> 1 & 0x55));
        *pair = [sub::<Q>(sums & 3, sums >> 2 & 3), sub::<Q>(sums >> 4 & 3, sums >> 6)];
    }
}

/// The first K·N candidates below Q, of BITS bits each, in order; all zero if there are too few.
///
/// Neither time nor addresses depend on which candidates are rejected: the sender of a random OT
/// can compute both branches' candidates and would recognise the receiver's by that. Instead of
/// being written at a running index, candidates move left by the number of rejections before them,
/// in one pass over the whole array for each bit of that number.
// Never inlined: its stack frame would also burden the other backends.
#[inline(never)]
pub(super) fn uniform<const N: usize, const Q: u16, const BITS: usize, const K: usize>(
    bytes: &[u8],
    polys: &mut [u16],
) {
    let candidates = check::<N, BITS, K>(bytes);
    if cfg!(small) {
        return match K * N {
            768.. => uniform_in_lines::<N, Q, BITS, K, 8, 256>(bytes, polys),
            _ => uniform_in_lines::<N, Q, BITS, K, 9, 512>(bytes, polys),
        };
    }

    let mut all = Candidates::ZERO;
    unpack::<BITS>(bytes, &mut all.values[..candidates]);
    let mut rejected = 0u16;
    for (shift, &value) in all.shifts.iter_mut().zip(&all.values[..candidates]) {
        // Values and Q are below 2¹⁵: bit 15 of the difference is set exactly where value < Q.
        let accepted = mask(value.wrapping_sub(Q) >> 15);
        *shift = rejected & accepted;
        // `!accepted` is −1 for a rejected candidate.
        rejected = rejected.wrapping_sub(!accepted);
    }

    let mut distance = 1;
    while distance <= candidates - K * N {
        move_left(&mut all, candidates, distance);
        distance *= 2;
    }

    // All zero, not a leak, if there are too few: that happens with probability below 2⁻¹⁵⁰.
    // Kept from the optimiser, which would branch on it.
    let enough =
        core::hint::black_box(mask(u16::from(usize::from(rejected) <= candidates - K * N)));
    for (x, value) in polys.iter_mut().zip(&all.values) {
        *x = value & enough;
    }
}

/// [`uniform`] for machines with little memory and no vectors: a candidate and its shift in one word, and all passes at once. The
/// pass that moves by d is a delay line of d words, so the candidates stream through all lines one by one.
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is the candidate")]
fn uniform_in_lines<
    const N: usize,
    const Q: u16,
    const BITS: usize,
    const K: usize,
    const LINES: usize,
    const ROOM: usize,
>(
    bytes: &[u8],
    polys: &mut [u16],
) {
    const { assert!(ROOM == 1 << LINES && (LINES == 8 || LINES == 9)) };
    let candidates = check::<N, BITS, K>(bytes);
    assert!(candidates - K * N < ROOM, "room for all moves");
    // The line that moves by d has the words from d on.
    let (mut lines, mut rejected) = ([0u32; ROOM], 0u32);
    let mut groups = bytes.chunks_exact(BITS);
    // What comes out has waited in every line.
    for first in (0..K * N + ROOM - 1).step_by(8) {
        let mut values = [Q; 8];
        match groups.next() {
            Some(group) => unpack::<BITS>(group, &mut values),
            None => rejected = rejected.wrapping_sub(8 * u32::from(first >= candidates)),
        }
        for (i, value) in (first..).zip(values) {
            // All ones where value < Q, which both are below 2¹⁵.
            let accepted = (u32::from(value).wrapping_sub(Q.into()) >> 31).wrapping_neg();
            let mut word = (rejected << 16) & accepted | u32::from(value);
            rejected = rejected.wrapping_sub(!accepted);
            word = pass::<0>(&mut lines, i, word);
            word = pass::<1>(&mut lines, i, word);
            word = pass::<2>(&mut lines, i, word);
            word = pass::<3>(&mut lines, i, word);
            word = pass::<4>(&mut lines, i, word);
            word = pass::<5>(&mut lines, i, word);
            word = pass::<6>(&mut lines, i, word);
            word = pass::<7>(&mut lines, i, word);
            if LINES == 9 {
                word = pass::<8>(&mut lines, i, word);
            }
            if let Some(x) = (i + 1).checked_sub(ROOM).and_then(|i| polys.get_mut(i)) {
                *x = word as u16;
            }
        }
    }
    // As in `uniform`: all ones if there are enough.
    let surplus = u16::from(rejected as usize > candidates - K * N);
    let enough = core::hint::black_box(surplus.wrapping_sub(1));
    polys.iter_mut().for_each(|x| *x &= enough);
    super::erase(&mut lines, 0);
}

/// Moves what waits in a line by 2^LINE places if its shift has that bit. The line has the words from 2^LINE on.
#[inline(always)]
fn pass<const LINE: usize>(lines: &mut [u32], i: usize, comer: u32) -> u32 {
    let place = &mut lines[(1 << LINE) + i % (1 << LINE)];
    let here = core::mem::replace(place, comer);
    let stays = here & !ones_where_shifted::<LINE>(here);
    stays ^ (stays ^ comer) & ones_where_shifted::<LINE>(comer)
}

/// All ones if the shift has that bit, or none.
#[inline(always)]
fn ones_where_shifted<const LINE: usize>(word: u32) -> u32 {
    #[cfg(dsp)]
    return crate::dsp::spread::<LINE>(word);
    #[cfg(not(dsp))]
    opaque(((word << (15 - LINE)).cast_signed() >> 31).cast_unsigned())
}

/// Samples from a public string: candidates are tried one after another, from that one on. Returns the one after the last,
/// unless there are too few; then the output has no meaning.
#[inline(never)]
pub(super) fn uniform_public<const Q: u16, const BITS: usize>(
    bytes: &[u8],
    candidate: usize,
    // An array of known length takes fewer instructions.
    out: &mut (impl AsMut<[u16]> + ?Sized),
) -> Option<usize> {
    let out = out.as_mut();
    let (mut filled, mut skipped, mut at) = (0, candidate % 8, candidate / 8 * 8);
    for group in bytes.chunks_exact(BITS).skip(candidate / 8) {
        // Unpacked in either case, so that they stay in registers in the first.
        let mut candidates = [0; 8];
        match out.get_mut(filled..).and_then(<[u16]>::first_chunk_mut::<8>) {
            Some(window) if skipped == 0 => {
                unpack::<BITS>(group, &mut candidates);
                filled += keep::<Q>(candidates, window);
            }
            _ => {
                unpack::<BITS>(group, &mut candidates);
                for (k, &x) in candidates.iter().enumerate().skip(skipped) {
                    if filled == out.len() {
                        return Some(at + k);
                    }
                    out[filled] = x;
                    filled += usize::from(x < Q);
                }
            }
        }
        (skipped, at) = (0, at + 8);
    }
    (filled == out.len()).then_some(at)
}

/// Writes the candidates below Q to the beginning of the window, and others behind them; returns their number.
#[inline(always)]
fn keep<const Q: u16>([a, b, c, d, e, f, g, h]: [u16; 8], window: &mut [u16; 8]) -> usize {
    // Overwritten by the next one unless it is accepted. Seven are before the last at most.
    let mut kept = 0;
    let mut keep = |x: u16| {
        window[kept % 8] = x;
        kept += usize::from(x < Q);
    };
    // Written out, as code for small machines is not unrolled.
    keep(a);
    keep(b);
    keep(c);
    keep(d);
    keep(e);
    keep(f);
    keep(g);
    keep(h);
    kept
}

/// The number of candidates in a string of random bytes.
pub(super) fn check<const N: usize, const BITS: usize, const K: usize>(bytes: &[u8]) -> usize {
    let candidates = bytes.len() / BITS * 8;
    assert!(bytes.len().is_multiple_of(BITS) && (K * N..=960).contains(&candidates));
    let longest_move = (candidates - K * N + 1).next_power_of_two() / 2;
    assert!(candidates.next_multiple_of(STRIDE) + longest_move <= ROOM, "room for all moves");
    candidates
}

/// Candidates on their way left, each with the number of places still to go.
struct Candidates {
    values: [u16; ROOM],
    shifts: [u16; ROOM],
}

/// The places of the compaction: behind the last candidate some are empty, for the longest move to
/// look at, 128 of 960 candidates, 256 of 880.
const ROOM: usize = 1152;

/// The number of places that a pass of the compaction handles together.
const STRIDE: usize = 64;

impl Candidates {
    const ZERO: Self = Self { values: [0; ROOM], shifts: [0; ROOM] };
}

/// One pass of the compaction: moves every candidate whose shift has the bit `distance`.
///
/// Places that were left, and rejected candidates, have shift 0 and may be overwritten. No two
/// candidates that are kept ever meet, because shifts only grow along the array, by at most the
/// number of places between.
#[cfg_attr(not(unoptimized), inline(always))]
fn move_left(all: &mut Candidates, n: usize, distance: usize) {
    let bit = distance.ilog2();
    for start in (0..n).step_by(STRIDE) {
        let comers = *stride(&mut all.values, start + distance);
        let their_shifts = *stride(&mut all.shifts, start + distance);
        let (values, shifts) = (stride(&mut all.values, start), stride(&mut all.shifts, start));
        // By indices: where an iterator was not inlined, as without link-time optimisation, the loop had a rest without
        // vectors, in which the compiler made a branch of a mask.
        for i in 0..STRIDE {
            let comes = mask(their_shifts[i] >> bit & 1);
            let goes = mask(shifts[i] >> bit & 1);
            values[i] ^= (values[i] ^ comers[i]) & comes;
            shifts[i] = their_shifts[i] & comes | shifts[i] & !comes & !goes;
        }
    }
}

/// The places from `start` on.
#[cfg_attr(not(unoptimized), inline(always))]
fn stride(places: &mut [u16; ROOM], start: usize) -> &mut [u16; STRIDE] {
    &mut places[start..start + STRIDE].as_chunks_mut().0[0]
}

/// 0xffff for 1, 0 for 0.
#[cfg_attr(not(unoptimized), inline(always))]
const fn mask(bit: u16) -> u16 {
    bit.wrapping_neg()
}

#[cfg(test)]
mod tests {
    extern crate std;
    use proptest::prelude::*;
    use std::{vec, vec::Vec};

    use super::*;
    use crate::{
        Backend,
        ring::{NttPoly, encode::pack},
    };

    /// Computes the same as [`uniform`], with the branch that it must not have.
    fn by_rejection<const Q: u16>(candidates: &[u16], wanted: usize) -> Vec<u16> {
        let kept: Vec<u16> = candidates.iter().copied().filter(|&x| x < Q).take(wanted).collect();
        if kept.len() < wanted { vec![0; wanted] } else { kept }
    }

    fn check<const N: usize, const Q: u16, const BITS: usize, const K: usize>(candidates: &[u16]) {
        let mut bytes = vec![0; candidates.len() / 8 * BITS];
        pack::<BITS>(candidates, &mut bytes);
        let expected = by_rejection::<Q>(candidates, K * N);
        for backend in Backend::all() {
            for at in 0..3 {
                // Beside strings with other rejections.
                let mut strings = vec![0xa5; 3 * bytes.len()];
                strings[at * bytes.len()..][..bytes.len()].copy_from_slice(&bytes);
                let mut polys = vec![[NttPoly::<N, Q>::ZERO; K]; 3];
                NttPoly::uniform_all::<BITS, K>(backend, &strings, &mut polys);
                let coefficients: Vec<u16> = polys[at].iter().flat_map(|poly| poly.0).collect();
                assert_eq!(coefficients, expected, "{backend:?}");
            }
            let mut polys = [const { NttPoly::<N, Q>::ZERO }; K];
            let enough = NttPoly::set_uniform_public::<BITS, K>(backend, &bytes, &mut polys);
            let kept = candidates.iter().filter(|&&x| x < Q).count();
            assert_eq!(enough, kept >= K * N, "{backend:?}");
            let coefficients: Vec<u16> = polys.iter().flat_map(|poly| poly.0).collect();
            assert_eq!(coefficients, expected, "{backend:?}, of a public string");
            // The same polynomials one by one, as far as there are enough.
            let mut at = Some(0);
            for poly in &polys {
                let mut one = NttPoly::ZERO;
                at = at.and_then(|at| one.set_uniform_public_from::<BITS>(&bytes, at));
                assert!(at.is_none() || one == *poly || !enough);
            }
            assert_eq!(at.is_some(), enough);
        }
    }

    fn check_module768(candidates: &[u16]) {
        check::<256, 7681, 13, 3>(candidates);
    }

    proptest! {
        #[test]
        fn compaction_is_rejection_sampling(
            candidates in proptest::collection::vec(0u16..1 << 13, 960),
        ) {
            check_module768(&candidates);
        }

        #[test]
        fn compaction_is_rejection_sampling_for_dense_rejections(
            rejected in proptest::collection::vec(0usize..960, 0..220),
        ) {
            let mut candidates: Vec<u16> = (0..960).collect();
            for i in rejected {
                candidates[i] = 8191;
            }
            check_module768(&candidates);
        }
    }

    #[test]
    fn compaction_is_right_at_its_borders() {
        let low: Vec<u16> = (0..960).collect();
        check_module768(&low);
        check_module768(&vec![7680; 960]);
        check_module768(&vec![7681; 960]);
        for rejected in [1, 191, 192, 193, 767, 768] {
            let mut front = low.clone();
            front[..rejected].fill(7681);
            check_module768(&front);
            let mut back = low.clone();
            back[960 - rejected..].fill(8191);
            check_module768(&back);
        }
        let wide: Vec<u16> = (0..880).map(|i| if i % 5 == 0 { 16383 } else { i }).collect();
        check::<512, 13313, 14, 1>(&wide);
        // What is tried first of a public string.
        check::<512, 13313, 14, 1>(&wide[..688]);
        check::<512, 13313, 14, 1>(&[&wide[..640], &[16383; 48]].concat());
        for candidates in [768, 776, 784, 832, 864, 896, 904, 952] {
            check_module768(&low[..candidates]);
            check_module768(&[&[8191; 8], &low[..candidates - 8]].concat());
        }
        check_module768(&[&low[..767], &[8191; 96], &[5]].concat());
        check_module768(&[&low[..766], &[8191; 97], &[5]].concat());
        check::<512, 13313, 14, 1>(&vec![13312; 880]);
    }

    #[test]
    fn noise_has_exactly_the_binomial_histogram() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut histogram = [0; 5];
        for half in bytes.chunks(128) {
            let mut coefficients = [0; 256];
            centred_binomial::<256, 7681>(half, &mut coefficients);
            for x in coefficients {
                histogram[usize::from((x + 2) % 7681)] += 1;
            }
        }
        assert_eq!(histogram, [32, 128, 192, 128, 32]);
    }
}
