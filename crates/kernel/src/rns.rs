//! Polynomials over Z_q modulo Xⁿ + 1 for a q of hundreds of bits, by their residues modulo primes
//! below 2⁵⁰.
//!
//! A residue polynomial is a slice of n words, canonical (0..p) at this interface; an RNS polynomial
//! has one after another for each of its primes. Whether these are coefficients or values at roots of
//! unity is the caller's to know: sums and scalar products work on either, [`Ntt`] goes between
//! them, products of polynomials are products of values, word by word ([`residues::mul`]).
//!
//! | module | purpose |
//! |---|---|
//! | [`Modulus`] | a prime, and arithmetic modulo it on single words |
//! | [`Ntt`] | the negacyclic transform |
//! | [`residues`] | arithmetic on slices of residues |
//! | [`sample`] | uniform, ternary and binomial coefficients from AES-CTR |
//! | [`MixedRadix`] | from all residues to the integer: its size, its residues elsewhere |
//! | [`Divider`] | exact division by a product of primes, with rounding |
//! | [`pack`] | residues as bits |
//!
//! All memory is the caller's; functions panic if its length does not fit. Nothing here branches on, or indexes by, words of polynomials, but for
//! what says that it is for public ones; moduli, lengths and scalars are public. Representations,
//! bounds and proofs are [below](#representation). Every backend gives the same words.
#![doc = ""]
#![doc = include_str!("rns.md")]

mod divide;
mod lanes;
mod mixed_radix;
mod modulus;
mod ntt;
pub mod pack;
pub mod residues;
pub mod sample;
mod signed;
#[cfg(test)]
mod tests;

pub use divide::{Divider, round_low};
pub use mixed_radix::MixedRadix;
pub use modulus::Modulus;
pub use ntt::Ntt;
pub use signed::set_signed;

pub use crate::ring::OutOfRange;

/// The most primes of a [`MixedRadix`], or of either side of a [`Divider`].
pub const MAX_PRIMES: usize = 8;

/// Slices of residues have a multiple of this many words.
pub const GRANULE: usize = 8;

/// Checks that `words` is a whole number of granules, and the same for all.
fn check(words: usize, others: &[usize]) {
    assert!(words.is_multiple_of(GRANULE), "residues come in granules");
    assert!(others.iter().all(|&other| other == words), "slices of one length");
}
