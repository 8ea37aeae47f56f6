//! Buffers for secrets, which are erased as fast as they are written.

use alloc::{vec, vec::Vec};
use core::{
    fmt,
    ops::{Deref, DerefMut},
};

use zeroize::optimization_barrier;

/// Overwrites what had secrets, also where nobody reads it again.
pub fn erase<T: Copy + Default>(secrets: &mut [T]) {
    secrets.fill(T::default());
    optimization_barrier(secrets);
}

/// A list of fixed length that is erased when dropped.
pub struct Secret<T: Copy + Default>(Vec<T>);

/// Bytes that are erased when dropped.
pub type SecretBytes = Secret<u8>;

impl<T: Copy + Default> Secret<T> {
    /// A list of this length, of zeros.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self(vec![T::default(); len])
    }
}

impl<T: Copy + Default> Deref for Secret<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Copy + Default> DerefMut for Secret<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Copy + Default> Drop for Secret<T> {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}

impl<T: Copy + Default> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(<redacted>)")
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

impl<const L: usize> fmt::Debug for Secrets<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(<redacted>)")
    }
}
