//! BLAKE3 in derive-key mode of many short inputs of one length, side by side: one input to each
//! lane of a vector.
//!
//! For backends with vectors only: [`lanes`] says how many inputs they take at once, and 1 means
//! that this module has nothing to offer.

#[cfg(target_arch = "x86_64")]
mod many;

use crate::Backend;

/// The longest input, in bytes: two chunks.
pub const MAX_INPUT: usize = 2048;

/// How many inputs [`derive_keys`] takes at once; 1 for backends without vectors.
#[must_use]
pub fn lanes(backend: Backend) -> usize {
    dispatch!(backend, simd => many::lanes(simd), 1)
}

/// For each input the first bytes of BLAKE3's output under a context's key.
///
/// `inputs` are strings of `input_len` bytes one after another, `outputs` as many strings of
/// `outputs.len() / count` bytes. Fewer than [`lanes`] inputs, or a rest of that many, take the time
/// of [`lanes`], or of half as many.
///
/// # Panics
/// If the backend has no vectors, an input is empty or longer than [`MAX_INPUT`], there is no input,
/// or the lengths do not fit together.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "it panics"))]
pub fn derive_keys(
    backend: Backend,
    context_key: &[u8; 32],
    input_len: usize,
    inputs: &[u8],
    outputs: &mut [u8],
) {
    assert!(input_len > 0 && input_len <= MAX_INPUT && inputs.len().is_multiple_of(input_len));
    let count = inputs.len() / input_len;
    assert!(count > 0 && outputs.len().is_multiple_of(count));
    let output_len = outputs.len() / count;
    let lanes = lanes(backend);
    assert!(lanes > 1, "the backend {} has no vectors", backend.name());
    let groups = inputs.chunks(lanes * input_len).zip(outputs.chunks_mut(lanes * output_len));
    for (inputs, outputs) in groups {
        dispatch!(
            backend.for_lanes(inputs.len() / input_len),
            simd => many::derive(simd, context_key, (input_len, inputs), (output_len, outputs)),
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
            for input_len in [1, 63, 64, 65, 81, 201, 1023, 1024, 1025, 1088, 1297, 2048] {
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
}
