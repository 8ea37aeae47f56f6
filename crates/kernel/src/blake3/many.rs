//! The tree and the compression function, one input to a lane.

use super::{
    Blocks, CHUNK_END, CHUNK_START, DERIVE_KEY_MATERIAL, IV, KEYED_HASH, PARENT, ROOT, SCHEDULE,
};
use crate::{
    erase, map_all,
    simd::{MAX_WORDS, Simd},
};

const BLOCK: usize = 64;
/// Bytes of a tag, the most frequent short output.
const TAG: usize = 16;
const CHUNK: usize = 1024;

/// Returns the largest number of inputs.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn lanes<S: Simd>(_: S) -> usize {
    if const { two_groups::<S>() } { 2 * S::WORDS } else { S::WORDS }
}

/// Returns true if two groups of inputs, one to each lane, go side by side. A round has four chains of instructions
/// that do not wait for each other: too few where each takes two cycles (Zen 5: two groups take a fifth less time).
/// It is more instructions, and was not timed on other processors. Sixteen lanes gain nothing; four could not be
/// timed.
const fn two_groups<S: Simd>() -> bool {
    S::WORDS == 8
}

fn words(bytes: &[u8; 32]) -> [u32; 8] {
    core::array::from_fn(|k| u32::from_le_bytes(core::array::from_fn(|i| bytes[4 * k + i])))
}

/// The next compression of P groups of inputs: chaining values, blocks, their length and flags.
#[derive(Clone, Copy)]
struct Next<S: Simd, const P: usize> {
    cv: [[S::Words; 8]; P],
    block: [[S::Words; 16]; P],
    len: usize,
    flags: u32,
}

