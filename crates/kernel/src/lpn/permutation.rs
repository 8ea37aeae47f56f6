//! Uniform permutations [C. R. Rao, *Sankhyā* 23, 1961; M. Sandelius, *J. R. Stat. Soc. B* 24, 1962]: numbers go to random buckets,
//! which are then shuffled one by one. What permutes memory so takes two steps also, each of which the caches like.

use super::CHUNK;
use crate::aes::Aes128;

/// The number of buckets.
pub(super) const BUCKETS: usize = 256;

/// Bytes of keystream at a time.
const BUFFER: usize = 4096;

/// The most parts that numbers are divided into, in their order. (A [part](Buckets::part) of the places is another thing.)
const PARTS: usize = 8;

/// The most numbers of a bucket.
const LONGEST: usize = 1 << 16;

/// The first place of each bucket, and the end of the last one.
type Starts = [u32; BUCKETS + 1];

/// The buckets of a [`permutation`]. Public.
#[derive(Debug)]
pub struct Buckets {
    pi: Aes128,
    starts: Starts,
    /// For each part, how many numbers before it each bucket has.
    before: [[u32; BUCKETS]; PARTS],
}

/// A [`permutation`] by its two steps. Public.
#[derive(Clone, Copy, Debug)]
pub struct Permutation<'a> {
    /// The first step.
    pub buckets: &'a Buckets,
    /// The second step.
    pub table: &'a [u16],
}

/// Makes a permutation T of the numbers below n, uniform if both keys are; n is the length of the table.
///
/// Number i goes to the bucket that byte i of the keystream of `buckets` names, behind smaller numbers. Then the buckets are shuffled,
/// in ascending order: for i = s − 1, …, 1 in a bucket of s numbers, with d = i + 1, little-endian words x of 32 bits are read from the
/// keystream of `draws` until x·d mod 2³² is at least 2³² mod d. Entry i is exchanged with entry ⌊x·d / 2³²⌋. Both
/// keystreams count from 0.
///
/// `table` gets the second step alone: entry i is the place that T\[i\] had before the buckets were shuffled, counted from the
/// first place of its bucket, in which place i also is.
///
/// The result is public: time and addresses depend on it.
///
/// # Panics
/// If there are more than 2³² − 1 numbers, or more than 2¹⁶ of them in a bucket. Of 2²³ numbers so many come together with
/// probability 2⁻²⁰⁰⁰⁰.
#[must_use]
pub fn permutation(buckets: Aes128, draws: &Aes128, table: &mut [u16]) -> Buckets {
    assert!(u32::try_from(table.len()).is_ok(), "numbers of 32 bits");
    let (mut counts, mut before) = ([0u32; BUCKETS], [[0; BUCKETS]; PARTS]);
    let mut bytes = [0; BUFFER];
    for first in (0..table.len()).step_by(BUFFER) {
        for (k, before) in before.iter_mut().enumerate() {
            if first_of_part(table.len(), k) == first {
                *before = counts;
            }
        }
        buckets.ctr((first / 16) as u128, &mut bytes);
        for &bucket in &bytes[..BUFFER.min(table.len() - first)] {
            counts[usize::from(bucket)] += 1;
        }
    }
    let mut words = Words { draws, next: 0, words: [[0; 4]; BUFFER / 4], used: BUFFER / 4 };
    let (mut rest, mut starts) = (table, [0; BUCKETS + 1]);
    for (k, count) in counts.into_iter().enumerate() {
        assert!(count as usize <= LONGEST, "places of 16 bits");
        let (bucket, others) = rest.split_at_mut(count as usize);
        for (entry, place) in bucket.iter_mut().zip(0..=u16::MAX) {
            *entry = place;
        }
        shuffle(&mut words, bucket);
        starts[k + 1] = starts[k] + count;
        rest = others;
    }
    Buckets { pi: buckets, starts, before }
}

/// The first of the numbers below n that is in part k.
const fn first_of_part(n: usize, k: usize) -> usize {
    if k == PARTS { n } else { n / BUFFER * k / PARTS * BUFFER }
}

/// [Lemire, *Fast random integer generation in an interval*, 2019](https://doi.org/10.1145/3230636).
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "both halves of products are wanted")]
fn shuffle(words: &mut Words<'_>, bucket: &mut [u16]) {
    for i in (1..bucket.len()).rev() {
        let d = i as u32 + 1;
        let other = loop {
            let product = u64::from(words.next()) * u64::from(d);
            // 2³² mod d is below d, so that the division is rare.
            if product as u32 >= d || product as u32 >= d.wrapping_neg() % d {
                break (product >> 32) as usize;
            }
        };
        bucket.swap(i, other);
    }
}

struct Words<'a> {
    draws: &'a Aes128,
    next: u128,
    words: [[u8; 4]; BUFFER / 4],
    used: usize,
}

impl Words<'_> {
    #[inline(always)]
    fn next(&mut self) -> u32 {
        if self.used == self.words.len() {
            self.draws.ctr(self.next, self.words.as_flattened_mut());
            self.next += BUFFER as u128 / 16;
            self.used = 0;
        }
        self.used += 1;
        u32::from_le_bytes(self.words[self.used - 1])
    }
}

