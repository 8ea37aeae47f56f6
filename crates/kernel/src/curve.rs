//! Curve25519 in batches.

mod batch;
mod constants;
mod field;
pub mod ladder;
