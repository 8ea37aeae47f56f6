//! Erasing as fast as writing.

use alloc::{vec, vec::Vec};
use core::{
    fmt,
    ops::{Deref, DerefMut},
};

use zeroize::optimization_barrier;

/// Overwrites what had secrets, also where nobody reads it again.
pub(crate) fn erase<T: Copy + Default>(secrets: &mut [T]) {
    secrets.fill(T::default());
    optimization_barrier(secrets);
}

/// A list of fixed length that is erased when dropped.
pub(crate) struct Secret<T: Copy + Default>(Vec<T>);

impl<T: Copy + Default> Secret<T> {
    pub(crate) fn zeroed(len: usize) -> Self {
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
