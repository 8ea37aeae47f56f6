//! Uniform permutations [C. R. Rao, *Sankhyā* 23, 1961; M. Sandelius, *J. R. Stat. Soc. B* 24, 1962]: numbers go to random buckets,
//! which are then shuffled one by one, near enough for the nearest caches.

use crate::aes::Aes128;

const BUCKETS: usize = 256;

/// Bytes of keystream at a time.
const BUFFER: usize = 4096;

/// Writes a permutation of the numbers from 0 on, uniform if both keys are.
///
/// Number i goes to the bucket that byte i of the keystream of `buckets` names, behind smaller numbers. Then the buckets are shuffled,
/// in ascending order: for i = s − 1, …, 1 in a bucket of s numbers, with d = i + 1, little-endian words x of 32 bits are read from the
/// keystream of `draws` until x·d mod 2³² is at least 2³² mod d. Entry i is exchanged with entry ⌊x·d / 2³²⌋. Both
/// keystreams count from 0.
///
/// The result is public: time and addresses depend on it.
///
/// # Panics
/// If there are more than 2³² numbers.
pub fn permutation(buckets: &Aes128, draws: &Aes128, table: &mut [u32]) {
    assert!(u32::try_from(table.len().saturating_sub(1)).is_ok(), "numbers of 32 bits");
    let mut counts = [0; BUCKETS];
    in_buckets(buckets, table.len(), |_, bucket| counts[bucket] += 1);
    let mut next = counts;
    let mut sum = 0;
    for next in &mut next {
        sum += core::mem::replace(next, sum);
    }
    in_buckets(buckets, table.len(), |i, bucket| {
        table[next[bucket]] = i;
        next[bucket] += 1;
    });
    let mut words = Words { draws, next: 0, words: [[0; 4]; BUFFER / 4], used: BUFFER / 4 };
    let mut rest = table;
    for count in counts {
        let (bucket, others) = rest.split_at_mut(count);
        shuffle(&mut words, bucket);
        rest = others;
    }
}

/// Calls f with every number below n and its bucket.
#[inline(always)]
fn in_buckets(buckets: &Aes128, n: usize, mut f: impl FnMut(u32, usize)) {
    let mut bytes = [0; BUFFER];
    let mut i = 0;
    for first in (0..n).step_by(BUFFER) {
        buckets.ctr((first / 16) as u128, &mut bytes);
        for &bucket in &bytes[..BUFFER.min(n - first)] {
            f(i, bucket.into());
            i = i.wrapping_add(1);
        }
    }
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
