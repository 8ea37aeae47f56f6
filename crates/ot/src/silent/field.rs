//! The fields that U comes from, as the rest of the module computes with them.

use alloc::vec::Vec;

use foxtrot_kernel::{Backend, gf::gf128};

use subtle::{Choice, ConditionallySelectable};

use crate::{
    Bits,
    base::Block,
    erase::{Secret, Zero},
};

/// A field whose elements are the receiver's U, below GF(2^128). It is sealed: the code is one of these.
pub trait Field: sealed::Field + Copy + Send + Sync + 'static {
    /// U of a batch.
    type Values: Send;
}

/// GF(2^128).
#[derive(Clone, Copy, Debug)]
pub struct Gf128;

/// GF(2^64), over which GF(2^128) is a plane.
#[derive(Clone, Copy, Debug)]
pub struct Gf64;

/// GF(2): U are the choices of OTs.
#[derive(Clone, Copy, Debug)]
pub struct Gf2;

impl Field for Gf128 {
    type Values = Secret<u128>;
}

impl Field for Gf64 {
    type Values = Secret<u64>;
}

impl Field for Gf2 {
    type Values = Bits;
}

/// What the module needs of a field.
pub(super) mod sealed {
    use super::*;

    pub trait Field: Sized {
        /// An element.
        type Element: Zero + Send + Sync;

        /// Bits of an element.
        const BITS: usize;

        /// OTs that are packed to the value of a noise position.
        const NOISE_BITS: usize;

        /// X·a for a vector a over this field.
        fn times_x(a: u128) -> u128;

        /// The low bits.
        fn element(bits: u128) -> Self::Element;

        /// The element as one of GF(2^128), in which the check is.
        fn embed(element: Self::Element) -> u128;

        /// The element, or 0.
        fn select(element: Self::Element, it: Choice) -> Self::Element;

        fn add(a: Self::Element, b: Self::Element) -> Self::Element;

        /// The factors of the code with these keystream bytes, none if all are 1.
        fn factors(bytes: &[u8]) -> Vec<Self::Element>;

        /// d·a, for an element a.
        fn mul(backend: Backend, d: Self::Element, a: Self::Element) -> Self::Element;

        /// d·a, for a vector a.
        fn scale(backend: Backend, d: Self::Element, a: u128) -> u128;

        /// The values of a batch, of OTs with these flips.
        fn values(elements: Secret<Self::Element>, flips: &Bits) -> <Self as super::Field>::Values
        where
            Self: super::Field;
    }
}

use sealed::Field as Arithmetic;

/// X·a in GF(2^64).
const fn times_x(a: u64) -> u64 {
    a << 1 ^ (a >> 63).wrapping_neg() & 0x1b
}

#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
const fn halves(a: u128) -> [u64; 2] {
    [a as u64, (a >> 64) as u64]
}

fn joined([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

impl Arithmetic for Gf128 {
    type Element = u128;
    const BITS: usize = 128;
    const NOISE_BITS: usize = 128;

    fn times_x(a: u128) -> u128 {
        a << 1 ^ (a >> 127).wrapping_neg() & 0x87
    }

    fn element(bits: u128) -> u128 {
        bits
    }

    fn embed(element: u128) -> u128 {
        element
    }

    fn select(element: u128, it: Choice) -> u128 {
        u128::conditional_select(&0, &element, it)
    }

    fn add(a: u128, b: u128) -> u128 {
        a ^ b
    }

    fn factors(bytes: &[u8]) -> Vec<u128> {
        let elements = bytes.as_chunks::<16>().0.iter().map(|it| u128::from_le_bytes(*it));
        elements.map(|it| it.max(1)).collect()
    }

    fn mul(backend: Backend, d: u128, a: u128) -> u128 {
        gf128::mul(backend, d, a)
    }

    fn scale(backend: Backend, d: u128, a: u128) -> u128 {
        gf128::mul(backend, d, a)
    }

    fn values(elements: Secret<u128>, _: &Bits) -> Secret<u128> {
        elements
    }
}

impl Arithmetic for Gf64 {
    type Element = u64;
    const BITS: usize = 64;
    const NOISE_BITS: usize = 64;

    fn times_x(a: u128) -> u128 {
        joined(halves(a).map(times_x))
    }

    fn element(bits: u128) -> u64 {
        halves(bits)[0]
    }

    fn embed(element: u64) -> u128 {
        element.into()
    }

    fn select(element: u64, it: Choice) -> u64 {
        u64::conditional_select(&0, &element, it)
    }

    fn add(a: u64, b: u64) -> u64 {
        a ^ b
    }

    fn factors(bytes: &[u8]) -> Vec<u64> {
        let elements = bytes.as_chunks::<8>().0.iter().map(|it| u64::from_le_bytes(*it));
        elements.map(|it| it.max(1)).collect()
    }

    fn mul(backend: Backend, d: u64, a: u64) -> u64 {
        foxtrot_kernel::gf::gf64::mul(backend, d, a)
    }

    fn scale(backend: Backend, d: u64, a: u128) -> u128 {
        joined(halves(a).map(|half| Self::mul(backend, d, half)))
    }

    fn values(elements: Secret<u64>, _: &Bits) -> Secret<u64> {
        elements
    }
}

impl Arithmetic for Gf2 {
    type Element = u8;
    const BITS: usize = 1;
    const NOISE_BITS: usize = 0;

    fn times_x(a: u128) -> u128 {
        Gf128::times_x(a)
    }

    fn element(bits: u128) -> u8 {
        u8::from(bits & 1 == 1)
    }

    fn embed(element: u8) -> u128 {
        element.into()
    }

    fn select(element: u8, it: Choice) -> u8 {
        u8::conditional_select(&0, &element, it)
    }

    fn add(a: u8, b: u8) -> u8 {
        a ^ b
    }

    fn factors(_: &[u8]) -> Vec<u8> {
        Vec::new()
    }

    fn mul(_: Backend, d: u8, a: u8) -> u8 {
        d & a
    }

    fn scale(_: Backend, d: u8, a: u128) -> u128 {
        u128::from(d).wrapping_neg() & a
    }

    fn values(elements: Secret<u8>, flips: &Bits) -> Bits {
        let bits = Bits::from_bools(elements.iter().map(|&bit| bit == 1));
        if flips.is_empty() { bits } else { bits.xor(flips) }
    }
}

/// Σ a_i·X^i of rows, of which there are at most as many as the field has bits.
pub(super) fn pack<F: Arithmetic>(rows: &[Block]) -> u128 {
    rows.iter().rev().fold(0, |sum, row| F::times_x(sum) ^ u128::from_le_bytes(*row))
}

/// Σ b_i·X^i of the bits from `first` on.
pub(super) fn pack_bits(bits: &Bits, first: usize, n: usize) -> u128 {
    (0..n).rev().fold(0, |sum, i| sum << 1 | u128::from(bits.get(first + i).unwrap_u8()))
}
