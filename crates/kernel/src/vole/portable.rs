//! On pieces of 2 KiB.

use zeroize::Zeroize;

use super::{MAX_K, Tree};
use crate::{Block, aes};

/// Blocks of a piece: enough to fill the `aes` crate's widest implementation many times over.
const PIECE: usize = 128;

type Piece = [Block; PIECE];

/// Partial sums: of strings waiting for their sibling, by level (the last is the sum of all), and
/// of the rows.
struct Partial {
    waiting: [Piece; MAX_K + 1],
    rows: [Piece; MAX_K],
    leaf: Piece,
}

pub(super) fn expand(
    tree: &Tree<'_>,
    len: usize,
    mut sum: Option<&mut [u8]>,
    rows: &mut [u8],
    stride: usize,
) {
    const ZERO: Piece = [[0; 16]; PIECE];
    let mut partial = Partial { waiting: [ZERO; MAX_K + 1], rows: [ZERO; MAX_K], leaf: ZERO };
    for at in (0..len).step_by(16 * PIECE) {
        let piece = at..len.min(at + 16 * PIECE);
        let n = piece.len() / 16;
        partial.add_up(tree, (at / 16) as u128, n);
        if let Some(sum) = &mut sum {
            sum[piece.clone()].copy_from_slice(partial.waiting[tree.k][..n].as_flattened());
        }
        for (j, row) in partial.rows[..tree.k].iter().enumerate() {
            rows[j * stride..][piece.clone()].copy_from_slice(row[..n].as_flattened());
        }
    }
    partial.zeroize();
}

impl Partial {
    fn add_up(&mut self, tree: &Tree<'_>, first: u128, n: usize) {
        for row in &mut self.rows[..tree.k] {
            row[..n].fill([0; 16]);
        }
        for x in 0..1 << tree.k {
            let first = tree.first_block + first;
            match tree.leaf(x) {
                Some(leaf) => aes::portable::ctr(leaf, first, &mut self.leaf[..n]),
                None => self.leaf[..n].fill([0; 16]),
            }
            // A leaf with ones at the end of its number completes that many subtrees.
            let level = x.trailing_ones() as usize;
            for level in 0..level {
                add(&mut self.rows[level][..n], &self.leaf[..n]);
                add(&mut self.leaf[..n], &self.waiting[level][..n]);
            }
            self.waiting[level][..n].copy_from_slice(&self.leaf[..n]);
        }
    }
}

impl Zeroize for Partial {
    fn zeroize(&mut self) {
        self.waiting.zeroize();
        self.rows.zeroize();
        self.leaf.zeroize();
    }
}

fn add(out: &mut [Block], a: &[Block]) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = (u128::from_ne_bytes(*out) ^ u128::from_ne_bytes(*a)).to_ne_bytes();
    }
}
