//! The C library: `foxtrot-mpc` behind a border that no panic and no wrong pointer crosses, where that can be found out.
//!
//! * `exports` has the functions of `foxtrot.h`, `types` its structs and constants, both with its documentation. `raw` makes references
//!   of pointers. `exports` and `raw` are the only modules with `unsafe`.
//! * `peer`, `jobs` and `stream` are the calls themselves, `failure` is their errors.
//!
//! `cargo xtask capi` makes the header, the libraries and their packages, and tests them.

pub mod exports;
mod failure;
mod jobs;
mod peer;
mod raw;
mod stream;
mod types;
