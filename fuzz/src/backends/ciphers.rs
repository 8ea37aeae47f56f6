//! AES, AEGIS and BLAKE3.

use blake3::{Hasher, hazmat::HasherExt};
use foxtrot_kernel::{
    Backend, aegis as kernel_aegis,
    aes::{Aes128, tmmo, tmmo_pairs},
    blake3 as many,
};

use super::{Input, Results};

/// Blocks enough for every loop of a backend, and some rest.
const BLOCKS: usize = 70;

pub(super) fn aes(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let mut results = Results::default();
    let aes = Aes128::new(backend, &input.array());
    // Numbers that carry within a byte, a word or not at all, but not beyond the lower half.
    let first = u64::from_le_bytes(input.array()).min(u64::MAX - BLOCKS as u64);
    let upper = u128::from(u64::from_le_bytes(input.array())) << 64;
    let n = input.up_to(BLOCKS);
    results.keep(16 * n, |to| aes.ctr(upper | u128::from(first), to));
    let mut blocks = input.blocks(n);
    let mut keys = vec![[0; 16]; n];
    tmmo(&aes, first, &blocks, &mut keys);
    let mut pairs = vec![[[0; 16]; 2]; n];
    tmmo_pairs(&aes, first, &input.array(), &blocks, &mut pairs);
    aes.encrypt(&mut blocks);
    [keys.as_flattened(), pairs.as_flattened().as_flattened(), blocks.as_flattened()]
        .into_iter()
        .for_each(|all| results.0.extend(all));
    results.0
}

pub(super) fn aegis(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let mut results = Results::default();
    let len = 32 * (1 + input.up_to(39));
    let (keys, nonce) = ([input.array(), input.array()], input.array());
    results.keep(len, |to| kernel_aegis::keystream(backend, &keys[0], &nonce, to));
    results.keep(2 * len, |to| {
        kernel_aegis::keystreams(backend, &keys, &nonce, to, len, len);
    });
    results.0
}

/// Backends that take one input at a time leave it to the crate.
pub(super) fn derived_keys(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let (key, count) = (input.array(), input.up_to(35) + 1);
    let (len, output_len) = (input.up_to(200) + 1, input.up_to(150) + 1);
    // Mostly one chunk, sometimes almost two.
    let len = if input.byte() == 0xff { many::MAX_INPUT - len + 1 } else { len };
    let inputs = input.string(count * len);
    let mut outputs = vec![0; count * output_len];
    if many::lanes(backend) > 1 {
        many::derive_keys(backend, &key, len, &inputs, &mut outputs);
    } else {
        let chunks = outputs.chunks_mut(output_len);
        for (input, output) in inputs.chunks(len).zip(chunks) {
            let mut hasher = Hasher::new_from_context_key(&key);
            hasher.update(input).finalize_xof().fill(output);
        }
    }
    outputs
}

/// Runs keyed hashes over strided inputs.
pub(super) fn keyed(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let (key, count) = (input.array(), input.up_to(35) + 1);
    let (end_len, output_len) = (input.up_to(63) + 1, input.up_to(150) + 1);
    let number = input.up_to(3);
    let number = if input.byte() == 0xff { 31 - number } else { number };
    let stride = 64 * number + input.up_to(70);
    let bytes = input.string(count * stride);
    let mut ends = vec![[0; 64]; count];
    ends.iter_mut().for_each(|end| end[..end_len].copy_from_slice(&input.string(end_len)));
    let mut outputs = vec![0; count * output_len];
    if many::lanes(backend) > 1 {
        let blocks = many::Blocks { bytes: &bytes, stride, number };
        many::keyed(backend, &key, blocks, (&ends, end_len), &mut outputs);
    } else {
        let chunks = outputs.chunks_mut(output_len).zip(&ends);
        for (i, (output, end)) in chunks.enumerate() {
            let mut hasher = Hasher::new_keyed(&key);
            hasher.update(&bytes[i * stride..][..64 * number]);
            hasher.update(&end[..end_len]).finalize_xof().fill(output);
        }
    }
    outputs
}
