//! Trees of seeds: from two keys per row to 2^d leaves per tree, of which the sender lacks one
//! [[Roy22](https://eprint.iacr.org/2022/192)]. Steps 1 to 4 of [the extension](super#steps).
//!
//! The sender keeps its nodes by y = x ⊕ Δ, so that the one that it lacks is always the first, and
//! nothing is ever at an address that depends on Δ.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::{Backend, bits::xor};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    ROWS,
    streams::{Keys, Nonces},
};
use crate::{
    Error, Misbehaved, Session,
    base::{Block, ReceiverKeys, SenderKeys},
    choices::{select, verdict},
    expect_len,
    oracle::{Oracle, Wide},
};

/// Bytes by which leaves are compared.
const WITNESS_LEN: usize = 32;

type Witness = [u8; WITNESS_LEN];

/// The witnesses of all trees, one tree after another; none if there is no check.
type Witnesses = Zeroizing<Vec<Witness>>;

/// The nodes of one level.
type Nodes = Zeroizing<Vec<Block>>;

/// One of the trees: the rows that it owns, as many as it has levels.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) index: usize,
    pub(super) rows: Range<usize>,
}

/// The trees of depth k, and a last one for what is left of the rows.
pub(super) fn trees(k: usize) -> impl Iterator<Item = Tree> + Clone {
    (0..ROWS.div_ceil(k))
        .map(move |index| Tree { index, rows: k * index..ROWS.min(k * (index + 1)) })
}

/// Bytes of `Setup`.
pub(super) fn setup_len(k: usize, checked: bool) -> usize {
    if k == 1 {
        return 0;
    }
    let corrections: usize = trees(k).map(|tree| (tree.depth() - 1) * 2 * 16).sum();
    corrections + if checked { trees(k).count() * WITNESS_LEN + WITNESS_LEN } else { 0 }
}

/// The hash functions of both parties.
struct Oracles {
    wide: Wide,
    base: Oracle,
    tree: Oracle,
    leaf: Oracle,
    check: Oracle,
}

impl Oracles {
    fn new(session: &Session) -> Self {
        Self {
            wide: Wide::new(session.backend()),
            base: session.oracle("foxtrot v1 extension base"),
            tree: session.oracle("foxtrot v1 extension tree"),
            leaf: session.oracle("foxtrot v1 extension leaf"),
            check: session.oracle("foxtrot v1 extension tree check"),
        }
    }

    /// P^b of a row, from the key of the other branch: the sender then lacks the leaf x = Δ.
    fn pad(&self, row: usize, b: Choice, key: &Block) -> Block {
        self.base.query(row as u64, b.unwrap_u8()).field(key).finish()
    }

    /// The children of all nodes of a level, one pair after another.
    fn children(&mut self, tree: &Tree, level: usize, nodes: &[Block]) -> Nodes {
        #[expect(clippy::cast_possible_truncation, reason = "at most 8")]
        let level = level as u8;
        let mut children = Nodes::new(vec![[0; 16]; 2 * nodes.len()]);
        let question = |k: usize| (tree.index as u64, level, [nodes[k].as_slice()]);
        self.wide.ask(&self.tree, nodes.len(), question, children.as_flattened_mut());
        children
    }

    /// Adds the keys of leaves, and their witnesses if there is to be a check.
    fn leaves(
        &mut self,
        tree: &Tree,
        nodes: &[Block],
        checked: bool,
        leaves: &mut Keys,
        witnesses: &mut Witnesses,
    ) {
        let len = 16 + if checked { WITNESS_LEN } else { 0 };
        let mut bytes = Zeroizing::new(vec![0; len * nodes.len()]);
        let question = |k: usize| (tree.index as u64, 0, [nodes[k].as_slice()]);
        self.wide.ask(&self.leaf, nodes.len(), question, &mut bytes);
        for leaf in bytes.chunks_exact(len) {
            let (key, witness) = leaf.split_at(16);
            leaves.extend(key.first_chunk::<16>());
            witnesses.extend(witness.first_chunk::<WITNESS_LEN>());
        }
    }

    fn digest(&self, witnesses: &Witnesses) -> Witness {
        self.check.query(0, 0).field(witnesses.as_flattened()).finish()
    }
}

impl Tree {
    fn depth(&self) -> usize {
        self.rows.len()
    }

    /// The row whose bit of the index is decided on that level.
    fn row_of(&self, level: usize) -> usize {
        self.rows.end - level
    }
}

/// The receiver's side: every leaf, tree after tree, and `Setup`.
pub(super) fn grow(
    session: &Session,
    k: usize,
    checked: bool,
    keys: &SenderKeys,
) -> (Keys, Vec<u8>) {
    let mut oracles = Oracles::new(session);
    let checked = checked && k > 1;
    let mut setup = Vec::with_capacity(setup_len(k, checked));
    let (mut leaves, mut witnesses) = of_all_trees(k, checked);
    let mut of_witnesses = Vec::new();
    for tree in trees(k) {
        let mut nodes = Nodes::new(pads(&oracles, keys, tree.row_of(1)).to_vec());
        for level in 2..=tree.depth() {
            let mut sums = pads(&oracles, keys, tree.row_of(level));
            nodes = oracles.children(&tree, level, &nodes);
            for pair in nodes.as_chunks::<2>().0 {
                sums.iter_mut().zip(pair).for_each(|(sum, child)| add(sum, child));
            }
            setup.extend_from_slice(sums.as_flattened());
        }
        let first = witnesses.len();
        oracles.leaves(&tree, &nodes, checked, &mut leaves, &mut witnesses);
        of_witnesses.push(sum(&witnesses[first..]));
    }
    if checked {
        setup.extend_from_slice(of_witnesses.as_flattened());
        setup.extend_from_slice(&oracles.digest(&witnesses));
    }
    (leaves, setup)
}

