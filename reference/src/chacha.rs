//! ChaCha20-Poly1305 as in RFC 8439, with the nonce 0 and without associated data.

use crate::p256::{Number, add, multiply};
use crate::xor;

/// 2¹³⁰ − 5.
const P: Number = [0xffff_ffff_ffff_fffb, u64::MAX, 3, 0];

/// Returns the encrypted `text` and its tag.
#[must_use]
pub fn seal(key: &[u8; 32], text: &[u8]) -> Vec<u8> {
    let stream = (1..).flat_map(|counter| block(key, counter));
    let mut sealed = xor(text, &stream.take(text.len()).collect::<Vec<u8>>());
    let one_time = block(key, 0);
    let mut authenticated = sealed.clone();
    authenticated.resize(sealed.len().next_multiple_of(16), 0);
    // The length of the associated data, and that of the text.
    authenticated.extend([0, sealed.len() as u64].map(u64::to_le_bytes).as_flattened());
    sealed.extend(tag(&one_time[..32], &authenticated));
    sealed
}

/// Returns a block of the stream (2.3).
fn block(key: &[u8; 32], counter: u32) -> Vec<u8> {
    let mut start = vec![0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
    start.extend(key.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
    start.extend([counter, 0, 0, 0]);
    let mut state = start.clone();
    for _ in 0..10 {
        for k in 0..4 {
            quarter(&mut state, [k, 4 + k, 8 + k, 12 + k]);
        }
        for k in 0..4 {
            quarter(&mut state, [k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4]);
        }
    }
    state.iter().zip(start).flat_map(|(x, y)| x.wrapping_add(y).to_le_bytes()).collect()
}

/// A quarter round (2.1).
fn quarter(state: &mut [u32], [a, b, c, d]: [usize; 4]) {
    for (x, y, z, by) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        state[x] = state[x].wrapping_add(state[y]);
        state[z] = (state[z] ^ state[x]).rotate_left(by);
    }
}

/// Poly1305 (2.5).
fn tag(key: &[u8], text: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| -> Number {
        let mut words = [0; 4];
        for (k, byte) in bytes.iter().enumerate() {
            words[k / 8] |= u64::from(*byte) << (8 * (k % 8));
        }
        words
    };
    let (r, s) = key.split_at(16);
    let mut r = number(r);
    r[0] &= 0x0fff_fffc_0fff_ffff;
    r[1] &= 0x0fff_fffc_0fff_fffc;
    let sum = text.chunks(16).fold([0; 4], |sum, part| {
        let part = number(&[part, &[1]].concat());
        multiply(&r, &add(&sum, &part, &P), &P)
    });
    let [low, high, ..] = add(&[sum[0], sum[1], 0, 0], &number(s), &[0, 0, 1, 0]);
    [low, high].map(u64::to_le_bytes).concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// A.1, #1 and #2; 2.5.2; and A.3, #7 to #10, where sums come close to the modulus.
    #[test]
    fn agrees_with_the_rfc() {
        let blocks = [0, 1].map(|counter| hex(&block(&[0; 32], counter)));
        assert!(blocks[0].starts_with("76b8e0ada0f13d90405d6ae55386bd28"), "{blocks:?}");
        assert!(blocks[1].starts_with("9f07e7be5551387a98ba977c732d080d"), "{blocks:?}");
        let key = "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b";
        let key: Vec<u8> =
            (0..32).map(|k| u8::from_str_radix(&key[2 * k..2 * k + 2], 16).expect("hex")).collect();
        let text = b"Cryptographic Forum Research Group";
        assert_eq!(hex(&tag(&key, text)), "a8061dc1305136c6c22b8baf0c0127a9");

        let r = |x: u8| -> Vec<u8> { [&[x], &[0; 31][..]].concat() };
        let tags = |key: &[u8], text: &[[u8; 16]]| tag(key, text.as_flattened());
        let ones = [0xff; 16];
        assert_eq!(tags(&r(2), &[ones]), number_of(3));
        let mut s = r(2);
        s[16..].fill(0xff);
        assert_eq!(tags(&s, &[number_of(2)]), number_of(3));
        let (mut f0, mut fb, one) = (ones, [0xfe; 16], [1; 16]);
        (f0[0], fb[0]) = (0xf0, 0xfb);
        let mut eleven = [0; 16];
        eleven[0] = 0x11;
        assert_eq!(tags(&r(1), &[ones, f0, eleven]), number_of(5));
        assert_eq!(tags(&r(1), &[ones, fb, one]), [0; 16]);
    }

    fn number_of(x: u8) -> [u8; 16] {
        let mut number = [0; 16];
        number[0] = x;
        number
    }
}
