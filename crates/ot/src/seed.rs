//! The randomness of one party in one batch.

use core::fmt;

use rand_core::{CryptoRng, TryCryptoRng, TryRng};
use zeroize::Zeroize;

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

    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(<redacted>)")
    }
}

/// Counts instead of being random: for examples, whose outcome must not vary.
pub(crate) struct Counter(pub(crate) u8);

impl TryRng for Counter {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for byte in bytes {
            self.0 = self.0.wrapping_add(1);
            *byte = self.0;
        }
        Ok(())
    }
}

impl TryCryptoRng for Counter {}
