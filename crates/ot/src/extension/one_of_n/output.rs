//! The step from the matrix to outputs: its rows are turned, and hashed. Step 7 of
//! `docs/protocols/oos.md`.

use alloc::vec::Vec;

use zeroize::Zeroizing;

use super::Extension;
use crate::{
    Session, Sid,
    base::Block,
    erase::SecretBytes,
    extension::{
        Challenge,
        code::{Parameters, turn::to_strings},
        matrix::Matrix,
    },
    oracle::{Oracle, Wide},
    tasks::for_each,
};

/// OTs that are turned and hashed together.
const TILE: usize = 512;

/// Queries that are put together, of one OT or of several.
const TOGETHER: usize = 128;

/// A batch of either party, once its corrections are there.
pub(super) struct Batch {
    pub(super) session: Sid,
    pub(super) number: u64,
    pub(super) n: usize,
    pub(super) rows: Matrix,
}

/// A batch that is ready to be read.
pub(super) struct Output<'a> {
    session: &'a Session,
    parameters: Parameters,
    matrix: &'a Matrix,
}

/// The hash of the keys of a batch; its id has the challenge in it, if there was one.
pub(super) fn oracle(session: &Session, batch: u64, challenge: Option<&Challenge>) -> Oracle {
    let id = session.oracle("foxtrot v1 one-of-n output").query(batch, 0);
    Oracle::new(
        "foxtrot v1 one-of-n key",
        &challenge.into_iter().fold(id, |id, u| id.field(u)).finish(),
    )
}

impl Extension {
    pub(super) fn output<'a>(&self, session: &'a Session, matrix: &'a Matrix) -> Output<'a> {
        Output { session, parameters: self.parameters(), matrix }
    }
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

    /// Hashes for each of n rows the keys of it and each of these differences. Threads share the
    /// keys, of which also a single row can have many; whatever their number, queries are put
    /// together.
    pub(super) fn all(&self, oracle: &Oracle, differences: &[u8], n: usize, keys: &mut [Block]) {
        let len = self.parameters.row_len();
        let choices = differences.len() / len;
        let per_thread = keys.len().div_ceil(self.session.executor().threads().max(1));
        let at_once = per_thread.next_multiple_of(TOGETHER).max(TOGETHER);
        let parts = keys.chunks_mut(at_once).enumerate();
        for_each(self.session.executor(), parts, |(part, keys)| {
            let mut wide = Wide::new(self.session.backend());
            let mut blocks = Zeroizing::new([[0; 16]; TILE]);
            let mut tile = SecretBytes::zeroed(TILE * len);
            let mut rows = SecretBytes::zeroed(TOGETHER * len);
            let mut numbers = [0; TOGETHER];
            let (mut i, mut choice) = (part * at_once / choices, part * at_once % choices);
            let mut in_tile = None;
            for keys in keys.chunks_mut(TOGETHER) {
                let questions = rows.chunks_exact_mut(len).zip(&mut numbers).take(keys.len());
                for (question, number) in questions {
                    let first = i / TILE * TILE;
                    if in_tile != Some(first) {
                        let tile = &mut tile[..TILE.min(n - first) * len];
                        self.tile(first, blocks.as_mut_slice(), tile);
                        in_tile = Some(first);
                    }
                    let row = &tile[i % TILE * len..][..len];
                    let difference = &differences[choice * len..][..len];
                    let sum = row.iter().zip(difference).map(|(a, b)| a ^ b);
                    question.iter_mut().zip(sum).for_each(|(to, byte)| *to = byte);
                    *number = i as u64;
                    choice += 1;
                    if choice == choices {
                        (i, choice) = (i + 1, 0);
                    }
                }
                let question = |k: usize| (numbers[k], 0, [&rows[k * len..][..len]]);
                wide.ask(oracle, keys.len(), question, keys.as_flattened_mut());
            }
        });
    }

    /// The rows from `first` on, a multiple of TILE.
    fn tile(&self, first: usize, blocks: &mut [Block], tile: &mut [u8]) {
        let matrix = (self.matrix.bytes(), self.matrix.stride());
        let len = self.parameters.row_len();
        to_strings(self.session.backend(), matrix, first, len, blocks, tile);
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
        let at_once = tiles.div_ceil(self.session.executor().threads().max(1)).max(1) * TILE;
        let parts: Vec<_> = out.chunks_mut(at_once * places).enumerate().collect();
        for_each(self.session.executor(), parts.into_iter(), |(part, out)| {
            let mut blocks = Zeroizing::new([[0; 16]; TILE]);
            let mut tile = SecretBytes::zeroed(TILE * len);
            let firsts = (part * at_once..).step_by(TILE);
            for (first, out) in firsts.zip(out.chunks_mut(TILE * places)) {
                let tile = &mut tile[..out.len() / places * len];
                self.tile(first, blocks.as_mut_slice(), tile);
                work(first, tile, out);
            }
        });
    }
}
