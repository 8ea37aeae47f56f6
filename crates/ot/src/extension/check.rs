//! The column check: a hash of every row and of what was chosen, over GF(2^64). Steps 7 to 9 of
//! [the extension](super#steps), and 4 to 6 of [1-of-N](super::one_of_n#steps).

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{Backend, gf::gf64};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{ROWS, matrix::Matrix};
use crate::{
    Bits,
    oracle::Query,
    tasks::{Executor, for_each},
};

/// `Challenge`: the sender's coin.
pub type Challenge = [u8; 32];

/// Bytes of `Proof`.
pub const PROOF_LEN: usize = 32 + 8 + ROWS * 8;

/// The most rows that are hashed together.
const TOGETHER: usize = 128;

/// χ of a batch of `columns` columns, from the query that has its challenge: 1 for the last element, which is random and
/// hides the rest.
pub(super) fn coefficients(challenge: Query, columns: usize) -> Vec<u64> {
    let mut bytes = vec![0; columns / 8 - 8];
    challenge.fill(&mut bytes);
    numbers(&bytes).chain([1]).collect()
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
    let at_once = n.div_ceil(executor.threads().max(1)).clamp(1, TOGETHER);
    let stride = matrix.stride();
    let parts = matrix.bytes().chunks(at_once * stride).zip(hashes.chunks_mut(at_once));
    for_each(executor, parts, |(rows, hashes)| {
        gf64::inner_products(backend, rows, stride, coefficients, hashes);
    });
    hashes
}

/// The hashes in a `Proof`, of which any bytes are some.
pub(super) fn numbers(proof: &[u8]) -> impl Iterator<Item = u64> {
    proof.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Returns true if h(q_r) = h(t_r) ⊕ Δ_r·c_r in every row, where the h(t_r) and c, the codeword of the hashed choices, are
/// the receiver's claims.
pub(super) fn fit(
    senders: &[u64],
    receivers: &[u64],
    delta: &Bits,
    codeword: impl Iterator<Item = u64>,
) -> Choice {
    assert_eq!(senders.len(), receivers.len());
    let (mut wrong, mut rows) = (0, 0);
    for (r, ((ours, theirs), c)) in senders.iter().zip(receivers).zip(codeword).enumerate() {
        rows += 1;
        let mask = u64::from(delta.get(r).unwrap_u8()).wrapping_neg();
        wrong |= ours ^ theirs ^ (c & mask);
    }
    assert_eq!(rows, senders.len(), "a codeword has a bit for every row");
    wrong.ct_eq(&0)
}
