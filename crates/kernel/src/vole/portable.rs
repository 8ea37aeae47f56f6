//! Leaf after leaf, on pieces of 512 bytes: each string goes to all of its sums at once.

use super::{Sums, Tree};
use crate::{
    aegis::{STEP, portable::State},
    erase,
};

/// Steps of a piece.
const STEPS: usize = 16;

pub(super) fn run(tree: &Tree<'_>, len: usize, sums: &mut Sums<'_>) {
    let Sums { sum, rows, stride } = sums;
    let mut string = [[0; STEP]; STEPS];
    for x in 0..1 << tree.k {
        let Some(leaf) = tree.leaf(x) else { continue };
        let mut state = State::begin(leaf, tree.nonce);
        for at in (0..len).step_by(STEPS * STEP) {
            let piece = at..len.min(at + STEPS * STEP);
            let string = &mut string[..piece.len() / STEP];
            state.fill(string);
            for j in (0..tree.k).filter(|j| x >> j & 1 == 1) {
                put(&mut rows[j * *stride..][piece.clone()], string, x == 1 << j);
            }
            if let Some(sum) = sum {
                put(&mut sum[piece], string, x == 0);
            }
        }
    }
    erase(&mut string, [0; STEP]);
}

/// Begins a row, or adds to it.
fn put(bytes: &mut [u8], string: &[[u8; STEP]], first: bool) {
    let string = string.as_flattened();
    if first {
        bytes.copy_from_slice(string);
    } else {
        bytes.iter_mut().zip(string).for_each(|(byte, other)| *byte ^= other);
    }
}
