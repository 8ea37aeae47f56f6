//! Products of a shared bit and a party's number, by one random OT each \[Gil99\]: shares of their sum.

use alloc::vec::Vec;
use core::hint::black_box;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{base::Block, erase::Secret};

/// The sum of the products, as the party with the numbers has it, and the message. `bits` are its shares of the bits, `flips` the
/// peer's shares as sums with the choices of its OTs. Products of one OT have M numbers, of so many bytes each.
pub(super) fn offer<const M: usize>(
    pairs: &[[Block; 2]],
    (bits, flips): (&[u64], &[u64]),
    numbers: impl Fn(usize) -> [u64; M],
    lens: [usize; M],
) -> ([u64; M], Vec<u8>) {
    let mut share = [0_u64; M];
    let mut message = Vec::with_capacity(lens.iter().sum::<usize>() * pairs.len());
    for (i, pair) in pairs.iter().enumerate() {
        let [bit, flip] = [bits, flips].map(|bits| mask(bits, i));
        let numbers = numbers(i);
        for (j, number) in numbers.into_iter().enumerate() {
            let [zero, one] = [word(&pair[0], j), word(&pair[1], j)];
            let swap = (zero ^ one) & flip;
            let (zero, one) = (zero ^ swap, one ^ swap);
            // If the bit is 1, the peer's share takes the number away instead of adding it.
            let product = number & bit;
            share[j] = share[j].wrapping_add(product).wrapping_sub(zero);
            let change = number.wrapping_sub(product << 1);
            let sum = zero.wrapping_add(change).wrapping_sub(one).to_le_bytes();
            message.extend_from_slice(&sum[..lens[j]]);
        }
    }
    memcheck::public(&mut message);
    (share, message)
}

/// The sum of the products as the other party has it. `bits` are its shares of the bits.
pub(super) fn accept<const M: usize>(
    keys: &[Block],
    bits: &[u64],
    lens: [usize; M],
    mut message: &[u8],
) -> [u64; M] {
    let mut share = [0_u64; M];
    for (i, key) in keys.iter().enumerate() {
        let mask = mask(bits, i);
        for (j, len) in lens.into_iter().enumerate() {
            let (sum, rest) = message.split_at(len);
            message = rest;
            let mut bytes = [0; 8];
            bytes[..len].copy_from_slice(sum);
            let sum = u64::from_le_bytes(bytes) & mask;
            share[j] = share[j].wrapping_add(word(key, j)).wrapping_add(sum);
        }
    }
    share
}

/// All ones if bit i is 1, else 0. The compiler must not see that it is one of two, or it may branch.
fn mask(bits: &[u64], i: usize) -> u64 {
    black_box((bits[i / 64] >> (i % 64) & 1).wrapping_neg())
}

/// Word j of a key.
fn word(key: &Block, j: usize) -> u64 {
    u64::from_le_bytes(core::array::from_fn(|k| key[8 * j + k]))
}

/// Words as bytes.
pub(super) fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Bytes as words.
pub(super) fn words(bytes: &[u8]) -> Secret<u64> {
    Secret(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}
