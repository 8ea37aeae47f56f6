//! The tree and the compression function, one input to a lane.

use super::Blocks;
use crate::simd::{MAX_WORDS, Simd};

const BLOCK: usize = 64;
const CHUNK: usize = 1024;

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

/// Which message word each of the seven rounds takes where.
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

/// How many inputs there can be.
#[inline(always)]
pub(super) fn lanes<S: Simd>(_: S) -> usize {
    S::WORDS
}

fn words(bytes: &[u8; 32]) -> [u32; 8] {
    core::array::from_fn(|k| u32::from_le_bytes(core::array::from_fn(|i| bytes[4 * k + i])))
}

/// What is left to compress to get an output: chaining value, block, length and flags.
#[derive(Clone, Copy)]
struct Last<S: Simd> {
    cv: [S::Words; 8],
    block: [S::Words; 16],
    len: usize,
    flags: u32,
}

/// The outputs of at most WORDS inputs.
#[inline(always)]
pub(super) fn derive<S: Simd>(
    simd: S,
    context_key: &[u8; 32],
    (input_len, inputs): (usize, &[u8]),
    (output_len, outputs): (usize, &mut [u8]),
) {
    let key = splat_key(simd, context_key);
    let mut last = chunk(simd, &key, input_len, inputs, 0);
    if input_len > CHUNK {
        let second = chunk(simd, &key, input_len, inputs, 1);
        let mut block = [simd.splat_words(0); 16];
        let halves = block.as_chunks_mut::<8>().0.iter_mut();
        for (counter, (half, last)) in (0..).zip(halves.zip([&last, &second])) {
            half.copy_from_slice(&compress(simd, last, last.flags, counter)[..8]);
        }
        last = Last { cv: key, block, len: BLOCK, flags: DERIVE_KEY_MATERIAL | PARENT };
    }
    output(simd, &last, inputs.len() / input_len, (output_len, outputs));
}

/// The outputs of at most WORDS inputs.
#[inline(always)]
pub(super) fn keyed<S: Simd>(
    simd: S,
    key: &[u8; 32],
    blocks: Blocks<'_>,
    (ends, end_len): (&[[u8; BLOCK]], usize),
    (output_len, outputs): (usize, &mut [u8]),
) {
    const CHUNK_BLOCKS: usize = CHUNK / BLOCK;
    let key = splat_key(simd, key);
    let zero = simd.splat_words(0);
    let start = Last { cv: key, block: [zero; 16], len: BLOCK, flags: KEYED_HASH | CHUNK_START };
    // Lanes without an input repeat the last one.
    let lane = |l: usize| l.min(ends.len() - 1);
    let (mut first, mut last) = (start, start);
    for block in 0..blocks.number {
        let at = |l| -> &[u8; BLOCK] {
            &blocks.bytes[lane(l) * blocks.stride + BLOCK * block..].as_chunks().0[0]
        };
        last.block = simd.load_blocks(&core::array::from_fn(at));
        let counter = u32::from(block >= CHUNK_BLOCKS);
        if block + 1 == CHUNK_BLOCKS {
            // The first chunk ends here, and an end comes after it.
            let cv = compress(simd, &last, last.flags | CHUNK_END, counter);
            first.cv.copy_from_slice(&cv[..8]);
            last = start;
        } else {
            let cv = compress(simd, &last, last.flags, counter);
            last.cv.copy_from_slice(&cv[..8]);
            last.flags = KEYED_HASH;
        }
    }
    last.block = simd.load_blocks(&core::array::from_fn(|l| &ends[lane(l)]));
    last.len = end_len;
    last.flags |= CHUNK_END;
    if blocks.number >= CHUNK_BLOCKS {
        let second = compress(simd, &last, last.flags, 1);
        let mut block = [zero; 16];
        block[..8].copy_from_slice(&first.cv);
        block[8..].copy_from_slice(&second[..8]);
        last = Last { cv: key, block, len: BLOCK, flags: KEYED_HASH | PARENT };
    }
    output(simd, &last, ends.len(), (output_len, outputs));
}

#[inline(always)]
fn splat_key<S: Simd>(simd: S, key: &[u8; 32]) -> [S::Words; 8] {
    words(key).map(
        #[inline(always)]
        |word| simd.splat_words(word),
    )
}

/// The output of a root, for the first `count` lanes.
#[inline(always)]
fn output<S: Simd>(
    simd: S,
    last: &Last<S>,
    count: usize,
    (output_len, outputs): (usize, &mut [u8]),
) {
    for (counter, start) in (0..).zip((0..output_len).step_by(BLOCK)) {
        let out = compress(simd, last, last.flags | ROOT, counter);
        let len = BLOCK.min(output_len - start);
        if len == BLOCK && count == S::WORDS {
            simd.store_blocks(&out, &mut outputs[start..], output_len);
        } else {
            let mut blocks = [[0; BLOCK]; MAX_WORDS];
            simd.store_blocks(&out, blocks.as_flattened_mut(), BLOCK);
            for (output, block) in outputs.chunks_mut(output_len).zip(&blocks) {
                output[start..start + len].copy_from_slice(&block[..len]);
            }
            erase(&mut blocks);
        }
    }
}

