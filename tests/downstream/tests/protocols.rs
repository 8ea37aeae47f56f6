//! Every protocol of the libraries on threads of 512 KiB, on every backend, at opt-level 0.
//!
//! Both parties' steps run on the same thread, one after another. A frame's size does not depend on the number of
//! OTs, but which functions run does: the usual tests take a number for each of these cases, and the ignored ones
//! all sizes and parameters.
#![allow(missing_docs, reason = "a test")]

#[path = "protocols/base.rs"]
mod base;
#[path = "protocols/extension.rs"]
mod extension;
#[path = "protocols/one_of_n.rs"]
mod one_of_n;
#[path = "protocols/psi.rs"]
mod psi;
#[path = "protocols/triples.rs"]
mod triples;
