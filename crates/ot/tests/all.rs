//! The tests of this crate as one program: what they share is compiled once.
//!
//! `cargo test -p foxtrot-ot --test all NAME::` runs one file.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod chosen;
mod compatible;
mod convert;
mod convert_one_of_n;
mod counters;
mod extension;
mod extension_groups;
mod extension_misbehaviour;
mod extension_protocol;
mod extension_vectors;
mod faults;
mod misbehaviour;
mod naive_batching;
mod one_of_n;
mod one_of_n_misbehaviour;
mod one_of_n_protocol;
mod one_of_n_vectors;
mod parameters;
mod roted;
mod silent;
mod silent_vectors;
mod support;
mod traces;
mod two_round;
mod vectors;
mod vectors_chosen;
mod vectors_sealed;
mod vectors_two_round;
