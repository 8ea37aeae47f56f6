//! Points in Edwards form.

use super::*;

/// Ours from the oracle's.
fn ours(backend: Backend, points: &[EdwardsPoint]) -> Vec<Point> {
    let encodings: Vec<_> = points.iter().map(|point| point.compress().0).collect();
    let mut out = vec![Point::IDENTITY; points.len()];
    decompress(backend, &encodings, &mut out).unwrap();
    out
}

pub(super) fn encodings(backend: Backend, points: &[Point]) -> Vec<[u8; 32]> {
    let mut out = vec![[0; 32]; points.len()];
    compress(backend, points, &mut out);
    out
}

/// The identity, small orders, the base point, sums of these, and others.
fn special() -> Vec<EdwardsPoint> {
    let mut all = EIGHT_TORSION.to_vec();
    all.extend([ED25519_BASEPOINT_POINT, -ED25519_BASEPOINT_POINT]);
    let mut random = Stream(31);
    for torsion in [0, 1, 4, 5] {
        let scalar = Reduced::from_bytes_mod_order(random.bytes(32).try_into().unwrap());
        all.push(ED25519_BASEPOINT_POINT * scalar + EIGHT_TORSION[torsion]);
    }
    all
}

fn addition(backend: Backend) {
    let theirs = special();
    let points = ours(backend, &theirs);
    let mut out = vec![Point::IDENTITY; points.len()];
    for (other, other_theirs) in points.iter().zip(&theirs) {
        add(backend, &points, core::slice::from_ref(other), &mut out);
        let sums: Vec<_> = theirs.iter().map(|x| (x + other_theirs).compress().0).collect();
        assert_eq!(encodings(backend, &out), sums);
        sub(backend, core::slice::from_ref(other), &points, &mut out);
        let differences: Vec<_> = theirs.iter().map(|x| (other_theirs - x).compress().0).collect();
        assert_eq!(encodings(backend, &out), differences);
    }
}

fn cofactor(backend: Backend) {
    let theirs = special();
    let mut points = ours(backend, &theirs);
    mul_by_cofactor(backend, &mut points);
    let expected: Vec<_> = theirs.iter().map(|x| x.mul_by_cofactor().compress().0).collect();
    assert_eq!(encodings(backend, &points), expected);
    let mut bits = [0xff; 2];
    is_identity(backend, &points, &mut bits);
    for (i, point) in theirs.iter().enumerate() {
        assert_eq!(bits[i / 8] >> (i % 8) & 1 == 1, point.is_small_order());
    }
    // Bits of no point stay.
    assert_eq!(bits[1] >> (theirs.len() % 8), 0xff >> (theirs.len() % 8));
    // (0, −1) also has x = 0.
    is_identity(backend, &ours(backend, &EIGHT_TORSION), &mut bits);
    assert_eq!(bits[0], 1);
}

/// k·P for 256-bit k.
fn multiple(scalar: &[u8; 32], point: &EdwardsPoint) -> EdwardsPoint {
    (0..256).rev().fold(EdwardsPoint::identity(), |sum, i| {
        let twice = sum + sum;
        if scalar[i / 8] >> (i % 8) & 1 == 1 { twice + point } else { twice }
    })
}

fn multiplication(backend: Backend) {
    let (scalars, theirs) = (scalars(), special());
    let points = ours(backend, &theirs);
    let mut memory = vec![Sixteen::ZERO; Table::LEN];
    for (point, point_theirs) in points.iter().zip(&theirs).take(13) {
        let expected: Vec<_> =
            scalars.iter().map(|k| multiple(k, point_theirs).compress().0).collect();
        let mut out = vec![Point::IDENTITY; scalars.len()];
        mul(backend, &scalars, core::slice::from_ref(point), &mut out);
        assert_eq!(encodings(backend, &out), expected);
        out.fill(Point::IDENTITY);
        Table::new(backend, point, &mut memory).mul(backend, &scalars, &mut out);
        assert_eq!(encodings(backend, &out), expected);
    }
    // Chou and Orlandi's sender: one scalar, many points.
    let mut out = vec![Point::IDENTITY; points.len()];
    mul(backend, &scalars[20..21], &points, &mut out);
    let expected: Vec<_> = theirs.iter().map(|x| multiple(&scalars[20], x).compress().0).collect();
    assert_eq!(encodings(backend, &out), expected);
}

