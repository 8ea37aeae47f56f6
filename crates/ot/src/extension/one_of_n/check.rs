//! The column check of a linear code: hashes over GF(2^64) of the words and of every row. Steps 4 to
//! 6 of `docs/protocols/oos.md`.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{Backend, gf::gf64};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::GROUP;
use crate::{
    Bits, Session,
    extension::{Challenge, code::LinearCode, matrix::Matrix},
    tasks::{Executor, for_each},
};

/// χ of a batch of n OTs in `columns` columns: 1 for the last element, which is random and hides the
/// rest.
pub(super) fn coefficients(
    session: &Session,
    batch: u64,
    n: usize,
    challenge: &Challenge,
    columns: usize,
) -> Vec<u64> {
    let mut bytes = vec![0; columns / 8 - 8];
    session
        .oracle("foxtrot v1 one-of-n check")
        .query(batch, 0)
        .field(&(n as u64).to_le_bytes())
        .field(challenge)
        .fill(&mut bytes);
    let coefficients = bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    coefficients.chain([1]).collect()
}

/// h of the first n rows. The sender's tell Δ to a party that has the proof.
pub(super) fn hash_rows(
    backend: Backend,
    executor: &dyn Executor,
    matrix: &Matrix,
    n: usize,
    coefficients: &[u64],
) -> Zeroizing<Vec<u64>> {
    let mut hashes = Zeroizing::new(vec![0; n]);
    let stride = matrix.stride();
    let parts = matrix.bytes().chunks(GROUP * stride).zip(hashes.chunks_mut(GROUP));
    for_each(executor, parts, |(rows, hashes)| {
        gf64::inner_products(backend, rows, stride, coefficients, hashes);
    });
    hashes
}

/// Returns true if h(q_j) = h(t_j) ⊕ Δ_j·C(h(W))_j in every row, where h(W) and the h(t_j) are the
/// receiver's claims.
pub(super) fn fits(
    code: &LinearCode,
    senders: &[u64],
    delta: &Bits,
    words: &[u64],
    rows: &[u64],
) -> Choice {
    let mut wrong = 0;
    for (j, codeword) in code.encode_elements(words).into_iter().enumerate() {
        let mask = u64::from(delta.get(j).unwrap_u8()).wrapping_neg();
        wrong |= senders[j] ^ rows[j] ^ (codeword & mask);
    }
    wrong.ct_eq(&0)
}
