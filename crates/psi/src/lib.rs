//! Private set intersection as sans-I/O states, from base OTs, hashes and codes only.
//!
//! So far its data structure is here: [`okvs`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod okvs;

mod erase;
