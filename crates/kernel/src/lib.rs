//! Arithmetic kernels of Foxtrot, chosen at run time for the processor's instruction set.
//!
//! The only crate of the workspace that may contain `unsafe`. It knows no protocol: [`ring`] has
//! the polynomial rings of the lattice protocols, [`blake3`] hashes many inputs at once, and
//! [`Backend`] says which instructions to use.
//!
//! Nothing here branches on, or indexes by, the values it computes with, unless its documentation
//! says that they are public.
//!
//! ```
//! use foxtrot_kernel::{Backend, ring::module768::Poly};
//!
//! let backend = Backend::best();
//! let noise = Poly::centred_binomial(backend, &[0xb2; 128]);
//! assert_eq!(noise.clone().into_ntt(backend).into_poly(backend), noise);
//! ```
#![no_std]

#[cfg(feature = "std")]
extern crate std;

pub mod blake3;
pub mod counters;
pub mod ring;

mod backend;
#[cfg(target_arch = "x86_64")]
mod simd;

pub use backend::{Backend, BackendError};
