//! The trees of section 20.3.

use super::{Block, xor_of};
use crate::aes;

/// Returns all nodes of the tree of `root` under π's `key`, level by level from the root.
#[must_use]
pub fn tree(key: Block, root: Block, h: u32) -> Vec<Vec<Block>> {
    let mut levels = vec![vec![root]];
    for level in 0..h as usize {
        let children = levels[level].iter().flat_map(|&node| children(key, node)).collect();
        levels.push(children);
    }
    levels
}

/// Returns G₀ and G₁ of `node`.
fn children(key: Block, node: Block) -> [Block; 2] {
    [node, node ^ 1].map(|x| aes::encrypt(key, x) ^ x)
}

/// Returns E and O of a level.
pub(super) fn sums_of_sides(level: &[Block]) -> [Block; 2] {
    let sum = |side| xor_of(level.iter().skip(side).step_by(2));
    [sum(0), sum(1)]
}

/// Returns the leaves but for that at `place`, whose value is 0. `sum` of level ℓ is that of the side where the path does not go. Leaves
/// lack the bits `cleared`.
pub(super) fn punctured(key: Block, place: usize, sums: &[Block], cleared: Block) -> Vec<Block> {
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
