//! Factors of products.

use core::fmt;

use zeroize::Zeroize;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::vector;
use super::{erase, ntt, sample};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::simd::Simd;
use crate::{
    Backend,
    counters::{Operation, count},
};

/// A polynomial by its values times 2¹⁶ mod Q: what a product takes as one of its factors.
pub struct Factor<const N: usize, const Q: u16>(pub(super) [u16; N]);

impl<const N: usize, const Q: u16> Factor<N, Q> {
    /// The zero polynomial.
    pub const ZERO: Self = Self([0; N]);

    /// Noise by its values: coefficients centred binomial with η = 2, from N/2 bytes.
    ///
    /// # Panics
    /// If there are not N/2 bytes.
    #[inline]
    pub fn set_noise(&mut self, backend: Backend, bytes: &[u8]) {
        count(Operation::Noise, 1);
        count(Operation::Ntt, 1);
        assert_eq!(bytes.len(), N / 2, "four bits per coefficient");
        dispatch!(
            neon backend,
            simd => self.set_noise_on(simd, bytes),
            self.set_noise_portable(bytes),
        );
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline(always)]
    pub(super) fn set_noise_on<S: Simd>(&mut self, simd: S, bytes: &[u8]) {
        let one = simd.splat(const { vector::montgomery_one::<Q>() });
        vector::forward::<_, N, Q, 1>(
            simd,
            [&mut self.0],
            #[inline(always)]
            |_, _, i| simd.mul_low(vector::noise_at(simd, bytes, i), one),
            #[inline(always)]
            |_, _, x| vector::canonical::<_, Q>(simd, x),
        );
    }

    // Never inlined: its frame would be that of the other backends, too.
    #[inline(never)]
    pub(super) fn set_noise_portable(&mut self, bytes: &[u8]) {
        let f = &mut self.0;
        *f = sample::centred_binomial::<N, Q>(bytes);
        ntt::forward::<N, Q>(f);
        ntt::scale::<N, Q>(f);
    }
}

impl<const N: usize, const Q: u16> Zeroize for Factor<N, Q> {
    fn zeroize(&mut self) {
        erase(&mut self.0);
    }
}

impl<const N: usize, const Q: u16> Drop for Factor<N, Q> {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl<const N: usize, const Q: u16> fmt::Debug for Factor<N, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Factor<{N}, {Q}>(<redacted>)")
    }
}
