//! The trees of section 20.3.

use super::{Block, xor_of};
use crate::aes;

/// Returns all nodes of the GGM tree of `root` under π's `key`, level by level from the root.
#[must_use]
pub fn tree(key: Block, root: Block, h: u32) -> Vec<Vec<Block>> {
    grow(key, vec![vec![root]], h, children)
}

/// Returns all nodes of the correlated tree of k = `first` under π's `key`, level by level. Every level adds up to Δ: level 0, which has
/// no use, is Δ itself.
#[must_use]
pub fn correlated_tree(key: Block, first: Block, delta: Block, h: u32) -> Vec<Vec<Block>> {
    grow(key, vec![vec![delta], vec![first, first ^ delta]], h, correlated_children)
}

/// A function that makes the children of a node, under π's key.
pub(super) type Children = fn(Block, Block) -> [Block; 2];

/// Adds the levels up to `h`.
fn grow(key: Block, mut levels: Vec<Vec<Block>>, h: u32, children: Children) -> Vec<Vec<Block>> {
    for level in levels.len() - 1..h as usize {
        let next = levels[level].iter().flat_map(|&node| children(key, node)).collect();
        levels.push(next);
    }
    levels
}

/// Returns the children of `node` of a GGM tree.
pub(super) fn children(key: Block, node: Block) -> [Block; 2] {
    [node, node ^ 1].map(|x| aes::encrypt(key, x) ^ x)
}

/// Returns the children of `node` of a correlated tree.
pub(super) fn correlated_children(key: Block, node: Block) -> [Block; 2] {
    // σ(node): its first 8 bytes are the low half.
    let x = node >> 64 ^ node >> 64 << 64 ^ node << 64;
    let left = aes::encrypt(key, x) ^ x;
    [left, left ^ node]
}

/// Returns E and O of a level.
pub(super) fn sums_of_sides(level: &[Block]) -> [Block; 2] {
    let sum = |side| xor_of(level.iter().skip(side).step_by(2));
    [sum(0), sum(1)]
}

/// Returns the leaves but for that at `place`, whose value is 0. `sum` of level ℓ is that of the side where the path does not go. Leaves
/// lack the bits `cleared`.
pub(super) fn punctured(
    key: Block,
    place: usize,
    sums: &[Block],
    cleared: Block,
    children: Children,
) -> Vec<Block> {
    let h = sums.len();
    let mut level = vec![0];
    for (depth, &sum) in (1..).zip(sums) {
        let path = place >> (h - depth);
        let mut next: Vec<Block> = level.iter().flat_map(|&node| children(key, node)).collect();
        if depth == h {
            next.iter_mut().for_each(|leaf| *leaf &= !cleared);
        }
        // Children of the missing node are none.
        (next[path], next[path ^ 1]) = (0, 0);
        let side = sums_of_sides(&next)[(path ^ 1) % 2];
        next[path ^ 1] = side ^ if depth == h { sum & !cleared } else { sum };
        level = next;
    }
    level
}
