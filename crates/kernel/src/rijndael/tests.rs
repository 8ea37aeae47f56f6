//! Tests against the definition, byte by byte, and against a published vector.

extern crate std;
use std::{vec, vec::Vec};

use super::*;
use crate::laws::Stream;

/// A product in GF(2)\[x\]/(x⁸ + x⁴ + x³ + x + 1).
fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        product ^= a * (b & 1);
        a = (a << 1) ^ ((a >> 7) * 0x1b);
        b >>= 1;
    }
    product
}

/// The inverse, and the affine map.
fn s_box(x: u8) -> u8 {
    let inverse = (0..=255).find(|&y| times(x, y) == 1).unwrap_or(0);
    (0..5).fold(0x63, |sum, k| sum ^ inverse.rotate_left(k))
}

/// Byte r + 4c is row r of column c.
fn by_definition(key: &[u8; 32], block: &[u8; 32]) -> [u8; 32] {
    let mut schedule: Vec<[u8; 4]> = key.as_chunks().0.to_vec();
    let mut constant = 1;
    for i in 8..8 * 15 {
        let mut word = schedule[i - 1];
        if i % 8 == 0 {
            word.rotate_left(1);
            word = word.map(s_box);
            word[0] ^= constant;
            constant = times(constant, 2);
        } else if i % 8 == 4 {
            word = word.map(s_box);
        }
        schedule.push(core::array::from_fn(|k| word[k] ^ schedule[i - 8][k]));
    }
    let add = |state: [u8; 32], round: usize| -> [u8; 32] {
        core::array::from_fn(|k| state[k] ^ schedule[8 * round + k / 4][k % 4])
    };
    let mut state = add(*block, 0);
    for round in 1..=14 {
        let boxed = state.map(s_box);
        let shifted: [u8; 32] =
            core::array::from_fn(|k| boxed[(k / 4 + [0, 1, 3, 4][k % 4]) % 8 * 4 + k % 4]);
        let mixed = core::array::from_fn(|k| {
            let entry = |offset: usize| shifted[k / 4 * 4 + (k + offset) % 4];
            times(entry(0), 2) ^ times(entry(1), 3) ^ entry(2) ^ entry(3)
        });
        state = add(if round == 14 { shifted } else { mixed }, round);
    }
    state
}

fn hex(digits: &str) -> [u8; 32] {
    core::array::from_fn(|k| u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).unwrap())
}

/// One of Brian Gladman's vectors for all sizes of Rijndael: digits of π under digits of e.
#[test]
fn a_published_vector_comes_out() {
    let key = hex("2b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfe");
    let text = hex("3243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c8");
    let expected = hex("a49406115dfb30a40418aafa4869b7c6a886ff31602a7dd19c889dc64f7e4e7a");
    assert_eq!(by_definition(&key, &text), expected);
    let mut block = [text];
    encrypt(&[key], &mut block);
    assert_eq!(block, [expected]);
}

#[test]
fn batches_match_the_definition_and_decryption_inverts_them() {
    let mut random = Stream(51);
    for n in [0, 1, 3, 4, 5, 8, 9, 17] {
        let mut strings =
            || -> Vec<[u8; 32]> { (0..n).map(|_| random.bytes(32).try_into().unwrap()).collect() };
        let (keys, texts) = (strings(), strings());
        for keys in [keys.clone(), vec![[7; 32]], vec![[0; 32]]] {
            if keys.len() != n && keys.len() != 1 {
                continue;
            }
            let mut blocks = texts.clone();
            encrypt(&keys, &mut blocks);
            for (k, (block, text)) in blocks.iter().zip(&texts).enumerate() {
                assert_eq!(*block, by_definition(&keys[k % keys.len()], text));
            }
            decrypt(&keys, &mut blocks);
            assert_eq!(blocks, texts);
        }
    }
}
