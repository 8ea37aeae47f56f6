//! AES-128 encryption, as in FIPS 197.
//!
//! Blocks and keys are 16 bytes in the standard's order, held as the `u128` whose little-endian
//! bytes they are: byte n of the input is the least significant byte but n.

/// The bytes of a state, column after column: row r of column c is byte 4c + r.
type State = [u8; 16];

/// The substitution table, computed from its definition.
pub(crate) const S_BOX: [u8; 256] = s_box();

/// Returns `block` encrypted under `key`.
#[must_use]
pub fn encrypt(key: u128, block: u128) -> u128 {
    let round_keys = expand(key.to_le_bytes());
    let mut state = xor(block.to_le_bytes(), round_keys[0]);
    for round_key in &round_keys[1..10] {
        state = xor(mix_columns(shift_rows(substitute(state))), *round_key);
    }
    u128::from_le_bytes(xor(shift_rows(substitute(state)), round_keys[10]))
}

/// Returns what a round makes of a block: the key comes last.
pub(crate) fn round(block: u128, key: u128) -> u128 {
    let mixed = mix_columns(shift_rows(substitute(block.to_le_bytes())));
    u128::from_le_bytes(mixed) ^ key
}

/// Returns the eleven round keys: 44 words, the first four of which are the key.
fn expand(key: State) -> [State; 11] {
    let mut bytes = key.to_vec();
    let mut round_constant = 1;
    for word in 4..44 {
        let previous = &bytes[4 * word - 4..];
        let mut mask = [previous[0], previous[1], previous[2], previous[3]];
        if word % 4 == 0 {
            mask.rotate_left(1);
            mask = mask.map(|byte| S_BOX[usize::from(byte)]);
            mask[0] ^= round_constant;
            round_constant = multiply(round_constant, 2);
        }
        for byte in mask {
            bytes.push(bytes[bytes.len() - 16] ^ byte);
        }
    }
    core::array::from_fn(|round| core::array::from_fn(|k| bytes[16 * round + k]))
}

fn substitute(state: State) -> State {
    state.map(|byte| S_BOX[usize::from(byte)])
}

/// Rotates row r by r columns to the left.
fn shift_rows(state: State) -> State {
    core::array::from_fn(|k| state[(k + 4 * (k % 4)) % 16])
}

/// Multiplies every column with the circulant matrix of 2, 3, 1, 1.
fn mix_columns(state: State) -> State {
    core::array::from_fn(|k| {
        let entry = |offset: usize| state[k / 4 * 4 + (k + offset) % 4];
        multiply(entry(0), 2) ^ multiply(entry(1), 3) ^ entry(2) ^ entry(3)
    })
}

fn xor(a: State, b: State) -> State {
    core::array::from_fn(|k| a[k] ^ b[k])
}

/// Returns the product in GF(2)[x]/(x⁸ + x⁴ + x³ + x + 1).
pub(crate) const fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = a << 1 ^ if a >> 7 == 1 { 0x1b } else { 0 };
        b >>= 1;
    }
    product
}

/// Inverts every byte in the field (0 to 0), then applies the standard's affine map.
const fn s_box() -> [u8; 256] {
    let mut table = [0; 256];
    let mut x: u8 = 0;
    loop {
        // x⁻¹ = x²⁵⁴.
        let mut inverse = 1;
        let mut exponent = 0;
        while exponent < 254 {
            inverse = multiply(inverse, x);
            exponent += 1;
        }
        table[x as usize] = inverse
            ^ inverse.rotate_left(1)
            ^ inverse.rotate_left(2)
            ^ inverse.rotate_left(3)
            ^ inverse.rotate_left(4)
            ^ 0x63;
        if x == 255 {
            return table;
        }
        x += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// FIPS 197, appendices B and C.1: key, plaintext, ciphertext.
    const KNOWN: [[u128; 3]; 2] = [
        [
            0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c,
            0x3243_f6a8_885a_308d_3131_98a2_e037_0734,
            0x3925_841d_02dc_09fb_dc11_8597_196a_0b32,
        ],
        [
            0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f,
            0x0011_2233_4455_6677_8899_aabb_ccdd_eeff,
            0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a,
        ],
    ];

    #[test]
    fn agrees_with_the_standard() {
        for [key, plaintext, ciphertext] in KNOWN.map(|known| known.map(u128::swap_bytes)) {
            let encrypted = encrypt(key, plaintext);
            assert_eq!(hex(&encrypted.to_le_bytes()), hex(&ciphertext.to_le_bytes()));
        }
    }

    #[test]
    fn the_s_box_is_a_permutation_that_moves_every_byte() {
        let mut seen = [false; 256];
        for (x, &y) in (0..=255_u8).zip(&S_BOX) {
            assert!(!seen[usize::from(y)] && y != x, "{x}");
            seen[usize::from(y)] = true;
        }
    }
}
