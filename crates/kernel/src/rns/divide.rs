//! Exact division by a product of primes, with rounding.

use super::{MAX_PRIMES, Modulus, check, lanes::Lanes, mixed_radix::above};
use crate::{Backend, erase, map_all};

/// Division of C modulo P·R, to round(2ᵗ·C/R) modulo P·2ᵗ, where P is the product of the primes that are
/// *kept*, R that of the primes that are *removed*.
///
/// The division is nested: by the last prime of R, rounded to the nearest integer, then by the one
/// before it, and so on. (2ᵗ·C is first taken modulo P·R·2ᵗ.) This is a monotone step function of C with
/// exactly 2ᵗ·P steps of R/2ᵗ each on average, so it commutes with adding multiples of R: nothing is
/// approximate. That of 2ᵗ·C/R as a real number, rounded once, may differ from it by 1.
#[derive(Clone, Copy, Debug)]
pub struct Divider {
    /// The kept ones.
    kept: [Modulus; MAX_PRIMES],
    k: usize,
    removed: [Modulus; MAX_PRIMES],
    m: usize,
    low_bits: u32,
    /// 1/rⱼ modulo pᵢ is `inverses[j][i]`.
    inverses: [[u64; MAX_PRIMES]; MAX_PRIMES],
    /// Inverses for i < j: 1/rⱼ modulo rᵢ is `removed_inverses[j][i]`.
    removed_inverses: [[u64; MAX_PRIMES]; MAX_PRIMES],
}

/// Constants for a division by a prime, modulo one of the others: a multiple of the other prime plus half of the
/// dividing one, and the inverse of the dividing one.
#[derive(Clone, Copy)]
struct Step<L: Lanes> {
    above: L::Vector,
    inverse: L::Factor,
}

impl Divider {
    /// Divides by the product of `removed`, and gives results modulo the product of `kept` times
    /// 2^`low_bits`.
    ///
    /// # Panics
    /// Unless there are 1 to [`MAX_PRIMES`] of either, all different, and `low_bits` is at most 63.
    #[must_use]
    pub fn new(kept: &[Modulus], removed: &[Modulus], low_bits: u32) -> Self {
        let sizes = 1..=MAX_PRIMES;
        assert!(sizes.contains(&kept.len()) && sizes.contains(&removed.len()), "numbers of primes");
        assert!(low_bits < 64, "bits of a word");
        let mut divider = Self {
            kept: [kept[0]; MAX_PRIMES],
            k: kept.len(),
            removed: [removed[0]; MAX_PRIMES],
            m: removed.len(),
            low_bits,
            inverses: [[0; MAX_PRIMES]; MAX_PRIMES],
            removed_inverses: [[0; MAX_PRIMES]; MAX_PRIMES],
        };
        divider.kept[..kept.len()].copy_from_slice(kept);
        divider.removed[..removed.len()].copy_from_slice(removed);
        let inverse = |of: &Modulus, to: &Modulus| {
            assert!(of != to, "different primes");
            to.inv(to.reduce(of.value()))
        };
        for (j, r) in removed.iter().enumerate() {
            for (i, p) in kept.iter().enumerate() {
                divider.inverses[j][i] = inverse(r, p);
            }
            for (i, other) in removed[..j].iter().enumerate() {
                divider.removed_inverses[j][i] = inverse(r, other);
            }
        }
        divider
    }

    /// Replaces n coefficients modulo the kept primes, k·n words, by those of the quotient, and writes
    /// its residues modulo 2ᵗ to `low`, n words. The coefficients modulo the removed primes, m·n
    /// words, are lost: the remainders take their place, which are as secret.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub fn divide(&self, backend: Backend, kept: &mut [u64], removed: &mut [u64], low: &mut [u64]) {
        let n = low.len();
        check(n, &[]);
        assert!(kept.len() == self.k * n && removed.len() == self.m * n, "n words for each prime");
        dispatch!(backend, l => self.divide_with(l, n, kept, removed));
        self.low(backend, removed, low);
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn divide_with<L: Lanes>(&self, l: L, n: usize, kept: &mut [u64], removed: &mut [u64]) {
        let (k, m) = (self.k, self.m);
        let scales = |primes: &[Modulus; MAX_PRIMES]| {
            map_all(
                *primes,
                inlined!(|p| (
                    l.prime(&p),
                    l.factor(l.entry(&p, p.factor(p.pow(2, self.low_bits.into()))))
                )),
            )
        };
        let (kept_scales, removed_scales) = (scales(&self.kept), scales(&self.removed));
        let halves = map_all(self.removed, inlined!(|r| l.splat(r.value() / 2)));
        let none = Step::<L> { above: l.splat(0), inverse: l.factor([0; 2]) };
        let mut kept_steps = [[none; MAX_PRIMES]; MAX_PRIMES];
        let mut removed_steps = [[none; MAX_PRIMES]; MAX_PRIMES];
        for j in 0..m {
            let r = &self.removed[j];
            for (i, to_step) in kept_steps[j].iter_mut().enumerate().take(k) {
                *to_step = step(l, r, &self.kept[i], self.inverses[j][i]);
            }
            for (i, to_step) in removed_steps[j].iter_mut().enumerate().take(j) {
                *to_step = step(l, r, &self.removed[i], self.removed_inverses[j][i]);
            }
        }
        for at in (0..n).step_by(L::LANES) {
            let mut x = [l.splat(0); MAX_PRIMES];
            let mut y = [l.splat(0); MAX_PRIMES];
            for (i, (p, scale)) in kept_scales[..k].iter().enumerate() {
                x[i] = l.canonical(*p, l.mul_by(*p, l.load(&kept[i * n + at..]), *scale));
            }
            for (j, (r, scale)) in removed_scales[..m].iter().enumerate() {
                y[j] = l.canonical(*r, l.mul_by(*r, l.load(&removed[j * n + at..]), *scale));
            }
            for j in (0..m).rev() {
                let (r, _) = removed_scales[j];
                let remainder = l.canonical(r, l.add(r, y[j], halves[j]));
                l.store(r, remainder, &mut removed[j * n + at..]);
                for i in 0..j {
                    y[i] = divided(l, removed_scales[i].0, y[i], remainder, &removed_steps[j][i]);
                }
                for i in 0..k {
                    x[i] = divided(l, kept_scales[i].0, x[i], remainder, &kept_steps[j][i]);
                }
            }
            for i in 0..k {
                l.store(kept_scales[i].0, x[i], &mut kept[i * n + at..]);
            }
        }
    }

