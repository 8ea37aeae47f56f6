//! Laws of the curve, stamped onto every backend of this machine; curve25519-dalek is the oracle.

extern crate std;
use std::{vec, vec::Vec};

use curve25519_dalek::{
    constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION},
    edwards::{CompressedEdwardsY, EdwardsPoint},
    montgomery::MontgomeryPoint,
    ristretto::{CompressedRistretto, RistrettoPoint},
    scalar::Scalar as Reduced,
    traits::Identity,
};

use super::*;
use crate::{
    Backend,
    laws::{Stream, on_every_backend},
};

mod maps;
mod points;
mod twins;
mod vectors;

/// Lengths with and without a rest, for any number of lanes.
const LENGTHS: [usize; 5] = [0, 1, 3, 8, 13];

fn random_strings(random: &mut Stream, n: usize) -> Vec<[u8; 32]> {
    (0..n).map(|_| random.bytes(32).try_into().unwrap()).collect()
}

/// 2²⁵⁵ − 19 + k.
fn prime_plus(k: u8) -> [u8; 32] {
    let mut bytes = [0xff; 32];
    bytes[0] = 0xed + k;
    bytes[31] = 0x7f;
    bytes
}

/// p − k, k < 0xed.
fn prime_minus(k: u8) -> [u8; 32] {
    let mut bytes = prime_plus(0);
    bytes[0] -= k;
    bytes
}

/// ℓ, the order of the base point.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// ℓ′, the prime in the order of the twist.
const TWIST_ORDER: [u8; 32] = [
    0x1d, 0x58, 0x14, 0x46, 0xcb, 0x39, 0xdb, 0x4f, 0x53, 0xc6, 0x10, 0xba, 0x42, 0x0c, 0x42, 0xd6,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f,
];

/// Scalars at the ends, and others; of 256 bits.
fn scalars() -> Vec<[u8; 32]> {
    let mut all = vec![small(0), small(1), small(2), small(8), small(16), [0xff; 32], ORDER];
    all.extend([prime_minus(1), prime_plus(0), prime_plus(18), [0x11; 32], [0xf0; 32], [0x88; 32]]);
    let mut more = ORDER;
    more[0] += 1;
    all.push(more);
    all.extend(random_strings(&mut Stream(25), 12));
    all
}

/// x-coordinates on the curve and on the twist, of small order, beyond p, and others.
fn coordinates() -> Vec<[u8; 32]> {
    let mut all: Vec<_> = (0..10).map(small).collect();
    all.extend([prime_minus(1), prime_minus(2), prime_plus(0), prime_plus(1), prime_plus(18)]);
    all.push([0xff; 32]);
    all.extend(EIGHT_TORSION.map(|point| point.to_montgomery().0));
    all.extend(random_strings(&mut Stream(26), 16));
    all
}

/// The x-coordinate of k·P, for the bits of k below `bits`.
fn laddered(scalar: &[u8; 32], point: &[u8; 32], bits: usize) -> [u8; 32] {
    let bits = (0..bits).rev().map(|i| scalar[i / 8] >> (i % 8) & 1 == 1);
    MontgomeryPoint(*point).mul_bits_be(bits).0
}

fn ladder(backend: Backend) {
    let (scalars, points) = (scalars(), coordinates());
    for &point in &points {
        let mut out = vec![[0; 32]; scalars.len()];
        ladder::mul(backend, &scalars, &[point], &mut out);
        for (scalar, out) in scalars.iter().zip(out) {
            assert_eq!(out, laddered(scalar, &point, 255), "{scalar:x?} {point:x?}");
        }
    }
    for &scalar in &scalars {
        let mut out = vec![[0; 32]; points.len()];
        ladder::mul(backend, &[scalar], &points, &mut out);
        for (point, out) in points.iter().zip(out) {
            assert_eq!(out, laddered(&scalar, point, 255), "{scalar:x?} {point:x?}");
        }
    }
}

fn lengths(backend: Backend) {
    let mut random = Stream(27);
    // Also lengths beyond the vectors that share an inversion.
    for n in LENGTHS.into_iter().chain([130, 257]) {
        let (scalars, points) = (random_strings(&mut random, n), random_strings(&mut random, n));
        let mut out = vec![[0; 32]; n];
        ladder::mul(backend, &scalars, &points, &mut out);
        for ((scalar, point), out) in scalars.iter().zip(&points).zip(out) {
            assert_eq!(out, laddered(scalar, point, 255));
        }
    }
}

fn choice(backend: Backend) {
    let mut random = Stream(29);
    let scalars = random_strings(&mut random, 21);
    let choices = random.bytes(3);
    let points = [CURVE_GENERATOR, TWIST_GENERATOR];
    let mut out = vec![[0; 32]; scalars.len()];
    ladder::mul_either(backend, &scalars, &points, &choices, &mut out);
    for (i, (scalar, out)) in scalars.iter().zip(out).enumerate() {
        let point = &points[usize::from(choices[i / 8] >> (i % 8) & 1)];
        assert_eq!(out, laddered(scalar, point, 255));
    }
}

fn generators(backend: Backend) {
    // 8ℓ and 4ℓ′ kill, and no divisor by 2 does; ℓ and ℓ′ leave what is of small order.
    for (generator, prime, cofactor) in
        [(CURVE_GENERATOR, ORDER, 8), (TWIST_GENERATOR, TWIST_ORDER, 4)]
    {
        let mut point = [[0; 32]];
        ladder::mul(backend, &[prime], &[generator], &mut point);
        let mut order = 1;
        while point != [[0; 32]] || order == 1 {
            let previous = point;
            ladder::mul(backend, &[small(2)], &previous, &mut point);
            order *= 2;
            // (0, 0), of order 2, also has the x-coordinate 0.
            if point == [[0; 32]] && previous != [[0; 32]] {
                order *= 2;
                break;
            }
        }
        assert_eq!(order, cofactor);
    }
}

on_every_backend! {
    ladders_match_the_reference_crate => ladder;
    batches_of_every_length_end_where_they_end => lengths;
    a_bit_chooses_the_point => choice;
    generators_generate_everything => generators;
}

#[test]
#[should_panic(expected = "one for each of the batch, or one for all")]
fn missing_scalars_are_refused() {
    ladder::mul(Backend::PORTABLE, &[[0; 32]; 2], &[[0; 32]; 3], &mut [[0; 32]; 3]);
}
