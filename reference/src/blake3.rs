//! BLAKE3: plain hash, keyed hash, derive-key, extendable output.
//!
//! The input is cut into chunks of 1024 bytes, chunks into blocks of 64. Chunks are the leaves of
//! a binary tree; every node is a compression still to be done, because the root's is done with
//! another flag and once per 64 bytes of output.

const CHUNK: usize = 1024;
const BLOCK: usize = 64;

// What a compression is part of.
const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 1 << 1;
const PARENT: u32 = 1 << 2;
const ROOT: u32 = 1 << 3;
const KEYED_HASH: u32 = 1 << 4;
const DERIVE_KEY_CONTEXT: u32 = 1 << 5;
const DERIVE_KEY_MATERIAL: u32 = 1 << 6;

/// The fractional parts of the square roots of the first eight primes, as in SHA-256.
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

/// The source of each message word of the next round.
const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

/// Returns the 32-byte BLAKE3 hash of `input`.
#[must_use]
pub fn hash(input: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(&tree(&IV, 0, input, 0).root_output(32));
    digest
}

/// Returns the first `length` bytes of BLAKE3's output in derive-key mode.
#[must_use]
pub fn derive_key(context: &str, material: &[u8], length: usize) -> Vec<u8> {
    let context_key = tree(&IV, DERIVE_KEY_CONTEXT, context.as_bytes(), 0).root_output(32);
    derive_key_from(&context_key, material, length)
}

/// Returns the same where the context's key, 32 bytes, is known.
#[must_use]
pub fn derive_key_from(context_key: &[u8], material: &[u8], length: usize) -> Vec<u8> {
    tree(&key_words(context_key), DERIVE_KEY_MATERIAL, material, 0).root_output(length)
}

/// Returns the first `length` bytes of BLAKE3's output under a key of 32 bytes.
#[must_use]
pub fn keyed_hash(key: &[u8; 32], input: &[u8], length: usize) -> Vec<u8> {
    tree(&key_words(key), KEYED_HASH, input, 0).root_output(length)
}

fn key_words(bytes: &[u8]) -> [u32; 8] {
    let mut key = [0; 8];
    key.copy_from_slice(&words(bytes)[..8]);
    key
}

/// A compression that waits for its last flag.
struct Node {
    chaining_value: [u32; 8],
    block: [u32; 16],
    counter: u64,
    length: u32,
    flags: u32,
}

impl Node {
    /// Returns what the node's parent, or the next block of its chunk, takes from it.
    fn value(&self) -> [u32; 8] {
        let mut value = [0; 8];
        value.copy_from_slice(&self.compress(self.counter, self.flags)[..8]);
        value
    }

    /// Returns the first `length` bytes of the hash whose root this node is.
    fn root_output(&self, length: usize) -> Vec<u8> {
        let blocks = (0..).map(|counter| self.compress(counter, self.flags | ROOT));
        blocks.flatten().flat_map(u32::to_le_bytes).take(length).collect()
    }

    /// Mixes the block into the chaining value, in seven rounds.
    #[expect(clippy::cast_possible_truncation, reason = "the counter's halves are two words")]
    fn compress(&self, counter: u64, flags: u32) -> [u32; 16] {
        let cv = &self.chaining_value;
        let mut v = [0; 16];
        v[..8].copy_from_slice(cv);
        v[8..12].copy_from_slice(&IV[..4]);
        v[12..].copy_from_slice(&[counter as u32, (counter >> 32) as u32, self.length, flags]);
        let mut m = self.block;
        for _ in 0..7 {
            mix(&mut v, [0, 4, 8, 12], m[0], m[1]);
            mix(&mut v, [1, 5, 9, 13], m[2], m[3]);
            mix(&mut v, [2, 6, 10, 14], m[4], m[5]);
            mix(&mut v, [3, 7, 11, 15], m[6], m[7]);
            mix(&mut v, [0, 5, 10, 15], m[8], m[9]);
            mix(&mut v, [1, 6, 11, 12], m[10], m[11]);
            mix(&mut v, [2, 7, 8, 13], m[12], m[13]);
            mix(&mut v, [3, 4, 9, 14], m[14], m[15]);
            m = PERMUTATION.map(|source| m[source]);
        }
        for k in 0..8 {
            v[k] ^= v[k + 8];
            v[k + 8] ^= cv[k];
        }
        v
    }
}

/// Mixes two message words into a column or a diagonal of the state.
fn mix(v: &mut [u32; 16], [a, b, c, d]: [usize; 4], x: u32, y: u32) {
    for (word, first, second) in [(x, 16, 12), (y, 8, 7)] {
        v[a] = v[a].wrapping_add(v[b]).wrapping_add(word);
        v[d] = (v[d] ^ v[a]).rotate_right(first);
        v[c] = v[c].wrapping_add(v[d]);
        v[b] = (v[b] ^ v[c]).rotate_right(second);
    }
}

