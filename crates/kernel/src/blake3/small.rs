//! BLAKE3 in little memory, for machines with few registers and no vectors: 600 bytes of state, and one copy of the
//! compression function.

use core::{mem::MaybeUninit, ptr};

use super::{CHUNK_END, CHUNK_START, DERIVE_KEY_MATERIAL, IV, KEYED_HASH, PARENT, ROOT, SCHEDULE};

const BLOCK: usize = 64;

/// A block, where its words are.
#[derive(Clone, Copy)]
#[repr(align(4))]
struct Block([u8; BLOCK]);

impl Block {
    #[inline(always)]
    const fn word(&self, k: usize) -> u32 {
        u32::from_le_bytes(self.0.as_chunks().0[k])
    }
}

const BLOCKS: u8 = 16;
/// The most chaining values that wait for a neighbour: inputs have less than 2¹² chunks.
const DEPTH: usize = 12;

const DERIVE_KEY_CONTEXT: u32 = 1 << 5;

/// The bytes of an input are fewer.
pub const LIMIT: usize = 1024 << DEPTH;

type Words = [u32; 8];

/// A hash of an input that comes in pieces, of less than [`LIMIT`] bytes in all.
#[derive(Clone)]
pub struct Hasher {
    key: Words,
    flags: u32,
    /// The chunk that is being hashed: its number, its chaining value, its blocks so far, and the next one, which has `len` bytes.
    chunk: u32,
    chaining: Words,
    blocks: u8,
    len: u8,
    block: Block,
    /// Chaining values of whole subtrees, one for each bit of `chunk` that is set.
    stack: [MaybeUninit<Words>; DEPTH],
    depth: u8,
}

/// The last compression of an input, but for the counter and the flag of the root.
struct Last {
    chaining: Words,
    block: Block,
    len: u32,
    flags: u32,
}

/// The key of a context, for [`Hasher::new_from_context_key`].
///
/// # Panics
/// If the context has more than one chunk, 1024 bytes.
#[expect(clippy::cast_possible_truncation, reason = "a length of one block")]
#[must_use]
pub const fn hash_derive_key_context(context: &str) -> [u8; 32] {
    let mut bytes = context.as_bytes();
    assert!(bytes.len() <= BLOCK * BLOCKS as usize, "a context of one chunk");
    let (mut chaining, mut flags) = (IV, DERIVE_KEY_CONTEXT | CHUNK_START);
    loop {
        let (now, later): (&[u8], &[u8]) =
            if bytes.len() > BLOCK { bytes.split_at(BLOCK) } else { (bytes, &[]) };
        let mut block = Block([0; BLOCK]);
        block.0.split_at_mut(now.len()).0.copy_from_slice(now);
        if later.is_empty() {
            flags |= CHUNK_END | ROOT;
        }
        chaining = folded(&compress(&chaining, &block, [0, now.len() as u32, flags]));
        if later.is_empty() {
            return bytes_of(&chaining);
        }
        (bytes, flags) = (later, DERIVE_KEY_CONTEXT);
    }
}

impl Hasher {
    fn new(key: Words, flags: u32) -> Self {
        Self {
            key,
            flags,
            chunk: 0,
            chaining: key,
            blocks: 0,
            len: 0,
            block: Block([0; BLOCK]),
            stack: [MaybeUninit::uninit(); DEPTH],
            depth: 0,
        }
    }

    /// The keyed hash.
    #[must_use]
    pub fn new_keyed(key: &[u8; 32]) -> Self {
        Self::new(words(key), KEYED_HASH)
    }

    /// The derivation of keys in a context.
    #[must_use]
    pub fn new_from_context_key(key: &[u8; 32]) -> Self {
        Self::new(words(key), DERIVE_KEY_MATERIAL)
    }

    /// Adds a piece of the input.
    ///
    /// # Panics
    /// If the input has [`LIMIT`] bytes or more.
    #[inline(never)]
    pub fn update(&mut self, mut bytes: &[u8]) -> &mut Self {
        while !bytes.is_empty() {
            // A full block is hashed when more follows: the last one has other flags.
            if usize::from(self.len) == BLOCK {
                self.end_block();
            }
            let room = &mut self.block.0[self.len.into()..];
            let (now, later) = bytes.split_at(room.len().min(bytes.len()));
            room[..now.len()].copy_from_slice(now);
            self.len += u8::try_from(now.len()).unwrap_or_default();
            bytes = later;
        }
        self
    }

