//! Numbers modulo others, and lists of them as bits.

use crate::{bits_from_bytes, bytes_from_bits};

/// The product over the integers, modulo Xⁿ + 1.
pub(super) fn integer_product(f: &[i128], s: &[i128]) -> Vec<i128> {
    let n = f.len();
    let mut product = vec![0; n];
    for (j, y) in s.iter().enumerate() {
        let (straight, around) = f.split_at(n - j);
        product[j..].iter_mut().zip(straight).for_each(|(sum, x)| *sum += x * y);
        product.iter_mut().zip(around).for_each(|(sum, x)| *sum -= x * y);
    }
    product
}

/// Σ_k v_k·w^(ik) for all i, w having the order of their number, a power of two: by those of even and of odd k.
pub(super) fn fourier(v: &[i128], w: i128, prime: i128) -> Vec<i128> {
    if v.len() == 1 {
        return v.to_vec();
    }
    let half = |first| -> Vec<i128> { v.iter().skip(first).step_by(2).copied().collect() };
    let [even, odd] = [0, 1].map(|first| fourier(&half(first), w * w % prime, prime));
    let powers = core::iter::successors(Some(1), |power| Some(power * w % prime));
    let sums = even.iter().chain(&even).zip(odd.iter().chain(&odd)).zip(powers);
    sums.map(|((even, odd), power)| (even + odd * power) % prime).take(v.len()).collect()
}

pub(super) fn reduced(f: &[i128], modulus: i128) -> Vec<i128> {
    f.iter().map(|x| x.rem_euclid(modulus)).collect()
}

pub(super) fn width(prime: i128) -> usize {
    (128 - prime.leading_zeros()) as usize
}

/// x·y modulo m, for m below 2¹²⁶, by doubling.
pub(super) fn multiply(x: i128, y: i128, m: i128) -> i128 {
    let (x, mut y) = (x.rem_euclid(m), y.rem_euclid(m));
    let (mut sum, mut power) = (0, x);
    while y > 0 {
        if y % 2 == 1 {
            sum = (sum + power) % m;
        }
        power = 2 * power % m;
        y /= 2;
    }
    sum
}

pub(super) fn power(x: i128, mut exponent: i128, prime: i128) -> i128 {
    let (mut result, mut square) = (1, x.rem_euclid(prime));
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result * square % prime;
        }
        square = square * square % prime;
        exponent /= 2;
    }
    result
}

pub(super) fn pack(words: &[i128], width: usize) -> Vec<u8> {
    let bits: Vec<bool> =
        words.iter().flat_map(|x| (0..width).map(move |k| x >> k & 1 == 1)).collect();
    bytes_from_bits(&bits)
}

pub(super) fn unpack(bytes: &[u8], width: usize, n: usize) -> (Vec<i128>, &[u8]) {
    let (packed, rest) = bytes.split_at(n * width / 8);
    let word = |bits: &[bool]| (0..).zip(bits).map(|(k, bit)| i128::from(*bit) << k).sum();
    (bits_from_bytes(packed, n * width).chunks(width).map(word).collect(), rest)
}
