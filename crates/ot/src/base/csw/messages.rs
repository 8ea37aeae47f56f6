//! The three messages of `csw` (`docs/wire/csw.md`, section 17).

use alloc::{vec, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::{
    Backend,
    curve::{Invalid, Point, ristretto},
};

use super::super::{Block, message::message};
use crate::{
    Decode,
    agreement::is_element,
    popf::{Elements, Ristretto, decoded},
};

/// Bytes before what belongs to instances: the seed, or z.
const HEAD: usize = 32;
/// Bytes of γ.
const PROOF: usize = 32;

message! {
    /// R → S: the seed of T, and B of every instance.
    Points,
    len: |n| HEAD + n * 32,
    check: |bytes, n| {
        let mut points = Elements::<Ristretto>::zeros(n);
        ristretto::decode(Backend::best(), bytes[HEAD..].as_chunks().0, &mut points)
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
    pub(super) fn new(n: usize, seed: [u8; 32]) -> Self {
        let mut points = Self::blank(n);
        points.bytes[..HEAD].copy_from_slice(&seed);
        points
    }

    pub(super) fn seed(&self) -> &[u8; 32] {
        &self.bytes.as_chunks().0[0]
    }

    pub(super) fn encodings(&self) -> &[[u8; 32]] {
        self.bytes[HEAD..].as_chunks().0
    }

    pub(super) fn encodings_mut(&mut self) -> &mut [[u8; 32]] {
        self.bytes[HEAD..].as_chunks_mut().0
    }

    pub(super) fn points(&self, backend: Backend, range: Range<usize>) -> Elements<Ristretto> {
        decoded(backend, &self.encodings()[range])
    }
}

impl Challenge {
    pub(super) fn new(n: usize, backend: Backend, z: &[Point; 1]) -> Self {
        let mut challenge = Self::blank(n);
        ristretto::encode(backend, z, challenge.bytes[..HEAD].as_chunks_mut().0);
        challenge
    }

    pub(super) fn set_proof(&mut self, proof: &[u8; PROOF]) {
        self.bytes[HEAD..HEAD + PROOF].copy_from_slice(proof);
    }

    pub(super) fn z(&self) -> &[u8] {
        &self.bytes[..HEAD]
    }

    /// z, the only one.
    pub(super) fn point(&self, backend: Backend) -> Elements<Ristretto> {
        decoded(backend, self.z().as_chunks().0)
    }

    pub(super) fn proof(&self) -> &[u8; PROOF] {
        &self.bytes.as_chunks().0[1]
    }

    pub(super) fn differences(&self) -> &[Block] {
        self.bytes[HEAD + PROOF..].as_chunks().0
    }

    pub(super) fn differences_mut(&mut self) -> &mut [Block] {
        self.bytes[HEAD + PROOF..].as_chunks_mut().0
    }
}

impl Response {
    pub(super) fn new(answer: &[u8; 32], n: usize) -> Self {
        Self { bytes: answer.to_vec(), n }
    }
}
