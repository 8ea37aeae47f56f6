//! The leaves and sums of trees are those of the definition, on every backend of this machine.

extern crate std;
use std::{vec, vec::Vec};

use super::*;
use crate::{
    Backend,
    laws::{Stream, on_every_backend},
};
#[cfg(target_arch = "x86_64")]
use crate::{
    aes::Schedule,
    backend::{Scalar, Vectors},
};

const KINDS: [TreeKind; 2] = [TreeKind::Ggm, TreeKind::Correlated];

/// All levels of a tree, node by node, each encrypted alone; level 0 is empty if there is none.
fn by_definition(key: &Block, kind: TreeKind, top: &[Block], h: usize) -> Vec<Vec<Block>> {
    let pi = Aes128::new(Backend::PORTABLE, key);
    let hash = |s: u128| {
        let mut block = [s.to_le_bytes()];
        pi.encrypt(&mut block);
        u128::from_le_bytes(block[0]) ^ s
    };
    let children = |s: u128| match kind {
        TreeKind::Ggm => [hash(s), hash(s ^ 1)],
        TreeKind::Correlated => {
            let [a, b] = [s & u128::from(u64::MAX), s >> 64];
            let left = hash(b | (a ^ b) << 64);
            [left, left ^ s]
        }
    };
    let mut levels = vec![Vec::new(); kind.top() - 1];
    levels.push(top.to_vec());
    while levels.len() <= h {
        let nodes = levels.last().unwrap().iter().map(|s| u128::from_le_bytes(*s));
        levels.push(nodes.flat_map(children).map(u128::to_le_bytes).collect());
    }
    levels
}

fn sum<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Block {
    blocks.into_iter().fold(0, |sum, x| sum ^ u128::from_le_bytes(*x)).to_le_bytes()
}

fn of_parity(nodes: &[Block], parity: usize) -> Block {
    sum(nodes.iter().skip(parity).step_by(2))
}

fn keep(leaves: &mut [Block], kept: Block) {
    leaves.iter_mut().flatten().zip(kept.iter().cycle()).for_each(|(byte, kept)| *byte &= kept);
}

fn leaves_and_sums(backend: Backend) {
    let mut random = Stream(1);
    for (h, kind) in (1..=11).flat_map(|h| KINDS.map(|kind| (h, kind))) {
        let [key, kept] = [(); 2].map(|()| random.blocks(1)[0]);
        let top = random.blocks(kind.top());
        let (mut leaves, mut sums) = (vec![[0xa5; 16]; 1 << h], vec![[[0xa5; 16]; 2]; h]);
        expand(&Aes128::new(backend, &key), kind, &top, &kept, &mut leaves, &mut sums);
        let mut levels = by_definition(&key, kind, &top, h);
        keep(&mut levels[h], kept);
        assert_eq!(leaves, levels[h]);
        for (nodes, sums) in levels[1..].iter().zip(&sums) {
            assert_eq!(*sums, [of_parity(nodes, 0), of_parity(nodes, 1)]);
        }
        if kind == TreeKind::Correlated {
            assert!(levels[1..h].iter().all(|nodes| sum(nodes) == sum(&top)));
        }
    }
}

fn punctured_trees(backend: Backend) {
    let mut random = Stream(2);
    for (h, kind) in (1..=9).flat_map(|h| KINDS.map(|kind| (h, kind))) {
        let (key, top) = (random.blocks(1)[0], random.blocks(kind.top()));
        let (pi, mut levels) = (Aes128::new(backend, &key), by_definition(&key, kind, &top, h));
        let kept = random.blocks(1)[0];
        keep(&mut levels[h], kept);
        let step = if h < 7 { 1 } else { 13 };
        for alpha in (0..1u32 << h).step_by(step).chain([(1 << h) - 1]) {
            let avoided: Vec<Block> = (1..=h)
                .map(|level| of_parity(&levels[level], 1 ^ (alpha as usize >> (h - level) & 1)))
                .collect();
            let mut avoided = avoided;
            // What is not kept counts for nothing.
            avoided[h - 1].iter_mut().zip(kept).for_each(|(byte, kept)| *byte |= !kept);
            let mut leaves = vec![[0xa5; 16]; 1 << h];
            let (of_all, mut expected) = (random.blocks(1)[0], levels[h].clone());
            expand_punctured(&pi, kind, alpha, &avoided, &of_all, &kept, &mut leaves);
            expected[alpha as usize] = [0; 16];
            expected[alpha as usize] = sum([&of_all, &sum(&expected)]);
            assert_eq!(leaves, expected, "{kind:?} {h} {alpha}");
        }
    }
}

