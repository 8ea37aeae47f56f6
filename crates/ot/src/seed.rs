//! The randomness of one party in one batch.

use rand_core::CryptoRng;
use zeroize::Zeroize;

use crate::oracle::Oracle;

/// 32 uniform bytes, the only randomness that a party's batch consumes; used once.
pub struct Seed([u8; 32]);

impl Seed {
    /// A fresh seed.
    #[must_use]
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let mut seed = Self([0; 32]);
        rng.fill_bytes(&mut seed.0);
        seed
    }

    /// A seed from bytes that the caller vouches for: uniform, secret, and never used before.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Bytes for a step of a protocol that is built on this crate: the answer of its oracle, about
    /// this seed and the number `i`.
    pub fn fill(&self, oracle: &Oracle, i: u64, bytes: &mut [u8]) {
        oracle.answer(i, 0, &[&self.0], bytes);
    }

    /// Copies the seed for a protocol within this one. What both derive from it differs by the
    /// contexts of their hashes.
    pub(crate) const fn again(&self) -> Self {
        Self(self.0)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

foxtrot_kernel::redacted! {
    Seed;
}
