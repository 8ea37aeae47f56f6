//! Keys and nonces of the streams of an extension: each stream has its own key, and another nonce
//! for every batch.

use alloc::vec::Vec;

use foxtrot_kernel::Block;
use zeroize::Zeroizing;

use crate::Session;

/// The keys of all streams.
pub(super) type Keys = Zeroizing<Vec<Block>>;

/// The nonces of a session: the number of a batch, and eight bytes of the session's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nonces([u8; 8]);

impl Nonces {
    pub(super) fn new(session: &Session, tag: &'static str) -> Self {
        Self(session.oracle(tag).query(0, 0).finish())
    }

    pub(super) fn of_batch(self, number: u64) -> Block {
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&number.to_le_bytes());
        nonce[8..].copy_from_slice(&self.0);
        nonce
    }
}
