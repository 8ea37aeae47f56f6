//! The column check for a challenge that can be searched offline: two hashes over GF(2^128). Steps 4
//! and 6 of `crates/ot/src/extension/two_round.md`.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{Backend, gf::gf128};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{super::matrix::Matrix, ROWS};
use crate::{Bits, oracle::Query};

/// Bytes of an element of the field.
const ELEMENT: usize = 16;

/// The values of both hashes.
type Hash = [u128; 2];

/// χ of both hashes: each leaves one of the last two elements to itself, which is random and hides
/// the rest.
pub(super) struct Coefficients(pub(super) [Vec<u128>; 2]);

/// The hashes of the choice vector and of every row.
pub(super) struct Proof {
    choices: Hash,
    rows: Zeroizing<[Hash; ROWS]>,
}

impl Coefficients {
    /// Makes coefficients of the oracle's answer to that query, for `columns` columns.
    pub(super) fn new(challenge: Query, columns: usize) -> Self {
        let free = columns / (8 * ELEMENT) - 2;
        let mut bytes = vec![0; 2 * free * ELEMENT];
        challenge.fill(&mut bytes);
        let (first, second) = bytes.as_chunks::<ELEMENT>().0.split_at(free);
        let with = |chunks: &[[u8; ELEMENT]], last: [u128; 2]| {
            chunks.iter().map(|bytes| u128::from_le_bytes(*bytes)).chain(last).collect()
        };
        Self([with(first, [1, 0]), with(second, [0, 1])])
    }

    /// Hashes one row, or the choice vector.
    pub(super) fn hash(&self, backend: Backend, row: &[u8]) -> Hash {
        self.0.each_ref().map(|coefficients| {
            let mut hash = [0];
            gf128::inner_products(backend, row, row.len(), coefficients, &mut hash);
            hash[0]
        })
    }

    /// Hashes every row. The hashes of the sender's rows reveal Δ to a party that has the proof.
    pub(super) fn hash_rows(&self, backend: Backend, matrix: &Matrix) -> Zeroizing<[Hash; ROWS]> {
        let mut of_rows = Zeroizing::new([[0; 2]; ROWS]);
        let mut hashes = Zeroizing::new([0; ROWS]);
        for (k, coefficients) in self.0.iter().enumerate() {
            let (rows, stride) = (matrix.bytes(), matrix.stride());
            hashes.fill(0);
            gf128::inner_products(backend, rows, stride, coefficients, hashes.as_mut_slice());
            of_rows.iter_mut().zip(hashes.iter()).for_each(|(both, hash)| both[k] = *hash);
        }
        of_rows
    }
}

impl Proof {
    pub(super) const ENCODED_LEN: usize = 2 * ELEMENT * (1 + ROWS);

    pub(super) fn new(choices: Hash, rows: Zeroizing<[Hash; ROWS]>) -> Self {
        Self { choices, rows }
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        let all = self.choices.iter().chain(self.rows.as_flattened());
        bytes.extend(all.flat_map(|hash| hash.to_le_bytes()));
    }

    /// Any bytes of that length are an encoding.
    pub(super) fn decode(bytes: &[u8]) -> Self {
        let mut elements = bytes.as_chunks::<ELEMENT>().0.iter().map(|x| u128::from_le_bytes(*x));
        let mut next = || [0; 2].map(|_: u8| elements.next().unwrap_or_default());
        let choices = next();
        Self { choices, rows: Zeroizing::new(core::array::from_fn(|_| next())) }
    }

    /// Returns true if h(Q_r) = h(T_r) ⊕ Δ_r·h(X) in every row, for both h.
    pub(super) fn fits(&self, senders: &[Hash; ROWS], delta: &Bits) -> Choice {
        let mut wrong = 0;
        for (r, (ours, theirs)) in senders.iter().zip(self.rows.iter()).enumerate() {
            let mask = u128::from(delta.get(r).unwrap_u8()).wrapping_neg();
            for ((ours, theirs), choices) in ours.iter().zip(theirs).zip(&self.choices) {
                wrong |= ours ^ theirs ^ (choices & mask);
            }
        }
        wrong.ct_eq(&0)
    }
}
