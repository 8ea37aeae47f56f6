//! The code of section 20.5.

use super::{Block, Protocol, block};
use crate::{aes, blake3};

/// Returns T_`layer` for `n` numbers.
#[must_use]
pub fn permutation(n: usize, layer: u8) -> Vec<usize> {
    let mut buckets = vec![vec![]; 256];
    for (i, bucket) in keystream(code_key(n, layer, 0)).take(n).enumerate() {
        buckets[usize::from(bucket)].push(i);
    }
    let mut shuffle = keystream(code_key(n, layer, 1));
    let mut word = || u32::from_le_bytes([(); 4].map(|()| shuffle.next().unwrap_or(0)));
    for bucket in &mut buckets {
        for i in (1..bucket.len()).rev() {
            let d = i as u64 + 1;
            let product = loop {
                let product = u64::from(word()) * d;
                if product % (1 << 32) >= (1 << 32) % d {
                    break product;
                }
            };
            bucket.swap(i, (product >> 32) as usize);
        }
    }
    buckets.concat()
}

/// The code of section 20.5 for one number of inputs.
#[derive(Clone, Debug)]
pub struct Code {
    protocol: Protocol,
    /// T₁, …, T_a.
    pub permutations: Vec<Vec<usize>>,
    /// d², …, d^a.
    pub factors: Vec<Vec<Block>>,
}

impl Code {
    /// Returns the code of `n` inputs.
    #[must_use]
    pub fn new(protocol: Protocol, n: usize, accumulators: u8) -> Self {
        let permutations = (1..=accumulators).map(|layer| permutation(n, layer)).collect();
        let factors = (2..=accumulators).map(|layer| factors(protocol, n, layer)).collect();
        Code { protocol, permutations, factors }
    }

    /// Returns Y of the second accumulator.
    #[must_use]
    pub fn second(&self, input: &[Block]) -> Vec<Block> {
        permuted(&self.permutations[0], &sums(input.to_vec()))
    }

    /// Returns all y of `input`, half as many.
    #[must_use]
    pub fn encode(&self, input: &[Block]) -> Vec<Block> {
        let mut x = sums(input.to_vec());
        for (permutation, factors) in self.permutations.iter().zip(&self.factors) {
            let y = permuted(permutation, &x);
            x = sums(factors.iter().zip(y).map(|(&d, y)| self.protocol.times(d, y)).collect());
        }
        let last = self.permutations.iter().skip(self.factors.len()).flatten();
        let z: Vec<Block> = last.map(|&place| x[place]).collect();
        z.chunks(64).flat_map(block_code).collect()
    }
}

/// Returns the values at the places that a permutation names.
fn permuted(permutation: &[usize], values: &[Block]) -> Vec<Block> {
    let mut y = vec![0; values.len()];
    for (&place, &value) in permutation.iter().zip(values) {
        y[place] = value;
    }
    y
}

/// Returns the sums of all beginnings of `values`.
fn sums(mut values: Vec<Block>) -> Vec<Block> {
    for i in 1..values.len() {
        values[i] ^= values[i - 1];
    }
    values
}

/// Returns the 32 outputs of 64 values.
fn block_code(z: &[Block]) -> Vec<Block> {
    let row = |i: usize| {
        let chosen = (0..32).filter(|l| BLOCK_ROW.rotate_left(low(i)) >> l & 1 == 1);
        chosen.fold(z[i], |sum, l| sum ^ z[32 + l])
    };
    (0..32).map(row).collect()
}

/// Row 0 of M.
pub const BLOCK_ROW: u32 = 0x000a_b0ed;

/// Returns factors d of layer `layer`, 2 or above, for `n` inputs.
fn factors(protocol: Protocol, n: usize, layer: u8) -> Vec<Block> {
    if protocol.choice_bits() != 0 {
        return vec![1; n];
    }
    let length = protocol.bits / 8;
    let stream: Vec<u8> = keystream(code_key(n, layer, 2)).take(n * length).collect();
    stream.chunks(length).map(|bytes| block(bytes).max(1)).collect()
}

/// Returns K(layer, purpose).
fn code_key(n: usize, layer: u8, purpose: u8) -> Block {
    let material = [&(n as u64).to_le_bytes()[..], &[layer, purpose]].concat();
    block(&blake3::derive_key("foxtrot v1 silent code", &material, 16))
}

/// Returns the endless key stream of AES-128 in counter mode.
fn keystream(key: Block) -> impl Iterator<Item = u8> {
    (0..).flat_map(move |l| aes::encrypt(key, l).to_le_bytes())
}

fn low(i: usize) -> u32 {
    u32::try_from(i).expect("below 32")
}
