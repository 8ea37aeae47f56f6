//! Transport between slices and lanes.

use super::{
    constants::ZERO,
    field::{Columns, Field, Limbs, MAX_LANES, Words, from_bytes, invert_all, to_bytes, words_of},
};
use crate::erase;

/// Vectors that share one inversion.
const GROUP: usize = 32;

/// Element i of a slice that has one for each of a batch, or one for all.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn of<T>(slice: &[T], i: usize) -> &T {
    if slice.len() == 1 { &slice[0] } else { &slice[i] }
}

/// Panics unless there is one for each of the batch, or one for all.
pub(super) fn check(len: usize, n: usize) {
    assert!(len == n || len == 1, "one for each of the batch, or one for all");
}

/// Panics unless there is one for each of the batch.
pub(super) fn check_each(len: usize, n: usize) {
    assert_eq!(len, n, "one for each of the batch");
}

/// Panics unless there is a bit for each of the batch.
pub(super) fn check_bits(bits: &[u8], n: usize) {
    assert!(bits.len() >= n.div_ceil(8), "a bit for each");
}

/// Collects the value of each element from `start` on of a batch of n, one per lane; lanes behind the
/// end of the batch repeat the last element.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn gather<F: Field>(
    _: F,
    start: usize,
    n: usize,
    limbs: impl Fn(usize) -> Limbs,
) -> Columns {
    let mut columns = Columns::ZERO;
    for lane in 0..F::LANES {
        columns.set(lane, &limbs((start + lane).min(n - 1)));
    }
    columns
}

/// Loads elements from bytes, one for each or one for all.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn load<F: Field>(f: F, start: usize, n: usize, from: &[[u8; 32]]) -> F::Element {
    f.load(&gather(f, start, n, inlined!(|i| from_bytes(of(from, i)))))
}

/// Writes the lanes that the batch from `start` on has left, as canonical bytes.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn store<F: Field>(f: F, x: F::Element, start: usize, to: &mut [[u8; 32]]) {
    let columns = f.store(x);
    for (lane, to) in to[start..].iter_mut().take(F::LANES).enumerate() {
        *to = to_bytes(&columns.lane(lane));
    }
}

/// Words in each lane that are made of a 256-bit number, a secret: no copy stays in memory here.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn scalars<F: Field, const W: usize>(
    f: F,
    start: usize,
    n: usize,
    from: &[[u8; 32]],
    change: impl Fn([u64; 4]) -> [u64; W],
) -> [F::Word; W] {
    let mut words: [Words; W] = [[0; MAX_LANES]; W];
    for lane in 0..F::LANES {
        let scalar = change(words_of(of(from, (start + lane).min(n - 1))));
        for (word, scalar) in words.iter_mut().zip(scalar) {
            word[lane] = scalar;
        }
    }
    let mut vectors = [f.words(&[0; MAX_LANES]); W];
    for (vector, words) in vectors.iter_mut().zip(&words) {
        *vector = f.words(words);
    }
    erase(&mut words, [0; MAX_LANES]);
    vectors
}

/// 1 where the scalar is even, else 0.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn even<F: Field>(_: F, start: usize, n: usize, from: &[[u8; 32]]) -> Words {
    let mut words = [0; MAX_LANES];
    for (lane, word) in words.iter_mut().enumerate().take(F::LANES) {
        *word = u64::from(!of(from, (start + lane).min(n - 1))[0] & 1);
    }
    words
}

/// The bits of a batch, packed least significant first, a lane each.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn bits<F: Field>(_: F, start: usize, n: usize, from: &[u8]) -> Words {
    let mut words = [0; MAX_LANES];
    for (lane, word) in words.iter_mut().enumerate().take(F::LANES) {
        let i = (start + lane).min(n - 1);
        *word = u64::from(from[i / 8] >> (i % 8) & 1);
    }
    words
}

/// Writes a bit for each lane that the batch from `start` on has left, packed least significant
/// first; other bits stay.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn store_bits<F: Field>(_: F, words: &Words, start: usize, n: usize, to: &mut [u8]) {
    for (lane, &bit) in words.iter().enumerate().take(F::LANES.min(n - start)) {
        let i = start + lane;
        let byte = to[i / 8] & !(1 << (i % 8));
        to[i / 8] = byte | (bit.to_le_bytes()[0] & 1) << (i % 8);
    }
}

/// Takes the vectors of a batch of n from their starts: some values, of which the last is to be
/// inverted, and then what is done with them and with the inverse, which is 0 for 0. GROUP vectors
/// share an inversion. What is kept meanwhile is erased: denominators tell about scalars.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn divide<F: Field, const N: usize>(
    f: F,
    n: usize,
    mut values: impl FnMut(usize) -> ([F::Element; N], F::Element),
    mut end: impl FnMut(usize, [F::Element; N], F::Element),
) {
    let zero = f.splat(&ZERO);
    for group in (0..n).step_by(GROUP * F::LANES) {
        let vectors = (n - group).div_ceil(F::LANES).min(GROUP);
        let (mut kept, mut inverses) = ([[zero; N]; GROUP], [zero; GROUP]);
        for k in 0..vectors {
            (kept[k], inverses[k]) = values(group + k * F::LANES);
        }
        invert_all::<F, GROUP>(f, &mut inverses[..vectors]);
        for k in 0..vectors {
            end(group + k * F::LANES, kept[k], inverses[k]);
        }
        erase(&mut kept, [zero; N]);
        erase(&mut inverses, zero);
    }
}
