//! Polynomials over Z_q modulo X^N + 1, in two forms that are two types.
//!
//! [`Poly`] holds coefficients, [`NttPoly`] values at the 2N-th roots of unity; addition works in
//! either, multiplication only in the second. A [`Factor`] is prepared for many multiplications.
//! Coefficients are canonical (`0..Q`) throughout.
//! Layouts, orders and roundings are those of `docs/wire/README.md`, section 4.

mod encode;
mod factor;
mod field;
mod instances;
mod ntt;
#[cfg(dsp)]
mod packed;
mod sample;
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
    /// Bytes from which [`NttPoly::uniform_all`](super::NttPoly::uniform_all) expands a whole vector:
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

    /// Sets coefficients of either sign, by their index, of absolute value below Q; they may be secret. `coefficient` is
    /// plain Rust, to be inlined and compiled for the backend's instructions.
    #[inline]
    pub fn set_signed(&mut self, backend: Backend, coefficient: impl Fn(usize) -> i16) {
        let f = &mut self.0;
        dispatch!(
            neon backend,
            simd => vector::map(simd, f, inlined!(|i, _| {
                let x = vector::from_fn(simd, i, inlined!(|i| coefficient(i).cast_unsigned()));
                vector::canonical::<_, Q>(simd, x)
            })),
            set_signed::<N, Q>(f, coefficient),
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

    /// Writes, for each coefficient and the bit beside it in `beside`, bit 15 of what `bit` makes of the coefficient and
    /// a mask: all ones if the bit is set, else 0. `bit` is as for [`Poly::set_signed`].
    ///
    /// # Panics
    /// If `beside` or `bits` has not N/8 bytes.
    #[inline]
    pub fn bits(
        &self,
        backend: Backend,
        beside: &[u8],
        bits: &mut [u8],
        bit: impl Fn(u16, u16) -> u16,
    ) {
        assert!(beside.len() == N / 8 && bits.len() == N / 8, "one bit per coefficient");
        let f = &self.0;
        dispatch!(
            neon backend,
            simd => vector::bits::<_, N>(simd, f, beside, bits, bit),
            {
                let mask = |k: usize| u16::from(beside[k / 8] >> (k % 8) & 1).wrapping_neg();
                encode::pack_bits(|k| bit(f[k], mask(k)) >> 15, bits);
            },
        );
    }
}

impl<const N: usize, const Q: u16> NttPoly<N, Q> {
    /// The zero polynomial.
    pub const ZERO: Self = Self([0; N]);

    /// K uniform polynomials from each of several strings of uniform bytes, one after another; BITS is the length of Q.
    ///
    /// # Panics
    /// If a string does not hold a multiple of 8 candidates, at least K·N and at most 960, or the lengths do not fit
    /// together.
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

    /// [`NttPoly::uniform_all`] for one public string: time and addresses depend on what is rejected.
    /// Returns whether the string had enough candidates; if not, the polynomials are zero.
    ///
    /// # Panics
    /// As [`NttPoly::uniform_all`].
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
            sample::uniform_public::<Q, BITS>(bytes, 0, values).is_some(),
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
        sample::uniform_public::<Q, BITS>(bytes, candidate, &mut self.0)
    }

    /// Sets the values of a polynomial whose coefficients are given as to [`Poly::set_signed`].
    #[inline]
    pub fn set_signed(&mut self, backend: Backend, coefficient: impl Fn(usize) -> i16) {
        count(Operation::Ntt, 1);
        let f = &mut self.0;
        dispatch!(
            neon backend,
            simd => vector::forward::<_, N, Q, 1>(
                simd,
                [f],
                inlined!(|_, _, i| {
                    vector::from_fn(simd, i, inlined!(|i| coefficient(i).cast_unsigned()))
                }),
                inlined!(|_, _, x| vector::canonical::<_, Q>(simd, x)),
            ),
            {
                set_signed::<N, Q>(f, coefficient);
                ntt::forward::<N, Q>(backend, f);
            },
        );
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

    /// The inverse of [`NttPoly::pack`]; if a value is out of range, the polynomial is useless.
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

/// Sets canonical coefficients, given with their signs, in plain Rust.
#[cfg_attr(not(unoptimized), inline(always))]
fn set_signed<const N: usize, const Q: u16>(f: &mut [u16; N], coefficient: impl Fn(usize) -> i16) {
    for (i, x) in f.iter_mut().enumerate() {
        *x = field::sub::<Q>(coefficient(i).cast_unsigned(), 0);
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
