//! The three messages of `csw` (`docs/wire/csw.md`, section 17).

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{Backend, curve::Invalid};

use super::super::{Block, message::message};
use crate::{
    Decode,
    agreement::is_element,
    popf::{Ristretto, check},
};

/// Bytes before what belongs to instances: the seed, or z.
const HEAD: usize = 32;
/// Bytes of γ.
const PROOF: usize = 32;

message! {
    /// R → S: the seed of T, and B of every instance.
    Points,
    len: |n| HEAD + n * 32,
    check: |bytes, _n| {
        check::<Ristretto>(Backend::best(), bytes[HEAD..].as_chunks().0)
            .map_err(|Invalid { index: instance }| Decode::Point { message: Self::NAME, instance })
    }
}

message! {
    /// S → R: z, which is not neutral, γ, and χ of every instance.
    Challenge,
    len: |n| HEAD + PROOF + n * 16,
    check: |bytes, _n| match bytes.as_chunks().0.first() {
        Some(z) if is_element(z) => Ok(()),
        _ => Err(Decode::Point { message: Self::NAME, instance: 0 }),
    }
}

message! {
    /// R → S: a′. Every string is one.
    Response,
    len: |_n| 32,
    check: |_bytes, _n| Ok(())
}

impl Points {
    pub(super) fn seed(&self) -> &[u8; 32] {
        &self.bytes.as_chunks().0[0]
    }

    pub(super) fn encodings(&self) -> &[[u8; 32]] {
        self.bytes[HEAD..].as_chunks().0
    }

    pub(super) fn encodings_mut(&mut self) -> &mut [[u8; 32]] {
        self.bytes[HEAD..].as_chunks_mut().0
    }
}

impl Challenge {
    pub(super) fn z(&self) -> &[u8; HEAD] {
        &self.bytes.as_chunks().0[0]
    }

    pub(super) fn z_mut(&mut self) -> &mut [u8; HEAD] {
        &mut self.bytes.as_chunks_mut().0[0]
    }

    pub(super) fn proof(&self) -> &[u8; PROOF] {
        &self.bytes.as_chunks().0[1]
    }

    pub(super) fn proof_mut(&mut self) -> &mut [u8; PROOF] {
        &mut self.bytes.as_chunks_mut().0[1]
    }

    pub(super) fn differences(&self) -> &[Block] {
        self.bytes[HEAD + PROOF..].as_chunks().0
    }

    pub(super) fn differences_mut(&mut self) -> &mut [Block] {
        self.bytes[HEAD + PROOF..].as_chunks_mut().0
    }
}
