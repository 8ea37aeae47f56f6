//! AEGIS-128L ([RFC 10032], [WP13]) as a stream cipher: the encryption of zeros without associated
//! data. A step takes eight rounds of AES for 32 bytes, where counter mode takes twenty; a stream
//! begins with eighty.
//!
//! It begins with a key and a nonce, and has no counter: who needs another place of it takes another
//! nonce.
//!
//! [RFC 10032]: https://www.rfc-editor.org/rfc/rfc10032
//! [WP13]: https://eprint.iacr.org/2013/695

#[cfg(any(target_arch = "x86_64", target_feature = "simd128"))]
use crate::backend::Vectors;
use crate::{Backend, Block};

pub(crate) mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
pub(crate) mod vectors;

/// Bytes that a step gives.
pub(crate) const STEP: usize = 32;

/// Steps before the first that gives something.
const WARM_UP: usize = 10;

/// The Fibonacci numbers modulo 256.
const CONSTANTS: [Block; 2] = [
    0x6279_e990_5937_2215_0d08_0503_0201_0100_u128.to_le_bytes(),
    0xdd28_b573_4231_1120_f12f_c26d_5518_3ddb_u128.to_le_bytes(),
];

/// Writes the first `out.len()` bytes of the stream of a key and a nonce.
///
/// # Panics
/// If `out` is not a multiple of 32 bytes.
pub fn keystream(backend: Backend, key: &Block, nonce: &Block, out: &mut [u8]) {
    assert!(out.len().is_multiple_of(STEP), "a stream consists of steps");
    let out = out.as_chunks_mut().0;
    #[cfg(target_feature = "simd128")]
    if let Vectors::Simd128(simd) = backend.vectors() {
        return vectors::keystream(simd, key, nonce, out);
    }
    dispatch!(
        backend,
        simd => vectors::keystream(simd.single(), key, nonce, out),
        portable::State::begin(key, nonce).fill(out),
    );
}

/// Writes the first `len` bytes of the streams of several keys under one nonce, the i-th to `rows[i * stride..]`. Two
/// streams go through the instructions of AES side by side where vectors have two blocks.
///
/// # Panics
/// If `len` is not a multiple of 32 or is larger than `stride`, or `rows` does not hold a row for each key.
pub fn keystreams(
    backend: Backend,
    keys: &[Block],
    nonce: &Block,
    rows: &mut [u8],
    stride: usize,
    len: usize,
) {
    assert!(len <= stride, "rows do not overlap");
    let mut rows = rows.chunks_mut(stride);
    let (pairs, last) = keys.as_chunks();
    let mut row = || &mut rows.next().expect("a row for each key")[..len];
    for keys in pairs {
        pair(backend, keys, nonce, [row(), row()]);
    }
    for key in last {
        keystream(backend, key, nonce, row());
    }
}

/// Two streams under one nonce.
///
/// # Panics
/// If the strings differ in length, or are not a multiple of 32 bytes.
pub(crate) fn pair(backend: Backend, keys: &[Block; 2], nonce: &Block, out: [&mut [u8]; 2]) {
    assert!(out[0].len() == out[1].len(), "strings of one length");
    assert!(out[0].len().is_multiple_of(STEP), "a stream consists of steps");
    #[cfg(target_arch = "x86_64")]
    if let Some(two) = match backend.vectors() {
        Vectors::Avx2(simd) => simd.wide(),
        Vectors::Avx512(simd) => Some(simd.two()),
        Vectors::None => None,
    } {
        let [one, other] = out.map(|out| out.as_chunks_mut().0);
        two.run(
            #[inline(always)]
            || vectors::two_keystreams(two, keys, nonce, [one, other]),
        );
        return;
    }
    for (key, out) in keys.iter().zip(out) {
        keystream(backend, key, nonce, out);
    }
}

#[cfg(test)]
mod tests;
