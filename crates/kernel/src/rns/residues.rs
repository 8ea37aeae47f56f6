//! Arithmetic on slices of canonical residues, word by word: coefficients or values alike.
//!
//! All slices of a call have the same length, a multiple of [`GRANULE`](super::GRANULE), or it panics. Results are
//! canonical.

use super::{Modulus, check, lanes::Lanes};
use crate::Backend;

/// x += y.
pub fn add(backend: Backend, p: &Modulus, x: &mut [u64], y: &[u64]) {
    check(x.len(), &[y.len()]);
    dispatch!(backend, l => zip(l, p, x, y, inlined!(|p, x, y| l.add(p, x, y))));
}

/// x −= y.
pub fn sub(backend: Backend, p: &Modulus, x: &mut [u64], y: &[u64]) {
    check(x.len(), &[y.len()]);
    dispatch!(backend, l => zip(l, p, x, y, inlined!(|p, x, y| l.sub(p, x, y))));
}

/// x = −x.
pub fn neg(backend: Backend, p: &Modulus, x: &mut [u64]) {
    check(x.len(), &[]);
    dispatch!(backend, l => map(l, p, x, inlined!(|p, x| l.sub(p, l.splat(0), x))));
}

/// x ·= y.
pub fn mul(backend: Backend, p: &Modulus, x: &mut [u64], y: &[u64]) {
    check(x.len(), &[y.len()]);
    dispatch!(backend, l => zip(l, p, x, y, inlined!(|p, x, y| l.mul(p, x, y))));
}

/// x += a·b.
pub fn mul_add(backend: Backend, p: &Modulus, x: &mut [u64], a: &[u64], b: &[u64]) {
    check(x.len(), &[a.len(), b.len()]);
    dispatch!(backend, l => {
        let p = l.prime(p);
        for ((x, a), b) in vectors(l, x).zip(a.chunks_exact(lanes(l))).zip(b.chunks_exact(lanes(l))) {
            let sum = l.add(p, l.load(x), l.mul(p, l.load(a), l.load(b)));
            l.store(p, sum, x);
        }
    });
}

/// x ·= w, for w < p, which is public.
pub fn mul_scalar(backend: Backend, p: &Modulus, x: &mut [u64], w: u64) {
    check(x.len(), &[]);
    dispatch!(backend, l => {
        let w = l.factor(l.entry(p, p.factor(w)));
        map(l, p, x, inlined!(|p, x| l.mul_by(p, x, w)));
    });
}

/// x += y·w, for w < p, which is public; `y` may have any words below 2⁵⁰.
pub fn mul_scalar_add(backend: Backend, p: &Modulus, x: &mut [u64], y: &[u64], w: u64) {
    check(x.len(), &[y.len()]);
    dispatch!(backend, l => {
        let w = l.factor(l.entry(p, p.factor(w)));
        zip(l, p, x, y, inlined!(|p, x, y| l.add(p, x, l.mul_by(p, y, w))));
    });
}

/// x = (x − y)·w, for w < p, which is public.
pub fn sub_mul_scalar(backend: Backend, p: &Modulus, x: &mut [u64], y: &[u64], w: u64) {
    check(x.len(), &[y.len()]);
    dispatch!(backend, l => {
        let w = l.factor(l.entry(p, p.factor(w)));
        zip(l, p, x, y, inlined!(|p, x, y| l.mul_by(p, l.sub(p, x, y), w)));
    });
}

/// x = y mod p, for small signed integers.
pub fn set_small(backend: Backend, p: &Modulus, x: &mut [u64], y: &[i8]) {
    check(x.len(), &[y.len()]);
    backend.run(inlined!(|| x.iter_mut().zip(y).for_each(|(x, y)| *x = small(p, *y))));
}

/// x += y, for small signed integers.
pub fn add_small(backend: Backend, p: &Modulus, x: &mut [u64], y: &[i8]) {
    check(x.len(), &[y.len()]);
    backend.run(inlined!(|| x.iter_mut().zip(y).for_each(|(x, y)| *x = p.add(*x, small(p, *y)))));
}

/// y mod p.
#[cfg_attr(not(unoptimized), inline(always))]
fn small(p: &Modulus, y: i8) -> u64 {
    let y = i64::from(y);
    y.wrapping_add_unsigned(p.value() & (y >> 63).cast_unsigned()).cast_unsigned()
}

#[cfg_attr(not(unoptimized), inline(always))]
fn lanes<L: Lanes>(_: L) -> usize {
    L::LANES
}

#[cfg_attr(not(unoptimized), inline(always))]
fn vectors<L: Lanes>(_: L, x: &mut [u64]) -> core::slice::ChunksExactMut<'_, u64> {
    x.chunks_exact_mut(L::LANES)
}

#[cfg_attr(not(unoptimized), inline(always))]
fn map<L: Lanes>(
    l: L,
    p: &Modulus,
    x: &mut [u64],
    operation: impl Fn(L::Prime, L::Vector) -> L::Vector,
) {
    let p = l.prime(p);
    for x in vectors(l, x) {
        l.store(p, operation(p, l.load(x)), x);
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn zip<L: Lanes>(
    l: L,
    p: &Modulus,
    x: &mut [u64],
    y: &[u64],
    operation: impl Fn(L::Prime, L::Vector, L::Vector) -> L::Vector,
) {
    let p = l.prime(p);
    for (x, y) in vectors(l, x).zip(y.chunks_exact(L::LANES)) {
        l.store(p, operation(p, l.load(x), l.load(y)), x);
    }
}
