//! The two messages of `pvw` (`docs/wire/rot-from-ot.md`, section 9).

use alloc::{vec, vec::Vec};

use foxtrot_kernel::p256::{Point, decode};

use super::{
    super::{Block, message::message},
    curve::POINT_LEN,
};
use crate::Decode;

/// Bytes of P and Q.
const KEY_LEN: usize = 2 * POINT_LEN;
/// Bytes of U and C.
pub(super) const BRANCH_LEN: usize = POINT_LEN + 16;

message! {
    /// R → S: the public key (P, Q) of every instance.
    PublicKeys,
    len: |n| n * KEY_LEN,
    check: |bytes, _n| points(bytes, Self::NAME, POINT_LEN, 2)
}

message! {
    /// S → R: (U, C) for both branches of every instance.
    Ciphertexts,
    len: |n| n * 2 * BRANCH_LEN,
    check: |bytes, _n| points(bytes, Self::NAME, BRANCH_LEN, 2)
}

/// Checks the point at the beginning of every `stride` bytes, of which an instance has `per`.
fn points(bytes: &[u8], message: &'static str, stride: usize, per: usize) -> Result<(), Decode> {
    for (k, part) in bytes.chunks_exact(stride).enumerate() {
        if decode(&part[..POINT_LEN]).is_none() {
            return Err(Decode::Point { message, instance: k / per });
        }
    }
    Ok(())
}

fn decoded(bytes: &[u8]) -> Point {
    decode(bytes).unwrap_or_else(|| unreachable!("checked when it was decoded"))
}

impl PublicKeys {
    pub(super) fn set(&mut self, i: usize, key: &[[u8; POINT_LEN]; 2]) {
        self.bytes[i * KEY_LEN..][..KEY_LEN].copy_from_slice(key.as_flattened());
    }

    /// The encoding of one key.
    pub(super) fn of(&self, i: usize) -> &[u8] {
        &self.bytes[i * KEY_LEN..][..KEY_LEN]
    }

    pub(super) fn points(&self, i: usize) -> [Point; 2] {
        let (p, q) = self.of(i).split_at(POINT_LEN);
        [p, q].map(decoded)
    }
}

impl Ciphertexts {
    pub(super) fn set(&mut self, i: usize, j: usize, u: &[u8; POINT_LEN], c: &Block) {
        let place = &mut self.bytes[(2 * i + j) * BRANCH_LEN..][..BRANCH_LEN];
        place[..POINT_LEN].copy_from_slice(u);
        place[POINT_LEN..].copy_from_slice(c);
    }

    /// The bytes U ‖ C of one branch.
    pub(super) fn branch(&self, i: usize, j: usize) -> &[u8] {
        &self.bytes[(2 * i + j) * BRANCH_LEN..][..BRANCH_LEN]
    }

    pub(super) fn u(&self, i: usize, j: usize) -> Point {
        decoded(&self.branch(i, j)[..POINT_LEN])
    }
}
