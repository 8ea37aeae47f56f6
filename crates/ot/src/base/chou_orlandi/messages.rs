//! The three messages of `chou-orlandi` (`docs/wire/chou-orlandi.md`, section 14).

use alloc::{vec, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::{
    Backend,
    curve::{self, Invalid, Point},
};

use super::{
    super::message::{encoding, message},
    check_size,
};
use crate::{Decode, Error, expect_len};

message! {
    /// S → R: a point of the curve whose multiple by 8 is not the neutral one.
    Share,
    len: |_n| 32,
    check: |bytes, _n| {
        let (backend, mut point, mut neutral) = (Backend::best(), [Point::IDENTITY], [0]);
        let decoded = curve::decompress(backend, bytes.as_chunks().0, &mut point);
        curve::mul_by_cofactor(backend, &mut point);
        curve::is_identity(backend, &point, &mut neutral);
        match decoded {
            Ok(()) if neutral[0] & 1 == 0 => Ok(()),
            _ => Err(Decode::Point { message: Self::NAME, instance: 0 }),
        }
    }
}

message! {
    /// R → S: a point of the curve for every instance.
    Points,
    len: |n| n * 32,
    check: |bytes, n| {
        let mut points = vec![Point::IDENTITY; n];
        curve::decompress(Backend::best(), bytes.as_chunks().0, &mut points)
            .map_err(|Invalid { index: instance }| Decode::Point { message: Self::NAME, instance })
    }
}

/// S → R: (c₁, c₂) of all messages of every instance. Every string is one.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Ciphertexts {
    bytes: Vec<u8>,
    n: usize,
    m: usize,
}

impl Share {
    /// 8S, and its encoding.
    pub(super) fn times_8(&self, backend: Backend) -> (Point, [u8; 32]) {
        let (mut point, mut bytes) = ([Point::IDENTITY], [[0; 32]]);
        curve::decompress(backend, self.bytes.as_chunks().0, &mut point)
            .unwrap_or_else(|_| unreachable!("checked when it was decoded"));
        curve::mul_by_cofactor(backend, &mut point);
        curve::compress(backend, &point, &mut bytes);
        let [point] = point;
        (point, bytes[0])
    }
}

impl Points {
    pub(super) fn group_mut(&mut self, first: usize, count: usize) -> &mut [[u8; 32]] {
        &mut self.bytes.as_chunks_mut().0[first..][..count]
    }

    pub(super) fn points(&self, backend: Backend, range: Range<usize>) -> Vec<Point> {
        let mut points = vec![Point::IDENTITY; range.len()];
        curve::decompress(backend, &self.bytes.as_chunks().0[range], &mut points)
            .unwrap_or_else(|_| unreachable!("checked when it was decoded"));
        points
    }
}

encoding!(Ciphertexts);

impl Ciphertexts {
    /// Length in bytes for n instances of m messages.
    #[must_use]
    pub fn encoded_len(n: usize, m: usize) -> usize {
        n.saturating_mul(m).saturating_mul(32)
    }

    /// A message of n instances of m from the peer's bytes.
    ///
    /// # Errors
    /// [`Usage`](crate::Usage) if there are no batches of that size; [`Decode`] if the bytes are none.
    pub fn decode(bytes: &[u8], n: usize, m: usize) -> Result<Self, Error> {
        check_size(n, m)?;
        expect_len(Self::NAME, bytes, Self::encoded_len(n, m))?;
        Ok(Self { bytes: bytes.to_vec(), n, m })
    }

    /// Number of messages of each.
    #[must_use]
    pub fn choices(&self) -> usize {
        self.m
    }

    pub(super) fn blank(n: usize, m: usize) -> Self {
        Self { bytes: vec![0; Self::encoded_len(n, m)], n, m }
    }

    pub(super) fn places_mut(&mut self) -> &mut [[u8; 32]] {
        self.bytes.as_chunks_mut().0
    }

    /// Returns the points of an instance.
    pub(super) fn of(&self, i: usize) -> &[[u8; 32]] {
        &self.bytes.as_chunks().0[i * self.m..][..self.m]
    }
}
