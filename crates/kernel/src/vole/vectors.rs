//! Leaves in the blocks of vectors, one vector after another, on short pieces of the strings: the rounds of one vector's
//! streams hide each other's latency, and its state and output need all registers.
//!
//! The lowest bits of x are a leaf's block in its vector, the bits above them the vector's number in its group, and the
//! others the group's number. Strings wait for their siblings, and complete subtrees for theirs. Blocks stay apart until
//! a group's sums go to the rows.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__m256i, __m512i};
use core::ops::Range;

use super::{MAX_K, Sums, Tree};
#[cfg(target_arch = "aarch64")]
use crate::blocks::neon::NeonAes;
#[cfg(target_feature = "simd128")]
use crate::simd128::Simd128;
use crate::{
    aegis::{
        STEP,
        vectors::{State, begin, next},
    },
    blocks::{Aes, Blocks},
    erase,
};
#[cfg(target_arch = "x86_64")]
use crate::{
    blocks::w256::Two,
    simd::{avx2::Avx2, avx512::Avx512},
};

/// Bytes of a piece: what waits of a group fits the nearest cache.
const PIECE: usize = 512;

const STEPS: usize = PIECE / STEP;

/// Bits that number the vectors of a group, at most.
const LEVELS: usize = 4;

/// The output of a step of a vector's streams. The blocks of a vector belong to different streams.
type Strings<V> = [V; 2];

/// Vectors whose blocks are added up to one string in the end.
pub(super) trait Fold: Aes {
    /// A step of one string.
    type String: Copy;
    /// Bits of x that say which block of a vector a leaf has.
    const BLOCK_BITS: usize = Self::BLOCKS.ilog2() as usize;

    /// Zeros in place of the string of the first block.
    fn without_first(self, strings: Strings<Self::Vector>) -> Strings<Self::Vector>;
    /// The sum of all strings.
    fn fold(self, strings: Strings<Self::Vector>) -> Self::String;
    /// The sum of the strings whose block's number has that bit.
    fn fold_half(self, strings: Strings<Self::Vector>, bit: usize) -> Self::String;
    /// Writes a string that is the first of its row, and adds another one to it.
    fn put(self, string: Self::String, bytes: &mut [u8], is_first: bool);
}

/// A piece of a vector's strings.
type Piece<V> = [Strings<V>; STEPS];

/// The state of a group of V = 2^L vectors.
struct Group<A: Fold, const VECTORS: usize, const L: usize> {
    streams: [State<A::Vector>; VECTORS],
    /// Sum of a subtree that waits for its sibling, by level.
    waiting: [Piece<A::Vector>; L],
    /// Sum of the right subtrees so far, by level.
    rows: [Piece<A::Vector>; L],
}

