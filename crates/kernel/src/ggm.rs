//! GGM trees [[GGM86](https://doi.org/10.1145/6490.6503)] of blocks, whole or without one leaf.
//!
//! A node s has the children π(s) ⊕ s and π(s ⊕ 1) ⊕ s ⊕ 1, where π is AES-128 and 1 is the block with bit 0 set.
//! The children of node v of a level are the nodes 2v and 2v + 1 of the next. The root has level 0, leaves level h.

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

/// The greatest number of levels below the root.
pub const MAX_HEIGHT: usize = 24;

/// The block with bit 0 set.
const ONE: Block = 1u128.to_le_bytes();

/// Writes the 2^h leaves of a tree, and for every level from 1 to h the sums of its nodes: of those with even
/// index, then of those with odd index. Leaves have only the bits of `kept`.
///
/// # Panics
/// If `sums` has no level or more than [`MAX_HEIGHT`], or there are not 2^h leaves.
pub fn expand(
    pi: &Aes128,
    root: &Block,
    kept: &Block,
    leaves: &mut [Block],
    sums: &mut [[Block; 2]],
) {
    check(leaves.len(), sums.len());
    leaves[0] = *root;
    let h = sums.len();
    for (level, sums) in sums.iter_mut().enumerate() {
        let kept = of_level(kept, level, h);
        *sums = next_level(pi, &mut leaves[..2 << level], kept, None);
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
    alpha: u32,
    sums: &[Block],
    of_all: &Block,
    kept: &Block,
    leaves: &mut [Block],
) {
    check(leaves.len(), sums.len());
    let h = sums.len();
    // The children of a block of zeros, which stands in for every node of the path.
    let mut stand_ins = [[0; 16], ONE];
    pi.encrypt(&mut stand_ins);
    stand_ins[1][0] ^= 1;
    leaves[0] = [0; 16];
    let mut correction = Correction { parent: 0, blocks: [[0; 16]; 2] };
    for (level, known) in sums.iter().enumerate() {
        let kept = of_level(kept, level, h);
        let below = next_level(pi, &mut leaves[..2 << level], kept, Some(&correction));
        let index = u64::from(alpha) >> (h - level - 1);
        // All ones if the path goes to the odd child.
        let odd = core::hint::black_box(0u128.wrapping_sub(u128::from(index & 1)));
        let [even_sum, odd_sum] = below.map(u128::from_le_bytes);
        let [g0, g1] = stand_ins.map(|it| u128::from_le_bytes(it) & u128::from_le_bytes(*kept));
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
/// `nodes`. Returns the sums of the new nodes, of those with even and of those with odd index.
fn next_level(
    pi: &Aes128,
    nodes: &mut [Block],
    kept: &Block,
    correction: Option<&Correction>,
) -> [Block; 2] {
    by_schedule!(
        pi,
        c, keys => vectors::next_level(c, keys, nodes, kept, correction),
        cipher => portable::next_level(cipher, nodes, kept, correction),
    )
}

#[cfg(test)]
mod tests;
