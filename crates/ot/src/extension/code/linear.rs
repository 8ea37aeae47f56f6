//! Binary linear codes, systematic: the first bits of a codeword are the word.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::{
    Backend,
    bits::{add_product, xor_masked},
};
use zeroize::Zeroizing;

use super::{
    Code, Parameters,
    bch::{BCH_512, BCH_802, Bch},
    turn::{SIDE, to_columns, to_strings},
};
use crate::erase::SecretBytes;

/// The binary linear codes of distance at least 128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linear {
    /// \[128, 1\]: repetition.
    Repetition128,
    /// \[512, 85\]: extended BCH.
    Bch512,
    /// \[802, 231\]: extended BCH \[1024, 453\], shortened.
    Bch802,
}

/// A binary linear code, ready to encode.
#[derive(Clone)]
pub struct LinearCode {
    parameters: Parameters,
    /// Row j says of which bits of the word bit j of the codeword is the sum.
    sums: Vec<u8>,
    /// The codeword of every word with a single bit.
    units: Vec<u8>,
}

/// Words that are encoded together: what makes a line of a row.
const TOGETHER: usize = 512;

/// The most words that are encoded one by one.
const FEW: usize = 8;

impl Linear {
    fn bch(self) -> Option<Bch> {
        match self {
            Self::Repetition128 => None,
            Self::Bch512 => Some(BCH_512),
            Self::Bch802 => Some(BCH_802),
        }
    }

    /// The lengths.
    #[must_use]
    pub fn parameters(self) -> Parameters {
        self.bch().map_or(Parameters { length: 128, word_bits: 1 }, |bch| Parameters {
            length: bch.length(),
            word_bits: bch.word_bits,
        })
    }

    /// The minimum distance is at least this; for the last two by the BCH bound.
    #[must_use]
    pub const fn distance(self) -> usize {
        128
    }

    /// The code.
    #[must_use]
    pub fn build(self) -> LinearCode {
        let parameters = self.parameters();
        let (width, row_len) = (parameters.word_len(), parameters.row_len());
        let mut sums = vec![0; parameters.length * width];
        let mut units = vec![0; parameters.word_bits * row_len];
        let mut set = |i: usize, j: usize| {
            sums[j * width + i / 8] |= 1 << (i % 8);
            units[i * row_len + j / 8] |= 1 << (j % 8);
        };
        match self.bch() {
            Some(bch) => bch.for_each_one(set),
            None => (0..parameters.length).for_each(|j| set(0, j)),
        }
        LinearCode { parameters, sums, units }
    }
}

impl LinearCode {
    /// The codeword of a vector over GF(2^64), which is public: the same sums, of elements.
    pub(in crate::extension) fn encode_elements(&self, word: &[u64]) -> Vec<u64> {
        let sums = self.sums.chunks_exact(self.parameters.word_len());
        sums.map(|of| {
            let named = word.iter().enumerate().filter(|(i, _)| of[i / 8] >> (i % 8) & 1 == 1);
            named.fold(0, |sum, (_, element)| sum ^ element)
        })
        .collect()
    }

    /// The sum of masked rows of the generator.
    fn encode_one(&self, backend: Backend, word: &[u8], codeword: &mut [u8]) {
        codeword.fill(0);
        for (i, unit) in self.units.chunks_exact(self.parameters.row_len()).enumerate() {
            let mask = (word[i / 8] >> (i % 8) & 1).wrapping_neg();
            xor_masked(backend, codeword, unit, mask);
        }
    }
}

impl Code for LinearCode {
    fn parameters(&self) -> Parameters {
        self.parameters
    }

    fn encode(&self, backend: Backend, words: &[u8], codewords: &mut [u8]) {
        let (word_len, row_len) = (self.parameters.word_len(), self.parameters.row_len());
        let n = words.len() / word_len;
        assert!(words.len().is_multiple_of(word_len), "whole words");
        assert!(Some(codewords.len()) == n.checked_mul(row_len), "a place for every codeword");
        if n <= FEW {
            let words = words.chunks_exact(word_len);
            let pairs = words.zip(codewords.chunks_exact_mut(row_len));
            return pairs.for_each(|(word, codeword)| self.encode_one(backend, word, codeword));
        }
        const LINE: usize = TOGETHER / 8;
        let length = self.parameters.length;
        let mut turned = SecretBytes::zeroed(self.turned() * LINE);
        let mut rows = SecretBytes::zeroed(length.next_multiple_of(SIDE) * LINE);
        let mut blocks = Zeroizing::new([[0; 16]; TOGETHER]);
        let parts = words.chunks(TOGETHER * word_len).zip(codewords.chunks_mut(TOGETHER * row_len));
        for (words, codewords) in parts {
            self.turn(backend, words, &mut turned, LINE);
            rows.fill(0);
            self.add(backend, 0..length, (&turned, LINE), (&mut rows, LINE), LINE);
            let blocks = blocks.as_mut_slice();
            to_strings(backend, (&rows, LINE), 0, row_len, blocks, codewords);
        }
    }

    fn turned(&self) -> usize {
        self.parameters.word_bits
    }

    fn linear(&self) -> Option<&LinearCode> {
        Some(self)
    }

    fn turn(&self, backend: Backend, words: &[u8], rows: &mut [u8], stride: usize) {
        let Parameters { word_bits, .. } = self.parameters;
        to_columns(backend, words, self.parameters.word_len(), word_bits, (rows, stride));
    }

    fn add(
        &self,
        backend: Backend,
        bits: Range<usize>,
        rows: (&[u8], usize),
        out: (&mut [u8], usize),
        len: usize,
    ) {
        let width = self.parameters.word_len();
        let sums = &self.sums[bits.start * width..bits.end * width];
        add_product(backend, sums, self.parameters.word_bits, rows, out, len);
    }
}

foxtrot_kernel::redacted! {
    LinearCode, linear_code => "{}, {}", linear_code.parameters.length, linear_code.parameters.word_bits;
}
