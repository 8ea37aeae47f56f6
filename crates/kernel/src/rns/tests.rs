//! Laws of the RNS ring, stamped onto every backend of this machine, against naive versions.

#![expect(clippy::cast_possible_truncation, reason = "remainders, and low words")]

extern crate std;
use std::{vec, vec::Vec};

use super::*;
use crate::{
    Backend,
    laws::{Stream, on_every_backend},
};

mod big;
mod division;
mod packing;
mod radix;
mod samplers;
mod slices;
mod transform;

/// Primes of the parameter sets, and at the bounds: of every length that occurs, 1 mod 2·4096 or more.
const PRIMES: [u64; 14] = [
    147_457,
    8_589_852_673,
    4_295_049_217,
    17_179_672_577,
    34_359_410_689,
    274_877_816_833,
    549_755_731_969,
    4_398_046_150_657,
    8_796_092_858_369,
    70_368_743_587_841,
    140_737_488_125_953,
    281_474_976_546_817,
    1_125_899_906_826_241,
    1_125_899_905_744_897,
];

fn prime(p: u64) -> Modulus {
    Modulus::new(p).unwrap()
}

fn primes(values: &[u64]) -> Vec<Modulus> {
    values.iter().copied().map(prime).collect()
}

/// Canonical words: the edges first, then random ones.
fn words(p: &Modulus, n: usize, random: &mut Stream) -> Vec<u64> {
    let p = p.value();
    let edges = [0, 1, p - 1, p - 2, p / 2, p / 2 + 1, 2, p - 1];
    edges.into_iter().chain(std::iter::from_fn(|| Some(random.word() % p))).take(n).collect()
}