/// Writes or adds up all rows, and the sum.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn run<A: Fold>(a: A, tree: &Tree<'_>, len: usize, sums: &mut Sums<'_>) {
    match tree.k - A::BLOCK_BITS {
        0 => add_groups::<A, 1, 0>(a, tree, len, sums),
        1 => add_groups::<A, 2, 1>(a, tree, len, sums),
        2 => add_groups::<A, 4, 2>(a, tree, len, sums),
        3 => add_groups::<A, 8, 3>(a, tree, len, sums),
        _ => add_groups::<A, { 1 << LEVELS }, LEVELS>(a, tree, len, sums),
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn add_groups<A: Fold, const VECTORS: usize, const L: usize>(
    a: A,
    tree: &Tree<'_>,
    len: usize,
    sums: &mut Sums<'_>,
) {
    let none = [[a.zero(); 2]; STEPS];
    let mut group = Group::<A, VECTORS, L> {
        streams: [[a.zero(); 8]; VECTORS],
        waiting: [none; L],
        rows: [none; L],
    };
    let leaves = VECTORS * A::BLOCKS;
    for number in 0..1 << (tree.k - A::BLOCK_BITS - L) {
        for (i, stream) in group.streams.iter_mut().enumerate() {
            let mut keys = [[0; 16]; 4];
            let keys = &mut keys[..A::BLOCKS];
            for (block, key) in keys.iter_mut().enumerate() {
                let x = number * leaves + i * A::BLOCKS + block;
                *key = tree.leaf(x).copied().unwrap_or_default();
            }
            *stream = begin(a, keys, tree.nonce);
            erase(keys, [0; 16]);
        }
        for at in (0..len).step_by(PIECE) {
            let piece = at..len.min(at + PIECE);
            let steps = piece.len() / STEP;
            for i in 0..VECTORS - 1 {
                // A vector with ones at the end of its number completes that many subtrees.
                match i.trailing_ones() {
                    0 if number == 0 && i == 0 && tree.missing > 0 => {
                        add_vector::<A, VECTORS, L, 0, true>(a, &mut group, i, steps);
                    }
                    0 => add_vector::<A, VECTORS, L, 0, false>(a, &mut group, i, steps),
                    1 => add_vector::<A, VECTORS, L, 1, false>(a, &mut group, i, steps),
                    2 => add_vector::<A, VECTORS, L, 2, false>(a, &mut group, i, steps),
                    _ => add_vector::<A, VECTORS, L, 3, false>(a, &mut group, i, steps),
                }
            }
            add_last(a, tree, number, &mut group, &piece, sums);
        }
    }
    erase(&mut group.streams, [a.zero(); 8]);
    erase(&mut group.waiting, none);
    erase(&mut group.rows, none);
}

/// Adds a vector that completes so many subtrees.
#[cfg_attr(not(unoptimized), inline(always))]
fn add_vector<
    A: Fold,
    const VECTORS: usize,
    const L: usize,
    const COMPLETE: usize,
    const PUNCTURED: bool,
>(
    a: A,
    group: &mut Group<A, VECTORS, L>,
    number: usize,
    steps: usize,
) {
    if COMPLETE >= L {
        return;
    }
    let Group { streams, waiting, rows } = group;
    let mut stream = streams[number];
    for i in 0..steps.min(STEPS) {
        let mut sum = next(a, &mut stream);
        if PUNCTURED {
            sum = a.without_first(sum);
        }
        for level in 0..COMPLETE {
            // The first right subtree of its size has no left siblings but one.
            let row = rows[level][i];
            rows[level][i] = if number >> (level + 1) == 0 { sum } else { a.xor_all(row, sum) };
            sum = a.xor_all(sum, waiting[level][i]);
        }
        waiting[COMPLETE][i] = sum;
    }
    streams[number] = stream;
}

/// Adds the last vector, which completes the group, and puts the group's sums into the rows.
#[cfg_attr(not(unoptimized), inline(always))]
fn add_last<A: Fold, const VECTORS: usize, const L: usize>(
    a: A,
    tree: &Tree<'_>,
    number: usize,
    group: &mut Group<A, VECTORS, L>,
    piece: &Range<usize>,
    sums: &mut Sums<'_>,
) {
    let steps = piece.len() / STEP;
    let Sums { sum, rows, stride } = sums;
    let mut rows = rows.chunks_mut(*stride).map(|row| &mut row[piece.clone()]);
    let mut row = || rows.next().unwrap_or_default();
    // Of the bits of x: those of the block, those of the vector, and those of the group's number that are ones.
    let mut of_block: [&mut [u8]; 2] = Default::default();
    let mut of_vector: [&mut [u8]; LEVELS] = Default::default();
    of_block[..A::BLOCK_BITS].fill_with(&mut row);
    of_vector[..L].fill_with(&mut row);
    // The rows that the whole group is added to, and whether it is the first one there.
    let mut of_all: [(&mut [u8], bool); MAX_K] = Default::default();
    let mut count = 0;
    for j in 0..tree.k - A::BLOCK_BITS - L {
        let row = row();
        if number >> j & 1 == 1 {
            of_all[count] = (row, number == 1 << j);
            count += 1;
        }
    }
    if let Some(sum) = sum {
        of_all[count] = (&mut sum[piece.clone()], number == 0);
        count += 1;
    }
    let of_all = &mut of_all[..count];

    let stream = &mut group.streams[VECTORS - 1];
    let mut state = *stream;
    for i in 0..steps.min(STEPS) {
        let bytes = i * STEP..(i + 1) * STEP;
        let mut all = next(a, &mut state);
        if L == 0 && number == 0 && tree.missing > 0 {
            all = a.without_first(all);
        }
        for (level, out) in of_vector[..L].iter_mut().enumerate() {
            let row = if level + 1 == L { all } else { a.xor_all(group.rows[level][i], all) };
            a.put(a.fold(row), &mut out[bytes.clone()], number == 0);
            all = a.xor_all(all, group.waiting[level][i]);
        }
        for (bit, row) in of_block[..A::BLOCK_BITS].iter_mut().enumerate() {
            a.put(a.fold_half(all, bit), &mut row[bytes.clone()], number == 0);
        }
        let all = a.fold(all);
        for (row, is_first) in of_all.iter_mut() {
            a.put(all, &mut row[bytes.clone()], *is_first);
        }
    }
    *stream = state;
}

#[inline(always)]
fn put<A: Blocks, const N: usize>(a: A, string: [A::Vector; N], bytes: &mut [u8], is_first: bool) {
    let sum = if is_first { string } else { a.xor_all(a.load_all(bytes), string) };
    a.store_all(sum, bytes);
}

/// Vectors of one block, of one string.
macro_rules! single {
    ($token:ident) => {
        impl Fold for $token {
            type String = Strings<Self::Vector>;

            #[inline(always)]
            fn without_first(self, _: Self::String) -> Self::String {
                [self.zero(); 2]
            }

            #[inline(always)]
            fn fold(self, strings: Self::String) -> Self::String {
                strings
            }

            /// No bit says which block it is.
            #[inline(always)]
            fn fold_half(self, strings: Self::String, _: usize) -> Self::String {
                strings
            }

            #[inline(always)]
            fn put(self, string: Self::String, bytes: &mut [u8], is_first: bool) {
                put(self, string, bytes, is_first);
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
single!(Avx2);
#[cfg(target_arch = "aarch64")]
single!(NeonAes);
#[cfg(target_feature = "simd128")]
single!(Simd128);

#[cfg(target_arch = "x86_64")]
impl Fold for Two<true> {
    type String = __m256i;

    #[inline(always)]
    fn without_first(self, [a, b]: Strings<__m256i>) -> Strings<__m256i> {
        [self.second(a), self.second(b)]
    }

    #[inline(always)]
    fn fold(self, strings: Strings<__m256i>) -> __m256i {
        let [first, second] = self.apart(strings);
        self.xor(first, second)
    }

    #[inline(always)]
    fn fold_half(self, strings: Strings<__m256i>, _: usize) -> __m256i {
        self.apart(strings)[1]
    }

    #[inline(always)]
    fn put(self, string: __m256i, bytes: &mut [u8], is_first: bool) {
        put(self, [string], bytes, is_first);
    }
}

#[cfg(target_arch = "x86_64")]
impl Fold for Avx512 {
    type String = __m256i;

    #[inline(always)]
    fn without_first(self, [a, b]: Strings<__m512i>) -> Strings<__m512i> {
        [self.but_first(a), self.but_first(b)]
    }

    #[inline(always)]
    fn fold(self, strings: Strings<__m512i>) -> __m256i {
        let [low, high] = self.halves(strings);
        self.two().fold(self.two().xor_all(low, high))
    }

    #[inline(always)]
    fn fold_half(self, strings: Strings<__m512i>, bit: usize) -> __m256i {
        let [low, high] = self.halves(strings);
        match bit {
            0 => self.two().fold_half(self.two().xor_all(low, high), 0),
            _ => self.two().fold(high),
        }
    }

    #[inline(always)]
    fn put(self, string: __m256i, bytes: &mut [u8], is_first: bool) {
        put(self.two(), [string], bytes, is_first);
    }
}
