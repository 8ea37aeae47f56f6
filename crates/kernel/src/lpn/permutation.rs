//! Uniform permutations [C. R. Rao, *Sankhyā* 23, 1961; M. Sandelius, *J. R. Stat. Soc. B* 24, 1962]: numbers go to random buckets,
//! which are then shuffled one by one. What permutes memory so takes two steps also, each of which the caches like.

use super::CHUNK;
use crate::aes::Aes128;

/// The number of buckets.
pub(super) const BUCKETS: usize = 256;

/// Bytes of keystream at a time.
const BUFFER: usize = 4096;

/// The buckets of a [`permutation`]. Public.
#[derive(Debug)]
pub struct Buckets {
    pi: Aes128,
    n: usize,
    /// The first place of each bucket.
    starts: [u32; BUCKETS],
}

/// Makes a permutation T of the numbers below n, uniform if both keys are; n is the length of the table.
///
/// Number i goes to the bucket that byte i of the keystream of `buckets` names, behind smaller numbers. Then the buckets are shuffled,
/// in ascending order: for i = s − 1, …, 1 in a bucket of s numbers, with d = i + 1, little-endian words x of 32 bits are read from the
/// keystream of `draws` until x·d mod 2³² is at least 2³² mod d. Entry i is exchanged with entry ⌊x·d / 2³²⌋. Both
/// keystreams count from 0.
///
/// `table` gets the second step alone: entry i is the place that T\[i\] had before the buckets were shuffled.
///
/// The result is public: time and addresses depend on it.
///
/// # Panics
/// If there are more than 2³² − 1 numbers.
#[must_use]
pub fn permutation(buckets: Aes128, draws: &Aes128, table: &mut [u32]) -> Buckets {
    assert!(u32::try_from(table.len()).is_ok(), "numbers of 32 bits");
    let mut counts = [0u32; BUCKETS];
    let mut bytes = [0; BUFFER];
    for first in (0..table.len()).step_by(BUFFER) {
        buckets.ctr((first / 16) as u128, &mut bytes);
        for &bucket in &bytes[..BUFFER.min(table.len() - first)] {
            counts[usize::from(bucket)] += 1;
        }
    }
    let mut buckets = Buckets { pi: buckets, n: table.len(), starts: counts };
    let mut words = Words { draws, next: 0, words: [[0; 4]; BUFFER / 4], used: BUFFER / 4 };
    let (mut rest, mut start) = (table, 0);
    for (count, of_bucket) in counts.into_iter().zip(&mut buckets.starts) {
        let (bucket, others) = rest.split_at_mut(count as usize);
        for (entry, place) in bucket.iter_mut().zip(start..) {
            *entry = place;
        }
        shuffle(&mut words, bucket);
        *of_bucket = start;
        (rest, start) = (others, start + count);
    }
    buckets
}

/// [Lemire, *Fast random integer generation in an interval*, 2019](https://doi.org/10.1145/3230636).
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "both halves of products are wanted")]
fn shuffle(words: &mut Words<'_>, bucket: &mut [u32]) {
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
        self.n
    }

    /// The places of the numbers 0, 1, … in their buckets.
    pub(super) fn places(&self) -> Places<'_> {
        Places { pi: &self.pi, at: 0, next: self.starts, bytes: [0; 8 * CHUNK] }
    }
}

/// Places of numbers one after another.
pub(super) struct Places<'a> {
    pi: &'a Aes128,
    at: usize,
    next: [u32; BUCKETS],
    bytes: [u8; 8 * CHUNK],
}

impl Places<'_> {
    /// Calls f with the places of the next `n` numbers. All calls but the last are for [`CHUNK`] of them.
    #[inline(always)]
    pub(super) fn for_each(&mut self, n: usize, mut f: impl FnMut(usize, usize)) {
        let at = self.at % self.bytes.len();
        if at == 0 {
            self.pi.ctr((self.at / 16) as u128, &mut self.bytes);
        }
        for (i, &bucket) in self.bytes[at..][..n].iter().enumerate() {
            let next = &mut self.next[usize::from(bucket)];
            let place = *next;
            *next = place.wrapping_add(1);
            f(i, place as usize);
        }
        self.at += CHUNK;
    }
}
