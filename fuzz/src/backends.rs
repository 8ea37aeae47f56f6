//! Results of a backend for an input, one part of the kernel after another: the same on each.

mod binary;
mod ciphers;
mod curve;
mod residues;
mod ring;

use foxtrot_kernel::{Backend, Block};

/// A part of the kernel on one backend: all its results, one after another.
pub type Part = fn(Backend, &mut Input<'_>) -> Vec<u8>;

/// Every part, by name.
pub const PARTS: [(&str, Part); 18] = [
    ("ring", ring::polynomials),
    ("vectors of polynomials", ring::vectors),
    ("aes", ciphers::aes),
    ("aegis", ciphers::aegis),
    ("blake3, derived keys", ciphers::derived_keys),
    ("blake3, keyed", ciphers::keyed),
    ("bits", binary::bits),
    ("products with bit matrices", binary::product),
    ("binary fields", binary::fields),
    ("vole", binary::vole),
    ("ladder", curve::ladder),
    ("tables", curve::tables),
    ("points", curve::points),
    ("elligator", curve::elligator),
    ("ristretto", curve::ristretto),
    ("rns, slices", residues::slices),
    ("rns, integers", residues::integers),
    ("rns, samples", residues::samples),
];

/// Input of an operation: the fuzzer's bytes, again and again, so that it need not find many.
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Begins with the first of these bytes; zeros, if there are none.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: if bytes.is_empty() { &[0] } else { bytes }, at: 0 }
    }

    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes[(self.at - 1) % self.bytes.len()]
    }

    /// 0 to `most`.
    fn up_to(&mut self, most: usize) -> usize {
        usize::from(u16::from_le_bytes(self.array())) % (most + 1)
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    fn arrays<const N: usize>(&mut self, n: usize) -> Vec<[u8; N]> {
        (0..n).map(|_| self.array()).collect()
    }

    fn string(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    fn blocks(&mut self, n: usize) -> Vec<Block> {
        self.arrays(n)
    }

    fn words(&mut self, n: usize) -> Vec<u64> {
        (0..n).map(|_| u64::from_le_bytes(self.array())).collect()
    }
}

/// The results of all calls.
#[derive(Default)]
struct Results(Vec<u8>);

impl Results {
    /// Keeps the result that is written to `len` bytes, which were not zero before.
    fn keep(&mut self, len: usize, write: impl FnOnce(&mut [u8])) {
        let mut result = vec![0xa5; len];
        write(&mut result);
        self.0.extend(result);
    }

    fn words(&mut self, words: &[u64]) {
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
}