    fn end_block(&mut self) {
        let flags = self.flags_with(if self.blocks == BLOCKS - 1 { CHUNK_END } else { 0 });
        let state = compress(&self.chaining, &self.block, [self.chunk, 64, flags]);
        let mut chaining = folded(&state);
        (self.len, self.blocks) = (0, self.blocks + 1);
        if self.blocks == BLOCKS {
            self.blocks = 0;
            self.chunk += 1;
            assert!(self.chunk >> DEPTH == 0, "an input of less than 4 MiB");
            // Subtrees of equal size become one.
            for _ in 0..self.chunk.trailing_zeros() {
                let [.., left] = self.waiting() else { break };
                let block = children(left, &chaining);
                self.depth -= 1;
                chaining = folded(&compress(&self.key, &block, [0, 64, self.flags | PARENT]));
            }
            self.stack[usize::from(self.depth)].write(chaining);
            self.depth += 1;
            chaining = self.key;
        }
        self.chaining = chaining;
    }

    /// The chaining values that wait.
    #[allow(unsafe_code, reason = "clearing all places first takes time with every hash")]
    fn waiting(&self) -> &[Words] {
        let written = &self.stack[..self.depth.into()];
        // SAFETY: the first `depth` places have been written, and a place has the layout of its value.
        unsafe { &*(ptr::from_ref(written) as *const [Words]) }
    }

    /// The flags of the block that is being filled.
    fn flags_with(&self, end: u32) -> u32 {
        self.flags | end | if self.blocks == 0 { CHUNK_START } else { 0 }
    }

    /// Fills `output` with the first bytes of the hash, at most 256 GiB.
    #[inline(never)]
    pub fn fill(&self, output: &mut [u8]) {
        let flags = self.flags_with(CHUNK_END);
        let mut last =
            Last { chaining: self.chaining, block: self.block, len: self.len.into(), flags };
        last.block.0[self.len.into()..].fill(0);
        let mut counter = self.chunk;
        for left in self.waiting().iter().rev() {
            let state = compress(&last.chaining, &last.block, [counter, last.len, last.flags]);
            let block = children(left, &folded(&state));
            last = Last { chaining: self.key, block, len: 64, flags: self.flags | PARENT };
            counter = 0;
        }
        let (blocks, rest) = output.as_chunks_mut();
        let mut counter = 0;
        for block in blocks {
            last.put(counter, block);
            counter += 1;
        }
        if !rest.is_empty() {
            let mut block = [0; BLOCK];
            last.put(counter, &mut block);
            rest.copy_from_slice(&block[..rest.len()]);
        }
    }
}

impl Last {
    /// A block of the hash.
    fn put(&self, counter: u32, to: &mut [u8; BLOCK]) {
        let state = compress(&self.chaining, &self.block, [counter, self.len, self.flags | ROOT]);
        let (low, high) = to.as_chunks_mut().0.split_at_mut(8);
        for k in 0..8 {
            low[k] = (state[k] ^ state[k + 8]).to_le_bytes();
            high[k] = (state[k + 8] ^ self.chaining[k]).to_le_bytes();
        }
    }
}

/// The chaining value of a state.
const fn folded(state: &[u32; 16]) -> Words {
    let (mut chaining, mut k) = ([0; 8], 0);
    while k < 8 {
        chaining[k] = state[k] ^ state[k + 8];
        k += 1;
    }
    chaining
}

const fn bytes_of(words: &Words) -> [u8; 32] {
    let (mut bytes, mut k) = ([0; 32], 0);
    while k < 8 {
        bytes.as_chunks_mut().0[k] = words[k].to_le_bytes();
        k += 1;
    }
    bytes
}

fn children(left: &Words, right: &Words) -> Block {
    let mut block = Block([0; BLOCK]);
    for (bytes, word) in block.0.as_chunks_mut().0.iter_mut().zip(left.iter().chain(right)) {
        *bytes = word.to_le_bytes();
    }
    block
}

