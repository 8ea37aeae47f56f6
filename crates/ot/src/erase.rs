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

/// Strings of L bytes that are secret, erased when dropped.
pub struct Secrets<const L: usize = 32>(Vec<[u8; L]>);

impl<const L: usize> Secrets<L> {
    pub(crate) fn zeroed(n: usize) -> Self {
        Self(vec![[0; L]; n])
    }
}

impl<const L: usize> Deref for Secrets<L> {
    type Target = [[u8; L]];

    fn deref(&self) -> &[[u8; L]] {
        &self.0
    }
}

impl<const L: usize> DerefMut for Secrets<L> {
    fn deref_mut(&mut self) -> &mut [[u8; L]] {
        &mut self.0
    }
}

impl<const L: usize> Drop for Secrets<L> {
    fn drop(&mut self) {
        erase(self.0.as_flattened_mut());
    }
}

impl<const L: usize> core::fmt::Debug for Secrets<L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secrets(<redacted>)")
    }
}

impl core::fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SecretBytes(<redacted>)")
    }
}