/// Writes as many outputs as there are places, at most [`lanes`]. More inputs may follow those used.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn derive<S: Simd>(
    simd: S,
    context_key: &[u8; 32],
    inputs: (usize, &[u8]),
    (output_len, outputs): (usize, &mut [u8]),
) {
    if const { two_groups::<S>() } && outputs.len() > S::WORDS * output_len {
        derive_groups::<S, 2>(simd, context_key, inputs, (output_len, outputs));
    } else {
        derive_groups::<S, 1>(simd, context_key, inputs, (output_len, outputs));
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn derive_groups<S: Simd, const P: usize>(
    simd: S,
    context_key: &[u8; 32],
    (input_len, inputs): (usize, &[u8]),
    outputs: (usize, &mut [u8]),
) {
    let last = outputs.1.len() / outputs.0 - 1;
    let key = splat_key(simd, context_key);
    let mut first = [[simd.splat_words(0); 16]; P];
    let mut next = Next::<S, P>::start(simd, &key, DERIVE_KEY_MATERIAL);
    // A loop even for one chunk, so that the inlined code stands here once.
    for index in 0..2 {
        next = chunk(simd, &key, (input_len, last, inputs), index);
        if input_len <= CHUNK {
            break;
        }
        let compressed = compress(simd, &next, next.flags, index);
        if index == 0 {
            first = compressed;
        } else {
            next = parent(simd, &key, &first, &compressed, DERIVE_KEY_MATERIAL);
        }
    }
    output(simd, &next, outputs);
}

/// The outputs of at most [`lanes`] inputs.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn keyed<S: Simd>(
    simd: S,
    key: &[u8; 32],
    blocks: Blocks<'_>,
    (ends, end_len): (&[[u8; BLOCK]], usize),
    outputs: (usize, &mut [u8]),
) {
    if const { two_groups::<S>() } && ends.len() > S::WORDS {
        keyed_groups::<S, 2>(simd, key, blocks, (ends, end_len), outputs);
    } else {
        keyed_groups::<S, 1>(simd, key, blocks, (ends, end_len), outputs);
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn keyed_groups<S: Simd, const P: usize>(
    simd: S,
    key: &[u8; 32],
    blocks: Blocks<'_>,
    (ends, end_len): (&[[u8; BLOCK]], usize),
    outputs: (usize, &mut [u8]),
) {
    const CHUNK_BLOCKS: usize = CHUNK / BLOCK;
    let key = splat_key(simd, key);
    // Lanes without an input repeat the last one.
    let lane = |l: usize| l.min(ends.len() - 1);
    let start = Next::<S, P>::start(simd, &key, KEYED_HASH);
    let (mut first, mut next) = ([[simd.splat_words(0); 16]; P], start);
    // The end is also a turn of the loop, so that the inlined code stands here once.
    for block in 0..=blocks.number {
        let is_end = block == blocks.number;
        next.load(
            simd,
            inlined!(|l| {
                let at = lane(l) * blocks.stride + BLOCK * block;
                if is_end { &ends[lane(l)] } else { &blocks.bytes[at..].as_chunks().0[0] }
            }),
        );
        if is_end {
            next.len = end_len;
        }
        // A sixteenth block that is no end has one behind it, in a second chunk: it is not the root's.
        let ends_chunk = is_end || block + 1 == CHUNK_BLOCKS;
        next.flags |= if ends_chunk { CHUNK_END } else { 0 };
        if is_end && block < CHUNK_BLOCKS {
            break;
        }
        let compressed = compress(simd, &next, next.flags, u32::from(block >= CHUNK_BLOCKS));
        if is_end {
            next = parent(simd, &key, &first, &compressed, KEYED_HASH);
        } else if ends_chunk {
            (first, next) = (compressed, start);
        } else {
            next.follow(&compressed, KEYED_HASH);
        }
    }
    output(simd, &next, outputs);
}

#[cfg_attr(not(unoptimized), inline(always))]
fn splat_key<S: Simd>(simd: S, key: &[u8; 32]) -> [S::Words; 8] {
    map_all(words(key), inlined!(|word| simd.splat_words(word)))
}

impl<S: Simd, const P: usize> Next<S, P> {
    /// The first block of chunks, which is not loaded yet.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn start(simd: S, key: &[S::Words; 8], flags: u32) -> Self {
        let block = [[simd.splat_words(0); 16]; P];
        Self { cv: [*key; P], block, len: BLOCK, flags: flags | CHUNK_START }
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn load<'a>(&mut self, simd: S, at: impl Fn(usize) -> &'a [u8; BLOCK]) {
        for (p, block) in self.block.iter_mut().enumerate() {
            // Not `from_fn`, whose closure might not be compiled for the instruction set.
            let mut blocks = [at(p * S::WORDS); MAX_WORDS];
            for (l, block) in blocks.iter_mut().enumerate().take(S::WORDS) {
                *block = at(p * S::WORDS + l);
            }
            *block = simd.load_blocks(&blocks);
        }
    }

    /// The next block of chunks, which is not loaded yet.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn follow(&mut self, compressed: &[[S::Words; 16]; P], flags: u32) {
        for (cv, compressed) in self.cv.iter_mut().zip(compressed) {
            cv.copy_from_slice(&compressed[..8]);
        }
        self.flags = flags;
    }
}

/// The compression that joins the outputs of two chunks: a parent node.
#[cfg_attr(not(unoptimized), inline(always))]
fn parent<S: Simd, const P: usize>(
    simd: S,
    key: &[S::Words; 8],
    first: &[[S::Words; 16]; P],
    second: &[[S::Words; 16]; P],
    flags: u32,
) -> Next<S, P> {
    let mut block = [[simd.splat_words(0); 16]; P];
    for (block, (first, second)) in block.iter_mut().zip(first.iter().zip(second)) {
        block[..8].copy_from_slice(&first[..8]);
        block[8..].copy_from_slice(&second[..8]);
    }
    Next { cv: [*key; P], block, len: BLOCK, flags: flags | PARENT }
}

/// The output of a root, of as many lanes as there are outputs.
#[cfg_attr(not(unoptimized), inline(always))]
fn output<S: Simd, const P: usize>(
    simd: S,
    next: &Next<S, P>,
    (output_len, outputs): (usize, &mut [u8]),
) {
    for (counter, start) in (0..).zip((0..output_len).step_by(BLOCK)) {
        let out = compress(simd, next, next.flags | ROOT, counter);
        let len = BLOCK.min(output_len - start);
        let groups = outputs.chunks_mut(S::WORDS * output_len).zip(&out);
        for (outputs, out) in groups {
            if len == BLOCK && outputs.len() == S::WORDS * output_len {
                simd.store_blocks(out, &mut outputs[start..], output_len);
            } else {
                let mut blocks = [[0; BLOCK]; MAX_WORDS];
                simd.store_blocks(out, blocks.as_flattened_mut(), BLOCK);
                if output_len == TAG {
                    // The compiler copies a known length without a call.
                    let tags = blocks.iter().map(|block| block.as_chunks::<TAG>().0[0]);
                    outputs.as_chunks_mut().0.iter_mut().zip(tags).for_each(|(to, tag)| *to = tag);
                } else {
                    for (output, block) in outputs.chunks_mut(output_len).zip(&blocks) {
                        output[start..start + len].copy_from_slice(&block[..len]);
                    }
                }
                erase(&mut blocks, [0; BLOCK]);
            }
        }
    }
}

/// A chunk of every input up to its last block, which is left to compress. `last` is the number of the last input.
#[cfg_attr(not(unoptimized), inline(always))]
fn chunk<S: Simd, const P: usize>(
    simd: S,
    key: &[S::Words; 8],
    (input_len, last, inputs): (usize, usize, &[u8]),
    index: u32,
) -> Next<S, P> {
    let start = CHUNK * index as usize;
    let len = CHUNK.min(input_len - start);
    let mut next = Next::<S, P>::start(simd, key, DERIVE_KEY_MATERIAL);
    // Lanes without an input repeat the last one.
    let lane = |l: usize| l.min(last) * input_len + start;
    let whole = (len - 1) / BLOCK;
    for block in 0..whole {
        next.load(simd, inlined!(|l| &inputs[lane(l) + BLOCK * block..].as_chunks().0[0]));
        next.follow(&compress(simd, &next, next.flags, index), DERIVE_KEY_MATERIAL);
    }
    next.len = len - BLOCK * whole;
    next.flags |= CHUNK_END;
    if next.len.is_multiple_of(4) && lane(last) + BLOCK * (whole + 1) <= inputs.len() {
        // Loads a whole block of each input. Words beyond its end belong to the next input, and become zero.
        next.load(simd, inlined!(|l| &inputs[lane(l) + BLOCK * whole..].as_chunks().0[0]));
        for words in &mut next.block {
            let zero = simd.splat_words(0);
            for word in &mut words[next.len / 4..] {
                *word = zero;
            }
        }
        return next;
    }
    for (p, words) in next.block.iter_mut().enumerate() {
        let mut blocks = [[0; BLOCK]; MAX_WORDS];
        for (l, block) in blocks.iter_mut().enumerate().take(S::WORDS) {
            let input = &inputs[lane(p * S::WORDS + l) + BLOCK * whole..];
            block[..next.len].copy_from_slice(&input[..next.len]);
        }
        *words = simd.load_blocks(&blocks.each_ref());
        erase(&mut blocks, [0; BLOCK]);
    }
    next
}

/// The compression function, with all sixteen words of its output. It is long, and
/// inlined: callers are written so that it stands in few places.
#[cfg_attr(not(unoptimized), inline(always))]
#[expect(clippy::cast_possible_truncation, reason = "at most 64")]
fn compress<S: Simd, const P: usize>(
    simd: S,
    next: &Next<S, P>,
    flags: u32,
    counter: u32,
) -> [[S::Words; 16]; P] {
    let splat = |word| simd.splat_words(word);
    let zero = splat(0);
    let [i, j, k, l, ..] = map_all(IV, splat);
    let (counter, len, flags) = (splat(counter), splat(next.len as u32), splat(flags));
    let mut states = [[zero; 16]; P];
    for (v, cv) in states.iter_mut().zip(&next.cv) {
        let [a, b, c, d, e, f, g, h] = *cv;
        *v = [a, b, c, d, e, f, g, h, i, j, k, l, counter, zero, len, flags];
    }
    round::<S, P, 0>(simd, &mut states, &next.block);
    round::<S, P, 1>(simd, &mut states, &next.block);
    round::<S, P, 2>(simd, &mut states, &next.block);
    round::<S, P, 3>(simd, &mut states, &next.block);
    round::<S, P, 4>(simd, &mut states, &next.block);
    round::<S, P, 5>(simd, &mut states, &next.block);
    round::<S, P, 6>(simd, &mut states, &next.block);
    for (v, cv) in states.iter_mut().zip(&next.cv) {
        for k in 0..8 {
            v[k] = simd.xor_words(v[k], v[k + 8]);
            v[k + 8] = simd.xor_words(v[k + 8], cv[k]);
        }
    }
    states
}

/// Half a round of each state in turns: while one waits for the results of its last instructions, there are
/// those of the other.
#[cfg_attr(not(unoptimized), inline(always))]
fn round<S: Simd, const P: usize, const R: usize>(
    simd: S,
    states: &mut [[S::Words; 16]; P],
    blocks: &[[S::Words; 16]; P],
) {
    for (v, block) in states.iter_mut().zip(blocks) {
        let m = |at: usize| block[const { SCHEDULE[R] }[at]];
        quarter(simd, v, [0, 4, 8, 12], m(0), m(1));
        quarter(simd, v, [1, 5, 9, 13], m(2), m(3));
        quarter(simd, v, [2, 6, 10, 14], m(4), m(5));
        quarter(simd, v, [3, 7, 11, 15], m(6), m(7));
    }
    for (v, block) in states.iter_mut().zip(blocks) {
        let m = |at: usize| block[const { SCHEDULE[R] }[at]];
        quarter(simd, v, [0, 5, 10, 15], m(8), m(9));
        quarter(simd, v, [1, 6, 11, 12], m(10), m(11));
        quarter(simd, v, [2, 7, 8, 13], m(12), m(13));
        quarter(simd, v, [3, 4, 9, 14], m(14), m(15));
    }
}

/// The function G on four words of the state.
#[cfg_attr(not(unoptimized), inline(always))]
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
