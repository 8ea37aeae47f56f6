//! On pieces of 2 KiB, four leaves at a time, in the lanes of a vector: of a leaf's number, the
//! lower two bits are its lane, the others its vector's place. Two vectors' streams fit into
//! registers.

use core::{arch::x86_64::*, ops::Range};

use super::{GROUP, GROUP_BITS, Sums, Tree};
use crate::{
    aegis::{
        STEP,
        vectors::{State, begin, next},
    },
    blocks::Blocks,
    erase,
    simd::avx512::Avx512,
};

/// Steps of a piece.
const STEPS: usize = 64;

/// Bits of a leaf's number that are its lane.
const LANE_BITS: usize = 2;
const LANES: usize = 1 << LANE_BITS;

/// The output of two steps of the streams in a vector.
type Two = [__m512i; 4];

/// The strings of the second of two vectors, and the sum of both.
type Pair = [Two; 2];

#[target_feature(enable = "avx512f,vaes")]
pub(super) fn add_group(
    simd: Avx512,
    tree: &Tree<'_>,
    group: usize,
    len: usize,
    sums: &mut Sums<'_>,
) {
    match tree.k {
        ..=LANE_BITS => add_vectors::<1>(simd, tree, group, len, sums),
        3 => add_vectors::<2>(simd, tree, group, len, sums),
        _ => add_vectors::<4>(simd, tree, group, len, sums),
    }
}

/// A group of V vectors.
#[target_feature(enable = "avx512f,vaes")]
fn add_vectors<const V: usize>(
    simd: Avx512,
    tree: &Tree<'_>,
    group: usize,
    len: usize,
    sums: &mut Sums<'_>,
) {
    let zero = simd.zero();
    let mut states = [[zero; 8]; V];
    let mut keys = [[0; 16]; LANES];
    for (place, state) in states.iter_mut().enumerate() {
        for (lane, key) in keys.iter_mut().enumerate() {
            *key = tree.leaf(group * GROUP + place * LANES + lane).copied().unwrap_or_default();
        }
        *state = begin(simd, &keys, tree.nonce);
    }
    erase(&mut keys, [0; 16]);
    // All lanes but that of the leaf that is missing.
    let present = if tree.leaf(group * GROUP).is_some() { 0xff } else { 0xfc };

    // Of the first pair of vectors, if there is a second one.
    let mut first: [Pair; STEPS / 2] = [[[zero; 4]; 2]; STEPS / 2];
    for at in (0..len).step_by(STEPS * STEP) {
        let piece = at..len.min(at + STEPS * STEP);
        let steps = piece.len() / (2 * STEP);
        if V == 4 {
            let [mut even, mut odd] = [states[0], states[1]];
            for pair in &mut first[..steps] {
                *pair = two_of_both(simd, &mut even, &mut odd, present);
            }
            [states[0], states[1]] = [even, odd];
        }
        if V == 1 {
            let mut state = states[0];
            for i in 0..steps {
                let all =
                    two(simd, &mut state).map(|string| _mm512_maskz_mov_epi64(present, string));
                let bytes = piece.start + 64 * i..piece.start + 64 * (i + 1);
                put_lanes(simd, tree, group, &bytes, all, sums);
            }
            states[0] = state;
        } else {
            let [mut even, mut odd] = [states[V - 2], states[V - 1]];
            let present = if V == 2 { present } else { 0xff };
            for (i, first) in first[..steps].iter().enumerate() {
                let bytes = piece.start + 64 * i..piece.start + 64 * (i + 1);
                let [mut row, mut all] = two_of_both(simd, &mut even, &mut odd, present);
                if V == 4 {
                    put(simd, sums.row(LANE_BITS + 1, &bytes), sum_of_lanes(all), group == 0);
                    [row, all] = [simd.xor_all(row, first[0]), simd.xor_all(all, first[1])];
                }
                put(simd, sums.row(LANE_BITS, &bytes), sum_of_lanes(row), group == 0);
                put_lanes(simd, tree, group, &bytes, all, sums);
            }
            [states[V - 2], states[V - 1]] = [even, odd];
        }
    }
    erase(&mut states, [zero; 8]);
    erase(&mut first, [[zero; 4]; 2]);
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn two(simd: Avx512, state: &mut State<__m512i>) -> Two {
    let [a, b] = next(simd, state);
    let [c, d] = next(simd, state);
    [a, b, c, d]
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn two_of_both(
    simd: Avx512,
    even: &mut State<__m512i>,
    odd: &mut State<__m512i>,
    present: __mmask8,
) -> Pair {
    let odd = two(simd, odd);
    let even = two(simd, even).map(|string| _mm512_maskz_mov_epi64(present, string));
    [odd, simd.xor_all(odd, even)]
}

/// Adds the sum of a group's vectors to the rows of the lane bits, to the rows of the bits of the group's number,
/// and to the sum.
#[inline]
#[target_feature(enable = "avx512f")]
fn put_lanes(
    simd: Avx512,
    tree: &Tree<'_>,
    group: usize,
    bytes: &Range<usize>,
    strings: Two,
    sums: &mut Sums<'_>,
) {
    let [zero, one, two, three] = lanes(strings);
    let odd = simd.xor(one, three);
    let all = simd.xor3(zero, two, odd);
    put(simd, sums.row(0, bytes), odd, group == 0);
    put(simd, sums.row(1, bytes), simd.xor(two, three), group == 0);
    for j in 0..tree.k.saturating_sub(GROUP_BITS) {
        if group >> j & 1 == 1 {
            put(simd, sums.row(GROUP_BITS + j, bytes), all, group == 1 << j);
        }
    }
    if let Some(bytes) = sums.sum(bytes) {
        put(simd, bytes, all, group == 0);
    }
}

/// The strings of each lane, one block after another: the transpose.
#[inline]
#[target_feature(enable = "avx512f")]
fn lanes([a, b, c, d]: Two) -> [__m512i; LANES] {
    let low = [_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d)];
    let high = [_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d)];
    [
        _mm512_shuffle_i64x2::<0x88>(low[0], low[1]),
        _mm512_shuffle_i64x2::<0xdd>(low[0], low[1]),
        _mm512_shuffle_i64x2::<0x88>(high[0], high[1]),
        _mm512_shuffle_i64x2::<0xdd>(high[0], high[1]),
    ]
}

/// The sum of [`lanes`].
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_of_lanes([a, b, c, d]: Two) -> __m512i {
    let halves = |a, b| {
        _mm512_xor_si512(_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xee>(a, b))
    };
    let [ab, cd] = [halves(a, b), halves(c, d)];
    _mm512_xor_si512(_mm512_shuffle_i64x2::<0x88>(ab, cd), _mm512_shuffle_i64x2::<0xdd>(ab, cd))
}

/// Begins a row, or adds to it.
#[inline]
#[target_feature(enable = "avx512f")]
fn put(simd: Avx512, bytes: &mut [u8], vector: __m512i, first: bool) {
    for bytes in bytes.as_chunks_mut::<64>().0 {
        let sum = if first { vector } else { simd.xor(simd.load(bytes), vector) };
        simd.store(sum, bytes);
    }
}
