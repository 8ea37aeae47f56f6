//! The tests of this crate as one program: what they share is compiled once.
//!
//! `cargo test -p foxtrot-mpc --test all NAME::` runs one file.

mod choices;
mod connections;
mod daily;
mod jobs;
mod memory;
mod resume;
mod terms;
