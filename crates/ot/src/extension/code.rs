//! Codes: a word chooses one of N, its codeword is what correlates an OT. A row of the sender is
//! q = t ⊕ C(w)·Δ, so a key for another word misses as many bits of Δ as their codewords have
//! differences: a code of distance 128 is needed.
//!
//! | code | words | rows | distance | |
//! |---|---|---|---|---|
//! | [`Linear::Repetition128`] | 1 bit | 16 bytes | 128 | |
//! | [`Linear::Bch512`] | 85 bits | 64 bytes | ≥ 128, proven | extended BCH |
//! | [`Linear::Bch802`] | 231 bits | 101 bytes | ≥ 128, proven | shortened extended BCH |
//! | [`Family::Pseudorandom`] | 128 bits | 64 bytes | ≥ 128 with probability 1 − 2⁻⁹⁸ per pair | AES, not linear |
//!
//! ```
//! use foxtrot_ot::{Backend, extension::code::{Code, Linear}};
//!
//! let code = Linear::Bch512.build();
//! let (one, two) = ([1; 11], [2; 11]);
//! let mut codewords = [0; 2 * 64];
//! code.encode(Backend::best(), &[one, two].concat(), &mut codewords);
//! let (one, two) = codewords.split_at(64);
//! let differences: u32 = one.iter().zip(two).map(|(a, b)| (a ^ b).count_ones()).sum();
//! assert!(differences >= 128);
//! ```
//!
//! # Distances
//!
//! *BCH bound.* Let α be of order n = 2^m − 1 (α⁹ = α⁴ + 1, α¹⁰ = α³ + 1) and g the product of all x − αˢ for s in
//! the cyclotomic cosets of 1, …, 126. A multiple of g of degree < n with w ≤ 126 coefficients would be a
//! dependency of w columns of a Vandermonde matrix: so none is lighter than 127. g has the degree 426 or 570, so
//! the dimension is 85 or 453. A bit for the parity of all makes every weight even, hence ≥ 128.
//! Leaving out bits of the word that are 0 keeps what is left. `code/bch.rs` computes g from the cosets when it is
//! compiled, and `code/tests.rs` finds the roots of the
//! generators again, and the ranks; lengths that the literature takes from random search are shorter, and not
//! proven.

mod bch;
mod linear;
mod pseudorandom;
pub(super) mod turn;

#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use core::ops::Range;

use foxtrot_kernel::{Backend, memcheck::decided};
pub use linear::{Linear, LinearCode};
pub use pseudorandom::PseudorandomCode;

use crate::Session;

/// The lengths of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Bits of a codeword, which is as many base OTs as an extension with this code starts from.
    pub length: usize,
    /// Bits of a word.
    pub word_bits: usize,
}

impl Parameters {
    /// Bytes of a word. Bit i is bit i mod 8 of byte ⌊i/8⌋; spare bits are ignored.
    #[must_use]
    pub const fn word_len(&self) -> usize {
        self.word_bits.div_ceil(8)
    }

    /// Bytes of a codeword, and of a row; spare bits are zero.
    #[must_use]
    pub const fn row_len(&self) -> usize {
        self.length.div_ceil(8)
    }

    /// The word of number `choice`, little endian; `None` if it is not below 2^k.
    #[must_use]
    pub fn word(&self, choice: u64) -> Option<alloc::vec::Vec<u8>> {
        if self.word_bits < 64 && decided(choice >> self.word_bits != 0) {
            return None;
        }
        let mut word = alloc::vec![0; self.word_len().max(8)];
        word[..8].copy_from_slice(&choice.to_le_bytes());
        word.truncate(self.word_len());
        Some(word)
    }
}

/// A family of codes on which two parties have to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A linear code.
    Linear(Linear),
    /// The pseudorandom code.
    Pseudorandom,
}

impl Family {
    /// The code with its lengths and distance.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Linear(Linear::Repetition128) => "repetition [128, 1]",
            Self::Linear(Linear::Bch512) => "extended BCH [512, 85], distance at least 128",
            Self::Linear(Linear::Bch802) => {
                "shortened extended BCH [802, 231], distance at least 128"
            }
            Self::Pseudorandom => "pseudorandom [512, 128]",
        }
    }

    /// The lengths of its code.
    #[must_use]
    pub fn parameters(self) -> Parameters {
        match self {
            Self::Linear(code) => code.parameters(),
            Self::Pseudorandom => PseudorandomCode::PARAMETERS,
        }
    }

    /// The code of that session.
    #[must_use]
    pub fn of_session(self, session: &Session) -> Box<dyn Code> {
        match self {
            Self::Linear(code) => Box::new(code.build()),
            Self::Pseudorandom => Box::new(PseudorandomCode::of_session(session)),
        }
    }
}

/// Encodes words, in time that does not depend on them.
pub trait Code: Send + Sync {
    /// Its lengths.
    fn parameters(&self) -> Parameters;

    /// Codewords of words, both one after another.
    ///
    /// # Panics
    /// If there are not as many places for codewords as words, or either are not whole.
    fn encode(&self, backend: Backend, words: &[u8], codewords: &mut [u8]);

    /// Rows that [`Code::turn`] writes.
    fn turned(&self) -> usize;

    /// The code itself, if it is linear.
    fn linear(&self) -> Option<&LinearCode> {
        None
    }

    /// Turns n words for [`Code::add`]: bit i of the rows written belongs to word i; from there on to
    /// the next multiple of 128 bits are 0.
    ///
    /// # Panics
    /// If words are not whole, or there is no room for the rows.
    fn turn(&self, backend: Backend, words: &[u8], rows: &mut [u8], stride: usize);

    /// Adds to row j of `out` the bits j + `bits.start` of all codewords, on the first `len` bytes of
    /// the turned words in `rows`; with both comes the distance of their rows in bytes.
    ///
    /// # Panics
    /// If `len` is not a multiple of 64, or there is no room for it.
    fn add(
        &self,
        backend: Backend,
        bits: Range<usize>,
        rows: (&[u8], usize),
        out: (&mut [u8], usize),
        len: usize,
    );
}
