//! Erasing as fast as writing.

use alloc::vec::Vec;

use zeroize::optimization_barrier;

/// Overwrites what had secrets, also where nobody reads it again.
pub(crate) fn erase<T: Copy + Default>(secrets: &mut [T]) {
    secrets.fill(T::default());
    optimization_barrier(secrets);
}

/// A list that is erased when dropped. It must not grow: that would leave a copy behind.
pub(crate) struct Secret<T: Copy + Default>(pub(crate) Vec<T>);

impl<T: Copy + Default> Default for Secret<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + Default> AsRef<[T]> for Secret<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Copy + Default> Drop for Secret<T> {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}
