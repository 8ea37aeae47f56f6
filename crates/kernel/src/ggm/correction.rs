//! Corrections of the children of a node whose index is secret.

use crate::{Block, blocks::Blocks, erase, joined};

/// Vectors of nodes at a time.
pub(super) const NODES: usize = 4;

/// Blocks that are added to both children of a node, whose index is secret.
pub(super) struct Correction {
    pub(super) parent: u64,
    pub(super) blocks: [Block; 2],
}

pub(super) struct Spread<V> {
    /// For each place of a group: the number of the group's first parent for which it is the corrected one.
    targets: [V; NODES],
    /// Both blocks in turn.
    blocks: [V; 2],
}

impl<V: Copy> Spread<V> {
    #[inline(always)]
    pub(super) fn new<C: Blocks<Vector = V>>(c: C, correction: &Correction) -> Self {
        let [even, odd] = correction.blocks;
        let mut blocks = [even, odd, even, odd, even, odd, even, odd];
        let mut targets = [[0; 16]; 4 * NODES];
        for (target, k) in targets.iter_mut().zip(0..) {
            *target = joined([correction.parent.wrapping_sub(k / 2); 2]).to_le_bytes();
        }
        let spread = Self {
            targets: c.load_all(targets.as_flattened()),
            blocks: c.load_all(blocks.as_flattened()),
        };
        erase(&mut blocks, [0; 16]);
        erase(&mut targets, [0; 16]);
        spread
    }

    /// Corrects nodes, the first of which has an even index.
    #[inline(always)]
    pub(super) fn apply<C: Blocks<Vector = V>>(
        &self,
        c: C,
        first: usize,
        mut nodes: [V; NODES],
    ) -> [V; NODES] {
        let parent = c.splat(&joined([first as u64 >> 1; 2]).to_le_bytes());
        for (k, node) in nodes.iter_mut().enumerate() {
            let mask = c.equal(parent, self.targets[k]);
            *node = c.xor(*node, c.and(mask, self.blocks[k % 2]));
        }
        nodes
    }

    /// Corrects all nodes, the first of which has an even index.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn correct<C: Blocks<Vector = V>>(&self, c: C, first: usize, nodes: &mut [Block]) {
        let mut wide = nodes.as_flattened_mut().chunks_exact_mut(NODES * C::BYTES);
        let mut first = first;
        for bytes in &mut wide {
            c.store_all(self.apply(c, first, c.load_all(bytes)), bytes);
            first += NODES * C::BLOCKS;
        }
        let rest = wide.into_remainder();
        if !rest.is_empty() {
            c.store_parts(self.apply(c, first, c.load_parts(rest)), rest);
        }
    }
}