/// A chunk of every input up to its last block, which is left to compress.
#[inline(always)]
fn chunk<S: Simd>(
    simd: S,
    key: &[S::Words; 8],
    input_len: usize,
    inputs: &[u8],
    index: u32,
) -> Last<S> {
    let start = CHUNK * index as usize;
    let len = CHUNK.min(input_len - start);
    let zero = simd.splat_words(0);
    let flags = DERIVE_KEY_MATERIAL | CHUNK_START;
    let mut last = Last { cv: *key, block: [zero; 16], len: BLOCK, flags };
    // Lanes without an input repeat the last one.
    let lane = |l: usize| (l * input_len).min(inputs.len() - input_len) + start;
    let whole = (len - 1) / BLOCK;
    for block in 0..whole {
        let at = |l| -> &[u8; BLOCK] { &inputs[lane(l) + BLOCK * block..].as_chunks().0[0] };
        last.block = simd.load_blocks(&core::array::from_fn(at));
        let cv = compress(simd, &last, last.flags, index);
        last.cv.copy_from_slice(&cv[..8]);
        last.flags = DERIVE_KEY_MATERIAL;
    }
    last.len = len - BLOCK * whole;
    let mut blocks = [[0; BLOCK]; MAX_WORDS];
    for (l, block) in blocks.iter_mut().enumerate() {
        block[..last.len].copy_from_slice(&inputs[lane(l) + BLOCK * whole..][..last.len]);
    }
    last.block = simd.load_blocks(&blocks.each_ref());
    erase(&mut blocks);
    last.flags |= CHUNK_END;
    last
}

fn erase(blocks: &mut [[u8; BLOCK]; MAX_WORDS]) {
    blocks.as_flattened_mut().fill(0);
    zeroize::optimization_barrier(blocks);
}

/// The compression function, with all sixteen words of its output.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 64")]
fn compress<S: Simd>(simd: S, last: &Last<S>, flags: u32, counter: u32) -> [S::Words; 16] {
    let splat = |word| simd.splat_words(word);
    let [a, b, c, d, e, f, g, h] = last.cv;
    let [i, j, k, l, ..] = IV.map(splat);
    let (counter, len) = (splat(counter), splat(last.len as u32));
    let mut v = [a, b, c, d, e, f, g, h, i, j, k, l, counter, splat(0), len, splat(flags)];
    let block = &last.block;
    round::<S, 0>(simd, &mut v, block);
    round::<S, 1>(simd, &mut v, block);
    round::<S, 2>(simd, &mut v, block);
    round::<S, 3>(simd, &mut v, block);
    round::<S, 4>(simd, &mut v, block);
    round::<S, 5>(simd, &mut v, block);
    round::<S, 6>(simd, &mut v, block);
    for k in 0..8 {
        v[k] = simd.xor_words(v[k], v[k + 8]);
        v[k + 8] = simd.xor_words(v[k + 8], last.cv[k]);
    }
    v
}

#[inline(always)]
fn round<S: Simd, const R: usize>(simd: S, v: &mut [S::Words; 16], block: &[S::Words; 16]) {
    let m = |at: usize| block[const { SCHEDULE[R] }[at]];
    quarter(simd, v, [0, 4, 8, 12], m(0), m(1));
    quarter(simd, v, [1, 5, 9, 13], m(2), m(3));
    quarter(simd, v, [2, 6, 10, 14], m(4), m(5));
    quarter(simd, v, [3, 7, 11, 15], m(6), m(7));
    quarter(simd, v, [0, 5, 10, 15], m(8), m(9));
    quarter(simd, v, [1, 6, 11, 12], m(10), m(11));
    quarter(simd, v, [2, 7, 8, 13], m(12), m(13));
    quarter(simd, v, [3, 4, 9, 14], m(14), m(15));
}

/// The function G on four words of the state.
#[inline(always)]
fn quarter<S: Simd>(
    simd: S,
    v: &mut [S::Words; 16],
    [a, b, c, d]: [usize; 4],
    x: S::Words,
    y: S::Words,
) {
    let sum = |a, b, m| simd.add_words(simd.add_words(a, m), b);
    v[a] = sum(v[a], v[b], x);
    v[d] = simd.rotate_words::<16>(simd.xor_words(v[d], v[a]));
    v[c] = simd.add_words(v[c], v[d]);
    v[b] = simd.rotate_words::<12>(simd.xor_words(v[b], v[c]));
    v[a] = sum(v[a], v[b], y);
    v[d] = simd.rotate_words::<8>(simd.xor_words(v[d], v[a]));
    v[c] = simd.add_words(v[c], v[d]);
    v[b] = simd.rotate_words::<7>(simd.xor_words(v[b], v[c]));
}
