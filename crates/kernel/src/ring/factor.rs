//! Factors of products.

use zeroize::Zeroize;

use super::{erase, ntt, sample, vectors};
use crate::Backend;

/// A polynomial by its values times 2¹⁶ mod Q: what a product takes as one of its factors. No vector of it lies in two
/// cache lines.
#[cfg_attr(not(small), repr(C, align(64)))]
#[cfg_attr(small, repr(C, align(4)))]
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
        vectors::set_noise(backend, bytes, core::array::from_mut(self));
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
