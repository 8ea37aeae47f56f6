//! The tests of this crate as one program: what they share is compiled once.
//!
//! `cargo test -p foxtrot-papers --test all NAME::` runs one file.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod rlwe_paper;
mod roted_faults;
mod roted_figure1;
mod vectors;
