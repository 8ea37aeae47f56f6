//! `iknp`, `kos` and `softspoken-k`: from 128 base OTs to any number, as in `docs/wire/softspoken.md`,
//! section 7.
//!
//! The extension's sender chose Δ in the base OTs and has one key of each; the receiver has both.
//! A batch gives n OTs:
//!
//! ```text
//!     receiver                                         sender
//!  1  trees over the base keys
//!  2                          ── Setup ──→
//!  3                                                   the same trees, but leaf Δ_τ
//!                                                      [is every leaf the receiver's?]
//!     for every batch:
//!  4  leaves → rows T and choices X
//!  5                          ── Corrections: [commitment to t], D ──→
//!  6                                                   leaves, D → rows Q = T ⊕ Δ·X
//!  7                          ←── [Challenge: u] ──
//!  8                          ── [Proof: t, h(X), h(T)] ──→
//!  9                                                   [does h(Q) = h(T) ⊕ Δ·h(X)?]
//! 10  choices b, rows t                                rows q = t ⊕ b·Δ
//! 11  keys H(t)                                        keys H(q), H(q ⊕ Δ)
//! ```
//!
//! Steps in brackets are those of the checked protocols. Why step 6 works, for one row r whose bit
//! is bit j of the leaves' indices: if Δᵣ = 0, the sender has every leaf with bit j set, hence Tᵣ; if
//! Δᵣ = 1, it has every leaf with bit j clear, hence Tᵣ ⊕ Z, and D = Z ⊕ X turns that into Tᵣ ⊕ X.
//!
//! Rows of a batch are bits, one per column; a node, a key and an output row are 128 bits, least
//! significant first.

use crate::oracle::{Id, oracle};
use crate::{aegis, aes};
use crate::{bits_from_bytes, bytes_from_bits};
use core::ops::Range;

pub mod check;
mod receiver;
mod sender;
mod tree;

pub use receiver::{Received, Receiver, ReceiverBatch};
pub use sender::{Sender, SenderBatch, Sent};

/// 16 bytes, little endian.
pub type Block = u128;

/// One bit per column of a batch.
pub type Row = Vec<bool>;

/// A party's only randomness.
pub type Seed = [u8; 32];

/// The number of base OTs, of bits of Δ, and of rows.
pub const DELTA_BITS: usize = 128;

/// An extension, as its name describes it.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Base OTs per tree, 1 to 8.
    k: usize,
    checked: bool,
    /// True if tree 0 gives the choices where none are given.
    softspoken: bool,
}

impl Protocol {
    /// Returns the protocol called `name`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "iknp" => return Protocol { k: 1, checked: false, softspoken: false },
            "kos" => return Protocol { k: 1, checked: true, softspoken: false },
            _ => {}
        }
        let rest = name.strip_prefix("softspoken-").expect("name of a protocol");
        let semi_honest = rest.strip_suffix("-semi-honest");
        let k = semi_honest.unwrap_or(rest).parse().expect("k as a number");
        assert!((1..=8).contains(&k), "k is 1 to 8");
        Protocol { k, checked: semi_honest.is_none(), softspoken: true }
    }

    /// Returns the rows of every tree.
    #[must_use]
    pub fn trees(self) -> Vec<Range<usize>> {
        let starts = (0..DELTA_BITS).step_by(self.k);
        starts.map(|start| start..DELTA_BITS.min(start + self.k)).collect()
    }

    /// Returns m, the number of columns of a batch of `n` OTs.
    ///
    /// # Panics
    ///
    /// If a batch may not have `n`.
    #[must_use]
    pub fn columns(self, n: usize) -> usize {
        let m = 512 * (n + if self.checked { 64 } else { 0 }).div_ceil(512).max(1);
        assert!(m <= 65536, "OTs of a batch");
        m
    }

    /// Returns the length of `Setup`.
    #[must_use]
    pub fn setup_len(self) -> usize {
        let levels: usize = self.trees().iter().map(|rows| rows.len() - 1).sum();
        32 * levels + self.tree_check_len()
    }

    /// Returns f, the number of trees that need no correction.
    #[must_use]
    pub fn uncorrected(self, given: bool) -> usize {
        usize::from(self.softspoken && !given)
    }

    /// Returns true if trees are checked: with one base OT per tree there is nothing in `Setup` to
    /// cheat with.
    fn has_tree_check(self) -> bool {
        self.checked && self.k > 1
    }

    fn tree_check_len(self) -> usize {
        if self.has_tree_check() { 32 * self.trees().len() + 32 } else { 0 }
    }
}

/// A check of the sender's failed, or the message has another length than it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected;

/// Returns β ‖ ν of batch β.
pub(crate) fn nonce(id: &Id, batch: usize) -> Block {
    let nu = oracle("foxtrot v1 extension stream", id, 0, 0, &[], 8);
    Block::from_le_bytes(array(&[&(batch as u64).to_le_bytes(), &nu[..]].concat()))
}

/// Returns G: `m` bits of AEGIS-128L under `key` and `nonce`.
pub(crate) fn stream(key: Block, nonce: Block, m: usize) -> Row {
    bits_from_bytes(&aegis::keystream(key, nonce, m / 8), m)
}

pub(crate) fn add(sum: &mut Row, row: &Row) {
    for (sum, &bit) in sum.iter_mut().zip(row) {
        *sum ^= bit;
    }
}

/// Returns bit `i` of all rows.
pub(crate) fn column(rows: &[Row], i: usize) -> Block {
    let bits: Vec<bool> = rows.iter().map(|row| row[i]).collect();
    Block::from_le_bytes(array(&bytes_from_bits(&bits)))
}

fn commitment(id: &Id, batch: usize, t: &[u8]) -> Vec<u8> {
    oracle("foxtrot v1 extension commitment", id, batch, 0, &[t], 32)
}

/// Returns aᵢ of a batch.
fn flips(protocol: Protocol, id: &Id, batch: usize, n: usize, given: bool, u: &[u8]) -> Vec<bool> {
    if !protocol.checked || given {
        return vec![false; n];
    }
    let context = "foxtrot v1 extension flips";
    bits_from_bytes(&oracle(context, id, batch, 0, &[u], n.div_ceil(8)), n)
}

/// The hash that turns the rows of a batch into keys.
pub(crate) struct Output<'a> {
    pub(crate) id: Id,
    pub(crate) batch: usize,
    /// t and u of a checked protocol.
    pub(crate) coins: Option<(&'a [u8], &'a [u8])>,
}

impl Output<'_> {
    /// Returns the key of OT `i` from `row`.
    pub(crate) fn key(&self, i: usize, row: Block) -> Block {
        let fields = self.coins.map_or(vec![], |(t, u)| vec![t, u]);
        let index = 64 * self.batch + i / 1024;
        let key = oracle("foxtrot v1 extension output", &self.id, index, 0, &fields, 16);
        output_hash(Block::from_le_bytes(array(&key)), i, row)
    }
}

/// Returns H(v) = π(π(v) ⊕ i) ⊕ π(v), where π is AES-128 under `key`.
#[must_use]
pub fn output_hash(key: Block, i: usize, v: Block) -> Block {
    let inner = aes::encrypt(key, v);
    aes::encrypt(key, inner ^ i as Block) ^ inner
}

pub(crate) fn array(bytes: &[u8]) -> [u8; 16] {
    bytes.try_into().expect("16 bytes")
}
