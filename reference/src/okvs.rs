//! Oblivious key-value stores: `docs/protocols/okvs.md` with one elimination for everything.

use crate::blake3::derive_key_from;
use crate::oracle::{Id, oracle, oracle32};

/// The input from which a key's row is hashed.
pub type Key = [u8; 32];

/// The layout of a store for `n` keys.
#[derive(Debug)]
pub struct Shape {
    /// The number of keys.
    pub n: usize,
    /// Sparse slots per row: 2, 3 or 4.
    pub hashes: usize,
    /// Dense slots; they are the first.
    pub dense: usize,
    /// Number of segments in which a row can start.
    pub starts: usize,
    /// Slots per segment.
    pub segment: usize,
}

impl Shape {
    /// Returns the shape for `n` keys, with 2, 3 or 4 sparse slots per row.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "0 is small enough for a root")]
    pub fn new(n: usize, hashes: usize) -> Self {
        let root = (0..).take_while(|root| root * root <= n).last().expect("0 is small enough");
        let (dense, starts, segment) = match hashes {
            2 => (60, 1, (6 * n).div_ceil(5)),
            4 => {
                let n = n.max(1 << 17);
                let (segment, rows, slots) = match n {
                    _ if n < 1 << 18 => (1 << 11, 32, 37),
                    _ if n < 1 << 20 => (1 << 12, 8, 9),
                    _ if n < 1 << 21 => (1 << 13, 10, 11),
                    _ => (1 << 14, 35, 38),
                };
                (44, (n * slots).div_ceil(rows * segment), segment)
            }
            _ if n <= 1 << 19 => (44, 1, ((49 * n).div_ceil(40) + 5 * root).div_ceil(3)),
            _ => (44, (17 * n).div_ceil(14 << 14), 1 << 14),
        };
        Self { n, hashes, dense, starts, segment: segment.max(1) }
    }

    /// Returns the number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.dense + (self.starts + self.hashes - 1) * self.segment
    }

    /// Returns the 64 bytes of a key's hash, of which its row takes the first.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "there are at least two")]
    pub fn answer(&self, id: &Id, seed: &[u8; 32], key: &Key) -> Vec<u8> {
        let branch = u8::try_from(self.hashes - 2).expect("two to four");
        let row_key = oracle32("foxtrot v1 okvs row key", id, self.n, branch, &[seed]);
        derive_key_from(&row_key, key, 64)
    }

    /// Returns the slots of a key's row, ascending.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "what is below a number of slots is one")]
    pub fn row(&self, id: &Id, seed: &[u8; 32], key: &Key) -> Vec<usize> {
        let answer = self.answer(id, seed, key);
        let words: Vec<u64> =
            answer.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect();
        let below = |word: u64, bound: usize| {
            usize::try_from((u128::from(word) * bound as u128) >> 64).expect("less than the bound")
        };
        let start = below(words[0], self.starts);
        let dense = (0..self.dense).filter(|k| words[self.hashes + 1] >> k & 1 == 1);
        let sparse = (0..self.hashes)
            .map(|k| self.dense + (start + k) * self.segment + below(words[k + 1], self.segment));
        dense.chain(sparse).collect()
    }
}

/// Returns the row seed of an encoder's coins.
#[must_use]
pub fn row_seed(id: &Id, coins: &[u8; 32]) -> [u8; 32] {
    oracle32("foxtrot v1 okvs coins", id, 0, 0, &[coins])
}

/// Returns the XOR of a row's slots.
#[must_use]
pub fn decode(row: &[usize], slots: &[Vec<u8>]) -> Vec<u8> {
    let zero = vec![0; slots[0].len()];
    row.iter().fold(zero, |sum, &slot| crate::xor(&sum, &slots[slot]))
}

/// Returns slots under which every row has its value, if there are any whatever the values. `slots`
/// are random ones, of which some are kept.
#[must_use]
pub fn encode(
    rows: &[Vec<usize>],
    values: &[Vec<u8>],
    mut slots: Vec<Vec<u8>>,
) -> Option<Vec<Vec<u8>>> {
    // Rows as lists of bits, with what their values lack.
    let mut system: Vec<(Vec<bool>, Vec<u8>)> = Vec::new();
    for (row, value) in rows.iter().zip(values) {
        let bits = (0..slots.len()).map(|slot| row.contains(&slot)).collect();
        system.push((bits, crate::xor(value, &decode(row, &slots))));
    }
    let mut pivots = Vec::new();
    for k in 0..system.len() {
        let pivot = system[k].0.iter().rposition(|&bit| bit)?;
        let (this, lacks) = system[k].clone();
        for (other, (bits, other_lacks)) in system.iter_mut().enumerate() {
            if other != k && bits[pivot] {
                bits.iter_mut().zip(&this).for_each(|(bit, this)| *bit ^= this);
                *other_lacks = crate::xor(other_lacks, &lacks);
            }
        }
        pivots.push(pivot);
    }
    for (pivot, (_, lacks)) in pivots.into_iter().zip(system) {
        slots[pivot] = crate::xor(&slots[pivot], &lacks);
    }
    Some(slots)
}

/// Returns `count` strings of `length` bytes, for tests and vectors.
#[must_use]
pub fn test_strings(id: &Id, count: usize, length: usize) -> Vec<Vec<u8>> {
    (0..count).map(|k| oracle("foxtrot v1 test okvs", id, k, 0, &[], length)).collect()
}
