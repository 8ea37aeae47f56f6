//! Rijndael with blocks and keys of 256 bits, as in the proposal of Daemen and Rijmen.
//!
//! A state is eight columns of four bytes, one after another: row r of column c is byte 4c + r. AES is the
//! same with four columns, but for the shifts of rows.

use crate::aes::{S_BOX, multiply};

/// A block, a key, a round key.
type State = [u8; 32];

/// Number of columns by which each row moves.
const SHIFTS: [usize; 4] = [0, 1, 3, 4];

/// Returns `block` encrypted under `key`.
#[must_use]
pub fn encrypt(key: &State, block: &State) -> State {
    let round_keys = expand(key);
    let mut state = xor(block, &round_keys[0]);
    for (round, round_key) in round_keys.iter().enumerate().skip(1) {
        let boxed = state.map(|byte| S_BOX[usize::from(byte)]);
        let shifted = core::array::from_fn(|k| boxed[(k + 4 * SHIFTS[k % 4]) % 32]);
        let mixed = if round < 14 { mix(&shifted, [2, 3, 1, 1]) } else { shifted };
        state = xor(&mixed, round_key);
    }
    state
}

/// Returns what is encrypted to `block` under `key`.
///
/// # Panics
///
/// Never.
#[must_use]
pub fn decrypt(key: &State, block: &State) -> State {
    let round_keys = expand(key);
    let mut state = *block;
    for (round, round_key) in round_keys.iter().enumerate().skip(1).rev() {
        let mixed = xor(&state, round_key);
        let shifted = if round < 14 { mix(&mixed, [14, 11, 13, 9]) } else { mixed };
        let boxed: State = core::array::from_fn(|k| shifted[(k + 32 - 4 * SHIFTS[k % 4]) % 32]);
        state = boxed.map(|byte| (0..=255).find(|&x| S_BOX[usize::from(x)] == byte).expect("one"));
    }
    xor(&state, &round_keys[0])
}

/// Returns the round keys: 120 words, the first eight of which are the key.
fn expand(key: &State) -> Vec<State> {
    let mut bytes = key.to_vec();
    let mut round_constant = 1;
    for word in 8..120 {
        let previous = &bytes[4 * word - 4..];
        let mut mask = [previous[0], previous[1], previous[2], previous[3]];
        if word % 8 == 0 {
            mask.rotate_left(1);
        }
        if word % 4 == 0 {
            mask = mask.map(|byte| S_BOX[usize::from(byte)]);
        }
        if word % 8 == 0 {
            mask[0] ^= round_constant;
            round_constant = multiply(round_constant, 2);
        }
        for byte in mask {
            bytes.push(bytes[bytes.len() - 32] ^ byte);
        }
    }
    bytes.chunks(32).map(|round_key| round_key.try_into().expect("32 bytes")).collect()
}

/// Multiplies every column with the circulant matrix of that row.
fn mix(state: &State, row: [u8; 4]) -> State {
    core::array::from_fn(|k| {
        let entry = |offset: usize| state[k / 4 * 4 + (k + offset) % 4];
        (0..4).map(|offset| multiply(entry(offset), row[offset])).fold(0, |sum, x| sum ^ x)
    })
}

fn xor(a: &State, b: &State) -> State {
    core::array::from_fn(|k| a[k] ^ b[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// Checks one of Brian Gladman's vectors.
    #[test]
    fn a_published_vector_comes_out_and_goes_back() {
        let bytes = |digits: &str| -> State {
            core::array::from_fn(|k| {
                u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).expect("hex")
            })
        };
        let key = bytes("2b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfe");
        let text = bytes("3243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c8");
        let encrypted = encrypt(&key, &text);
        let expected = "a49406115dfb30a40418aafa4869b7c6a886ff31602a7dd19c889dc64f7e4e7a";
        assert_eq!(hex(&encrypted), expected);
        assert_eq!(decrypt(&key, &encrypted), text);
    }
}
