//! The trees of section 7: from d base OTs to 2ᵈ leaves, of which the sender lacks one.

use super::{Block, DELTA_BITS, Protocol, Rejected};
use crate::oracle::{Id, oracle, oracle32};

/// 32 bytes that stand for a leaf in the check.
type Witness = [u8; 32];

/// Returns the receiver's leaves of every tree as keys, and the message `Setup`.
pub(super) fn grow(
    protocol: Protocol,
    id: &Id,
    base_keys: &[[Block; 2]; DELTA_BITS],
) -> (Vec<Vec<Block>>, Vec<u8>) {
    let (mut trees, mut setup, mut witnesses) = (vec![], vec![], vec![]);
    for (tau, rows) in protocol.trees().into_iter().enumerate() {
        // Level ℓ belongs to row r(ℓ).
        let row = |level| rows.end - level;
        let p = |r: usize, b: u8| base(id, r, b, base_keys[r][usize::from(1 - b)]);
        let mut nodes = vec![p(row(1), 0), p(row(1), 1)];
        for level in 2..=rows.len() {
            nodes = nodes.into_iter().flat_map(|node| children(id, tau, level, node)).collect();
            for b in [0, 1] {
                let s = nodes.iter().skip(usize::from(b)).step_by(2).fold(0, |s, node| s ^ node);
                setup.extend((s ^ p(row(level), b)).to_le_bytes());
            }
        }
        let (keys, tree_witnesses): (Vec<_>, Vec<_>) =
            nodes.into_iter().map(|node| leaf(id, tau, node)).unzip();
        trees.push(keys);
        witnesses.push(tree_witnesses);
    }
    if protocol.has_tree_check() {
        for tree in &witnesses {
            setup.extend(tree.iter().fold([0; 32], xor));
        }
        setup.extend(digest(id, &witnesses));
    }
    (trees, setup)
}

/// Returns the sender's leaves of every tree as keys, `None` where Δ points.
pub(super) fn regrow(
    protocol: Protocol,
    id: &Id,
    delta: &[bool; DELTA_BITS],
    base_keys: &[Block; DELTA_BITS],
    setup: &[u8],
) -> Result<Vec<Vec<Option<Block>>>, Rejected> {
    if setup.len() != protocol.setup_len() {
        return Err(Rejected);
    }
    let (blocks, check) = setup.split_at(setup.len() - protocol.tree_check_len());
    let mut corrections = blocks.chunks(16).map(block);
    let (mut trees, mut witnesses) = (vec![], vec![]);
    for (tau, rows) in protocol.trees().into_iter().enumerate() {
        let row = |level| rows.end - level;
        // Of every pair P⁰, P¹ the sender has the one that its choice is not.
        let known = |r: usize| u8::from(!delta[r]);
        let p = |r: usize| base(id, r, known(r), base_keys[r]);
        let mut nodes = vec![None; 2];
        nodes[usize::from(known(row(1)))] = Some(p(row(1)));
        for level in 2..=rows.len() {
            let children = |node: Option<Block>| match node {
                Some(node) => children(id, tau, level, node).map(Some),
                None => [None; 2],
            };
            nodes = nodes.into_iter().flat_map(children).collect();
            let pair: Vec<Block> = corrections.by_ref().take(2).collect();
            // Two nodes are missing, siblings. The XOR of one parity is known, and so one of them.
            let b = known(row(level));
            let s = pair[usize::from(b)] ^ p(row(level));
            let mut same_parity: Vec<&mut Option<Block>> =
                nodes.iter_mut().skip(usize::from(b)).step_by(2).collect();
            let others = same_parity.iter().filter_map(|node| **node).fold(0, |s, node| s ^ node);
            let missing = same_parity.iter_mut().find(|node| node.is_none());
            **missing.expect("one of either parity") = Some(s ^ others);
        }
        let leaves: Vec<_> =
            nodes.into_iter().map(|node| node.map(|node| leaf(id, tau, node))).collect();
        trees.push(leaves.iter().map(|leaf| leaf.map(|(key, _)| key)).collect());
        witnesses.push(leaves.iter().map(|leaf| leaf.map(|(_, w)| w)).collect::<Vec<_>>());
    }
    if protocol.has_tree_check() {
        let (xors, sent_digest) = check.split_at(check.len() - 32);
        let complete = |(tree, xor_of_all): (Vec<Option<Witness>>, &[u8])| {
            let mut missing = [0; 32];
            missing.copy_from_slice(xor_of_all);
            let missing = tree.iter().flatten().fold(missing, xor);
            tree.into_iter().map(|w| w.unwrap_or(missing)).collect::<Vec<_>>()
        };
        let witnesses: Vec<_> = witnesses.into_iter().zip(xors.chunks(32)).map(complete).collect();
        if digest(id, &witnesses) != sent_digest {
            return Err(Rejected);
        }
    }
    Ok(trees)
}

/// Pᵣᵇ from the base OT's key of the other branch.
fn base(id: &Id, r: usize, b: u8, key: Block) -> Block {
    block(&oracle("foxtrot v1 extension base", id, r, b, &[&key.to_le_bytes()], 16))
}

/// Returns the two children, on `level`, of a node one level above.
fn children(id: &Id, tau: usize, level: usize, node: Block) -> [Block; 2] {
    let level = u8::try_from(level).expect("at most 8");
    let bytes = oracle("foxtrot v1 extension tree", id, tau, level, &[&node.to_le_bytes()], 32);
    [block(&bytes[..16]), block(&bytes[16..])]
}

/// Returns Lₓ and wₓ.
fn leaf(id: &Id, tau: usize, leaf: Block) -> (Block, Witness) {
    let bytes = oracle("foxtrot v1 extension leaf", id, tau, 0, &[&leaf.to_le_bytes()], 48);
    let mut w = [0; 32];
    w.copy_from_slice(&bytes[16..]);
    (block(&bytes[..16]), w)
}

fn digest(id: &Id, witnesses: &[Vec<Witness>]) -> [u8; 32] {
    let all = witnesses.concat().concat();
    oracle32("foxtrot v1 extension tree check", id, 0, 0, &[&all])
}

fn block(bytes: &[u8]) -> Block {
    Block::from_le_bytes(bytes.try_into().expect("16 bytes"))
}

fn xor(a: Witness, b: &Witness) -> Witness {
    core::array::from_fn(|k| a[k] ^ b[k])
}
