//! Private set intersection as sans-I/O states, from base OTs, hashes and codes only.
//!
//! So far its data structure is here, [`okvs`], and what a cheating receiver gains by its size,
//! [`largest_fitted_set`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod okvs;

mod erase;
mod sizes;

pub use sizes::largest_fitted_set;