/// Room for the leaves of all trees and for their witnesses: growing would leave copies behind.
fn of_all_trees(k: usize, checked: bool) -> (Keys, Witnesses) {
    let len = ROWS.div_ceil(k) << k;
    let witnesses = Vec::with_capacity(if checked { len } else { 0 });
    (Keys::new(Vec::with_capacity(len)), Witnesses::new(witnesses))
}

/// P⁰ and P¹ of a row.
fn pads(oracles: &Oracles, keys: &SenderKeys, row: usize) -> Zeroizing<[Block; 2]> {
    let [zero, one] = &keys.pairs()[row];
    let pads = [(0, one), (1, zero)];
    Zeroizing::new(pads.map(|(b, key)| oracles.pad(row, Choice::from(b), key)))
}

/// The sender's side: every leaf but x = Δ, tree after tree, ordered by x ⊕ Δ.
///
/// # Errors
/// [`Decode`](crate::Decode) if `setup` has another length; [`Misbehaved::ConsistencyCheck`] if the leaves are not
/// those of the receiver, as far as this side can see.
pub(super) fn regrow(
    session: &Session,
    k: usize,
    checked: bool,
    keys: &ReceiverKeys,
    setup: &[u8],
) -> Result<Keys, Error> {
    let mut oracles = Oracles::new(session);
    let checked = checked && k > 1;
    expect_len("Setup", setup, setup_len(k, checked))?;
    let of_witnesses = if checked { (ROWS.div_ceil(k) + 1) * WITNESS_LEN } else { 0 };
    let (corrections, check) = setup.split_at(setup.len() - of_witnesses);
    let mut corrections = corrections.chunks_exact(32);
    let mut sums = check.chunks_exact(WITNESS_LEN);

    let (mut leaves, mut witnesses) = of_all_trees(k, checked);
    for tree in trees(k) {
        let mut nodes = Nodes::new(vec![[0; 16], *known_pad(&oracles, keys, tree.row_of(1))]);
        for level in 2..=tree.depth() {
            let row = tree.row_of(level);
            let delta = keys.choices().get(row);
            // The one node that no known node leads to is what is missing in the sum of its side.
            let mut missing = known_pad(&oracles, keys, row);
            let (zero, one) = corrections.next().unwrap_or(&[0; 32]).split_at(16);
            let mut correction = Zeroizing::new([0; 16]);
            select(!delta, zero, one, correction.as_mut_slice());
            add(&mut missing, &correction);
            // Those of the first node, which is not known, are overwritten.
            nodes = oracles.children(&tree, level, &nodes);
            for [even, odd] in nodes.as_chunks_mut::<2>().0.iter_mut().skip(1) {
                conditional_swap(even, odd, delta);
                add(&mut missing, odd);
            }
            nodes[0] = [0; 16];
            nodes[1] = *missing;
        }
        let first = witnesses.len();
        // The sum of a tree tells the witness of the leaf that is not known.
        witnesses.extend(sums.next().and_then(<[u8]>::first_chunk::<WITNESS_LEN>));
        oracles.leaves(&tree, &nodes[1..], checked, &mut leaves, &mut witnesses);
        let of_tree = &mut witnesses[first..];
        if checked && let Some((missing, known)) = of_tree.split_first_mut() {
            known.iter().for_each(|witness| add_witness(missing, witness));
        }
        for (j, row) in tree.rows.clone().enumerate() {
            swap_neighbours(of_tree, j, keys.choices().get(row));
        }
    }
    if checked {
        let digest = sums.next().unwrap_or_default();
        if !verdict(oracles.digest(&witnesses).as_slice().ct_eq(digest)) {
            return Err(Misbehaved::ConsistencyCheck.into());
        }
    }
    Ok(leaves)
}

/// P of the branch of a row that the sender can compute.
fn known_pad(oracles: &Oracles, keys: &ReceiverKeys, row: usize) -> Zeroizing<Block> {
    Zeroizing::new(oracles.pad(row, !keys.choices().get(row), &keys.keys()[row]))
}

pub(super) fn nonces(session: &Session) -> Nonces {
    Nonces::new(session, "foxtrot v1 extension stream")
}

fn add(sum: &mut Block, block: &Block) {
    xor(Backend::PORTABLE, sum, block);
}

fn sum(witnesses: &[Witness]) -> Witness {
    let mut sum = [0; WITNESS_LEN];
    witnesses.iter().for_each(|witness| add_witness(&mut sum, witness));
    sum
}

fn add_witness(sum: &mut Witness, witness: &Witness) {
    sum.iter_mut().zip(witness).for_each(|(byte, other)| *byte ^= other);
}

fn conditional_swap<const L: usize>(a: &mut [u8; L], b: &mut [u8; L], choice: Choice) {
    a.iter_mut().zip(b).for_each(|(a, b)| u8::conditional_swap(a, b, choice));
}

/// Turns index y into y ⊕ 2^j everywhere, if so chosen.
fn swap_neighbours(witnesses: &mut [Witness], j: usize, choice: Choice) {
    for block in witnesses.chunks_exact_mut(2 << j) {
        let (low, high) = block.split_at_mut(1 << j);
        low.iter_mut().zip(high).for_each(|(a, b)| conditional_swap(a, b, choice));
    }
}
