//! Polynomials over Z_q modulo X^N + 1, in two forms that are two types.
//!
//! [`Poly`] holds coefficients, [`NttPoly`] values at the 2N-th roots of unity; addition works in
//! either, multiplication only in the second. A [`Factor`] is prepared for many multiplications.
//! Coefficients are canonical (`0..Q`) throughout.
//! Layouts, orders and roundings are those of `docs/wire/README.md`, section 4.

mod encode;
mod factor;
mod field;
mod gaussian;
mod instances;
mod ntt;
#[cfg(dsp)]
mod packed;
mod sample;
mod signal;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector;
pub mod vectors;

use core::fmt;

use zeroize::Zeroize;

pub use factor::Factor;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::simd::Simd;
use crate::{
    Backend,
    counters::{Operation, count},
    erase,
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
    /// A length that mostly has enough candidates: 864; too few once in 2²⁵ times.
    pub const USUAL_BYTES: usize = 1404;
    /// Polynomials by coefficients.
    pub type Poly = super::Poly<256, 7681>;
    /// Polynomials by values.
    pub type NttPoly = super::NttPoly<256, 7681>;
    /// Factors of products.
    pub type Factor = super::Factor<256, 7681>;
}

/// The ring of ROTed's Figure 1, for reproduction: N = 512, q = 13313; used at rank 1.
pub mod paper512 {
    /// Bits of a packed coefficient.
    pub const BITS: usize = 14;
    /// Bytes from which [`NttPoly::uniform`](super::NttPoly::uniform) expands a polynomial: 880
    /// candidates.
    pub const UNIFORM_BYTES: usize = 1540;
    /// A length that mostly has enough candidates: 688; too few once in 2¹⁷ times.
    pub const USUAL_BYTES: usize = 1204;
    /// Polynomials by coefficients.
    pub type Poly = super::Poly<512, 13313>;
    /// Polynomials by values.
    pub type NttPoly = super::NttPoly<512, 13313>;
    /// Factors of products.
    pub type Factor = super::Factor<512, 13313>;
}

/// A polynomial by its coefficients, the constant one first.
#[derive(Clone, PartialEq, Eq)]
#[repr(transparent)]
pub struct Poly<const N: usize, const Q: u16>([u16; N]);

