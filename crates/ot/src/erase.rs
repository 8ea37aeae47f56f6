//! Erasing bytes as fast as writing them.

use alloc::{vec, vec::Vec};
use core::ops::{Deref, DerefMut};

use zeroize::optimization_barrier;

/// Zeros that the optimiser must not leave out.
pub(crate) fn erase(bytes: &mut [u8]) {
    bytes.fill(0);
    optimization_barrier(bytes);
}

/// A buffer for secrets, erased when dropped.
pub(crate) struct SecretBytes(Vec<u8>);

impl SecretBytes {
    pub(crate) fn zeroed(len: usize) -> Self {
        Self(vec![0; len])
    }
}

impl Deref for SecretBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for SecretBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for SecretBytes {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}

/// Strings of 32 bytes that are secret, erased when dropped.
pub struct Secrets(Vec<[u8; 32]>);

impl Secrets {
    pub(crate) fn zeroed(n: usize) -> Self {
        Self(vec![[0; 32]; n])
    }
}

impl Deref for Secrets {
    type Target = [[u8; 32]];

    fn deref(&self) -> &[[u8; 32]] {
        &self.0
    }
}

impl DerefMut for Secrets {
    fn deref_mut(&mut self) -> &mut [[u8; 32]] {
        &mut self.0
    }
}

impl Drop for Secrets {
    fn drop(&mut self) {
        erase(self.0.as_flattened_mut());
    }
}

impl core::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secrets(<redacted>)")
    }
}

impl core::fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SecretBytes(<redacted>)")
    }
}
