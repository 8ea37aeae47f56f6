//! AEGIS-128L ([RFC 10032], [WP13]) as a stream cipher: the encryption of zeros without associated
//! data. A step takes eight rounds of AES for 32 bytes, where counter mode takes twenty; a stream
//! begins with eighty.
//!
//! It begins with a key and a nonce, and has no counter: who needs another place of it takes another
//! nonce.
//!
//! [RFC 10032]: https://www.rfc-editor.org/rfc/rfc10032
//! [WP13]: https://eprint.iacr.org/2013/695

use crate::{Backend, Block};

/// The streams in the lanes of a vector, as many as it has blocks. What the functions are given is
/// in all lanes, but for the keys.
#[cfg(target_arch = "x86_64")]
macro_rules! streams {
    ($vector:ty, $features:literal, $xor:ident, $and:ident, $aesenc:ident) => {
        /// S₀ to S₇.
        pub(crate) type State = [$vector; 8];

        #[inline]
        #[target_feature(enable = $features)]
        fn begin_with(keys: $vector, nonce: $vector, [c0, c1]: [$vector; 2]) -> State {
            let both = $xor(keys, nonce);
            let [of_c0, of_c1] = [$xor(keys, c0), $xor(keys, c1)];
            let mut s = [both, c1, c0, c1, both, of_c0, of_c1, of_c0];
            for _ in 0..$crate::aegis::WARM_UP {
                update(&mut s);
                // What is absorbed is part of these two rounds' keys, which come last.
                s[0] = $xor(s[0], nonce);
                s[4] = $xor(s[4], keys);
            }
            s
        }

        /// What the streams give next, two blocks each.
        #[inline]
        #[target_feature(enable = $features)]
        pub(crate) fn next(s: &mut State) -> [$vector; 2] {
            let out = [
                $xor($xor(s[6], s[1]), $and(s[2], s[3])),
                $xor($xor(s[2], s[5]), $and(s[6], s[7])),
            ];
            update(s);
            out
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn update(s: &mut State) {
            let last = s[7];
            for i in (1..8).rev() {
                s[i] = $aesenc(s[i - 1], s[i]);
            }
            s[0] = $aesenc(last, s[0]);
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;

/// Bytes that a step gives.
pub(crate) const STEP: usize = 32;

/// Steps before the first that gives something.
const WARM_UP: usize = 10;

/// The Fibonacci numbers modulo 256.
const CONSTANTS: [Block; 2] = [
    0x6279_e990_5937_2215_0d08_0503_0201_0100_u128.to_le_bytes(),
    0xdd28_b573_4231_1120_f12f_c26d_5518_3ddb_u128.to_le_bytes(),
];

/// One stream, piece by piece.
pub(crate) trait Stream {
    fn begin(key: &Block, nonce: &Block) -> Self;

    /// What the stream gives next.
    fn fill(&mut self, out: &mut [[u8; STEP]]);
}

/// Writes the first `out.len()` bytes of the stream of a key and a nonce.
///
/// # Panics
/// If `out` is not a multiple of 32 bytes.
pub fn keystream(backend: Backend, key: &Block, nonce: &Block, out: &mut [u8]) {
    assert!(out.len().is_multiple_of(STEP), "a stream consists of steps");
    per_isa!(neon backend, keystream(key, nonce, out));
}

/// Two streams under one nonce.
///
/// # Panics
/// If the strings differ in length, or are not a multiple of 32 bytes.
pub fn keystreams(backend: Backend, keys: &[Block; 2], nonce: &Block, out: [&mut [u8]; 2]) {
    assert!(out[0].len() == out[1].len(), "strings of one length");
    assert!(out[0].len().is_multiple_of(STEP), "a stream consists of steps");
    per_isa!(neon backend, keystreams(keys, nonce, out));
}

#[cfg(test)]
mod tests;
