//! Factors of products.

use zeroize::Zeroize;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::vector;
use super::{erase, ntt, sample};
use crate::{
    Backend,
    counters::{Operation, count},
};

/// A polynomial by its values times 2¹⁶ mod Q: what a product takes as one of its factors. No vector of it lies in two
/// cache lines.
#[cfg_attr(not(small), repr(C, align(64)))]
#[cfg_attr(small, repr(C, align(4)))]
pub struct Factor<const N: usize, const Q: u16>(pub(super) [u16; N]);

impl<const N: usize, const Q: u16> Factor<N, Q> {
    /// The zero polynomial.
    pub const ZERO: Self = Self([0; N]);

    /// Sets the values of a polynomial whose coefficients are given as to [`Poly::set_signed`](super::Poly::set_signed),
    /// but smaller: times the least absolute value of 2¹⁶ mod Q they are below Q still.
    #[inline]
    pub fn set_signed(&mut self, backend: Backend, coefficient: impl Fn(usize) -> i16) {
        count(Operation::Ntt, 1);
        let f = &mut self.0;
        dispatch!(
            neon backend,
            simd => {
                let one = const { vector::montgomery_one::<Q>().cast_signed() };
                vector::forward::<_, N, Q, 1>(
                    simd,
                    [f],
                    inlined!(|_, _, i| {
                        vector::from_fn(simd, i, inlined!(|i| (coefficient(i) * one).cast_unsigned()))
                    }),
                    inlined!(|_, _, x| vector::canonical::<_, Q>(simd, x)),
                );
            },
            {
                super::set_signed::<N, Q>(f, coefficient);
                ntt::forward_scaled::<N, Q>(backend, f);
            },
        );
    }

    // Never inlined: its stack frame would also burden the other backends.
    #[inline(never)]
    pub(super) fn set_noise_portable(&mut self, backend: Backend, bytes: &[u8]) {
        let f = &mut self.0;
        sample::centred_binomial::<N, Q>(bytes, f);
        ntt::forward_scaled::<N, Q>(backend, f);
    }
}

impl<const N: usize, const Q: u16> Zeroize for Factor<N, Q> {
    fn zeroize(&mut self) {
        erase(&mut self.0, 0);
    }
}

impl<const N: usize, const Q: u16> Drop for Factor<N, Q> {
    fn drop(&mut self) {
        self.zeroize();
    }
}

redacted! {
    [const N: usize, const Q: u16] Factor<N, Q>;
}
