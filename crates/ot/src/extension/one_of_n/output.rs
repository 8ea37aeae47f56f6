//! From the matrix to outputs: its rows are turned, and hashed. Step 7 of `docs/protocols/oos.md`.

use alloc::vec::Vec;

use zeroize::Zeroizing;

use crate::{
    Session,
    base::Block,
    erase::SecretBytes,
    extension::{
        Challenge,
        code::{Parameters, turn::to_strings},
        matrix::Matrix,
    },
    oracle::{Oracle, Wide},
    tasks::{Executor, for_each},
};

/// OTs that are turned and hashed together.
const TILE: usize = 512;

/// A batch that is ready to be read.
pub(super) struct Output<'a> {
    pub(super) session: &'a Session,
    pub(super) executor: &'a dyn Executor,
    pub(super) parameters: Parameters,
    pub(super) matrix: &'a Matrix,
}

/// The hash of the keys of a batch; its id has the challenge in it, if there was one.
pub(super) fn oracle(session: &Session, batch: u64, challenge: Option<&Challenge>) -> Oracle {
    let id = session.oracle("foxtrot v1 one-of-n output").query(batch, 0);
    Oracle::new(
        "foxtrot v1 one-of-n key",
        &challenge.into_iter().fold(id, |id, u| id.field(u)).finish(),
    )
}

impl Output<'_> {
    /// The rows themselves.
    pub(super) fn rows(&self, rows: &mut [u8]) {
        self.tiles(rows, self.parameters.row_len(), |_, tile, rows| rows.copy_from_slice(tile));
    }

    /// A key of every row.
    pub(super) fn keys(&self, oracle: &Oracle, keys: &mut [Block]) {
        let len = self.parameters.row_len();
        self.tiles(keys, 1, |first, tile, keys| {
            let mut wide = Wide::new(self.session.backend());
            let question = |k: usize| ((first + k) as u64, 0, [&tile[k * len..][..len]]);
            wide.ask(oracle, keys.len(), question, keys.as_flattened_mut());
        });
    }

    /// For every row the keys of it and each of these differences.
    pub(super) fn all(&self, oracle: &Oracle, differences: &[u8], keys: &mut [Block]) {
        let len = self.parameters.row_len();
        let choices = differences.len() / len;
        self.tiles(keys, choices, |first, tile, keys| {
            let mut wide = Wide::new(self.session.backend());
            let mut rows = SecretBytes::zeroed(len * choices.min(TILE));
            for ((i, row), keys) in (first..).zip(tile.chunks(len)).zip(keys.chunks_mut(choices)) {
                let parts = differences.chunks(TILE * len).zip(keys.chunks_mut(TILE));
                for (differences, keys) in parts {
                    let rows = &mut rows[..differences.len()];
                    rows.copy_from_slice(differences);
                    for other in rows.chunks_exact_mut(len) {
                        other.iter_mut().zip(row).for_each(|(a, b)| *a ^= b);
                    }
                    let question = |k: usize| (i as u64, 0, [&rows[k * len..][..len]]);
                    wide.ask(oracle, keys.len(), question, keys.as_flattened_mut());
                }
            }
        });
    }

    /// Hands out TILE rows at a time, with the number of the first, and so many places for each.
    fn tiles<T: Send>(
        &self,
        out: &mut [T],
        places: usize,
        work: impl Fn(usize, &[u8], &mut [T]) + Sync,
    ) {
        let len = self.parameters.row_len();
        let tiles = out.len().div_ceil(TILE * places);
        let at_once = tiles.div_ceil(self.executor.threads().max(1)).max(1) * TILE;
        let parts: Vec<_> = out.chunks_mut(at_once * places).enumerate().collect();
        for_each(self.executor, parts.into_iter(), |(part, out)| {
            let mut blocks = Zeroizing::new([[0; 16]; TILE]);
            let mut tile = SecretBytes::zeroed(TILE * len);
            let firsts = (part * at_once..).step_by(TILE);
            for (first, out) in firsts.zip(out.chunks_mut(TILE * places)) {
                let tile = &mut tile[..out.len() / places * len];
                let matrix = (self.matrix.bytes(), self.matrix.stride());
                let backend = self.session.backend();
                to_strings(backend, matrix, first, len, blocks.as_mut_slice(), tile);
                work(first, tile, out);
            }
        });
    }
}
