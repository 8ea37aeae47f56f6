//! Binary linear codes, systematic: the first bits of a codeword are the word.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::{Backend, bits::add_product};
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
}

/// Words that are encoded together: what makes a line of a row.
const TOGETHER: usize = 512;

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

    /// The code.
    #[must_use]
    pub fn build(self) -> LinearCode {
        let parameters = self.parameters();
        let width = parameters.word_len();
        let mut sums = vec![0; parameters.length * width];
        let mut set = |i: usize, j: usize| sums[j * width + i / 8] |= 1 << (i % 8);
        match self.bch() {
            Some(bch) => bch.for_each_one(set),
            None => (0..parameters.length).for_each(|j| set(0, j)),
        }
        LinearCode { parameters, sums }
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
