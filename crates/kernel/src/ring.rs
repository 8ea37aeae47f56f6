//! Polynomials over Z_q modulo X^N + 1, in two forms that are two types.
//!
//! [`Poly`] holds coefficients, [`NttPoly`] values at the 2N-th roots of unity; addition works in
//! either, multiplication only in the second. Coefficients are canonical (`0..Q`) throughout.
//! Layouts, orders and roundings are those of `docs/wire.md`, section 4.

mod encode;
mod field;
mod gaussian;
mod ntt;
mod sample;
mod signal;

use core::fmt;

use zeroize::Zeroize;

use crate::{
    Backend,
    counters::{Operation, count},
};

/// The ring of the default lattice OT: N = 256, q = 7681; used at rank 3.
pub mod module768 {
    /// Rank of the module.
    pub const RANK: usize = 3;
    /// Bits of a packed coefficient.
    pub const BITS: usize = 13;
    /// Bytes from which [`NttPoly::uniform`](super::NttPoly::uniform) expands a whole vector:
    /// 960 candidates.
    pub const UNIFORM_BYTES: usize = 1560;
    /// Polynomials by coefficients.
    pub type Poly = super::Poly<256, 7681>;
    /// Polynomials by values.
    pub type NttPoly = super::NttPoly<256, 7681>;
}

/// The ring of ROTed's Figure 1, for reproduction: N = 512, q = 13313; used at rank 1.
pub mod paper512 {
    /// Bits of a packed coefficient.
    pub const BITS: usize = 14;
    /// Bytes from which [`NttPoly::uniform`](super::NttPoly::uniform) expands a polynomial: 880
    /// candidates.
    pub const UNIFORM_BYTES: usize = 1540;
    /// Polynomials by coefficients.
    pub type Poly = super::Poly<512, 13313>;
    /// Polynomials by values.
    pub type NttPoly = super::NttPoly<512, 13313>;
}

/// A polynomial by its coefficients, the constant one first.
#[derive(Clone, PartialEq, Eq)]
pub struct Poly<const N: usize, const Q: u16>([u16; N]);

/// A polynomial by its values at the primitive 2N-th roots of unity, in bit-reversed order.
#[derive(Clone, PartialEq, Eq)]
pub struct NttPoly<const N: usize, const Q: u16>([u16; N]);

/// A coefficient is not below the modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange;

impl<const N: usize, const Q: u16> Poly<N, Q> {
    /// The zero polynomial.
    pub const ZERO: Self = Self([0; N]);

    /// The polynomial with these coefficients.
    ///
    /// # Errors
    /// [`OutOfRange`] if one is not below Q.
    pub fn new(coefficients: [u16; N]) -> Result<Self, OutOfRange> {
        if coefficients.iter().all(|&x| x < Q) { Ok(Self(coefficients)) } else { Err(OutOfRange) }
    }

    /// The coefficients, each below Q.
    #[must_use]
    pub fn coefficients(&self) -> &[u16; N] {
        &self.0
    }

    /// Noise: centred binomial with η = 2, from N/2 bytes.
    ///
    /// # Panics
    /// If there are not N/2 bytes.
    #[must_use]
    #[inline]
    pub fn centred_binomial(backend: Backend, bytes: &[u8]) -> Self {
        count(Operation::Noise, 1);
        Self(backend.run(
            #[inline(always)]
            || sample::centred_binomial::<N, Q>(bytes),
        ))
    }

    /// The same polynomial by values.
    #[must_use]
    #[inline]
    pub fn into_ntt(mut self, backend: Backend) -> NttPoly<N, Q> {
        count(Operation::Ntt, 1);
        backend.run(
            #[inline(always)]
            || ntt::forward::<N, Q>(&mut self.0),
        );
        NttPoly(self.0)
    }

    /// Adds another polynomial.
    #[inline]
    pub fn add(&mut self, backend: Backend, other: &Self) {
        backend.run(
            #[inline(always)]
            || combine(&mut self.0, &other.0, field::add::<Q>),
        );
    }

    /// Rounds every coefficient to BITS bits and packs them.
    ///
    /// # Panics
    /// If `bytes` has not N·BITS/8 bytes.
    #[inline]
    pub fn round_and_pack<const BITS: usize>(&self, backend: Backend, bytes: &mut [u8]) {
        backend.run(
            #[inline(always)]
            || {
                let mut rounded = self.0;
                for x in &mut rounded {
                    *x = encode::round::<Q, BITS>(*x);
                }
                encode::pack::<BITS>(&rounded, bytes);
                rounded.zeroize();
            },
        );
    }

    /// The inverse of [`Poly::round_and_pack`], up to the rounding error. Every string of that
    /// length is valid.
    ///
    /// # Panics
    /// If `bytes` has not N·BITS/8 bytes.
    #[must_use]
    #[inline]
    pub fn unpack_rounded<const BITS: usize>(backend: Backend, bytes: &[u8]) -> Self {
        let mut poly = Self::ZERO;
        backend.run(
            #[inline(always)]
            || {
                encode::unpack::<BITS>(bytes, &mut poly.0);
                for x in &mut poly.0 {
                    *x = encode::unround::<Q, BITS>(*x);
                }
            },
        );
        poly
    }

