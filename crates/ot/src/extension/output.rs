//! The step from the matrix to outputs: rows become columns, and are hashed. Step 10 of
//! `docs/protocols/softspoken.md`.

use alloc::vec::Vec;
use core::fmt;

use foxtrot_kernel::{
    aes::{Aes128, tmmo, tmmo_pairs},
    bits::transpose,
};
use zeroize::Zeroizing;

use super::matrix::Matrix;
use crate::{
    Session,
    base::Block,
    oracle::Oracle,
    tasks::{Executor, for_each},
};

/// OTs whose keys are hashed with one permutation.
const TILE: usize = 1024;

/// The wanted output of a batch, with the memory for the sender's part.
pub enum Places<'a> {
    /// Both keys of random OTs.
    Random(&'a mut [[Block; 2]]),
    /// The rows of correlated OTs.
    Correlated(&'a mut [Block]),
}

/// The wanted output of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtKind {
    /// Keys of random OTs.
    Random,
    /// The rows of correlated OTs.
    Correlated,
}

/// Both parties' coins of a checked batch.
#[derive(Clone, Copy)]
pub(super) struct Coins {
    pub(super) receiver: [u8; 32],
    pub(super) sender: [u8; 32],
}

/// A batch that is ready to be read.
pub(super) struct Output<'a> {
    pub(super) session: &'a Session,
    pub(super) executor: &'a dyn Executor,
    pub(super) batch: u64,
    pub(super) coins: Option<Coins>,
    pub(super) matrix: &'a Matrix,
}

impl Output<'_> {
    pub(super) fn correlated(&self, rows: &mut [Block]) {
        self.tiles(rows, |_, tile, rows: &mut [Block]| rows.copy_from_slice(tile));
    }

    /// The receiver's keys.
    pub(super) fn keys(&self, keys: &mut [Block]) {
        let oracle = self.oracle();
        self.tiles(keys, |g, tile, keys| {
            tmmo(&self.permutation(&oracle, g), (g * TILE) as u64, tile, keys);
        });
    }

    /// The sender's keys.
    pub(super) fn pairs(&self, delta: &Block, keys: &mut [[Block; 2]]) {
        let oracle = self.oracle();
        self.tiles(keys, |g, tile, keys| {
            tmmo_pairs(&self.permutation(&oracle, g), (g * TILE) as u64, delta, tile, keys);
        });
    }

    /// Hands out TILE rows at a time with the places for what becomes of them.
    fn tiles<T: Send>(&self, out: &mut [T], work: impl Fn(usize, &[Block], &mut [T]) + Sync) {
        let tiles = out.len().div_ceil(TILE);
        let at_once = tiles.div_ceil(self.executor.threads().max(1)).max(1);
        let parts = out.chunks_mut(at_once * TILE).enumerate();
        for_each(self.executor, parts, |(part, out)| {
            // One for all: to erase it takes as long as to hash it.
            let mut tile = Zeroizing::new([[0; 16]; TILE]);
            for (g, out) in (part * at_once..).zip(out.chunks_mut(TILE)) {
                let columns = &mut tile[..out.len().next_multiple_of(128)];
                let (rows, stride) = (self.matrix.bytes(), self.matrix.stride());
                transpose(self.session.backend(), rows, stride, g * TILE, columns);
                work(g, &tile[..out.len()], out);
            }
        });
    }

    fn oracle(&self) -> Oracle {
        self.session.oracle("foxtrot v1 extension output")
    }

    fn permutation(&self, oracle: &Oracle, tile: usize) -> Aes128 {
        let mut query = oracle.query((self.batch << 6) + tile as u64, 0);
        if let Some(Coins { receiver, sender }) = &self.coins {
            query = query.field(receiver).field(sender);
        }
        Aes128::new(self.session.backend(), &query.finish())
    }
}

/// The bits "flips" of a batch whose choices were not given.
pub(super) fn flips(session: &Session, batch: u64, challenge: &[u8; 32], n: usize) -> Vec<u8> {
    let mut flips = alloc::vec![0; n.div_ceil(8)];
    session.oracle("foxtrot v1 extension flips").query(batch, 0).field(challenge).fill(&mut flips);
    flips
}

impl Places<'_> {
    /// Returns the number of OTs for which there is a place.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Random(keys) => keys.len(),
            Self::Correlated(rows) => rows.len(),
        }
    }
}

impl fmt::Debug for Places<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(keys) => write!(f, "Random(<{} redacted>)", keys.len()),
            Self::Correlated(rows) => write!(f, "Correlated(<{} redacted>)", rows.len()),
        }
    }
}
