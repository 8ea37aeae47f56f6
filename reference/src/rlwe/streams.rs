//! Strings of the oracle as long strings, and coefficients from these.

use crate::{
    aes,
    oracle::{Id, oracle},
};

/// A key of AES and ν.
pub(super) type Key = (u128, u64);

pub(super) fn stream_key(context: &str, id: &Id, i: usize, branch: u8, fields: &[&[u8]]) -> Key {
    let bytes = oracle(context, id, i, branch, fields, 24);
    let (key, nonce) = bytes.split_at(16);
    (
        u128::from_le_bytes(key.try_into().expect("16 bytes")),
        u64::from_le_bytes(nonce.try_into().expect("8 bytes")),
    )
}

/// The words of a stream.
pub(super) fn words((key, nonce): Key, stream: u64) -> impl Iterator<Item = u64> {
    let block = move |j: u64| {
        let counter = u128::from(nonce) << 64 | u128::from(stream) << 56 | u128::from(j);
        let block = aes::encrypt(key, counter).to_le_bytes();
        let (low, high) = block.split_at(8);
        [low, high].map(|half| u64::from_le_bytes(half.try_into().expect("8 bytes")))
    };
    (0..).flat_map(block)
}

/// Pairs of words, the first one low.
fn wide_words(key: Key, stream: u64) -> impl Iterator<Item = u128> {
    let mut words = words(key, stream);
    core::iter::from_fn(move || {
        let low = words.next()?;
        Some(u128::from(low) | u128::from(words.next()?) << 64)
    })
}

/// ⌊x·m/2¹²⁸⌋.
fn scaled(x: u128, m: u128) -> u128 {
    let (high, low) = (x >> 64, x & u128::from(u64::MAX));
    (high * m + ((low * m) >> 64)) >> 64
}

pub(super) fn uniform(key: Key, stream: u64, prime: i128, n: usize) -> Vec<i128> {
    let prime = prime as u128;
    let accept = |word: u64| {
        let product = u128::from(word) * prime;
        let accepted = product % (1 << 64) >= (1 << 64) % prime;
        accepted.then_some((product >> 64) as i128)
    };
    words(key, stream).filter_map(accept).take(n).collect()
}

pub(super) fn ternary(key: Key, stream: u64, n: usize) -> Vec<i128> {
    let trits = |x: u128| {
        let number = scaled(x, 3u128.pow(32)) as i128;
        (0..32).rev().map(move |k| number / 3i128.pow(k) % 3 - 1)
    };
    wide_words(key, stream).flat_map(trits).take(n).collect()
}

pub(super) fn binomial(key: Key, stream: u64, n: usize) -> Vec<i128> {
    let ones = |word: u64| i128::from((word % (1 << 21)).count_ones());
    words(key, stream).map(|word| ones(word) - ones(word >> 21)).take(n).collect()
}
