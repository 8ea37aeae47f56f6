//! The tests of this crate as one program: what they share is compiled once.
//!
//! `cargo test -p foxtrot-psi --test all NAME::` runs one file.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod bound;
mod faults;
mod okvs;
mod paxos_reference;
mod protocol;
mod reference;
mod resumed;
mod support;
mod traces;
