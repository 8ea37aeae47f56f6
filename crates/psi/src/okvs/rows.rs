//! Rows: a key's hash under the row seed, as positions and bits.

use alloc::{vec, vec::Vec};

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
    /// The sparse slots, one per segment, ascending.
    pub(super) sparse: [u32; H],
    /// The dense slots' bits, low word first: 8-byte alignment would cost 4 bytes per key.
    dense: [u32; 2],
}

impl<const H: usize> Zero for Row<H> {
    const ZERO: Self = Self { sparse: [0; H], dense: [0; 2] };
}

impl<const H: usize> Row<H> {
    /// Bit k stands for slot k.
    #[inline]
    pub(super) fn dense(&self) -> u64 {
        u64::from(self.dense[0]) | u64::from(self.dense[1]) << 32
    }
}

/// Bytes of hash per row: start, H ≤ 3 positions, dense bits, and what fills a block.
const ANSWER: usize = 64;
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
        let branch = const { if H == 2 { 0 } else { 1 } };
        let key = session
            .oracle("foxtrot v1 okvs row key")
            .query(okvs.keys as u64, branch)
            .field(&seed.0)
            .finish();
        Self { okvs, backend: session.backend(), key }
    }

    /// The rows of all keys, in their order.
    pub(super) fn rows(&self, keys: &[Digest]) -> Secret<Row<H>> {
        let mut rows = Vec::with_capacity(keys.len());
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
            rows.extend(answers.as_chunks().0.iter().map(|answer| self.row(answer)));
        }
        Secret(rows)
    }

    #[inline]
    fn row(&self, answer: &[u8; ANSWER]) -> Row<H> {
        let word = |k: usize| u64::from_le_bytes(core::array::from_fn(|i| answer[8 * k + i]));
        let Okvs { dense, starts, segment, .. } = self.okvs;
        let start = below(word(0), starts);
        let sparse = core::array::from_fn(|k| {
            // At most H − 1.
            #[expect(clippy::cast_possible_truncation, reason = "H is 2 or 3")]
            let first = dense + (start + k as u32) * segment;
            first + below(word(1 + k), segment)
        });
        let bits = word(1 + H) & ((1 << dense) - 1);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let dense = [bits as u32, (bits >> 32) as u32];
        Row { sparse, dense }
    }

    /// The segment where a row starts.
    #[inline]
    pub(super) fn start(&self, row: &Row<H>) -> usize {
        ((row.sparse[0] - self.okvs.dense) / self.okvs.segment) as usize
    }
}

/// A number below `bound` from a uniform word, with a bias of at most `bound`/2⁶⁴.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "less than bound")]
fn below(word: u64, bound: u32) -> u32 {
    ((u128::from(word) * u128::from(bound)) >> 64) as u32
}
