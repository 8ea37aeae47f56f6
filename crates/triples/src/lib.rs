//! Beaver multiplication triples modulo 2^ℓ, ℓ = 8, 16, 32, 64, as sans-I/O states, from ring-LWE;
//! against semi-honest peers.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod formats;
pub mod params;
pub mod rlwe;

mod erase;
mod shares;

pub use shares::{Shares, wrong, wrong_in_batch};
