//! Rijndael with blocks and keys of 256 bits (Daemen and Rijmen, *AES Proposal: Rijndael*, 1999): a
//! cipher on strings as long as an element of Curve25519's field. What is standardised as AES is
//! another size of it.
//!
//! By the rounds of the crate `aes`, which takes AES instructions where there are any, and is
//! bitsliced elsewhere: no table, and no branch. A state of eight columns is two of its blocks. Their
//! ShiftRows moves rows by 0, 1, 2 and 3 columns within four, Rijndael's by 0, 1, 3 and 4 within
//! eight; columns are mixed before each round so that both together are Rijndael's.

use aes::{
    Block as AesBlock,
    hazmat::{Block8, cipher_round_par, equiv_inv_cipher_round_par, inv_mix_columns, mix_columns},
};

use crate::erase;

const ROUNDS: usize = 14;

/// States side by side: two blocks each, of eight.
const WIDE: usize = 4;

/// Number of columns by which ShiftRows moves each row to the left.
const SHIFTS: [usize; 4] = [0, 1, 3, 4];

/// Eight columns, row 0 in the lowest byte.
type State = [u32; 8];

/// The key of every round.
type RoundKeys = [State; ROUNDS + 1];

/// Encrypts every block in place, under its key or the only one. Time depends on lengths alone.
///
/// # Panics
/// If there are more or fewer keys than that.
pub fn encrypt(keys: &[[u8; 32]], blocks: &mut [[u8; 32]]) {
    each(keys, blocks, |round_keys, states| {
        add(states, round_keys, 0);
        for round in 1..=ROUNDS {
            for state in states.iter_mut() {
                *state = arranged(state, |row, column| {
                    column / 4 * 4 + (column + 4 - row) % 4 + SHIFTS[row]
                });
            }
            let mut wide = to_blocks(states);
            cipher_round_par(&mut wide, &Block8::default());
            if round == ROUNDS {
                wide.iter_mut().for_each(inv_mix_columns);
            }
            *states = from_blocks(&mut wide);
            add(states, round_keys, round);
        }
    });
}

/// Undoes [`encrypt`].
///
/// # Panics
/// If there are more or fewer keys than that.
pub fn decrypt(keys: &[[u8; 32]], blocks: &mut [[u8; 32]]) {
    each(keys, blocks, |round_keys, states| {
        for round in (1..=ROUNDS).rev() {
            add(states, round_keys, round);
            let mut wide = to_blocks(states);
            if round < ROUNDS {
                wide.iter_mut().for_each(inv_mix_columns);
            }
            // To the other side; and a round mixes columns at its end.
            let mut back = from_blocks(&mut wide);
            for state in &mut back {
                *state = arranged(state, |row, column| {
                    column / 4 * 4 + (column + row) % 4 + 8 - SHIFTS[row]
                });
            }
            wide = to_blocks(&back);
            erase(&mut back, [0; 8]);
            equiv_inv_cipher_round_par(&mut wide, &Block8::default());
            wide.iter_mut().for_each(mix_columns);
            *states = from_blocks(&mut wide);
        }
        add(states, round_keys, 0);
    });
}

/// Takes blocks through `rounds`, WIDE at a time.
fn each(
    keys: &[[u8; 32]],
    blocks: &mut [[u8; 32]],
    rounds: impl Fn(&[RoundKeys; WIDE], &mut [State; WIDE]),
) {
    let one = keys.len() == 1;
    assert!(one || keys.len() == blocks.len(), "one key for each, or one for all");
    let mut round_keys = [[[0; 8]; ROUNDS + 1]; 2 * WIDE];
    let mut states = [[0; 8]; WIDE];
    for (group, blocks) in blocks.chunks_mut(2 * WIDE).enumerate() {
        if !one {
            expand(&keys[2 * WIDE * group..][..blocks.len()], &mut round_keys);
        } else if group == 0 {
            expand(&[keys[0]; 2 * WIDE], &mut round_keys);
        }
        for (blocks, round_keys) in blocks.chunks_mut(WIDE).zip(round_keys.as_chunks().0) {
            for (state, block) in states.iter_mut().zip(&*blocks) {
                *state = words(block);
            }
            rounds(round_keys, &mut states);
            for (block, state) in blocks.iter_mut().zip(&states) {
                *block = bytes(state);
            }
        }
    }
    erase(round_keys.as_flattened_mut(), [0; 8]);
    erase(&mut states, [0; 8]);
}

