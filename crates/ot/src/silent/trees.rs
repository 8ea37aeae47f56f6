//! GGM trees: section 20.3 of `docs/wire/silent.md`.

use foxtrot_kernel::aes::Aes128;
use subtle::{ConditionallySelectable, ConstantTimeEq};

use crate::{base::Block, erase::Secret};

/// The sums of a level: of the nodes with even and with odd index.
pub(super) type Sums = [u128; 2];

/// A tree of that height: nodes of a level replace those of the level above.
pub(super) struct Tree {
    nodes: Secret<Block>,
    inputs: Secret<Block>,
    level: usize,
}

impl Tree {
    /// Memory for trees of that height.
    pub(super) fn new(height: usize) -> Self {
        Self { nodes: Secret::zeroed(1 << height), inputs: Secret::zeroed(1 << height), level: 0 }
    }

    /// Begins a tree, of which the root is known to the sender.
    pub(super) fn plant(&mut self, root: &Block) {
        self.nodes[0] = *root;
        self.level = 0;
    }

    /// The nodes of the level.
    pub(super) fn nodes(&self) -> &[Block] {
        &self.nodes[..1 << self.level]
    }

    /// The nodes of the level.
    pub(super) fn nodes_mut(&mut self) -> &mut [Block] {
        &mut self.nodes[..1 << self.level]
    }

    /// Goes to the next level, and returns its sums.
    pub(super) fn descend(&mut self, pi: &Aes128) -> Sums {
        self.level += 1;
        let nodes = &mut self.nodes[..1 << self.level];
        let inputs = &mut self.inputs[..1 << self.level];
        for (pair, node) in inputs.as_chunks_mut::<2>().0.iter_mut().zip(nodes.iter()) {
            *pair = [*node; 2];
            pair[1][0] ^= 1;
        }
        nodes.copy_from_slice(inputs);
        pi.encrypt(nodes);
        let mut sums = [0; 2];
        for (i, (node, input)) in nodes.iter_mut().zip(inputs.iter()).enumerate() {
            let value = u128::from_le_bytes(*node) ^ u128::from_le_bytes(*input);
            *node = value.to_le_bytes();
            sums[i & 1] ^= value;
        }
        sums
    }

    /// Goes to the next level of a tree in which the node at `missing` is not known, and 0 is there. Its child on the
    /// side that is not `bit` becomes known by the sums that the sender has sent for that side, the other one 0; returns
    /// the index of that, and the sum of all others.
    pub(super) fn descend_but(
        &mut self,
        pi: &Aes128,
        missing: u32,
        bit: subtle::Choice,
        opened: u128,
    ) -> (u32, u128) {
        let mut sums = self.descend(pi);
        let mut of_zero = [[0; 16], [0; 16]];
        of_zero[1][0] = 1;
        pi.encrypt(&mut of_zero);
        of_zero[1][0] ^= 1;
        for (sum, child) in sums.iter_mut().zip(of_zero) {
            *sum ^= u128::from_le_bytes(child);
        }
        let known = opened ^ u128::conditional_select(&sums[1], &sums[0], bit);
        let gone = missing << 1 | u32::from(bit.unwrap_u8());
        let sibling = gone ^ 1;
        for (i, node) in (0u32..).zip(self.nodes_mut()) {
            let value = u128::from_le_bytes(*node);
            let value = u128::conditional_select(&value, &0, i.ct_eq(&gone));
            *node = u128::conditional_select(&value, &known, i.ct_eq(&sibling)).to_le_bytes();
        }
        (gone, sums[0] ^ sums[1] ^ known)
    }
}

foxtrot_kernel::redacted! {
    Tree, tree => "level {}", tree.level;
}