/// The state after seven rounds, of a counter, a length and flags.
#[inline(never)]
const fn compress(chaining: &Words, block: &Block, [counter, len, flags]: [u32; 3]) -> [u32; 16] {
    let [a, b, c, d, e, f, g, h] = *chaining;
    let [i, j, k, l, ..] = IV;
    let mut state = [a, b, c, d, e, f, g, h, i, j, k, l, counter, 0, len, flags];
    round::<0>(&mut state, block);
    round::<1>(&mut state, block);
    round::<2>(&mut state, block);
    round::<3>(&mut state, block);
    round::<4>(&mut state, block);
    round::<5>(&mut state, block);
    round::<6>(&mut state, block);
    state
}

#[inline(always)]
const fn round<const ROUND: usize>(state: &mut [u32; 16], block: &Block) {
    let m = &SCHEDULE[ROUND];
    mix(state, [0, 4, 8, 12], block.word(m[0]), block.word(m[1]));
    mix(state, [1, 5, 9, 13], block.word(m[2]), block.word(m[3]));
    mix(state, [2, 6, 10, 14], block.word(m[4]), block.word(m[5]));
    mix(state, [3, 7, 11, 15], block.word(m[6]), block.word(m[7]));
    // In this order Cortex-M4 keeps most words in registers.
    mix(state, [1, 6, 11, 12], block.word(m[10]), block.word(m[11]));
    mix(state, [3, 4, 9, 14], block.word(m[14]), block.word(m[15]));
    mix(state, [2, 7, 8, 13], block.word(m[12]), block.word(m[13]));
    mix(state, [0, 5, 10, 15], block.word(m[8]), block.word(m[9]));
}

#[inline(always)]
const fn mix(state: &mut [u32; 16], [a, b, c, d]: [usize; 4], x: u32, y: u32) {
    state[a] = state[a].wrapping_add(state[b]).wrapping_add(x);
    state[d] = (state[d] ^ state[a]).rotate_right(16);
    state[c] = state[c].wrapping_add(state[d]);
    state[b] = (state[b] ^ state[c]).rotate_right(12);
    state[a] = state[a].wrapping_add(state[b]).wrapping_add(y);
    state[d] = (state[d] ^ state[a]).rotate_right(8);
    state[c] = state[c].wrapping_add(state[d]);
    state[b] = (state[b] ^ state[c]).rotate_right(7);
}

fn words(bytes: &[u8; 32]) -> Words {
    core::array::from_fn(|k| u32::from_le_bytes(bytes.as_chunks().0[k]))
}

impl core::fmt::Debug for Hasher {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Hasher")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{vec, vec::Vec};

    use super::*;

    #[test]
    fn contexts_of_every_length_have_the_keys_of_blake3() {
        let text: std::string::String = ('a'..='z').cycle().take(1024).collect();
        for len in (0..=130).chain([511, 512, 513, 1023, 1024]) {
            let context = &text[..len];
            let expected = blake3::hazmat::hash_derive_key_context(context);
            assert_eq!(hash_derive_key_context(context), expected, "{len} bytes");
        }
    }

    #[test]
    fn the_small_hasher_hashes_as_blake3_does() {
        let input: Vec<u8> = (0..9000).map(|k| u8::try_from(k * k % 251).unwrap()).collect();
        let context = hash_derive_key_context("foxtrot v1 test of a small hash");
        assert_eq!(
            context,
            blake3::hazmat::hash_derive_key_context("foxtrot v1 test of a small hash")
        );
        for len in (0..9000).step_by(61).chain([1, 63, 64, 65, 1023, 1024, 1025, 2048, 4096, 8192])
        {
            for piece in [1, 9, 64, 100, 9000] {
                let mut keyed =
                    [Hasher::new_keyed(&[7; 32]), Hasher::new_from_context_key(&context)];
                let mut theirs = [
                    blake3::Hasher::new_keyed(&[7; 32]),
                    blake3::Hasher::new_derive_key("foxtrot v1 test of a small hash"),
                ];
                for (ours, theirs) in keyed.iter_mut().zip(&mut theirs) {
                    input[..len].chunks(piece).for_each(|piece| _ = ours.update(piece));
                    theirs.update(&input[..len]);
                    for output in [1, 32, 64, 65, 200] {
                        let (mut got, mut expected) = (vec![0; output], vec![0; output]);
                        ours.fill(&mut got);
                        theirs.finalize_xof().fill(&mut expected);
                        assert_eq!(got, expected, "{len} {piece} {output}");
                    }
                }
            }
        }
    }
}
