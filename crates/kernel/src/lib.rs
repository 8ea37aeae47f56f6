//! Arithmetic kernels of Foxtrot, chosen at run time for the processor's instruction set.
//!
//! The only crate of the workspace that may contain `unsafe`. It knows no protocol: [`ring`] has
//! the polynomial rings of the lattice protocols, [`rns`] those of larger moduli, [`curve`] Curve25519
//! in batches, [`p256`] the curve P-256, [`blake3`] hashes many inputs at once; [`aegis`], [`aes`], [`bits`], [`gf`] and [`vole`] are what
//! OT extension needs, [`ggm`] and [`lpn`] what silent OT extension needs; [`rijndael`] is a cipher on 256 bits; [`nh`] is a universal hash; [`memcheck`] is
//! where protocols say what is public; [`Backend`] says which instructions to use.
//!
//! **Inlining.** A kernel is compiled for an instruction set only where it is inlined into a function of that set,
//! so kernels are `inline(always)`. At opt-level 0 LLVM gives the variables of every inlined call a place of their
//! own in the caller's frame: one frame had 2 MB. Functions and closures of more than a few instructions are
//! therefore `cfg_attr(not(unoptimized), inline(always))`, and the build script sets `unoptimized` at opt-level 0.
//! `tests/downstream` runs every protocol at opt-level 0 on a stack of 512 KiB.
//!
//! Nothing here branches on, or indexes by, the values it computes with, unless its documentation
//! says that they are public.
//!
//! ```
//! use foxtrot_kernel::{Backend, ring::module768::NttPoly};
//!
//! let backend = Backend::best();
//! let mut noise = NttPoly::ZERO;
//! noise.add_noise(backend, &[0xb2; 128]);
//! assert_eq!(noise.clone().into_poly(backend).into_ntt(backend), noise);
//! ```
#![no_std]

#[cfg(feature = "std")]
extern crate std;

/// A closure that is inlined as functions are: see "Inlining" above.
macro_rules! inlined {
    (|| $body:expr) => {
        #[cfg_attr(not(unoptimized), inline(always))]
        || $body
    };
    (|$($parameter:pat_param),*| $body:expr) => {
        #[cfg_attr(not(unoptimized), inline(always))]
        |$($parameter),*| $body
    };
}

/// Implements `Debug`, of several types at once: it prints a type's name and in parentheses what of it is public, for
/// which a format follows, or that it is redacted. Parameters stand before a type.
///
/// ```
/// # #![allow(dead_code)]
/// struct Key([u8; 16]);
/// struct Keys<'a>(&'a [Key]);
///
/// foxtrot_kernel::redacted! {
///     Key;
///     Keys<'_>, keys => "<{} redacted>", keys.0.len();
/// }
///
/// let keys = [Key([7; 16])];
/// assert_eq!(format!("{:?}", keys[0]), "Key(<redacted>)");
/// assert_eq!(format!("{:?}", Keys(&keys)), "Keys(<1 redacted>)");
/// ```
#[macro_export]
macro_rules! redacted {
    ($(
        $([$($parameters:tt)*])? $name:ident $(<$($argument:tt),*>)?
        $(, $value:ident => $format:literal $(, $shown:expr)*)?;
    )*) => {$(
        impl $(<$($parameters)*>)? ::core::fmt::Debug for $name $(<$($argument),*>)? {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::redacted!(@show f, self, $name $(, $value => $format $(, $shown)*)?)
            }
        }
    )*};
    (@show $f:expr, $this:expr, $name:ident) => {
        $f.write_str(concat!(stringify!($name), "(<redacted>)"))
    };
    (@show $f:expr, $this:expr, $name:ident, $value:ident => $format:literal $(, $shown:expr)*) => {{
        let $value = $this;
        write!($f, concat!(stringify!($name), "(", $format, ")") $(, $shown)*)
    }};
}

#[macro_use]
mod backend;
mod blocks;
#[cfg(dsp)]
mod dsp;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod simd;
#[cfg(target_feature = "simd128")]
mod simd128;

pub mod aegis;
pub mod aes;
pub mod bits;
pub mod blake3;
pub mod counters;
pub mod curve;
pub mod gf;
pub mod ggm;
pub mod lpn;
pub mod memcheck;
pub mod memory;
pub mod nh;
pub mod p256;
pub mod rijndael;
pub mod ring;
pub mod rns;
pub mod vole;

#[cfg(test)]
mod laws;

pub use backend::{Backend, BackendError};

/// 128 bits: a key, a row of a matrix, an output of a hash.
pub type Block = [u8; 16];

/// Overwrites what had secrets, also where nobody reads it again.
pub fn erase<T: Copy>(secrets: &mut [T], zero: T) {
    secrets.fill(zero);
    zeroize::optimization_barrier(secrets);
}

/// True on machines with little memory and no vectors: 32-bit ARM and RISC-V.
pub const SMALL: bool = cfg!(small);

/// `from.map(f)`, but inlined always. What the method of arrays calls may stay out of line, compiled for the baseline.
#[cfg_attr(not(unoptimized), inline(always))]
fn map_all<T: Copy, U: Copy, const N: usize>(from: [T; N], f: impl Fn(T) -> U) -> [U; N] {
    const { assert!(N > 0, "the first fills the array") };
    let mut to = [f(from[0]); N];
    for (to, &from) in to[1..].iter_mut().zip(&from[1..]) {
        *to = f(from);
    }
    to
}

/// Returns true if the bytes hold `n` rows of `len` bytes, `stride` apart, the last of which may end where its
/// `len` bytes end.
fn holds(available: usize, n: usize, stride: usize, len: usize) -> bool {
    let end = n.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(len));
    end.is_some_and(|end| end <= available)
}

/// The low and the high half.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
const fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

/// The inverse of [`halves`].
#[inline(always)]
const fn joined([low, high]: [u64; 2]) -> u128 {
    (high as u128) << 64 | low as u128
}

/// The README's Rust, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
