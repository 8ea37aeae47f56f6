//! The codes of `docs/wire/oos.md`, section 10, by polynomial arithmetic.

use crate::oracle::{Id, oracle};
use crate::{aes, bits_from_bytes, bytes_from_bits};
use std::collections::BTreeSet;

/// A code.
#[derive(Clone, Debug)]
pub enum Code {
    /// Repetition.
    Repetition,
    /// Extended BCH, by its generator and the bits of a word.
    Bch(Vec<bool>, usize),
    /// Encryption under these keys.
    Pseudorandom([u128; 4]),
}

impl Code {
    /// Returns the code of the protocol `name` in the session `id`.
    ///
    /// # Panics
    ///
    /// If there is no such protocol.
    #[must_use]
    pub fn of(name: &str, id: &Id) -> Self {
        match name {
            "oos-128" => Code::Repetition,
            "oos" => Code::Bch(generator(9, 0b10_0001_0001), 85),
            "oos-802" => Code::Bch(generator(10, 0b100_0000_1001), 231),
            "kkrt" => Code::Pseudorandom([0, 1, 2, 3].map(|p| {
                let key = oracle("foxtrot v1 one-of-n code", id, p, 0, &[], 16);
                u128::from_le_bytes(key.try_into().expect("16 bytes"))
            })),
            _ => panic!("no code of {name}"),
        }
    }

    /// Returns the bits of a word.
    #[must_use]
    pub fn word_bits(&self) -> usize {
        match self {
            Code::Repetition => 1,
            Code::Bch(_, bits) => *bits,
            Code::Pseudorandom(_) => 128,
        }
    }

    /// Returns the bits of a codeword.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Code::Repetition => 128,
            Code::Bch(generator, bits) => bits + generator.len(),
            Code::Pseudorandom(_) => 512,
        }
    }

    /// Returns C(`word`).
    ///
    /// # Panics
    ///
    /// If `word` is longer or shorter than [`Code::word_bits`].
    #[must_use]
    pub fn encode(&self, word: &[bool]) -> Vec<bool> {
        assert_eq!(word.len(), self.word_bits());
        match self {
            Code::Repetition => vec![word[0]; 128],
            Code::Bch(generator, _) => {
                let degree = generator.len() - 1;
                let shifted = [vec![false; degree], word.to_vec()].concat();
                let mut codeword = [word, &remainder(shifted, generator)].concat();
                codeword.push(codeword.iter().fold(false, |parity, bit| parity ^ bit));
                codeword
            }
            Code::Pseudorandom(keys) => {
                let word = bytes_from_bits(word).try_into().expect("128 bits");
                let blocks = keys.map(|key| aes::encrypt(key, u128::from_le_bytes(word)));
                bits_from_bytes(&blocks.map(u128::to_le_bytes).concat(), 512)
            }
        }
    }
}

/// Returns what is left of `dividend` on division by `divisor`: one coefficient fewer.
fn remainder(mut dividend: Vec<bool>, divisor: &[bool]) -> Vec<bool> {
    while dividend.len() >= divisor.len() {
        let shift = dividend.len() - divisor.len();
        if dividend.last() == Some(&true) {
            for (k, &coefficient) in divisor.iter().enumerate() {
                dividend[shift + k] ^= coefficient;
            }
        }
        dividend.pop();
    }
    dividend
}

/// Returns g: the product of x − αˢ over the cosets of 1 to 126, for α a root of `polynomial` of
/// degree `e`; the coefficients from the constant one on.
fn generator(e: usize, polynomial: usize) -> Vec<bool> {
    let order = (1 << e) - 1;
    let times_alpha = |x: usize| if x << 1 >> e == 1 { x << 1 ^ polynomial } else { x << 1 };
    let multiply = |a: usize, b: usize| {
        let mut product = 0;
        for k in (0..e).rev() {
            product = times_alpha(product) ^ if b >> k & 1 == 1 { a } else { 0 };
        }
        product
    };
    let coset = |s: usize| (0..e).map(move |k| (s << k) % order);
    let exponents: BTreeSet<usize> = (1..=126).flat_map(coset).collect();
    let mut product = vec![1];
    for s in exponents {
        let root = (0..s).fold(1, |x, _| times_alpha(x));
        // Times x − root.
        let mut next = [vec![0], product.clone()].concat();
        for (k, &coefficient) in product.iter().enumerate() {
            next[k] ^= multiply(coefficient, root);
        }
        product = next;
    }
    product
        .into_iter()
        .map(|coefficient| match coefficient {
            0 => false,
            1 => true,
            _ => panic!("a coefficient that is not in GF(2)"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_have_the_degrees_that_give_the_dimensions() {
        assert_eq!(generator(9, 0b10_0001_0001).len() - 1, 511 - 85);
        assert_eq!(generator(10, 0b100_0000_1001).len() - 1, 1023 - 453);
    }

    #[test]
    fn a_generator_over_a_small_field_is_the_product_of_its_factors() {
        // 1 to 126 are all exponents modulo 15: every element of GF(16) but 0 is a root of x¹⁵ − 1.
        let expected: Vec<_> = (0..16).map(|i| i % 15 == 0).collect();
        assert_eq!(generator(4, 0b1_0011), expected);
    }

    #[test]
    fn sums_of_codewords_are_codewords() {
        for name in ["oos", "oos-802", "oos-128"] {
            let code = Code::of(name, &[0; 32]);
            let word = |step: usize| -> Vec<bool> {
                (0..code.word_bits()).map(|k| (k * k + k) % step == 1 % step).collect()
            };
            let sum = |a: &[bool], b: &[bool]| a.iter().zip(b).map(|(a, b)| a ^ b).collect();
            let (a, b): (Vec<bool>, Vec<bool>) = (word(5), word(7));
            let c: Vec<bool> = sum(&a, &b);
            let expected: Vec<bool> = sum(&code.encode(&a), &code.encode(&b));
            assert_eq!(code.encode(&c), expected);
            assert_eq!(code.encode(&c).len(), code.length());
        }
    }
}
