//! The first two messages of `chou-orlandi` (`docs/wire/chou-orlandi.md`, section 14).

use alloc::{vec, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::{
    Backend,
    curve::{self, Invalid, Point},
};

use super::super::message::message;
use crate::Decode;

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