fn tables(backend: Backend) {
    let mut memory = vec![Sixteen::ZERO; Table::LEN];
    let table = Table::new(backend, &Point::BASE, &mut memory);
    // More than a block of the vectors with the most lanes.
    let scalars = random_strings(&mut Stream(32), 130);
    for other in Backend::all() {
        for n in LENGTHS.into_iter().chain([130]) {
            let mut out = vec![Point::IDENTITY; n];
            table.mul(other, &scalars[..n], &mut out);
            for (scalar, out) in scalars.iter().zip(encodings(backend, &out)) {
                assert_eq!(out, multiple(scalar, &ED25519_BASEPOINT_POINT).compress().0);
            }
        }
    }
}

fn decompression(backend: Backend) {
    let mut candidates = random_strings(&mut Stream(33), 80);
    candidates.extend(coordinates());
    let with_sign = |mut bytes: [u8; 32]| {
        bytes[31] |= 0x80;
        bytes
    };
    candidates.extend(candidates.clone().into_iter().map(with_sign));
    let mut valid = Vec::new();
    for candidate in candidates {
        let mut out = [Point::IDENTITY];
        let decoded = decompress(backend, &[candidate], &mut out);
        // The oracle takes what is not canonical.
        let theirs = CompressedEdwardsY(candidate).decompress();
        let theirs = theirs.filter(|point| point.compress().0 == candidate);
        assert_eq!(decoded.is_ok(), theirs.is_some(), "{candidate:x?}");
        if decoded.is_ok() {
            assert_eq!(encodings(backend, &out), [candidate]);
            valid.push(candidate);
        }
    }
    assert!(valid.len() > 40);
    // The first wrong one is named, wherever it stands.
    for index in [0, 5, 8, 12] {
        let mut batch = valid[..13].to_vec();
        batch[index] = prime_plus(1);
        batch[12] = prime_plus(1);
        let mut out = vec![Point::IDENTITY; 13];
        assert_eq!(decompress(backend, &batch, &mut out), Err(Invalid { index }));
    }
}

fn selection(backend: Backend) {
    let scalars = random_strings(&mut Stream(34), 13);
    let mut points = vec![Point::IDENTITY; 13];
    mul_base(backend, &scalars, &mut points);
    let expected = encodings(backend, &points);
    let zero = encodings(backend, &[Point::IDENTITY])[0];
    for n in LENGTHS {
        for choices in [[0; 2], [0xff; 2], [0x36, 0xa9]] {
            let mut out = vec![Point::BASE; n];
            select(backend, &choices, &[Point::IDENTITY], &points[..n], &mut out);
            for (i, out) in encodings(backend, &out).into_iter().enumerate() {
                let bit = choices[i / 8] >> (i % 8) & 1;
                assert_eq!(out, if bit == 1 { expected[i] } else { zero });
            }
        }
    }
}

on_every_backend! {
    the_second_of_two_points_is_taken_where_the_bit_is_1 => selection;
    sums_and_differences_match_the_reference_crate => addition;
    the_cofactor_kills_small_orders => cofactor;
    multiples_match_the_reference_crate => multiplication;
    a_table_of_one_backend_serves_every_other => tables;
    decompression_is_strict => decompression;
}

#[test]
fn the_base_point_matches_the_reference_crate() {
    let encoding = encodings(Backend::PORTABLE, &[Point::BASE, Point::IDENTITY]);
    assert_eq!(encoding[0], ED25519_BASEPOINT_POINT.compress().0);
    assert_eq!(encoding[1], EdwardsPoint::identity().compress().0);
    assert_eq!(std::format!("{:?}", Point::BASE), "Point(…)");
}
