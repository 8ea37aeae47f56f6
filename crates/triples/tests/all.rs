//! The tests of this crate as one program: what they share is compiled once.
//!
//! `cargo test -p foxtrot-triples --test all NAME::` runs one file.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod bits;
mod faults;
mod gilboa;
mod gilboa_protocol;
mod misbehaviour;
mod parameters;
mod reference;
mod rlwe;
mod rlwe_protocol;
mod support;
mod table;
mod traces;
