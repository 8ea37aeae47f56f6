//! AES-128 as a generator of keystreams and as the permutation of a correlation-robust hash.

use crate::{Backend, Block, halves};

pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
mod schedule;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vectors;

/// An expanded encryption key, for the backend it was expanded on. Erased on drop.
pub struct Aes128 {
    backend: Backend,
    pub(crate) schedule: Schedule,
}

pub(crate) enum Schedule {
    /// The cipher of the portable backend, and of every backend without AES instructions.
    Cipher(portable::Cipher),
    #[cfg(target_arch = "x86_64")]
    RoundKeys(RoundKeys),
}

/// The round keys of FIPS 197, erased on drop.
#[cfg(target_arch = "x86_64")]
pub(crate) struct RoundKeys([Block; 11]);

/// Runs what is generic over the vectors in `$c`, under the round keys, or on the crate's cipher.
macro_rules! by_schedule {
    ($pi:expr, $c:ident, $keys:ident => $vector:expr, $cipher:ident => $portable:expr $(,)?) => {
        match &$pi.schedule {
            $crate::aes::Schedule::Cipher($cipher) => $portable,
            #[cfg(target_arch = "x86_64")]
            $crate::aes::Schedule::RoundKeys($keys) => {
                dispatch!(wide $pi.backend(), $c => $vector, unreachable!("expanded on this backend"))
            }
        }
    };
}
pub(crate) use by_schedule;

impl Aes128 {
    /// Expands a key.
    #[must_use]
    pub fn new(backend: Backend, key: &Block) -> Self {
        let schedule = dispatch!(
            backend,
            simd => Schedule::RoundKeys(schedule::schedule(simd.single(), key)),
            Schedule::Cipher(portable::cipher(key)),
        );
        Self { backend, schedule }
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
        // By halves: as a vector, what was stored by halves would be waited for.
        #[cfg(target_arch = "x86_64")]
        let [low, high] = halves(first);
        by_schedule!(
            self,
            c, keys => vectors::ctr(c, keys, crate::joined([low, high]), blocks),
            cipher => portable::ctr(cipher, first, blocks),
        );
    }

    /// Encrypts every block in place.
    pub fn encrypt(&self, blocks: &mut [Block]) {
        by_schedule!(
            self,
            c, keys => vectors::encrypt_blocks(c, keys, blocks),
            cipher => portable::encrypt(cipher, blocks),
        );
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
    by_schedule!(
        pi,
        c, round_keys => vectors::tmmo(c, round_keys, first, None, rows, keys),
        cipher => portable::tmmo(cipher, first, rows, keys),
    );
}

/// [`tmmo`] of every row x and of x ⊕ `delta`, both under the same tweak: the two keys of a
/// correlated OT's sender.
///
/// # Panics
/// If there are not as many pairs as rows, or a tweak reaches 2^64.
pub fn tmmo_pairs(pi: &Aes128, first: u64, delta: &Block, rows: &[Block], keys: &mut [[Block; 2]]) {
    assert!(rows.len() == keys.len(), "one pair of keys per row");
    check_counters(first.into(), rows.len());
    by_schedule!(
        pi,
        c, round_keys => {
            vectors::tmmo(c, round_keys, first, Some(delta), rows, keys.as_flattened_mut());
        },
        cipher => portable::tmmo_pairs(cipher, first, delta, rows, keys),
    );
}

/// MMO\[π\] of [GKWY20] in place: x becomes π(x) ⊕ x. It is correlation-robust if inputs are distinct, and chosen by nobody who knows π.
///
/// [GKWY20]: https://eprint.iacr.org/2019/074
pub fn mmo(pi: &Aes128, blocks: &mut [Block]) {
    by_schedule!(
        pi,
        c, round_keys => vectors::mmo(c, round_keys, blocks),
        cipher => portable::mmo(cipher, blocks),
    );
}

/// [`mmo`] of every row x and of x ⊕ `delta`.
///
/// # Panics
/// If there are not as many pairs as rows.
pub fn mmo_pairs(pi: &Aes128, delta: &Block, rows: &[Block], keys: &mut [[Block; 2]]) {
    assert!(rows.len() == keys.len(), "one pair of keys per row");
    by_schedule!(
        pi,
        c, round_keys => vectors::mmo_pairs(c, round_keys, delta, rows, keys.as_flattened_mut()),
        cipher => portable::mmo_pairs(cipher, delta, rows, keys),
    );
}

/// Bit 127 of [`mmo`] of every row with each of `multiples` added: bit c of the table, of two bytes, the least first, is that of multiple c.
///
/// # Panics
/// If there are not as many tables as rows.
pub fn mmo_tables(pi: &Aes128, multiples: &[Block; 16], rows: &[Block], tables: &mut [[u8; 2]]) {
    assert!(rows.len() == tables.len(), "one table per row");
    by_schedule!(
        pi,
        c, round_keys => vectors::mmo_tables(c, round_keys, multiples, rows, tables),
        cipher => portable::mmo_tables(cipher, multiples, rows, tables),
    );
}

pub(crate) fn check_counters(first: u128, n: usize) {
    assert!(halves(first)[0].checked_add(n as u64).is_some(), "counters stay below 2^64");
}

#[cfg(target_arch = "x86_64")]
impl Drop for RoundKeys {
    fn drop(&mut self) {
        crate::erase(&mut self.0, [0; 16]);
    }
}

redacted! {
    Aes128;
}

#[cfg(test)]
mod tests;