/// Returns the root of the tree over `input`, whose first chunk is number `first` of the whole.
fn tree(key: &[u32; 8], flags: u32, input: &[u8], first: u64) -> Node {
    if input.len() <= CHUNK {
        return chunk(key, flags, input, first);
    }
    // The left subtree is full, the largest that leaves something for the right one.
    let chunks_before_last = (input.len() - 1) / CHUNK;
    let left_chunks = 1 << chunks_before_last.ilog2();
    let (left, right) = input.split_at(left_chunks * CHUNK);
    let left = tree(key, flags, left, first).value();
    let right = tree(key, flags, right, first + left_chunks as u64).value();
    let mut block = [0; 16];
    block[..8].copy_from_slice(&left);
    block[8..].copy_from_slice(&right);
    let flags = flags | PARENT;
    Node { chaining_value: *key, block, counter: 0, length: 64, flags }
}

/// Returns the last block of a chunk of at most 1024 bytes, having chained the others into it.
fn chunk(key: &[u32; 8], flags: u32, input: &[u8], counter: u64) -> Node {
    let last = input.len().saturating_sub(1) / BLOCK;
    let node = |k: usize, chaining_value| {
        let bytes = &input[k * BLOCK..input.len().min((k + 1) * BLOCK)];
        let start = if k == 0 { CHUNK_START } else { 0 };
        let end = if k == last { CHUNK_END } else { 0 };
        let length = u32::try_from(bytes.len()).expect("at most 64");
        let flags = flags | start | end;
        Node { chaining_value, block: words(bytes), counter, length, flags }
    };
    let chaining_value = (0..last).fold(*key, |value, k| node(k, value).value());
    node(last, chaining_value)
}

/// Returns at most 64 bytes as little-endian words, zeros after them.
fn words(bytes: &[u8]) -> [u32; 16] {
    let mut padded = [0; 64];
    padded[..bytes.len()].copy_from_slice(bytes);
    let word = |k| [padded[k], padded[k + 1], padded[k + 2], padded[k + 3]];
    core::array::from_fn(|k| u32::from_le_bytes(word(4 * k)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// Known answers of the official `test_vectors.json`, and for 63 to 65 of the `blake3` crate
    /// 1.8: input length, first 32 bytes of the hash, bytes 99 to 130 of the derived key.
    const KNOWN: [(usize, &str, &str); 13] = [
        (
            0,
            "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
            "224ac99f860011f73609e6e0e4540f93b273e56547dfd3aa1a035ba6689d89a0",
        ),
        (
            1,
            "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
            "83f2c7dfa57e7fc559ad751dbfb9ffab39c2ef8c4aafebc9ae973a64f0c76551",
        ),
        (
            63,
            "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b",
            "f300c39f82e2fce9f7f0fa266459503f64ab9913befc65fddc474f6dc1c67669",
        ),
        (
            64,
            "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98",
            "1e874d36fc9852aeb1265c09b6e0cda7c37ef686fbbcab97e8ff66718be048bb",
        ),
        (
            65,
            "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee",
            "21f7c2d65daee4468eb4429efae469a42763f1f94977435d10dccae3e3dce88d",
        ),
        (
            1023,
            "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11",
            "e730d35553f59eff5377a9c350bcc1556694b924b858f329c44ee64b884ef00d",
        ),
        (
            1024,
            "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
            "02f22b64bd3919d246ba20a17558bc51c199efdec67e80a227251808d8ce5bad",
        ),
        (
            1025,
            "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
            "09cbef665953f2ee85ec83d88b88d11547a6f911c8217cca46defa2751e7f3ad",
        ),
        (
            2048,
            "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a",
            "90f24f6b35ffbb74b766202569b1d797f2d4bd9d17524c720107f985f4ddc583",
        ),
        (
            2049,
            "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030",
            "8b04e81cf40fe6dc4427ad5678311a61f4ffc39d195589bdbc670f63ae70f4b6",
        ),
        (
            3072,
            "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2",
            "cd79e4030a5e7bad2efa90a7a7c67e93f0a18fb28369d0a9329ab5c24134ccb0",
        ),
        (
            3073,
            "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3",
            "119599760a8a2d28aeca06b8c5e9ba58bc19e11fe57b6ee98aa44b2a8e6b14a5",
        ),
        (
            8193,
            "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b",
            "64f309994d2810c49cfba6989d7abb095897459f5425adb48aba07c5fb3c83c0",
        ),
    ];

    #[test]
    fn agrees_with_the_official_vectors() {
        let context = "BLAKE3 2019-12-27 16:29:52 test vectors context";
        for (length, expected_hash, expected_key) in KNOWN {
            let input: Vec<u8> = (0..251).cycle().take(length).collect();
            assert_eq!(hex(&hash(&input)), expected_hash, "{length}");
            let key = derive_key(context, &input, 131);
            assert_eq!(hex(&key[99..]), expected_key, "{length}");
        }
    }
}
