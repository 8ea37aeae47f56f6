//! P-256 for `pvw`: hashing to the curve, the reference string, secret points.

use alloc::boxed::Box;

use foxtrot_kernel::{
    counters::{Operation, count},
    p256::{self, Point, Scalar, Table, decode},
};
use zeroize::Zeroizing;

use crate::{Session, oracle::Oracle};

pub(super) use foxtrot_kernel::p256::POINT_LEN;

/// The point number `k` of this oracle: the first answer that encodes one. Takes variable time,
/// its input is public.
pub(super) fn hash_to_curve(oracle: &Oracle, k: u8) -> Point {
    let candidate = |attempt: u64| {
        count(Operation::HashToCurve, 1);
        let mut bytes: [u8; POINT_LEN] = oracle.query(attempt, k).finish();
        bytes[0] = 2 | bytes[0] & 1;
        decode(&bytes)
    };
    let found = (0..).find_map(candidate);
    found.unwrap_or_else(|| unreachable!("every second candidate is a point"))
}

/// The reference string, (G_0, H_0) and (G_1, H_1), prepared for a batch: multiples of its points take no doublings but
/// a few. Each table has 9 kB, and lives on the heap.
pub(super) struct Crs([[Box<Table>; 2]; 2]);

impl Crs {
    pub(super) fn new(session: &Session) -> Self {
        let oracle = session.oracle("foxtrot v1 pvw CRS");
        Self::of([0, 2].map(|k| [k, k + 1].map(|k| hash_to_curve(&oracle, k))))
    }

    pub(super) fn of(points: [[Point; 2]; 2]) -> Self {
        Self(points.map(|pair| pair.map(|point| Box::new(Table::new(&point)))))
    }

    /// (r·G_b, r·H_b), for a secret choice b.
    pub(super) fn key(&self, choice: u8, r: &Scalar) -> [[u8; POINT_LEN]; 2] {
        count(Operation::PointMultiplication, 2);
        let Self([zero, one]) = self;
        p256::encode(&[0, 1].map(|k| Table::times_one_of([&*zero[k], &*one[k]], choice, r)))
    }

    /// s·G_j + t·H_j.
    pub(super) fn combine(&self, j: u8, [s, t]: [&Scalar; 2]) -> [u8; POINT_LEN] {
        count(Operation::PointMultiplication, 2);
        let [g, h] = &self.0[usize::from(j)];
        let [bytes] = p256::encode(&[Table::combine([(g, s), (h, t)])]);
        bytes
    }
}

/// The sum of products of secret points or scalars.
pub(super) fn combine<const N: usize>(terms: [(&Point, &Scalar); N]) -> Zeroizing<Point> {
    count(Operation::PointMultiplication, N);
    Zeroizing::new(Point::combine(terms))
}

/// The encoding of a secret point.
pub(super) fn encode(point: &Point) -> Zeroizing<[u8; POINT_LEN]> {
    let [bytes] = p256::encode(&[*point]);
    Zeroizing::new(bytes)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::Sid;

    #[test]
    fn points_and_products_match_the_test_vectors() {
        let vectors = include_str!("../../../tests/vectors/chosen.json");
        let vectors: serde_json::Value = serde_json::from_str(vectors).unwrap();
        let vectors = &vectors["p256"];
        let bytes = |value: &serde_json::Value| -> Vec<u8> {
            let hex = value.as_str().unwrap();
            let byte = |k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap();
            (0..hex.len()).step_by(2).map(byte).collect()
        };
        let id: [u8; 32] = bytes(&vectors["id"]).try_into().unwrap();
        let oracle = Session::new(Sid::from_bytes(id)).oracle("foxtrot v1 pvw CRS");
        for (k, point) in (0..4).zip(vectors["points"].as_array().unwrap()) {
            assert_eq!(p256::encode(&[hash_to_curve(&oracle, k)])[0].as_slice(), bytes(point));
        }
        let scalar = Scalar::from_coins(&bytes(&vectors["coins"]).try_into().unwrap());
        let point = hash_to_curve(&oracle, 0);
        let product = combine([(&point, &scalar)]);
        assert_eq!(encode(&product).as_slice(), bytes(&vectors["product"]));
        let crs = Crs::new(&Session::new(Sid::from_bytes(id)));
        assert_eq!(crs.key(0, &scalar)[0].as_slice(), bytes(&vectors["product"]));
    }
}