/// A wrong sum of a level changes only leaves below the node that it gives.
fn a_wrong_sum_changes_one_subtree(backend: Backend) {
    let (h, alpha, wrong) = (6, 0b10_1101, 2);
    let pi = Aes128::new(backend, &[7; 16]);
    let levels = by_definition(&[7; 16], TreeKind::Ggm, &[[9; 16]], h);
    let mut avoided: Vec<Block> =
        (1..=h).map(|level| of_parity(&levels[level], 1 ^ (alpha >> (h - level) & 1))).collect();
    avoided[wrong - 1][3] ^= 1;
    let mut leaves = vec![[0; 16]; 1 << h];
    let alpha_given = u32::try_from(alpha).unwrap();
    let (of_all, kept) = ([3; 16], [0xff; 16]);
    expand_punctured(&pi, TreeKind::Ggm, alpha_given, &avoided, &of_all, &kept, &mut leaves);
    for (x, (leaf, expected)) in leaves.iter().zip(&levels[h]).enumerate() {
        let below = x >> (h - wrong) == alpha >> (h - wrong) ^ 1;
        // The sums of deeper levels are then taken for granted, so siblings of the path change also.
        let sibling = (wrong + 1..=h).any(|l| x >> (h - l) == alpha >> (h - l) ^ 1);
        if x != alpha {
            assert_eq!(leaf != expected, below || sibling, "{x}");
        }
    }
}

on_every_backend! {
    leaves_and_sums_follow_the_definition => leaves_and_sums;
    a_punctured_tree_lacks_one_leaf => punctured_trees;
    a_wrong_sum_spoils_what_is_derived_from_it => a_wrong_sum_changes_one_subtree;
}

#[test]
#[should_panic(expected = "the leaves of a tree")]
fn a_missing_leaf_is_refused() {
    let pi = Aes128::new(Backend::PORTABLE, &[0; 16]);
    let (leaves, sums) = (&mut [[0; 16]; 7], &mut [[[0; 16]; 2]; 3]);
    expand(&pi, TreeKind::Ggm, &[[0; 16]], &[0xff; 16], leaves, sums);
}

#[test]
#[should_panic(expected = "the height of a tree")]
fn a_tree_without_levels_is_refused() {
    let pi = Aes128::new(Backend::PORTABLE, &[0; 16]);
    expand(&pi, TreeKind::Ggm, &[[0; 16]], &[0xff; 16], &mut [[0; 16]; 1], &mut []);
}

/// The processor decides which of the two vectors the backend avx2 takes: the test compares them.
#[cfg(target_arch = "x86_64")]
#[test]
fn vectors_of_one_block_and_of_two_give_the_same() {
    let Ok(backend) = Backend::named("avx2") else { return };
    let pi = Aes128::new(backend, &[0x5a; 16]);
    let (Schedule::RoundKeys(keys), Vectors::Avx2(one)) = (&pi.schedule, backend.vectors()) else {
        unreachable!("the backend's own")
    };
    let mut random = Stream(3);
    let sizes = (0..7).flat_map(|h| KINDS.map(|kind| (h, kind)));
    // Two nodes of a correlated tree are its first level.
    for (h, kind) in sizes.filter(|(h, kind)| 1 << h >= kind.top()) {
        let mut nodes = random.blocks(2 << h);
        let [kept, blocks @ ..] = [(); 3].map(|()| random.blocks(1)[0]);
        let correction = Correction { parent: (1 << h) / 3, blocks };
        for correction in [None, Some(&correction)] {
            let mut expected = nodes.clone();
            let sums = one.run(|| match kind {
                TreeKind::Ggm => {
                    vectors::next_level::<_, false>(one, keys, &mut expected, &kept, correction)
                }
                TreeKind::Correlated => {
                    vectors::next_level::<_, true>(one, keys, &mut expected, &kept, correction)
                }
            });
            assert_eq!(next_level(&pi, kind, &mut nodes, &kept, correction), sums, "{h}");
            assert_eq!(nodes, expected);
        }
        let mut expected = nodes.clone();
        Spread::new(one, &correction).correct(one, 0, &mut expected);
        backend.run(|| Spread::new(Scalar, &correction).correct(Scalar, 0, &mut nodes));
        assert_eq!(nodes, expected);
    }
}
