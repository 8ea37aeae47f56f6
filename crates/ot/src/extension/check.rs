//! The column check: a hash of every row and of the choice vector, over GF(2^64). Steps 7 to 9 of
//! `docs/protocols/softspoken.md`.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{Backend, gf::gf64};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{ROWS, Shape, matrix::Matrix};
use crate::{
    Bits, Session,
    tasks::{Executor, for_each},
};

/// `Challenge`: the sender's coin.
pub type Challenge = [u8; 32];

/// Bytes of `Proof`.
pub const PROOF_LEN: usize = 32 + 8 + ROWS * 8;

/// The hash of the choice vector and of every row.
pub(super) struct Hashes {
    choices: u64,
    rows: Zeroizing<[u64; ROWS]>,
}

/// χ of a batch of `columns` columns: 1 for the last element, which is random and hides the rest. Parties that do not
/// agree whether choices are given do not agree on these.
pub(super) fn coefficients(
    session: &Session,
    batch: u64,
    shape: Shape,
    challenge: &Challenge,
    columns: usize,
) -> Vec<u64> {
    let mut bytes = vec![0; columns / 8 - 8];
    session
        .oracle("foxtrot v1 extension check")
        .query(batch, u8::from(shape.given))
        .field(challenge)
        .fill(&mut bytes);
    let coefficients = bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    coefficients.chain([1]).collect()
}

/// h of every row. The sender's tell Δ to a party that has the proof.
pub(super) fn hash_rows(
    backend: Backend,
    executor: &dyn Executor,
    matrix: &Matrix,
    coefficients: &[u64],
) -> Zeroizing<[u64; ROWS]> {
    let mut hashes = Zeroizing::new([0; ROWS]);
    let at_once = ROWS.div_ceil(executor.threads().max(1));
    let stride = matrix.stride();
    let parts = matrix.bytes().chunks(at_once * stride).zip(hashes.chunks_mut(at_once));
    for_each(executor, parts, |(rows, hashes)| {
        gf64::inner_products(backend, rows, stride, coefficients, hashes);
    });
    hashes
}

/// h of the choice vector.
pub(super) fn hash_choices(backend: Backend, choices: &[u8], coefficients: &[u64]) -> u64 {
    let mut hash = [0];
    gf64::inner_products(backend, choices, choices.len(), coefficients, &mut hash);
    hash[0]
}

impl Hashes {
    pub(super) fn new(choices: u64, rows: Zeroizing<[u64; ROWS]>) -> Self {
        Self { choices, rows }
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.choices.to_le_bytes());
        bytes.extend(self.rows.iter().flat_map(|hash| hash.to_le_bytes()));
    }

    /// Decodes the end of a `Proof`, of which any bytes are an encoding.
    pub(super) fn decode(bytes: &[u8]) -> Self {
        let mut numbers =
            bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).fuse();
        let mut next = || numbers.next().unwrap_or_default();
        let choices = next();
        Self { choices, rows: Zeroizing::new(core::array::from_fn(|_| next())) }
    }

    /// Returns true if h(q_r) = h(t_r) ⊕ Δ_r·h(x) in every row.
    pub(super) fn fit(&self, senders: &[u64; ROWS], delta: &Bits) -> Choice {
        let mut wrong = 0;
        for (r, (ours, theirs)) in senders.iter().zip(self.rows.iter()).enumerate() {
            let mask = u64::from(delta.get(r).unwrap_u8()).wrapping_neg();
            wrong |= ours ^ theirs ^ (self.choices & mask);
        }
        wrong.ct_eq(&0)
    }
}