/// The key schedule for keys of eight words, of so many keys side by side.
fn expand(keys: &[[u8; 32]], round_keys: &mut [RoundKeys; 2 * WIDE]) {
    for (round_keys, key) in round_keys.iter_mut().zip(keys) {
        round_keys[0] = words(key);
    }
    let mut constant = 1;
    for round in 1..=ROUNDS {
        for half in [0, 4] {
            let mut last = round_keys.each_ref().map(|keys| match half {
                0 => keys[round - 1][7].rotate_right(8),
                _ => keys[round][3],
            });
            substitute(&mut last);
            for (keys, word) in round_keys.iter_mut().zip(last) {
                let mut word = if half == 0 { word ^ constant } else { word };
                let (before, after) = keys.split_at_mut(round);
                let before = &before[round - 1][half..half + 4];
                for (to, before) in after[0][half..half + 4].iter_mut().zip(before) {
                    word ^= before;
                    *to = word;
                }
            }
            erase(&mut last, 0);
        }
        // Times x modulo x⁸ + x⁴ + x³ + x + 1.
        constant = (constant << 1) ^ ((constant >> 7) * 0x11b);
    }
}

/// SubBytes of words: rounds of blocks whose columns are equal, which ShiftRows leaves alone.
fn substitute(words: &mut [u32; 2 * WIDE]) {
    let mut blocks = Block8::default();
    for (block, word) in blocks.iter_mut().zip(&*words) {
        block.0 = fours([*word; 4]);
    }
    cipher_round_par(&mut blocks, &Block8::default());
    for (block, word) in blocks.iter_mut().zip(words) {
        inv_mix_columns(block);
        let [a, b, c, d, ..] = block.0;
        *word = u32::from_le_bytes([a, b, c, d]);
    }
    clear(&mut blocks);
}

/// The state in which row r of column c is that row of the column which `source` names, modulo 8.
#[inline(always)]
fn arranged(state: &State, source: impl Fn(usize, usize) -> usize) -> State {
    core::array::from_fn(|column| {
        (0..4).fold(0, |word, row| word | state[source(row, column) % 8] & 0xff << (8 * row))
    })
}

fn add(states: &mut [State; WIDE], round_keys: &[RoundKeys; WIDE], round: usize) {
    for (state, keys) in states.iter_mut().zip(round_keys) {
        state.iter_mut().zip(&keys[round]).for_each(|(word, key)| *word ^= key);
    }
}

fn to_blocks(states: &[State; WIDE]) -> Block8 {
    let mut blocks = Block8::default();
    for (block, half) in blocks.iter_mut().zip(states.as_flattened().as_chunks().0) {
        block.0 = fours(*half);
    }
    blocks
}

/// Back, leaving nothing.
fn from_blocks(blocks: &mut Block8) -> [State; WIDE] {
    let mut states = [[0; 8]; WIDE];
    let (words, _) = states.as_flattened_mut().as_chunks_mut::<4>();
    for (words, block) in words.iter_mut().zip(&*blocks) {
        for (word, bytes) in words.iter_mut().zip(block.0.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
    }
    clear(blocks);
    states
}

fn clear(blocks: &mut Block8) {
    erase(blocks.as_mut_slice(), AesBlock::default());
}

fn fours(words: [u32; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

fn words(block: &[u8; 32]) -> State {
    core::array::from_fn(|i| u32::from_le_bytes(block.as_chunks().0[i]))
}

fn bytes(state: &State) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests;
