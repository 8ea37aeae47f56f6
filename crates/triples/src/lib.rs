//! Beaver multiplication triples modulo 2^ℓ, ℓ = 1, 8, 16, 32, 64, as sans-I/O states, from ring-LWE or
//! oblivious transfer; against semi-honest peers.
//!
//! | protocol | bytes per triple, ℓ = 8, 16, 32, 64 | |
//! |---|---|---|
//! | [`rlwe`] | 31, 42, 64, 109 | with a random OT per triple, which is counted |
//! | the same without OTs | 52, 62, 82, 122 | one triple in 2⁴¹ is wrong at most |
//! | [`gilboa`] | 71, 158, 380, 1016 | none is wrong; a batch may have any number |
//! | [`bits`] | 8 for ℓ = 1, from silent OTs 0.2 | XOR shares |
//!
//! [`params`] has the sets of parameters of [`rlwe`], [`Shares`] are a party's part of a batch, and [`wrong_in_batch`] checks
//! both parties' against each other. [`TripleKind`] runs any of the protocols.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod bits;
pub mod formats;
pub mod gilboa;
pub mod params;
pub mod rlwe;

mod check;
mod error;
mod kind;
mod shares;

pub use error::Error;
use foxtrot_ot::erase;
use foxtrot_ot::protocol::Protocol;
pub use kind::{BASE, DEFAULT_SIGMA, FEW, LEAST_HIDDEN, TripleKind};
pub use shares::{Shares, wrong_in_batch};

/// The caveat of every protocol of this crate.
const CAVEAT: &str = "a cheating peer may learn shares or spoil triples, and is not detected";

/// The records of every kind of triples.
pub fn protocols() -> impl Iterator<Item = &'static Protocol> {
    params::PROTOCOLS.iter().chain(&gilboa::PROTOCOLS).chain(&bits::PROTOCOLS)
}
