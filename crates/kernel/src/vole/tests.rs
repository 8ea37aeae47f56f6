//! The rows are the naive sums, on every backend of this machine.

extern crate std;
use std::{vec, vec::Vec};

use super::*;
use crate::{
    aegis::keystream,
    laws::{Stream, on_every_backend},
};

/// The sum over the leaves that `which` names of their streams.
fn naive(leaves: &[Block], nonce: &Block, len: usize, which: impl Fn(usize) -> bool) -> Vec<u8> {
    let (mut sum, mut one) = (vec![0; len], vec![0; len]);
    for (_, leaf) in leaves.iter().enumerate().filter(|&(x, _)| which(x)) {
        keystream(Backend::PORTABLE, leaf, nonce, &mut one);
        sum.iter_mut().zip(&one).for_each(|(sum, x)| *sum ^= x);
    }
    sum
}

/// Lengths around the pieces of all backends, for small trees; a few for large ones.
fn lengths(k: usize) -> Vec<usize> {
    if k < 4 {
        vec![0, 64, 128, 192, 256, 320, 448, 512, 576, 1024, 1984, 2048, 2112, 4096 + 448]
    } else {
        vec![64, 512 + 192, 2048 + 64]
    }
}

fn rows_are_sums_of_keystreams(backend: Backend) {
    let mut random = Stream(1);
    for k in 1..=MAX_K {
        let leaves = random.blocks(1 << k);
        for len in lengths(k) {
            let nonce = &random.blocks(1)[0];
            let stride = len + 24;
            let mut sum = vec![0xa5; len];
            let mut rows = vec![0xa5; k * stride];
            expand(backend, &leaves, nonce, &mut sum, &mut rows, stride);
            assert_eq!(sum, naive(&leaves, nonce, len, |_| true));
            for (j, row) in rows.chunks_exact(stride).enumerate() {
                assert_eq!(row[..len], naive(&leaves, nonce, len, |x| x >> j & 1 == 1), "{k} {j}");
                assert_eq!(row[len..], [0xa5; 24]);
            }

            let mut punctured = vec![0xa5; (k - 1) * stride + len];
            expand_punctured(backend, &leaves[1..], nonce, &mut punctured, stride, len);
            assert_eq!(punctured, rows[..(k - 1) * stride + len]);
        }
    }
}

/// [Roy22], figure 7: who lacks leaf Δ and numbers the others by their difference to it has
/// v_j ⊕ Δ_j·u.
fn the_parties_are_correlated(backend: Backend) {
    let mut random = Stream(2);
    let len = 192;
    for k in 1..=5 {
        let keys = random.blocks(1 << k);
        let (mut u, mut v, mut w) = (vec![0; len], vec![0; k * len], vec![0; k * len]);
        expand(backend, &keys, &[9; 16], &mut u, &mut v, len);
        for delta in 0..1 << k {
            let others: Vec<_> = (1..1 << k).map(|y| keys[y ^ delta]).collect();
            expand_punctured(backend, &others, &[9; 16], &mut w, len, len);
            for j in 0..k {
                for at in 0..len {
                    let share = if delta >> j & 1 == 1 { u[at] } else { 0 };
                    assert_eq!(w[j * len + at], v[j * len + at] ^ share);
                }
            }
        }
    }
}

on_every_backend! {
    rows => rows_are_sums_of_keystreams;
    correlation => the_parties_are_correlated;
}

#[test]
#[should_panic(expected = "the leaves of a tree")]
fn a_missing_leaf_is_refused() {
    let (leaves, nonce) = ([[0; 16]; 3], [0; 16]);
    expand(Backend::PORTABLE, &leaves, &nonce, &mut [0; 64], &mut [0; 128], 64);
}

#[test]
#[should_panic(expected = "k rows")]
fn missing_rows_are_refused() {
    let (leaves, nonce) = ([[0; 16]; 4], [0; 16]);
    expand(Backend::PORTABLE, &leaves, &nonce, &mut [0; 64], &mut [0; 127], 64);
}

#[test]
#[should_panic(expected = "strings come by 64 bytes")]
fn a_part_of_64_bytes_is_refused() {
    let (leaves, nonce) = ([[0; 16]; 4], [0; 16]);
    expand(Backend::PORTABLE, &leaves, &nonce, &mut [0; 32], &mut [0; 128], 64);
}

#[test]
#[should_panic(expected = "rows do not overlap")]
fn a_stride_below_the_length_is_refused() {
    let (leaves, nonce) = ([[0; 16]; 4], [0; 16]);
    expand(Backend::PORTABLE, &leaves, &nonce, &mut [0; 128], &mut [0; 256], 64);
}
