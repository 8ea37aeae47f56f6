//! BLAKE3 of many short inputs of one length, side by side: one input to each lane of a vector. In
//! derive-key mode ([`derive_keys`]) and as a keyed hash ([`keyed`]).
//!
//! For backends with vectors only: [`lanes`] says how many inputs they take at once, and 1 means
//! that only [`small`] is for this machine.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod many;
pub mod small;

use crate::Backend;

const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 1 << 1;
const PARENT: u32 = 1 << 2;
const ROOT: u32 = 1 << 3;
const KEYED_HASH: u32 = 1 << 4;
const DERIVE_KEY_MATERIAL: u32 = 1 << 6;

const IV: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The message word that each of the seven rounds takes at each place.
const SCHEDULE: [[usize; 16]; 7] = {
    const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut schedule = [[0; 16]; 7];
    let mut k = 0;
    while k < 16 {
        schedule[0][k] = k;
        k += 1;
    }
    let mut round = 1;
    while round < 7 {
        let mut k = 0;
        while k < 16 {
            schedule[round][k] = schedule[round - 1][PERMUTATION[k]];
            k += 1;
        }
        round += 1;
    }
    schedule
};

/// The longest input, in bytes: two chunks.
pub const MAX_INPUT: usize = 2048;

/// Returns the number of inputs that [`derive_keys`] takes at once, in one vector or, on AVX2, two; 1 for
/// backends without vectors.
#[must_use]
pub fn lanes(backend: Backend) -> usize {
    dispatch!(neon backend, simd => many::lanes(simd), 1)
}

/// Writes for each input the first bytes of BLAKE3's output under a context's key.
///
/// `inputs` are strings of `input_len` bytes one after another, `outputs` as many strings of
/// `outputs.len() / count` bytes. Fewer than [`lanes`] inputs, or a rest below [`lanes`], take the time
/// of [`lanes`], or of half as many.
///
/// # Panics
/// If the backend has no vectors, an input is empty or longer than [`MAX_INPUT`], there is no input or
/// no byte of output, or the lengths do not fit together.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(unused_variables, reason = "it panics")
)]
pub fn derive_keys(
    backend: Backend,
    context_key: &[u8; 32],
    input_len: usize,
    inputs: &[u8],
    outputs: &mut [u8],
) {
    assert!(input_len > 0 && input_len <= MAX_INPUT && inputs.len().is_multiple_of(input_len));
    let count = inputs.len() / input_len;
    assert!(count > 0 && !outputs.is_empty() && outputs.len().is_multiple_of(count));
    let output_len = outputs.len() / count;
    let lanes = lanes(backend);
    assert!(lanes > 1, "the backend {} has no vectors", backend.name());
    for (group, outputs) in outputs.chunks_mut(lanes * output_len).enumerate() {
        let inputs = &inputs[group * lanes * input_len..];
        dispatch!(
            neon backend.for_lanes(outputs.len() / output_len),
            simd => many::derive(simd, context_key, (input_len, inputs), (output_len, outputs)),
            unreachable!("it has more than one lane"),
        );
    }
}

/// The whole blocks with which many inputs begin: those of input l are at `bytes[l * stride..]`.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    /// The bytes of all inputs.
    pub bytes: &'a [u8],
    /// Distance from the bytes of one input to those of the next.
    pub stride: usize,
    /// The number of blocks of each input.
    pub number: usize,
}

impl Blocks<'_> {
    /// No blocks: inputs are their ends.
    pub const NONE: Self = Self { bytes: &[], stride: 0, number: 0 };
}

