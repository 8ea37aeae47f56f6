//! AES-128 as a generator of keystreams and as the permutation of a correlation-robust hash.

use core::fmt;

use crate::{Backend, Block, halves};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// An expanded encryption key, for the backend it was expanded on. Erased on drop.
pub struct Aes128 {
    backend: Backend,
    schedule: Schedule,
}

enum Schedule {
    /// Of the portable backend, and of those that have no AES of their own.
    Cipher(portable::Cipher),
    #[cfg(target_arch = "x86_64")]
    RoundKeys(RoundKeys),
}

/// The round keys of FIPS 197, erased on drop.
#[cfg(target_arch = "x86_64")]
struct RoundKeys([core::arch::x86_64::__m128i; 11]);

impl Aes128 {
    /// Expands a key.
    #[must_use]
    pub fn new(backend: Backend, key: &Block) -> Self {
        Self { backend, schedule: per_isa!(backend, schedule(key)) }
    }

    /// The backend that the key was expanded on, and that all work with it uses.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Writes a keystream: its block j is the encryption of `first` + j, little-endian. The
    /// upper half of the counter never changes.
    ///
    /// # Panics
    /// If `out` is not a multiple of 16 bytes, or the lower half of a counter reaches 2^64.
    pub fn ctr(&self, first: u128, out: &mut [u8]) {
        let (blocks, rest) = out.as_chunks_mut::<16>();
        assert!(rest.is_empty(), "a keystream consists of blocks");
        check_counters(first, blocks.len());
        per_isa!(self.backend, ctr(self, first, blocks));
    }

    /// Encrypts every block in place.
    pub fn encrypt(&self, blocks: &mut [Block]) {
        per_isa!(self.backend, encrypt_blocks(self, blocks));
    }

    /// What code of the portable backend works with.
    fn cipher(&self) -> &portable::Cipher {
        match &self.schedule {
            Schedule::Cipher(cipher) => cipher,
            #[cfg(target_arch = "x86_64")]
            Schedule::RoundKeys(_) => unreachable!("expanded on this backend"),
        }
    }

    /// What code of the other backends works with.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn round_keys(&self) -> &[core::arch::x86_64::__m128i; 11] {
        match &self.schedule {
            Schedule::Cipher(_) => unreachable!("expanded on this backend"),
            Schedule::RoundKeys(keys) => &keys.0,
        }
    }
}

/// TMMO\[π\] of [GKWY20], a tweakable correlation-robust hash: the key of row x under the tweak i is
/// π(π(x) ⊕ i) ⊕ π(x). The tweak of `rows[j]` is `first` + j as a little-endian u128.
///
/// # Panics
/// If there are not as many keys as rows, or a tweak reaches 2^64.
///
/// [GKWY20]: https://eprint.iacr.org/2019/074
pub fn tmmo(pi: &Aes128, first: u64, rows: &[Block], keys: &mut [Block]) {
    assert!(rows.len() == keys.len(), "one key per row");
    check_counters(first.into(), rows.len());
    per_isa!(pi.backend, tmmo(pi, first, rows, keys));
}

/// [`tmmo`] of every row x and of x ⊕ `delta`, both under the same tweak: the two keys of a
/// correlated OT's sender.
///
/// # Panics
/// If there are not as many pairs as rows, or a tweak reaches 2^64.
pub fn tmmo_pairs(pi: &Aes128, first: u64, delta: &Block, rows: &[Block], keys: &mut [[Block; 2]]) {
    assert!(rows.len() == keys.len(), "one pair of keys per row");
    check_counters(first.into(), rows.len());
    per_isa!(pi.backend, tmmo_pairs(pi, first, delta, rows, keys));
}

pub(crate) fn check_counters(first: u128, n: usize) {
    assert!(halves(first)[0].checked_add(n as u64).is_some(), "counters stay below 2^64");
}

#[cfg(target_arch = "x86_64")]
impl Drop for RoundKeys {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

impl fmt::Debug for Aes128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes128(<redacted>)")
    }
}

#[cfg(test)]
mod tests;
