//! Rows: a key's hash under the row seed, as positions and bits.

use alloc::vec;

use blake3::{Hasher, hazmat::HasherExt};
use foxtrot_kernel::{
    Backend,
    blake3::{derive_keys, lanes},
};
use foxtrot_ot::Session;

use super::{Digest, Okvs, RowSeed};
use crate::erase::{Secret, Zero};

/// The positions of a key's ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row<const H: usize> {
    /// The sparse slots' places in their segments, of 64/H bits each.
    sparse: u64,
    /// Bit k stands for the dense slot k. The bits above them are the number of the first segment.
    pub(super) dense: u64,
}

impl<const H: usize> Zero for Row<H> {
    const ZERO: Self = Self { sparse: 0, dense: 0 };
}

impl<const H: usize> Okvs<H> {
    /// Bits of a sparse slot's place in its segment.
    const PLACE: u32 = match H {
        2 => 32,
        3 => 21,
        _ => 16,
    };

    /// The sparse slots of a row, one per segment, ascending.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a place in a segment; a number of slots")]
    pub(super) fn sparse(&self, row: &Row<H>) -> [u32; H] {
        let first = self.dense + self.start(row) as u32 * self.segment;
        core::array::from_fn(|k| {
            let place = row.sparse >> (k as u32 * Self::PLACE) & ((1 << Self::PLACE) - 1);
            first + k as u32 * self.segment + place as u32
        })
    }

    /// The segment where a row starts.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the number of a segment")]
    pub(super) fn start(&self, row: &Row<H>) -> usize {
        (row.dense >> self.dense) as usize
    }
}

/// Bytes of hash per row: start, H ≤ 4 positions, dense bits, and what fills a block.
const ANSWER: usize = 64;
/// The most bytes of an answer that no row has use for.
const WORD: usize = 16;
/// Keys per call of the hash.
const BATCH: usize = 64;

/// The hash of rows in one session under one seed.
pub(super) struct RowHash<const H: usize> {
    okvs: Okvs<H>,
    backend: Backend,
    key: [u8; 32],
}

impl<const H: usize> RowHash<H> {
    pub(super) fn new(okvs: Okvs<H>, session: &Session, seed: &RowSeed) -> Self {
        let branch = const {
            match H {
                2 => 0,
                3 => 1,
                4 => 2,
                _ => panic!("a row has two, three or four sparse slots"),
            }
        };
        let key = session
            .oracle("foxtrot v1 okvs row key")
            .query(okvs.keys as u64, branch)
            .field(&seed.0)
            .finish();
        Self { okvs, backend: session.backend(), key }
    }

    /// The rows of all keys, in their order, and the first W of the last 16 bytes of their hash.
    pub(super) fn rows<const W: usize>(
        &self,
        keys: &[Digest],
    ) -> (Secret<Row<H>>, Secret<[u8; W]>) {
        const { assert!(W <= WORD && 8 * (H + 2) + WORD <= ANSWER) };
        let mut rows = Secret::with_capacity(keys.len());
        let mut words = Secret::with_capacity(keys.len());
        let mut answers = Secret(vec![0; ANSWER * BATCH]);
        for keys in keys.chunks(BATCH) {
            let answers = &mut answers.0[..ANSWER * keys.len()];
            if lanes(self.backend) > 1 {
                derive_keys(self.backend, &self.key, 32, keys.as_flattened(), answers);
            } else {
                for (key, answer) in keys.iter().zip(answers.chunks_exact_mut(ANSWER)) {
                    let mut hasher = Hasher::new_from_context_key(&self.key);
                    hasher.update(key).finalize_xof().fill(answer);
                }
            }
            let answers = answers.as_chunks().0.iter();
            rows.0.extend(answers.clone().map(|answer| self.row(answer)));
            let word = |answer: &[u8; ANSWER]| core::array::from_fn(|k| answer[ANSWER - WORD + k]);
            words.0.extend(answers.map(word));
        }
        (rows, words)
    }

    #[inline]
    fn row(&self, answer: &[u8; ANSWER]) -> Row<H> {
        let word = |k: usize| u64::from_le_bytes(core::array::from_fn(|i| answer[8 * k + i]));
        let Okvs { dense, starts, segment, .. } = self.okvs;
        let place = |k: usize| below(word(1 + k), segment) << (k * Okvs::<H>::PLACE as usize);
        let sparse = (0..H).map(place).sum();
        let start = below(word(0), starts);
        Row { sparse, dense: word(1 + H) & ((1 << dense) - 1) | start << dense }
    }
}

/// A number below `bound` from a uniform word, with a bias of at most `bound`/2⁶⁴.
#[inline]
fn below(word: u64, bound: u32) -> u64 {
    ((u128::from(word) * u128::from(bound)) >> 64) as u64
}
