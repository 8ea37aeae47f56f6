//! The four messages of `bdgm` (`docs/wire/rot-from-ot.md`, section 9). U, hints, x and C have no invalid
//! encoding.

use alloc::{vec, vec::Vec};

use super::super::{
    message::message,
    roted::instances::{BRANCH_LEN, PHI_LEN, check_phis},
};

/// Bytes of U, hints and x.
pub(super) const CHALLENGE_BRANCH: usize = BRANCH_LEN + 32;
/// Bytes of a challenge for one instance.
pub(super) const CHALLENGE_LEN: usize = 2 * CHALLENGE_BRANCH;
/// Bytes of U, hints and C.
pub(super) const CIPHERTEXT_BRANCH: usize = BRANCH_LEN + 16;
/// Bytes of the ciphertexts of one instance.
pub(super) const CIPHERTEXT_LEN: usize = 2 * CIPHERTEXT_BRANCH;

message! {
    /// R → S: φ = (T, s) of every instance.
    Blinded,
    len: |n| n * PHI_LEN,
    check: |bytes, _n| check_phis(Self::NAME, bytes)
}

message! {
    /// S → R: (U, hints, x) for both branches of every instance.
    Challenge,
    len: |n| n * CHALLENGE_LEN,
    check: |_bytes, _n| Ok(())
}

message! {
    /// R → S: the hash of every w.
    Response,
    len: |_n| 32,
    check: |_bytes, _n| Ok(())
}

message! {
    /// S → R: (U, hints, C) for both branches of every instance.
    Ciphertexts,
    len: |n| n * CIPHERTEXT_LEN,
    check: |_bytes, _n| Ok(())
}

impl Blinded {
    pub(super) fn phi(&self, i: usize) -> &[u8] {
        &self.bytes[i * PHI_LEN..][..PHI_LEN]
    }
}
