//! AEGIS-128L as a generator of key streams: the encryption of zeros without associated data, as in
//! RFC 10032. Blocks are those of [`aes`](crate::aes).

use crate::aes::round;

const C0: u128 = 0x6279_e990_5937_2215_0d08_0503_0201_0100;
const C1: u128 = 0xdd28_b573_4231_1120_f12f_c26d_5518_3ddb;

/// S₀ to S₇.
type State = [u128; 8];

/// Returns the first `length` bytes of the stream, a multiple of 32.
///
/// # Panics
///
/// If `length` is no multiple of 32.
#[must_use]
pub fn keystream(key: u128, nonce: u128, length: usize) -> Vec<u8> {
    assert!(length.is_multiple_of(32), "whole steps");
    let mut s = begin(key, nonce);
    let mut stream = vec![];
    while stream.len() < length {
        stream.extend(output(&s).map(u128::to_le_bytes).concat());
        s = update(s, 0, 0);
    }
    stream
}

fn begin(key: u128, nonce: u128) -> State {
    let mut s = [key ^ nonce, C1, C0, C1, key ^ nonce, key ^ C0, key ^ C1, key ^ C0];
    for _ in 0..10 {
        s = update(s, nonce, key);
    }
    s
}

fn output(s: &State) -> [u128; 2] {
    [s[6] ^ s[1] ^ (s[2] & s[3]), s[2] ^ s[5] ^ (s[6] & s[7])]
}

fn update(s: State, m0: u128, m1: u128) -> State {
    [
        round(s[7], s[0] ^ m0),
        round(s[0], s[1]),
        round(s[1], s[2]),
        round(s[2], s[3]),
        round(s[3], s[4] ^ m1),
        round(s[4], s[5]),
        round(s[5], s[6]),
        round(s[6], s[7]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// Blocks of the RFC's text.
    fn blocks<const N: usize>(text: [u128; N]) -> [u128; N] {
        text.map(u128::swap_bytes)
    }

    /// AEGIS-128L test vector 1.
    #[test]
    fn agrees_with_the_rfc() {
        let [key, nonce] = blocks([0x1001 << 112, 0x1000_0200 << 96]);
        let stream = keystream(key, nonce, 32);
        assert_eq!(hex(&stream[..16]), "c1c0e58bd913006feba00f4b3cc3594e");
    }

    /// AEGIS-128L test vector 3, whose tag depends on all that the state became; it has 64 bits of associated data.
    #[test]
    fn encryption_matches_the_rfc() {
        let [key, nonce, data] =
            blocks([0x1001 << 112, 0x1000_0200 << 96, 0x0001_0203_0405_0607 << 64]);
        let message = blocks([
            0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f,
            0x1011_1213_1415_1617_1819_1a1b_1c1d_1e1f,
        ]);
        let mut s = update(begin(key, nonce), data, 0);
        let z = output(&s);
        let encrypted = blocks([z[0] ^ message[0], z[1] ^ message[1]]);
        assert_eq!(
            encrypted,
            [0x79d9_4593_d8c2_119d_7e8f_d9b8_fc77_845c, 0x5c07_7a05_b252_8b6a_c54b_563a_ed8e_fe84]
        );
        s = update(s, message[0], message[1]);
        let lengths = s[2] ^ (64 | 256 << 64);
        for _ in 0..7 {
            s = update(s, lengths, lengths);
        }
        let tag = s[..7].iter().fold(0, |tag, block| tag ^ block);
        assert_eq!(tag.swap_bytes(), 0xcc6f_3372_f6aa_1bb8_2388_d695_c396_2d9a);
    }
}
