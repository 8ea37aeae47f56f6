//! Buffers for secrets, which are erased as fast as they are written.

use alloc::{collections::TryReserveError, vec, vec::Vec};
use core::ops::{Deref, DerefMut};

use foxtrot_kernel::memory::prefer_huge_pages;
pub use foxtrot_kernel::redacted;

/// Value that overwrites secrets, and that lists of them begin with.
pub trait Zero: Copy {
    /// All bits are zero.
    const ZERO: Self;

    /// A list of zeros.
    #[must_use]
    fn zeros(len: usize) -> Vec<Self> {
        written(len)
    }
}

/// Asks for huge pages, and writes zeros.
fn written<T: Zero>(len: usize) -> Vec<T> {
    let mut list = Vec::with_capacity(len);
    prefer_huge_pages(list.spare_capacity_mut());
    list.resize(len, T::ZERO);
    list
}

/// Asks for huge pages under zeros that `vec!` takes from the allocator unwritten.
fn fresh<T: Zero>(mut list: Vec<T>) -> Vec<T> {
    prefer_huge_pages(&mut list);
    list
}

macro_rules! zero {
    ($zero:literal: $($plain:ty)*) => {$(
        impl Zero for $plain {
            const ZERO: Self = $zero;

            fn zeros(len: usize) -> Vec<Self> {
                fresh(vec![$zero; len])
            }
        }
    )*};
}
zero!(false: bool);
zero!(0: u8 i8 u16 u32 u64 u128 usize);

impl<T: Zero, U: Zero> Zero for (T, U) {
    const ZERO: Self = (T::ZERO, U::ZERO);
}

impl<T: Zero, const N: usize> Zero for [T; N] {
    const ZERO: Self = [T::ZERO; N];

    fn zeros(len: usize) -> Vec<Self> {
        // Of longer arrays `vec!` writes them.
        if N > 16 { written(len) } else { fresh(vec![Self::ZERO; len]) }
    }
}

/// Overwrites what had secrets, also where nobody reads it again.
pub fn erase<T: Zero>(secrets: &mut [T]) {
    foxtrot_kernel::erase(secrets, T::ZERO);
}

/// A list that is erased when dropped. It must not grow beyond its capacity: that would leave a copy behind.
pub struct Secret<T: Zero>(pub Vec<T>);

/// Bytes that are erased when dropped.
pub type SecretBytes = Secret<u8>;

/// Strings of L bytes that are erased when dropped.
pub type Secrets<const L: usize = 32> = Secret<[u8; L]>;

impl<T: Zero> Secret<T> {
    /// A list of this length, of zeros.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self(T::zeros(len))
    }

    /// A list without elements, and with room for so many.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut list = Vec::with_capacity(capacity);
        prefer_huge_pages(list.spare_capacity_mut());
        Self(list)
    }

    /// [`with_capacity`](Self::with_capacity), where there may not be so much memory.
    ///
    /// # Errors
    /// The allocator's.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, TryReserveError> {
        let mut list = Vec::new();
        list.try_reserve_exact(capacity)?;
        prefer_huge_pages(list.spare_capacity_mut());
        Ok(Self(list))
    }
}

impl<T: Zero> Default for Secret<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Zero> Deref for Secret<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Zero> DerefMut for Secret<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Zero> AsRef<[T]> for Secret<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: Zero> Drop for Secret<T> {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}

redacted! { [T: Zero] Secret<T>; }
