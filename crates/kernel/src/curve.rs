//! Curve25519 and its twist, in batches, for elliptic-curve base OTs.
//!
//! Eight lanes of AVX-512, four of AVX2, one elsewhere; one code for all, over the trait `Field`.
//! Representation, formulas with their sources, bounds, and why it is constant time: [below](#the-curves).
//!
//! [`ladder`] multiplies x-coordinates, of points of the curve or of the twist. [`Point`]s are on the
//! curve, in Edwards form; [`Table`] is for many multiples of one of them, [`TwinTable`] for many
//! x-coordinates of multiples of one point of the curve or one of the twist; [`mul_base`] and
//! [`mul_generators`] are these for the generators. [`elligator`] and
//! [`ristretto`] are the maps of these names.
//!
//! Slices are of any length, which is that of the output. Where a slice may be shorter, as said, its one element
//! is for all. Bits are packed least significant first, and there may be more than needed. Functions panic if lengths
//! do not fit. Field elements and scalars are little endian. Scalars have 256 bits unless a function says otherwise,
//! and are reduced modulo nothing. Time and addresses depend on lengths alone, except in functions that can return an error:
//! their inputs must be public.
//!
//! ```
//! use foxtrot_kernel::{Backend, curve};
//!
//! // Diffie and Hellman, with x-coordinates: b·(a·G) = a·(b·G).
//! let backend = Backend::best();
//! let scalars = [[0x0a; 32], [0x0b; 32]];
//! let (mut ours, mut shared) = ([[0; 32]; 2], [[0; 32]; 2]);
//! curve::ladder::mul(backend, &scalars, &[curve::CURVE_GENERATOR], &mut ours);
//! ours.reverse();
//! curve::ladder::mul(backend, &scalars, &ours, &mut shared);
//! assert_eq!(shared[0], shared[1]);
//! ```
#![doc = ""]
#![doc = include_str!("curve.md")]

mod batch;
mod comb;
mod constants;
mod edwards;
pub mod elligator;
mod field;
mod generators;
pub mod ladder;
mod point;
pub mod ristretto;
mod side;
#[cfg(test)]
mod tests;

pub use comb::{Table, TwinTable};
pub use field::Sixteen;
pub use generators::{mul_base, mul_generators};
pub use point::{
    Invalid, Point, add, compress, decompress, is_identity, mul, mul_by_cofactor, select, sub,
};
pub use side::on_curve;

/// The x-coordinate 6, of a generator of the whole curve: its order is 8ℓ,
/// ℓ = 2²⁵² + 27742317777372353535851937790883648493.
pub const CURVE_GENERATOR: [u8; 32] = small(6);

/// The x-coordinate 3, of a generator of the whole twist: its order is 4ℓ′,
/// ℓ′ = 2²⁵³ − 55484635554744707071703875581767296995.
pub const TWIST_GENERATOR: [u8; 32] = small(3);

const fn small(x: u8) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[0] = x;
    bytes
}