/// A polynomial by its values at the primitive 2N-th roots of unity, in bit-reversed order. No vector of it
/// lies in two cache lines.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(not(small), repr(C, align(64)))]
#[cfg_attr(small, repr(C, align(4)))]
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
        let mut poly = Self::ZERO;
        poly.add_noise(backend, bytes);
        poly
    }

    /// Adds noise: centred binomial with η = 2, from N/2 bytes.
    ///
    /// # Panics
    /// If there are not N/2 bytes.
    #[inline]
    pub fn add_noise(&mut self, backend: Backend, bytes: &[u8]) {
        count(Operation::Noise, 1);
        assert_eq!(bytes.len(), N / 2, "four bits per coefficient");
        let f = &mut self.0;
        dispatch!(
            neon backend,
            simd => vector::map(simd, f, inlined!(|i, x| {
                let sum = simd.add(x, vector::noise_at(simd, bytes, i));
                // At most two steps outside.
                vector::canonical::<_, Q>(simd, vector::barrett::<_, Q>(simd, sum))
            })),
            {
                let mut noise = [0; N];
                sample::centred_binomial::<N, Q>(bytes, &mut noise);
                add_to::<N, Q>(backend, f, &noise);
                erase(&mut noise, 0);
            },
        );
    }

    /// Transforms coefficients to values.
    #[must_use]
    #[inline]
    pub fn into_ntt(self, backend: Backend) -> NttPoly<N, Q> {
        count(Operation::Ntt, 1);
        let mut f = self.0;
        dispatch!(
            neon backend,
            simd => vector::forward::<_, N, Q, 1>(
                simd,
                [&mut f],
                inlined!(|_, f, i| simd.load(&f[i..])),
                inlined!(|_, _, x| vector::canonical::<_, Q>(simd, x)),
            ),
            ntt::forward::<N, Q>(backend, &mut f),
        );
        NttPoly(f)
    }

    /// Adds another polynomial.
    #[inline]
    pub fn add(&mut self, backend: Backend, other: &Self) {
        add_all::<N, Q>(backend, &mut self.0, &other.0);
    }

    /// a·b + c.
    #[inline]
    pub fn set_product_plus(
        &mut self,
        backend: Backend,
        a: &Factor<N, Q>,
        b: &NttPoly<N, Q>,
        c: &Self,
    ) {
        count(Operation::InverseNtt, 1);
        let (a, b, c, f) = ([&a.0], [&b.0], &c.0, &mut self.0);
        dispatch!(
            neon backend,
            simd => vector::inverse::<_, N, Q, 1>(
                simd,
                [f],
                inlined!(|_, _, i| vector::products::<_, N, Q, 1>(simd, a, b, i)),
                inlined!(|_, i, x| {
                    let x = vector::canonical::<_, Q>(simd, x);
                    vector::add::<_, Q>(simd, x, simd.load(&c[i..]))
                }),
            ),
            {
                ntt::products::<N, Q, 1>(backend, a, b, f);
                ntt::inverse::<N, Q>(backend, f);
                add_to::<N, Q>(backend, f, c);
            },
        );
    }

    /// Rounds every coefficient to BITS bits, at most 11, and packs them.
    ///
    /// # Panics
    /// If `bytes` has not N·BITS/8 bytes.
    #[inline]
    pub fn round_and_pack<const BITS: usize>(&self, backend: Backend, bytes: &mut [u8]) {
        let f = &self.0;
        dispatch!(
            neon backend,
            simd => vector::round_and_pack::<_, N, Q, BITS>(simd, f, bytes),
            {
                let mut rounded = *f;
                for x in &mut rounded {
                    *x = encode::round::<Q, BITS>(*x);
                }
                encode::pack::<BITS>(&rounded, bytes);
                erase(&mut rounded, 0);
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
        let f = &mut poly.0;
        dispatch!(
            neon backend,
            simd => vector::unpack_rounded::<_, N, Q, BITS>(simd, bytes, f),
            {
                encode::unpack::<BITS>(bytes, f);
                for x in f {
                    *x = encode::unround::<Q, BITS>(*x);
                }
            },
        );
        poly
    }

    /// Writes for every coefficient the hint that a holder of a close value needs, and the key bit
    /// that both then have.
    ///
    /// # Panics
    /// If `hints` or `key` has not N/8 bytes.
    #[inline]
    pub fn reconcile(&self, backend: Backend, hints: &mut [u8], key: &mut [u8]) {
        assert!(hints.len() == N / 8 && key.len() == N / 8, "one bit per coefficient");
        let f = &self.0;
        dispatch!(
            neon backend,
            simd => vector::hints_and_bits::<_, N, Q>(simd, f, hints, key),
            {
                let hint = |k: usize| encode::hint::<Q>(f[k]);
                encode::pack_bits(hint, hints);
                encode::pack_bits(|k| encode::key_bit::<Q>(f[k], hint(k)), key);
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
        let f = &self.0;
        dispatch!(
            neon backend,
            simd => vector::key_bits::<_, N, Q>(simd, f, hints, key),
            {
                let hint = |k: usize| u16::from(hints[k / 8] >> (k % 8) & 1);
                encode::pack_bits(|k| encode::key_bit::<Q>(f[k], hint(k)), key);
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
    /// If the bytes do not hold a multiple of 8 candidates, at least K·N and at most 960.
    #[must_use]
    #[inline]
    pub fn uniform<const BITS: usize, const K: usize>(backend: Backend, bytes: &[u8]) -> [Self; K] {
        let mut polys = [[const { Self::ZERO }; K]];
        Self::uniform_all::<BITS, K>(backend, bytes, &mut polys);
        let [polys] = polys;
        polys
    }

    /// Samples from several strings of equal length, one after another, as [`NttPoly::uniform`] does from one.
    ///
    /// # Panics
    /// As [`NttPoly::uniform`], or if the lengths do not fit together.
    pub fn uniform_all<const BITS: usize, const K: usize>(
        backend: Backend,
        bytes: &[u8],
        polys: &mut [[Self; K]],
    ) {
        const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
        count(Operation::Uniform, K * polys.len());
        assert!(!polys.is_empty() && bytes.len().is_multiple_of(polys.len()));
        let len = bytes.len() / polys.len();
        sample::check::<N, BITS, K>(&bytes[..len]);
        for (strings, polys) in bytes.chunks(2 * len).zip(polys.chunks_mut(2)) {
            dispatch!(
                neon backend,
                simd => {
                    let (string, rest) = strings.split_at(len);
                    let (polys, others) = polys.split_at_mut(1);
                    let other = others.first_mut().map(|polys| (rest, values(polys)));
                    simd.uniform::<Q, BITS>((string, values(&mut polys[0])), other);
                },
                for (string, polys) in strings.chunks_exact(len).zip(&mut *polys) {
                    sample::uniform::<N, Q, BITS, K>(string, values(polys));
                },
            );
        }
    }

    /// [`NttPoly::uniform`] for a public string: time and addresses depend on what is rejected.
    /// Returns whether the string had enough candidates; if not, the polynomials are zero.
    ///
    /// # Panics
    /// As [`NttPoly::uniform`].
    pub fn set_uniform_public<const BITS: usize, const K: usize>(
        backend: Backend,
        bytes: &[u8],
        polys: &mut [Self; K],
    ) -> bool {
        const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
        count(Operation::Uniform, K);
        sample::check::<N, BITS, K>(bytes);
        let values = values(polys);
        let enough = dispatch!(
            neon backend,
            simd => simd.uniform_public::<Q, BITS>(bytes, values),
            sample::uniform_public::<N, Q, BITS, K>(bytes, values),
        );
        if !enough {
            values.fill(0);
        }
        enough
    }

    /// One of the polynomials of [`NttPoly::set_uniform_public`], in plain Rust: from the string's candidates from that one on.
    /// Returns the candidate where the next one begins, or nothing if the string has too few.
    pub fn set_uniform_public_from<const BITS: usize>(
        &mut self,
        bytes: &[u8],
        candidate: usize,
    ) -> Option<usize> {
        const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
        count(Operation::Uniform, 1);
        sample::uniform_public_from::<N, Q, BITS>(bytes, candidate, &mut self.0)
    }

    /// Transforms values to coefficients.
    #[must_use]
    #[inline]
    pub fn into_poly(self, backend: Backend) -> Poly<N, Q> {
        count(Operation::InverseNtt, 1);
        let mut f = self.0;
        dispatch!(
            neon backend,
            simd => vector::inverse::<_, N, Q, 1>(
                simd,
                [&mut f],
                inlined!(|_, f, i| simd.load(&f[i..])),
                inlined!(|_, _, x| vector::canonical::<_, Q>(simd, x)),
            ),
            ntt::inverse::<N, Q>(backend, &mut f),
        );
        Poly(f)
    }

    /// Adds another polynomial.
    #[inline]
    pub fn add(&mut self, backend: Backend, other: &Self) {
        add_all::<N, Q>(backend, &mut self.0, &other.0);
    }

    /// Subtracts another polynomial.
    #[inline]
    pub fn sub(&mut self, backend: Backend, other: &Self) {
        let (f, other) = (&mut self.0, &other.0);
        dispatch!(
            neon backend,
            simd => vector::map(simd, f, inlined!(|i, x| {
                vector::sub::<_, Q>(simd, x, simd.load(&other[i..]))
            })),
            sub_from::<N, Q>(backend, f, other),
        );
    }

    /// Subtracts another polynomial if the bit, which may be secret, is 1.
    #[inline]
    pub fn sub_if(&mut self, backend: Backend, bit: u8, other: &Self) {
        // Kept from the optimiser, which would branch on it.
        let mask = core::hint::black_box(u16::from(bit & 1).wrapping_neg());
        let (f, other) = (&mut self.0, &other.0);
        dispatch!(
            neon backend,
            simd => vector::map(simd, f, inlined!(|i, x| {
                let subtrahend = simd.and(simd.load(&other[i..]), simd.splat(mask));
                vector::sub::<_, Q>(simd, x, subtrahend)
            })),
            combine(f, other, inlined!(|x, y| field::sub::<Q>(x, y & mask))),
        );
    }

    /// Adds noise to the coefficients: centred binomial with η = 2, from N/2 bytes.
    ///
    /// # Panics
    /// If there are not N/2 bytes.
    // Its frame is not to be part of the caller's.
    #[inline(never)]
    pub fn add_noise(&mut self, backend: Backend, bytes: &[u8]) {
        count(Operation::Noise, 1);
        count(Operation::Ntt, 1);
        assert_eq!(bytes.len(), N / 2, "four bits per coefficient");
        let f = &mut self.0;
        let mut noise = [0; N];
        dispatch!(
            neon backend,
            simd => vector::add_transform::<_, N, Q>(
                simd,
                f,
                &mut noise,
                inlined!(|i| vector::noise_at(simd, bytes, i)),
            ),
            {
                sample::centred_binomial::<N, Q>(bytes, &mut noise);
                ntt::forward::<N, Q>(backend, &mut noise);
                add_to::<N, Q>(backend, f, &noise);
            },
        );
        erase(&mut noise, 0);
    }

    /// Σ aₖ·bₖ.
    #[must_use]
    #[inline]
    pub fn inner_product<const K: usize>(backend: Backend, a: [&Self; K], b: [&Self; K]) -> Self {
        let mut sum = Self::ZERO;
        let (a, b, f) = (a.map(|x| &x.0), b.map(|x| &x.0), &mut sum.0);
        dispatch!(
            neon backend,
            simd => vector::map(simd, f, inlined!(|i, _| {
                let x = vector::products::<_, N, Q, K>(simd, a, b, i);
                vector::canonical::<_, Q>(simd, vector::scale::<_, Q>(simd, x))
            })),
            {
                ntt::products::<N, Q, K>(backend, a, b, f);
                ntt::scale::<N, Q>(f);
            },
        );
        sum
    }

    /// Σ aₖ·bₖ.
    #[inline]
    pub fn set_product<const K: usize>(
        &mut self,
        backend: Backend,
        a: [&Factor<N, Q>; K],
        b: [&Self; K],
    ) {
        let (a, b, f) = (a.map(|x| &x.0), b.map(|x| &x.0), &mut self.0);
        dispatch!(
            neon backend,
            simd => vector::map(simd, f, inlined!(|i, _| {
                vector::canonical::<_, Q>(simd, vector::products::<_, N, Q, K>(simd, a, b, i))
            })),
            ntt::products::<N, Q, K>(backend, a, b, f),
        );
    }

    /// Adds a·b.
    #[inline]
    pub fn add_product(&mut self, backend: Backend, a: &Factor<N, Q>, b: &Self) {
        let (a, b, f) = (&a.0, &b.0, &mut self.0);
        dispatch!(
            neon backend,
            simd => vector::map(simd, f, inlined!(|i, x| {
                let product = vector::products::<_, N, Q, 1>(simd, [a], [b], i);
                vector::add::<_, Q>(simd, x, vector::canonical::<_, Q>(simd, product))
            })),
            ntt::add_product::<N, Q>(backend, a, b, f),
        );
    }

    /// Packs the values to BITS bits each, the length of Q.
    ///
    /// # Panics
    /// If `bytes` has not N·BITS/8 bytes.
    #[inline]
    pub fn pack<const BITS: usize>(&self, backend: Backend, bytes: &mut [u8]) {
        const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
        let f = &self.0;
        dispatch!(
            neon backend,
            simd => vector::pack::<_, N, BITS>(simd, f, bytes),
            encode::pack::<BITS>(f, bytes),
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
        let mut poly = Self::ZERO;
        poly.set_unpacked::<BITS>(backend, bytes).map(|()| poly)
    }

    /// Decodes in place; if a value is out of range, the polynomial is useless.
    ///
    /// # Errors
    /// [`OutOfRange`] if a value is not below Q.
    ///
    /// # Panics
    /// If `bytes` has not N·BITS/8 bytes.
    #[inline]
    pub fn set_unpacked<const BITS: usize>(
        &mut self,
        backend: Backend,
        bytes: &[u8],
    ) -> Result<(), OutOfRange> {
        const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
        let f = &mut self.0;
        let in_range = dispatch!(
            neon backend,
            simd => vector::unpack::<_, N, Q, BITS>(simd, bytes, f),
            {
                encode::unpack::<BITS>(bytes, f);
                f.iter().fold(true, |in_range, &x| in_range & (x < Q))
            },
        );
        if in_range { Ok(()) } else { Err(OutOfRange) }
    }
}

#[inline]
fn add_all<const N: usize, const Q: u16>(backend: Backend, f: &mut [u16; N], other: &[u16; N]) {
    dispatch!(
        neon backend,
        simd => vector::map(simd, f, inlined!(|i, x| vector::add::<_, Q>(simd, x, simd.load(&other[i..])))),
        add_to::<N, Q>(backend, f, other),
    );
}

/// The values of several polynomials, one after another.
#[cfg_attr(not(unoptimized), inline(always))]
#[allow(unsafe_code, reason = "looks through a type that is its only field")]
fn values<const N: usize, const Q: u16, const K: usize>(
    polys: &mut [NttPoly<N, Q>; K],
) -> &mut [u16] {
    const { assert!(size_of::<NttPoly<N, Q>>() == size_of::<[u16; N]>(), "it has no padding") };
    let polys: *mut [NttPoly<N, Q>; K] = polys;
    // SAFETY: an `NttPoly` is its values without padding, and every array of values is valid.
    let values: &mut [[u16; N]; K] = unsafe { &mut *polys.cast() };
    values.as_flattened_mut()
}

/// a + b in plain Rust.
#[cfg_attr(not(unoptimized), inline(always))]
fn add_to<const N: usize, const Q: u16>(backend: Backend, a: &mut [u16; N], b: &[u16; N]) {
    #[cfg(dsp)]
    if Q == 7681 && backend.is_dsp() {
        return packed::map(a, b, packed::sum);
    }
    let _ = backend;
    combine(a, b, field::add::<Q>);
}

/// a − b in plain Rust.
#[cfg_attr(not(unoptimized), inline(always))]
fn sub_from<const N: usize, const Q: u16>(backend: Backend, a: &mut [u16; N], b: &[u16; N]) {
    #[cfg(dsp)]
    if Q == 7681 && backend.is_dsp() {
        return packed::map(a, b, packed::difference);
    }
    let _ = backend;
    combine(a, b, field::sub::<Q>);
}

#[cfg_attr(not(unoptimized), inline(always))]
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
        erase(&mut self.0, 0);
    }
}

impl<const N: usize, const Q: u16> Zeroize for NttPoly<N, Q> {
    fn zeroize(&mut self) {
        erase(&mut self.0, 0);
    }
}

redacted! {
    [const N: usize, const Q: u16] Poly<N, Q>;
    [const N: usize, const Q: u16] NttPoly<N, Q>;
}

#[cfg(test)]
mod tests;
