//! Residues of signed 64-bit integers.

use super::{GRANULE, Modulus, check, lanes::Lanes};
use crate::{Backend, erase};

/// x = y mod p, for integers −2⁶³ ≤ y < 2⁶³, little endian.
///
/// # Panics
/// Unless p > 2³² and the lengths fit.
pub fn set_signed(backend: Backend, p: &Modulus, x: &mut [u64], y: &[[u8; 8]]) {
    check(x.len(), &[y.len()]);
    assert!(p.value() >> 32 > 0, "half a word is a residue");
    dispatch!(backend, l => set_signed_with(l, p, x, y));
}

#[cfg_attr(not(unoptimized), inline(always))]
fn set_signed_with<L: Lanes>(l: L, modulus: &Modulus, x: &mut [u64], y: &[[u8; 8]]) {
    let p = l.prime(modulus);
    let weight = l.factor(l.entry(modulus, modulus.factor(modulus.reduce(1 << 32))));
    // y + 2⁶³ is not negative, and has two halves.
    let offset = l.splat(modulus.reduce(1 << 63));
    let (mut low, mut high) = ([0; GRANULE], [0; GRANULE]);
    for (x, y) in x.chunks_exact_mut(L::LANES).zip(y.chunks_exact(L::LANES)) {
        for ((low, high), y) in low.iter_mut().zip(&mut high).zip(y) {
            let y = u64::from_le_bytes(*y) ^ 1 << 63;
            (*low, *high) = (y & u64::from(u32::MAX), y >> 32);
        }
        let sum = l.add(p, l.load(&low), l.mul_by(p, l.load(&high), weight));
        l.store(p, l.sub(p, sum, offset), x);
    }
    erase(&mut low, 0);
    erase(&mut high, 0);
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{vec, vec::Vec};

    use super::*;
    use crate::laws::{Stream, on_every_backend};

    fn signed_words(backend: Backend) {
        let mut random = Stream(7);
        for p in [4_295_049_217, 4_398_046_150_657, 281_474_976_546_817, 1_125_899_906_826_241] {
            let p = Modulus::new(p).unwrap();
            let edges = [0, 1, -1, i64::MIN, i64::MIN + 1, i64::MAX, 1 << 32, -(1 << 32)];
            let words = std::iter::from_fn(|| Some(random.word().cast_signed()));
            let y: Vec<i64> = edges.into_iter().chain(words).take(40).collect();
            let bytes: Vec<[u8; 8]> = y.iter().map(|y| y.to_le_bytes()).collect();
            let mut x = vec![1; y.len()];
            set_signed(backend, &p, &mut x, &bytes);
            for (x, y) in x.iter().zip(&y) {
                assert_eq!(*x, y.rem_euclid(p.value().cast_signed()).cast_unsigned(), "{y}");
            }
        }
    }

    on_every_backend! {
        signed_words_are_reduced => signed_words;
    }
}
