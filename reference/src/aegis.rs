//! AEGIS-128L as a generator of key streams: the encryption of zeros without associated data, as in
//! RFC 10032. Blocks are those of [`aes`](crate::aes).

use crate::aes::round;

const C0: u128 = 0x6279_e990_5937_2215_0d08_0503_0201_0100;
const C1: u128 = 0xdd28_b573_4231_1120_f12f_c26d_5518_3ddb;

/// Returns the first `length` bytes of the stream, a multiple of 32.
///
/// # Panics
///
/// If `length` is no multiple of 32.
#[must_use]
pub fn keystream(key: u128, nonce: u128, length: usize) -> Vec<u8> {
    assert!(length.is_multiple_of(32), "whole steps");
    let mut s = [key ^ nonce, C1, C0, C1, key ^ nonce, key ^ C0, key ^ C1, key ^ C0];
    for _ in 0..10 {
        s = update(s, nonce, key);
    }
    let mut stream = vec![];
    while stream.len() < length {
        stream.extend((s[6] ^ s[1] ^ (s[2] & s[3])).to_le_bytes());
        stream.extend((s[2] ^ s[5] ^ (s[6] & s[7])).to_le_bytes());
        s = update(s, 0, 0);
    }
    stream
}

fn update(s: [u128; 8], m0: u128, m1: u128) -> [u128; 8] {
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

    /// The AEGIS-128L test vector 1.
    #[test]
    fn agrees_with_the_rfc() {
        let [key, nonce] = [0x1001_u128 << 112, 0x1000_0200_u128 << 96].map(u128::swap_bytes);
        let stream = keystream(key, nonce, 32);
        assert_eq!(hex(&stream[..16]), "c1c0e58bd913006feba00f4b3cc3594e");
    }
}
