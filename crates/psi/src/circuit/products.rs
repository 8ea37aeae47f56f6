//! Products of a shared bit and a party's number, by one random OT each \[Gil99\]: shares of their sum.

use alloc::vec::Vec;
use core::hint::black_box;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{Decode, base::Block, erase::Secret};

use crate::packed::{below, pack, unpack};

/// The sum of the products, as the party with the numbers has it, and the message. `bits` are its shares of the bits, `flips` the
/// peer's shares as sums with the choices of its OTs. Products of one OT have M numbers, of so many bits each.
pub(super) fn offer<const M: usize>(
    pairs: &[[Block; 2]],
    (bits, flips): (&[u64], &[u64]),
    numbers: impl Fn(usize) -> [u64; M],
    lens: [u32; M],
) -> ([u64; M], Vec<u8>) {
    let mut share = [0_u64; M];
    let sums = pairs.iter().enumerate().map(|(i, pair)| {
        let [bit, flip] = [bits, flips].map(|bits| mask(bits, i));
        let (mut sums, mut at) = (0, 0);
        for (j, number) in numbers(i).into_iter().enumerate() {
            let [zero, one] = [word(&pair[0], j), word(&pair[1], j)];
            let swap = (zero ^ one) & flip;
            let (zero, one) = (zero ^ swap, one ^ swap);
            // If the bit is 1, the peer's share takes the number away instead of adding it.
            let product = number & bit;
            share[j] = share[j].wrapping_add(product).wrapping_sub(zero);
            let change = number.wrapping_sub(product << 1);
            let sum = u128::from(zero.wrapping_add(change).wrapping_sub(one));
            sums |= (sum & below(lens[j])) << at;
            at += lens[j];
        }
        sums
    });
    let mut message = pack(sums, lens.iter().sum());
    memcheck::public(&mut message);
    (share, message)
}

/// The sum of the products as the other party has it. `bits` are its shares of the bits.
///
/// # Errors
/// [`Decode::SpareBits`] if bits behind the last number are not zero.
pub(super) fn accept<const M: usize>(
    keys: &[Block],
    bits: &[u64],
    lens: [u32; M],
    message: Vec<u8>,
) -> Result<[u64; M], Decode> {
    let mut share = [0_u64; M];
    let sums = unpack("Products", message, keys.len(), lens.iter().sum())?;
    for (i, (key, mut sums)) in keys.iter().zip(sums).enumerate() {
        let mask = mask(bits, i);
        for (j, len) in lens.into_iter().enumerate() {
            let sum = low(sums & below(len)) & mask;
            sums >>= len;
            share[j] = share[j].wrapping_add(word(key, j)).wrapping_add(sum);
        }
    }
    Ok(share)
}

/// The low word.
#[expect(clippy::cast_possible_truncation, reason = "the low word")]
const fn low(number: u128) -> u64 {
    number as u64
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
