//! The three messages around the OT (`docs/wire/rot-from-ot.md`, section 9).

use alloc::{vec, vec::Vec};

use super::super::message::message;
use crate::{Bits, Session};

message! {
    /// R → S, before the OT: the hash of t, one for the whole batch.
    Commitment,
    len: |_n| 32,
    check: |_bytes, _n| Ok(())
}

message! {
    /// S → R, after the OT: a bit c for every instance.
    Swap,
    len: |n| n.div_ceil(8),
    check: |bytes, n| Bits::decode(Self::NAME, bytes, n).map(drop)
}

message! {
    /// R → S: the committed t.
    Opening,
    len: |_n| 32,
    check: |_bytes, _n| Ok(())
}

/// H(t), one for the batch whatever its size.
pub(super) fn commit(session: &Session, t: &[u8]) -> [u8; 32] {
    session.oracle("foxtrot v1 rot-from-ot commitment").query(0, 0).field(t).finish()
}

impl Commitment {
    pub(super) fn of(session: &Session, t: &[u8], n: usize) -> Self {
        Self { bytes: commit(session, t).to_vec(), n }
    }
}

impl Swap {
    pub(super) fn from_bits(bits: &Bits) -> Self {
        Self { bytes: bits.as_bytes().to_vec(), n: bits.len() }
    }

    pub(super) fn bits(&self) -> Bits {
        Bits::from_random(self.bytes.clone(), self.n)
    }
}

impl Opening {
    pub(super) fn of(t: &[u8; 32], n: usize) -> Self {
        Self { bytes: t.to_vec(), n }
    }

    pub(super) fn t(&self) -> &[u8] {
        &self.bytes
    }
}
