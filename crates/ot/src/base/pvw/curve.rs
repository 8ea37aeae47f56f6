//! P-256 for `pvw`: encodings, hashing to the curve, scalars. The group has prime order, so every
//! point but the identity generates it.

use foxtrot_kernel::counters::{Operation, count};
use p256::{
    AffinePoint, FieldBytes, ProjectivePoint, Scalar,
    elliptic_curve::{
        ops::{LinearCombination, Reduce},
        point::{AffineCoordinates, DecompressPoint},
    },
};
use subtle::Choice;
use zeroize::Zeroizing;

use crate::oracle::Oracle;

/// Bytes of an encoded point: SEC 1, compressed.
pub(super) const POINT_LEN: usize = 33;
/// Bytes of coins for a scalar: 384 bits, so that reduction leaves it within 2⁻¹²⁸ of uniform.
pub(super) const SCALAR_COINS: usize = 48;

/// The point that is encoded so; the identity has no encoding of this length.
pub(super) fn decode(bytes: &[u8]) -> Option<ProjectivePoint> {
    let (&tag, x) = bytes.split_first()?;
    if tag & !1 != 2 {
        return None;
    }
    let x = FieldBytes::try_from(x).ok()?;
    AffinePoint::decompress(&x, Choice::from(tag & 1)).into_option().map(ProjectivePoint::from)
}

/// The encoding of a point that is not the identity. Coins that make a computed point the identity
/// have probability 2⁻²⁵⁶; it would then be taken for the point with x = 0.
pub(super) fn encode(point: &ProjectivePoint) -> [u8; POINT_LEN] {
    let point = point.to_affine();
    let mut bytes = [2 | point.y_is_odd().unwrap_u8(); POINT_LEN];
    bytes[1..].copy_from_slice(&point.x());
    bytes
}

/// The point number `k` of this oracle: the first answer that encodes one. Takes variable time,
/// its input is public.
pub(super) fn hash_to_curve(oracle: &Oracle, k: u8) -> ProjectivePoint {
    let candidate = |attempt: u64| {
        count(Operation::HashToCurve, 1);
        let mut bytes: [u8; POINT_LEN] = oracle.query(attempt, k).finish();
        bytes[0] = 2 | bytes[0] & 1;
        decode(&bytes)
    };
    let found = (0..).find_map(candidate);
    found.unwrap_or_else(|| unreachable!("every second candidate is a point"))
}

/// A scalar from uniform coins, a little-endian number of 384 bits.
pub(super) fn scalar(coins: &[u8]) -> Zeroizing<Scalar> {
    let (low, high) = coins.split_at(SCALAR_COINS / 2);
    let half = |bytes: &[u8]| {
        let mut padded = Zeroizing::new(FieldBytes::default());
        for (to, from) in padded.iter_mut().rev().zip(bytes) {
            *to = *from;
        }
        Zeroizing::new(Scalar::reduce(&*padded))
    };
    let mut two_to_192 = FieldBytes::default();
    two_to_192[7] = 1;
    Zeroizing::new(*half(high) * Scalar::reduce(&two_to_192) + *half(low))
}

/// s·p.
pub(super) fn times(p: &ProjectivePoint, s: &Scalar) -> ProjectivePoint {
    count(Operation::PointMultiplication, 1);
    p * s
}

/// s·p + t·q.
pub(super) fn combine(
    p: &ProjectivePoint,
    s: &Scalar,
    q: &ProjectivePoint,
    t: &Scalar,
) -> ProjectivePoint {
    count(Operation::PointMultiplication, 2);
    ProjectivePoint::lincomb(&[(*p, *s), (*q, *t)])
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{Session, Sid};

    /// p, big endian.
    const P: [u8; 32] = [
        0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ];

    fn encoding(tag: u8, x: &[u8; 32]) -> Vec<u8> {
        [&[tag][..], x].concat()
    }

    #[test]
    fn decoding_inverts_encoding_and_refuses_all_other_strings() {
        let oracle = Session::new(Sid::from_bytes([3; 32])).oracle("test");
        for k in 0..20 {
            let point = hash_to_curve(&oracle, k);
            let bytes = encode(&point);
            assert_eq!(decode(&bytes), Some(point));
            for tag in (0..=255).filter(|tag| ![2, 3].contains(tag)) {
                assert_eq!(decode(&[&[tag], &bytes[1..]].concat()), None);
            }
            for len in 0..POINT_LEN {
                assert_eq!(decode(&bytes[..len]), None);
            }
        }
    }

    #[test]
    fn coordinates_are_canonical_and_on_the_curve() {
        let small = |x: u8| core::array::from_fn(|k| if k == 31 { x } else { 0 });
        // The least x of a point; its other name p + x must be none.
        let least = (1..).find(|&x| decode(&encoding(2, &small(x))).is_some()).unwrap();
        let mut not_reduced = P;
        not_reduced[19] = 1;
        not_reduced[20..].fill(0);
        not_reduced[31] = least - 1;
        assert!(decode(&encoding(2, &not_reduced)).is_none());
        assert!(decode(&encoding(2, &P)).is_none());
        // x³ − 3x + b is a square for about half of all x.
        let points = (0..=255).filter(|&x| decode(&encoding(3, &small(x))).is_some()).count();
        assert!((96..160).contains(&points), "{points}");
    }

    #[test]
    fn scalars_are_little_endian_numbers_mod_the_order() {
        let mut coins = [0; SCALAR_COINS];
        coins[0] = 5;
        assert_eq!(*scalar(&coins), Scalar::from(5u64));
        coins[1] = 1;
        assert_eq!(*scalar(&coins), Scalar::from(261u64));
        let two_to = |k: u32| (0..k).fold(Scalar::ONE, |x, _| x + x);
        for bit in [63, 64, 191, 192, 255, 256, 383] {
            let mut coins = [0; SCALAR_COINS];
            coins[bit / 8] = 1 << (bit % 8);
            assert_eq!(*scalar(&coins), two_to(u32::try_from(bit).unwrap()), "2^{bit}");
        }
    }

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
            assert_eq!(encode(&hash_to_curve(&oracle, k)).as_slice(), bytes(point));
        }
        let product = times(&hash_to_curve(&oracle, 0), &scalar(&bytes(&vectors["coins"])));
        assert_eq!(encode(&product).as_slice(), bytes(&vectors["product"]));
    }
}
