//! A sender's steps that extensions and 1-of-N extensions share: its batches are counted and challenged, and a check that fails
//! ends it.

use alloc::{vec, vec::Vec};

use zeroize::Zeroizing;

use super::{
    Challenge,
    check::fit,
    matrix::Pool,
    streams::{Keys, Nonces},
};
use crate::{
    Bits, Error, Misbehaved, Seed, Session, Usage, choices::verdict, engine::batches::Runs,
};

/// The sender of an extension, whatever its rows are for.
pub(super) struct Sending {
    pub(super) session: Session,
    pub(super) seed: Seed,
    pub(super) delta: Bits,
    pub(super) leaves: Keys,
    /// Batches so far.
    pub(super) batch: u64,
    pub(super) nonces: Nonces,
    /// A check has failed: there is no output any more.
    ended: bool,
    /// Matrices of rows.
    pub(super) rows: Pool,
    pub(super) runs: Runs,
}

impl Sending {
    pub(super) fn new(
        session: Session,
        delta: Bits,
        leaves: Keys,
        nonces: Nonces,
        seed: Seed,
    ) -> Self {
        let (rows, runs) = (Pool::default(), Runs::default());
        Self { session, seed, delta, leaves, batch: 0, nonces, ended: false, rows, runs }
    }

    /// Returns an error after a failed check.
    pub(super) fn expect_open(&self) -> Result<(), Usage> {
        if self.ended { Err(Usage::SessionEnded) } else { Ok(()) }
    }

    /// Δ, packed.
    pub(super) fn packed_delta(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.delta.as_bytes().to_vec())
    }

    /// The number of the next batch.
    pub(super) fn next(&mut self) -> u64 {
        self.batch += 1;
        self.batch - 1
    }

    /// The challenge to a batch.
    pub(super) fn challenge(&self, context: &'static str, number: u64) -> Challenge {
        self.session.oracle(context).query(number, 0).field(self.seed.as_bytes()).finish()
    }

    /// Checks that hashes of rows fit together, of ours and of the receiver's, whose choices have this codeword; and that its
    /// commitment opens.
    pub(super) fn check(
        &self,
        opened: subtle::Choice,
        [ours, theirs]: [&[u64]; 2],
        codeword: impl Iterator<Item = u64>,
    ) -> Result<(), Error> {
        match verdict(opened & fit(ours, theirs, &self.delta, codeword)) {
            true => Ok(()),
            false => Err(Misbehaved::ConsistencyCheck.into()),
        }
    }

    /// Forgets Δ. A peer that guesses Δ must not guess twice. Rows of earlier batches would also tell Δ.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.leaves = Keys::default();
        self.rows = Pool::default();
        self.seed = Seed::from_bytes([0; 32]);
        self.delta = Bits::from_random(vec![0; self.delta.as_bytes().len()], self.delta.len());
    }
}
