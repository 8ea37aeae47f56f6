//! Rows: a key's hash under the row seed, as positions and bits.

use foxtrot_ot::{
    Session,
    tasks::{Executor, for_each},
};

use super::Okvs;
use crate::{Digest, RowSeed, erase::Secret, hashes::Keyed};

/// The positions of a key's ones: the sparse slots' places in their segments, of 64/H bits each; and the dense slots, of which bit k
/// stands for slot k, with the number of the first segment above them. Numbers, because the allocator has lists of these
/// zeroed.
pub(super) type Row = [u64; 2];

/// Bits of a sparse slot's place in its segment, of H.
const fn place_bits(sparse: usize) -> usize {
    64 / sparse
}

impl Okvs {
    /// The sparse slots of a row, H = [`Okvs::sparse`] of them: one per segment, ascending.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a place in a segment; a number of slots")]
    pub(super) fn slots_of<const H: usize>(&self, row: &Row) -> [u32; H] {
        let bits = const { place_bits(H) };
        let first = self.dense + self.start(row) as u32 * self.segment;
        core::array::from_fn(|k| {
            let place = row[0] >> (k * bits) & ((1 << bits) - 1);
            first + k as u32 * self.segment + place as u32
        })
    }

    /// The sparse slots of a row, where H is not a constant.
    pub(super) fn all_slots_of(&self, row: &Row) -> impl Iterator<Item = u32> + use<> {
        let slots = match self.sparse {
            2 => {
                let [a, b] = self.slots_of(row);
                [a, b, 0, 0]
            }
            3 => {
                let [a, b, c] = self.slots_of(row);
                [a, b, c, 0]
            }
            _ => self.slots_of(row),
        };
        slots.into_iter().take(self.sparse())
    }

    /// The segment where a row starts.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the number of a segment")]
    pub(super) fn start(&self, row: &Row) -> usize {
        (row[1] >> self.dense) as usize
    }
}

/// Bytes of hash per row: start, H ≤ 4 positions, dense bits, and what fills a block.
const ANSWER: usize = 64;
/// The most bytes of an answer that no row has use for.
const WORD: usize = 16;
/// Keys per call of the hash.
const PART: usize = 256;

impl Okvs {
    /// The rows of all keys, in their order, and the first W of the last 16 bytes of their hash.
    pub(super) fn rows<const W: usize>(
        &self,
        session: &Session,
        seed: &RowSeed,
        keys: &[Digest],
    ) -> (Secret<Row>, Secret<[u8; W]>) {
        let query =
            session.oracle("foxtrot v1 okvs row key").query(self.keys as u64, self.sparse - 2);
        let hash = Keyed { backend: session.backend(), key: query.field(&seed.0).finish() };
        match self.sparse {
            2 => self.rows_of::<2, W>(session.executor(), hash, keys),
            3 => self.rows_of::<3, W>(session.executor(), hash, keys),
            _ => self.rows_of::<4, W>(session.executor(), hash, keys),
        }
    }

    fn rows_of<const H: usize, const W: usize>(
        &self,
        executor: &dyn Executor,
        hash: Keyed,
        keys: &[Digest],
    ) -> (Secret<Row>, Secret<[u8; W]>) {
        const { assert!(W <= WORD && 8 * (H + 2) + WORD <= ANSWER) };
        let mut rows = Secret::zeroed(keys.len());
        let mut words = Secret::zeroed(keys.len());
        let outputs = rows.chunks_mut(PART).zip(words.chunks_mut(PART));
        for_each(executor, keys.chunks(PART).zip(outputs), |(keys, (rows, words))| {
            let mut answers = Secret::zeroed(ANSWER * keys.len());
            hash.hash(size_of::<Digest>(), keys.as_flattened(), ANSWER, &mut answers);
            let answers = answers.as_chunks::<ANSWER>().0;
            for ((answer, row), word) in answers.iter().zip(rows).zip(words) {
                *row = self.row::<H>(answer);
                *word = core::array::from_fn(|k| answer[ANSWER - WORD + k]);
            }
        });
        (rows, words)
    }

    #[inline]
    fn row<const H: usize>(&self, answer: &[u8; ANSWER]) -> Row {
        let word = |k: usize| u64::from_le_bytes(answer.as_chunks().0[k]);
        let Okvs { dense, starts, segment, .. } = *self;
        let place = |k: usize| below(word(1 + k), segment) << (k * const { place_bits(H) });
        let sparse = (0..H).map(place).sum();
        let start = below(word(0), starts);
        [sparse, word(1 + H) & ((1 << dense) - 1) | start << dense]
    }
}

/// A number below `bound` from a uniform word, with a bias of at most `bound`/2⁶⁴.
#[inline]
fn below(word: u64, bound: u32) -> u64 {
    ((u128::from(word) * u128::from(bound)) >> 64) as u64
}
