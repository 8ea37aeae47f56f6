//! Trees of blocks, whole or without one leaf, of two [kinds](TreeKind).
//!
//! The children of node v of a level are the nodes 2v and 2v + 1 of the next. Leaves have level h, a root has level 0. π is AES-128.

use correction::{Correction, Spread};

use crate::{
    Block,
    aes::{Aes128, by_schedule},
    erase,
};

mod correction;
mod portable;
#[cfg(target_arch = "x86_64")]
mod vectors;

/// The kinds of trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeKind {
    /// GGM trees [[GGM86](https://doi.org/10.1145/6490.6503)]: a node s has the children π(s) ⊕ s and π(s ⊕ 1) ⊕ s ⊕ 1, where 1 is the block with
    /// bit 0 set.
    Ggm,
    /// Correlated trees [[GYWZXZ23](https://eprint.iacr.org/2022/1431)]: a node s has the children H(s) and H(s) ⊕ s. H(s) is π(σ(s)) ⊕ σ(s), and σ
    /// takes halves (a, b), the low one first, to (b, a ⊕ b). There is no root. The nodes of every level have the same sum.
    Correlated,
}

impl TreeKind {
    /// The number of nodes of the first level: 1 of level 0, or 2 of level 1.
    #[must_use]
    pub const fn top(self) -> usize {
        match self {
            Self::Ggm => 1,
            Self::Correlated => 2,
        }
    }
}

/// The greatest number of levels below the root.
pub const MAX_HEIGHT: usize = 24;

/// The block with bit 0 set.
const ONE: Block = 1u128.to_le_bytes();

/// Writes the 2^h leaves of a tree, and for every level from 1 to h the sums of its nodes: of those with even
/// index, then of those with odd index. Leaves have only the bits of `kept`. `top` are the nodes of the first level: the root of a GGM tree,
/// both nodes of level 1 of a correlated one.
///
/// # Panics
/// If `sums` has no level or more than [`MAX_HEIGHT`], there are not 2^h leaves, or `top` has another number of nodes.
pub fn expand(
    pi: &Aes128,
    kind: TreeKind,
    top: &[Block],
    kept: &Block,
    leaves: &mut [Block],
    sums: &mut [[Block; 2]],
) {
    check(leaves.len(), sums.len());
    leaves[..kind.top()].copy_from_slice(top);
    let h = sums.len();
    for (level, sums) in sums.iter_mut().enumerate() {
        let (nodes, kept) = (&mut leaves[..2 << level], of_level(kept, level, h));
        *sums = next_level(pi, kind, nodes, kept, None);
    }
}

/// The bits that the nodes below a level have: the leaves those of `kept`, others all.
fn of_level(kept: &Block, level: usize, h: usize) -> &Block {
    if level + 1 == h { kept } else { &[0xff; 16] }
}

/// Writes all leaves of a tree, those but leaf `alpha` from the sums that the path to this leaf avoids: for level ℓ from 1
/// to h, the sum of the nodes whose index has another parity than ⌊α / 2^(h − ℓ)⌋. Leaf `alpha` is what the others lack to
/// `of_all`; the others have only the bits of `kept`, whatever else the last sum has.
///
/// Time does not depend on `alpha`. Wrong sums give wrong leaves.
///
/// # Panics
/// As [`expand`] does.
pub fn expand_punctured(
    pi: &Aes128,
    kind: TreeKind,
    alpha: u32,
    sums: &[Block],
    of_all: &Block,
    kept: &Block,
    leaves: &mut [Block],
) {
    check(leaves.len(), sums.len());
    let h = sums.len();
    // The children of a block of zeros, which stands in for every node of the path.
    let mut stand_ins = [[0; 16], if kind == TreeKind::Ggm { ONE } else { [0; 16] }];
    pi.encrypt(&mut stand_ins);
    stand_ins[1][0] ^= u8::from(kind == TreeKind::Ggm);
    leaves[..kind.top()].fill([0; 16]);
    let mut correction = Correction { parent: 0, blocks: [[0; 16]; 2] };
    for (level, known) in sums.iter().enumerate() {
        let kept = of_level(kept, level, h);
        let below = next_level(pi, kind, &mut leaves[..2 << level], kept, Some(&correction));
        let index = u64::from(alpha) >> (h - level - 1);
        // All ones if the path goes to the odd child.
        let odd = core::hint::black_box(0u128.wrapping_sub(u128::from(index & 1)));
        let [even_sum, odd_sum] = below.map(u128::from_le_bytes);
        let [g0, g1] = match () {
            // The path's node of the first level is zero.
            () if 1 << level < kind.top() => [0; 2],
            () => stand_ins.map(|it| u128::from_le_bytes(it) & u128::from_le_bytes(*kept)),
        };
        let known = u128::from_le_bytes(*known) & u128::from_le_bytes(*kept);
        // The path's node becomes zero, and the other child what its side's sum lacks.
        let [at_0, at_1] = [choose(odd, known ^ even_sum, g0), choose(odd, g1, known ^ odd_sum)];
        let mut missing = 0;
        if level == h - 1 {
            missing = u128::from_le_bytes(*of_all) ^ even_sum ^ odd_sum ^ at_0 ^ at_1;
        }
        let blocks = [at_0 ^ choose(odd, 0, missing), at_1 ^ choose(odd, missing, 0)];
        correction = Correction { parent: index >> 1, blocks: blocks.map(u128::to_le_bytes) };
    }
    dispatch!(
        wide pi.backend(),
        simd => Spread::new(simd, &correction).correct(simd, 0, leaves),
    );
    erase(&mut correction.blocks, [0; 16]);
}

/// a where the mask is ones, b where it is zeros.
fn choose(mask: u128, a: u128, b: u128) -> u128 {
    b ^ (mask & (a ^ b))
}

fn check(leaves: usize, height: usize) {
    assert!((1..=MAX_HEIGHT).contains(&height), "the height of a tree");
    assert!(leaves == 1 << height, "the leaves of a tree");
}

/// Corrects the nodes of a level, the first half of `nodes`, and replaces them by the bits `kept` of the nodes of the next level, all of
/// `nodes`; the first level of a tree stays, but for its bits. Returns the sums of the new nodes, of those with even and of those with odd index.
fn next_level(
    pi: &Aes128,
    kind: TreeKind,
    nodes: &mut [Block],
    kept: &Block,
    correction: Option<&Correction>,
) -> [Block; 2] {
    match kind {
        TreeKind::Correlated if nodes.len() == 2 => {
            let kept = u128::from_le_bytes(*kept);
            nodes.iter_mut().for_each(|it| *it = (u128::from_le_bytes(*it) & kept).to_le_bytes());
            [nodes[0], nodes[1]]
        }
        TreeKind::Correlated => by_schedule!(
            pi,
            c, keys => vectors::next_level::<_, true>(c, keys, nodes, kept, correction),
            cipher => portable::next_level::<true>(cipher, nodes, kept, correction),
        ),
        TreeKind::Ggm => by_schedule!(
            pi,
            c, keys => vectors::next_level::<_, false>(c, keys, nodes, kept, correction),
            cipher => portable::next_level::<false>(cipher, nodes, kept, correction),
        ),
    }
}

#[cfg(test)]
mod tests;