/// Writes for each input the first bytes of BLAKE3's keyed hash. An input is its blocks and then
/// the first `end_len` bytes, 1 to 64, of its place in `ends`, where zeros follow them.
///
/// `outputs` are as many strings as there are ends, one after another. Times are as for
/// [`derive_keys`].
///
/// # Panics
/// If the backend has no vectors, there is no input or no byte of output, an input is longer than
/// [`MAX_INPUT`], or the lengths do not fit together.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(unused_variables, reason = "it panics")
)]
pub fn keyed(
    backend: Backend,
    key: &[u8; 32],
    blocks: Blocks<'_>,
    (ends, end_len): (&[[u8; 64]], usize),
    outputs: &mut [u8],
) {
    let count = ends.len();
    assert!(count > 0 && !outputs.is_empty() && outputs.len().is_multiple_of(count));
    assert!((1..=64).contains(&end_len) && 64 * blocks.number + end_len <= MAX_INPUT);
    let output_len = outputs.len() / count;
    let lanes = lanes(backend);
    assert!(lanes > 1, "the backend {} has no vectors", backend.name());
    let groups = ends.chunks(lanes).zip(outputs.chunks_mut(lanes * output_len));
    for (group, (ends, outputs)) in groups.enumerate() {
        let bytes = &blocks.bytes[group * lanes * blocks.stride..];
        let blocks = Blocks { bytes, ..blocks };
        dispatch!(
            neon backend.for_lanes(ends.len()),
            simd => many::keyed(simd, key, blocks, (ends, end_len), (output_len, outputs)),
            unreachable!("it has more than one lane"),
        );
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{vec, vec::Vec};

    use super::*;

    fn painted(len: usize) -> Vec<u8> {
        (0..len).map(|i| u8::try_from(i * i % 251).unwrap_or_default()).collect()
    }

    #[test]
    fn every_backend_with_vectors_hashes_as_blake3_does() {
        let context = "foxtrot v1 test of wide hashing";
        let key = blake3::hazmat::hash_derive_key_context(context);
        for backend in Backend::all().filter(|&backend| lanes(backend) > 1) {
            for input_len in [
                1, 4, 32, 48, 63, 64, 65, 68, 81, 201, 1023, 1024, 1025, 1056, 1084, 1088, 1297,
                2048,
            ] {
                for count in [1, 2, 7, 8, 9, 15, 16, 17, 41] {
                    let inputs = painted(count * input_len);
                    for output_len in [1, 16, 32, 63, 64, 65, 128, 1560] {
                        let mut outputs = vec![0; count * output_len];
                        derive_keys(backend, &key, input_len, &inputs, &mut outputs);
                        let pairs = inputs.chunks(input_len).zip(outputs.chunks(output_len));
                        for (input, output) in pairs {
                            let mut expected = vec![0; output_len];
                            let mut hasher = blake3::Hasher::new_derive_key(context);
                            hasher.update(input).finalize_xof().fill(&mut expected);
                            assert_eq!(output, expected, "{input_len} {count} {output_len}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_backend_with_vectors_hashes_with_a_key_as_blake3_does() {
        for backend in Backend::all().filter(|&backend| lanes(backend) > 1) {
            for (number, end_len) in
                [(0, 1), (0, 57), (0, 64), (1, 5), (15, 64), (16, 1), (17, 64), (19, 41), (31, 64)]
            {
                for count in [1, 2, 8, 9, 16, 17, 41] {
                    let stride = 64 * number + 7;
                    let bytes = painted(count * stride);
                    let mut ends = vec![[0; 64]; count];
                    for (l, end) in ends.iter_mut().enumerate() {
                        end[..end_len].copy_from_slice(&painted(l + end_len)[l..]);
                    }
                    for output_len in [1, 16, 32, 48, 64, 65, 1560] {
                        let mut outputs = vec![0; count * output_len];
                        let blocks = Blocks { bytes: &bytes, stride, number };
                        keyed(backend, &[9; 32], blocks, (&ends, end_len), &mut outputs);
                        for (l, output) in outputs.chunks(output_len).enumerate() {
                            let mut expected = vec![0; output_len];
                            let mut hasher = blake3::Hasher::new_keyed(&[9; 32]);
                            hasher.update(&bytes[l * stride..][..64 * number]);
                            hasher.update(&ends[l][..end_len]);
                            hasher.finalize_xof().fill(&mut expected);
                            assert_eq!(output, expected, "{number} {end_len} {count}");
                        }
                    }
                }
            }
        }
    }
}