    /// For every coefficient the hint that a holder of a close value needs, and the key bit that
    /// both then have.
    ///
    /// # Panics
    /// If `hints` or `key` has not N/8 bytes.
    #[inline]
    pub fn reconcile(&self, backend: Backend, hints: &mut [u8], key: &mut [u8]) {
        assert!(hints.len() == N / 8 && key.len() == N / 8, "one bit per coefficient");
        backend.run(
            #[inline(always)]
            || {
                let hint = |k: usize| encode::hint::<Q>(self.0[k]);
                encode::pack_bits(hint, hints);
                encode::pack_bits(|k| encode::key_bit::<Q>(self.0[k], hint(k)), key);
            },
        );
    }

    /// The key bits under given hints.
    ///
    /// # Panics
    /// If `hints` or `key` has not N/8 bytes.
    #[inline]
    pub fn key_bits(&self, backend: Backend, hints: &[u8], key: &mut [u8]) {
        assert!(hints.len() == N / 8 && key.len() == N / 8, "one bit per coefficient");
        backend.run(
            #[inline(always)]
            || {
                let hint = |k: usize| u16::from(hints[k / 8] >> (k % 8) & 1);
                encode::pack_bits(|k| encode::key_bit::<Q>(self.0[k], hint(k)), key);
            },
        );
    }
}

impl<const N: usize, const Q: u16> NttPoly<N, Q> {
    /// The zero polynomial.
    pub const ZERO: Self = Self([0; N]);

    /// K uniform polynomials from uniform bytes ([`module768::UNIFORM_BYTES`] or
    /// [`paper512::UNIFORM_BYTES`]); BITS is the length of Q.
    ///
    /// # Panics
    /// If the bytes do not hold a multiple of 8 candidates, at least K·N and at most 1024.
    #[must_use]
    #[inline]
    pub fn uniform<const BITS: usize, const K: usize>(backend: Backend, bytes: &[u8]) -> [Self; K] {
        count(Operation::Uniform, K);
        backend
            .run(
                #[inline(always)]
                || sample::uniform::<N, Q, BITS, K>(bytes),
            )
            .map(Self)
    }

    /// The same polynomial by coefficients.
    #[must_use]
    #[inline]
    pub fn into_poly(mut self, backend: Backend) -> Poly<N, Q> {
        count(Operation::InverseNtt, 1);
        backend.run(
            #[inline(always)]
            || ntt::inverse::<N, Q>(&mut self.0),
        );
        Poly(self.0)
    }

    /// Adds another polynomial.
    #[inline]
    pub fn add(&mut self, backend: Backend, other: &Self) {
        backend.run(
            #[inline(always)]
            || combine(&mut self.0, &other.0, field::add::<Q>),
        );
    }

    /// Subtracts another polynomial.
    #[inline]
    pub fn sub(&mut self, backend: Backend, other: &Self) {
        backend.run(
            #[inline(always)]
            || combine(&mut self.0, &other.0, field::sub::<Q>),
        );
    }

    /// Σ aₖ·bₖ.
    #[must_use]
    #[inline]
    pub fn inner_product<const K: usize>(backend: Backend, a: [&Self; K], b: [&Self; K]) -> Self {
        Self(backend.run(
            #[inline(always)]
            || ntt::inner_product::<N, Q, K>(a.map(|x| &x.0), b.map(|x| &x.0)),
        ))
    }

    /// Packs the values to BITS bits each, the length of Q.
    ///
    /// # Panics
    /// If `bytes` has not N·BITS/8 bytes.
    #[inline]
    pub fn pack<const BITS: usize>(&self, backend: Backend, bytes: &mut [u8]) {
        const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
        backend.run(
            #[inline(always)]
            || encode::pack::<BITS>(&self.0, bytes),
        );
    }

    /// The inverse of [`NttPoly::pack`].
    ///
    /// # Errors
    /// [`OutOfRange`] if a value is not below Q.
    ///
    /// # Panics
    /// If `bytes` has not N·BITS/8 bytes.
    #[inline]
    pub fn unpack<const BITS: usize>(backend: Backend, bytes: &[u8]) -> Result<Self, OutOfRange> {
        const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
        let mut values = [0; N];
        let in_range = backend.run(
            #[inline(always)]
            || {
                encode::unpack::<BITS>(bytes, &mut values);
                values.iter().fold(true, |in_range, &x| in_range & (x < Q))
            },
        );
        if in_range { Ok(Self(values)) } else { Err(OutOfRange) }
    }
}

#[inline(always)]
fn combine<const N: usize>(a: &mut [u16; N], b: &[u16; N], operation: impl Fn(u16, u16) -> u16) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = operation(*a, b);
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a coefficient is not below the modulus")
    }
}

impl core::error::Error for OutOfRange {}

impl<const N: usize, const Q: u16> Zeroize for Poly<N, Q> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl<const N: usize, const Q: u16> Zeroize for NttPoly<N, Q> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl<const N: usize, const Q: u16> fmt::Debug for Poly<N, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Poly<{N}, {Q}>(<redacted>)")
    }
}

impl<const N: usize, const Q: u16> fmt::Debug for NttPoly<N, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NttPoly<{N}, {Q}>(<redacted>)")
    }
}

#[cfg(test)]
mod tests;