impl Buckets {
    /// The number of numbers.
    pub(super) fn n(&self) -> usize {
        self.starts[BUCKETS] as usize
    }

    /// The first place of part k of so many: parts consist of whole buckets.
    ///
    /// # Panics
    /// If there are no parts, or not so many.
    #[must_use]
    pub fn part(&self, k: usize, of: usize) -> usize {
        self.starts[BUCKETS * k / of] as usize
    }

    /// The first number of part k of so many, [`PARTS`] at most: a multiple of 4096, but for the end.
    pub(super) fn first_number(&self, k: usize, of: usize) -> usize {
        first_of_part(self.n(), PARTS * k / of)
    }

    /// The buckets of the numbers of part k of so many, and of those behind them.
    pub(super) fn buckets_of(&self, k: usize, of: usize) -> BucketsOf<'_> {
        BucketsOf { pi: &self.pi, at: self.first_number(k, of), bytes: [[0; CHUNK]; 8] }
    }

    /// The places of the numbers of part k of so many, and of those behind them, in their buckets.
    pub(super) fn places(&self, k: usize, of: usize) -> Places<'_> {
        let next = core::array::from_fn(|bucket| self.first_place(bucket, k, of));
        Places { buckets: self.buckets_of(k, of), next }
    }

    /// The place of the first number in a bucket that is not before part k of so many.
    fn first_place(&self, bucket: usize, k: usize, of: usize) -> u32 {
        let before = self.before.get(PARTS * k / of);
        before.map_or(self.starts[bucket + 1], |before| self.starts[bucket] + before[bucket])
    }

    /// The number of numbers that a bucket has of part k of so many.
    pub(super) fn numbers_in(&self, bucket: usize, k: usize, of: usize) -> usize {
        (self.first_place(bucket, k + 1, of) - self.first_place(bucket, k, of)) as usize
    }
}

impl<'a> Permutation<'a> {
    /// The number of numbers.
    pub(super) fn n(&self) -> usize {
        self.table.len()
    }

    /// Entries from number i on, some at a time.
    pub(super) fn entries(self, i: usize) -> Entries<'a> {
        let Self { buckets: Buckets { starts, .. }, table } = self;
        let bucket = starts.partition_point(|&start| start as usize <= i).saturating_sub(1);
        Entries { starts, table, bucket, i }
    }
}

/// Entries of numbers one after another.
pub(super) struct Entries<'a> {
    starts: &'a Starts,
    table: &'a [u16],
    bucket: usize,
    i: usize,
}

impl<'a> Entries<'a> {
    /// The next entries, `most` at most, of numbers in one bucket, and the first place of this bucket.
    #[inline(always)]
    pub(super) fn next(&mut self, most: usize) -> (usize, &'a [u16]) {
        while self.starts[self.bucket + 1] as usize <= self.i {
            self.bucket += 1;
        }
        let end = (self.starts[self.bucket + 1] as usize).min(self.i + most);
        let entries = &self.table[self.i..end];
        self.i = end;
        (self.starts[self.bucket] as usize, entries)
    }

    /// The place of the next entry.
    #[inline(always)]
    pub(super) fn place(&mut self) -> usize {
        let (start, entries) = self.next(1);
        start + usize::from(entries[0])
    }

    /// Calls f with the number, counted from now, and the place of each of the next n entries.
    #[inline(always)]
    pub(super) fn for_each(&mut self, n: usize, mut f: impl FnMut(usize, usize)) {
        let mut i = 0;
        while i < n {
            let (start, entries) = self.next(n - i);
            for &entry in entries {
                f(i, start + usize::from(entry));
                i += 1;
            }
        }
    }
}

/// Buckets of numbers one after another.
pub(super) struct BucketsOf<'a> {
    pi: &'a Aes128,
    at: usize,
    bytes: [[u8; CHUNK]; 8],
}

impl BucketsOf<'_> {
    /// The buckets of the next [`CHUNK`] numbers.
    #[inline(always)]
    pub(super) fn chunk(&mut self) -> [u8; CHUNK] {
        let chunk = self.at / CHUNK % 8;
        if chunk == 0 {
            self.pi.ctr((self.at / 16) as u128, self.bytes.as_flattened_mut());
        }
        self.at += CHUNK;
        self.bytes[chunk]
    }
}

/// Places of numbers one after another.
pub(super) struct Places<'a> {
    buckets: BucketsOf<'a>,
    next: [u32; BUCKETS],
}

impl Places<'_> {
    /// The buckets of the next [`CHUNK`] numbers, whose places are then taken [one by one](Self::next).
    #[inline(always)]
    pub(super) fn chunk(&mut self) -> [u8; CHUNK] {
        self.buckets.chunk()
    }

    /// The next place in a bucket.
    #[inline(always)]
    pub(super) fn next(&mut self, bucket: u8) -> usize {
        let next = &mut self.next[usize::from(bucket)];
        let place = *next;
        *next = place.wrapping_add(1);
        place as usize
    }
}