    /// Computes the quotients modulo 2ᵗ, where 2ᵗ·C is 0, from the remainders.
    fn low(&self, backend: Backend, remainders: &[u64], low: &mut [u64]) {
        let n = low.len().max(1);
        low.fill(0);
        for (r, remainders) in self.removed[..self.m].iter().zip(remainders.chunks_exact(n)).rev() {
            let (half, inverse) = (r.value() / 2, word_inverse(r.value()));
            backend.run(inlined!(|| {
                for (low, remainder) in low.iter_mut().zip(remainders) {
                    // The same division modulo 2⁶⁴, where odd r have an inverse.
                    let numerator = low.wrapping_add(half).wrapping_sub(*remainder);
                    *low = numerator.wrapping_mul(inverse);
                }
            }));
        }
        let mask = (1 << self.low_bits) - 1;
        low.iter_mut().for_each(|low| *low &= mask);
    }
}

/// Rounds X, given modulo p and modulo 2ᵗ by n words each, to ⌊X/2ᵗ + 1/2⌋ modulo p.
///
/// # Panics
/// Unless the lengths fit and t is at most 50.
pub fn round_low(backend: Backend, p: &Modulus, x: &mut [u64], low: &[u64], low_bits: u32) {
    check(x.len(), &[low.len()]);
    assert!(low_bits <= 50, "low bits below a prime's");
    let (half, mask) = ((1u64 << low_bits) >> 1, (1u64 << low_bits) - 1);
    let inverse = p.inv(p.pow(2, low_bits.into()));
    // X + 2^(t−1), less its remainder modulo 2ᵗ, plus a multiple of p.
    let above = p.reduce(half) + (1u64 << low_bits).next_multiple_of(p.value());
    dispatch!(backend, l => {
        let inverse = l.factor(l.entry(p, p.factor(inverse)));
        round_low_with(l, p, x, low, [half, mask, above], inverse);
    });
}

#[cfg_attr(not(unoptimized), inline(always))]
fn round_low_with<L: Lanes>(
    l: L,
    modulus: &Modulus,
    x: &mut [u64],
    low: &[u64],
    [half, mask, above]: [u64; 3],
    inverse: L::Factor,
) {
    let (p, above) = (l.prime(modulus), l.splat(above));
    let mut remainder = [0; super::GRANULE];
    for (x, low) in x.chunks_exact_mut(L::LANES).zip(low.chunks_exact(L::LANES)) {
        for (remainder, low) in remainder.iter_mut().zip(low) {
            *remainder = (low + half) & mask;
        }
        // X + 2^(t − 1) less its remainder is a multiple of 2ᵗ: multiplying by 2⁻ᵗ modulo p
        // divides.
        let difference = l.plain_sub(l.plain_add(l.load(x), above), l.load(&remainder));
        l.store(p, l.mul_by(p, difference, inverse), x);
    }
    erase(&mut remainder, 0);
}

#[cfg_attr(not(unoptimized), inline(always))]
fn step<L: Lanes>(l: L, r: &Modulus, p: &Modulus, inverse: u64) -> Step<L> {
    Step {
        above: l.splat(above(p, r) + p.reduce(r.value() / 2)),
        inverse: l.factor(l.entry(p, p.factor(inverse))),
    }
}

/// (x + r/2 − remainder)/r, for canonical x.
#[cfg_attr(not(unoptimized), inline(always))]
fn divided<L: Lanes>(
    l: L,
    p: L::Prime,
    x: L::Vector,
    remainder: L::Vector,
    step: &Step<L>,
) -> L::Vector {
    // `above` has a multiple of p that is at least the remainder, so the difference is not negative.
    // x + r/2 less its remainder modulo r is a multiple of r: multiplying by 1/r modulo p divides it.
    let difference = l.plain_sub(l.plain_add(x, step.above), remainder);
    l.canonical(p, l.mul_by(p, difference, step.inverse))
}

/// 1/r modulo 2⁶⁴, for odd r.
const fn word_inverse(r: u64) -> u64 {
    // Right modulo 2³; each step doubles the exponent.
    let mut inverse = r;
    let mut steps = 0;
    while steps < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(r.wrapping_mul(inverse)));
        steps += 1;
    }
    inverse
}
