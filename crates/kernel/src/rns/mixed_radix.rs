//! Reconstruction of integers from residues: mixed-radix digits (Garner 1959; Knuth, volume 2,
//! section 4.3.2).

use super::{MAX_PRIMES, Modulus, check, lanes::Lanes};
use crate::Backend;

/// Reconstruction of the integer for which residues modulo k primes stand: one from 0 to P − 1, or, if it
/// is *centred*, from −(P − 1)/2 to (P − 1)/2, where P is the product.
///
/// [`MixedRadix::digits`] replaces the residues by the digits of X, and the other functions take
/// these: X is the integer itself, or, centred, the integer plus (P − 1)/2. The digit i is below the
/// i-th prime and weighs the product of the primes before it. All is exact.
#[derive(Clone, Copy, Debug)]
pub struct MixedRadix {
    primes: [Modulus; MAX_PRIMES],
    k: usize,
    centred: bool,
    /// Inverses for i < j: 1/pᵢ modulo pⱼ is `inverses[i][j]`.
    inverses: [[u64; MAX_PRIMES]; MAX_PRIMES],
}

impl MixedRadix {
    /// Prepares for integers from 0 to P − 1.
    ///
    /// # Panics
    /// Unless there are 1 to [`MAX_PRIMES`] primes, all different.
    #[must_use]
    pub fn new(primes: &[Modulus]) -> Self {
        Self::with(primes, false)
    }

    /// Prepares for integers from −(P − 1)/2 to (P − 1)/2.
    ///
    /// # Panics
    /// As [`MixedRadix::new`].
    #[must_use]
    pub fn centred(primes: &[Modulus]) -> Self {
        Self::with(primes, true)
    }

    fn with(primes: &[Modulus], centred: bool) -> Self {
        let k = primes.len();
        assert!((1..=MAX_PRIMES).contains(&k), "a number of primes");
        let mut all = [primes[0]; MAX_PRIMES];
        all[..k].copy_from_slice(primes);
        let mut inverses = [[0; MAX_PRIMES]; MAX_PRIMES];
        for (j, q) in primes.iter().enumerate() {
            for (i, p) in primes[..j].iter().enumerate() {
                assert!(p != q, "different primes");
                inverses[i][j] = q.inv(q.reduce(p.value()));
            }
        }
        Self { primes: all, k, centred, inverses }
    }

    fn primes(&self) -> &[Modulus] {
        &self.primes[..self.k]
    }

    /// Replaces the residues of n integers modulo k primes, k·n words, by the digits of X.
    pub fn digits(&self, backend: Backend, x: &mut [u64]) {
        let n = self.check(x.len());
        dispatch!(backend, l => self.digits_with(l, n, x));
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn digits_with<L: Lanes>(&self, l: L, n: usize, x: &mut [u64]) {
        for j in 0..self.k {
            let modulus = &self.primes[j];
            let p = l.prime(modulus);
            let half = if self.centred { modulus.value() / 2 } else { 0 };
            let (before, x) = x.split_at_mut(j * n);
            let mut steps = [(l.splat(0), l.factor([0; 2])); MAX_PRIMES];
            for (i, step) in steps.iter_mut().enumerate().take(j) {
                let factor = modulus.factor(self.inverses[i][j]);
                *step =
                    (l.splat(above(modulus, &self.primes[i])), l.factor(l.entry(modulus, factor)));
            }
            for (v, x) in x[..n].chunks_exact_mut(L::LANES).enumerate() {
                let mut y = l.canonical(p, l.add(p, l.load(x), l.splat(half)));
                for (i, (above, inverse)) in steps[..j].iter().enumerate() {
                    let digit = l.load(&before[i * n + v * L::LANES..]);
                    // Garner: X = y₁ + p₁·(y₂ + p₂·(y₃ + …)), so (X − y₁)/p₁, then less y₂ and
                    // divided by p₂, and so on, modulo the prime, leaves its own digit.
                    let difference = l.plain_sub(l.plain_add(y, *above), digit);
                    y = l.canonical(p, l.mul_by(p, difference, *inverse));
                }
                l.store(p, y, x);
            }
        }
    }

    /// The integers modulo another prime, or one of the same, from k·n digits.
    pub fn residues(&self, backend: Backend, digits: &[u64], to: &Modulus, out: &mut [u64]) {
        let n = self.check(digits.len());
        check(n, &[out.len()]);
        dispatch!(backend, l => self.residues_with(l, n, digits, to, out));
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn residues_with<L: Lanes>(
        &self,
        l: L,
        n: usize,
        digits: &[u64],
        to: &Modulus,
        out: &mut [u64],
    ) {
        let p = l.prime(to);
        let mut weights = [l.factor([0; 2]); MAX_PRIMES];
        let (mut weight, mut half) = (1, 0);
        for (prime, to_weight) in self.primes().iter().zip(&mut weights) {
            *to_weight = l.factor(l.entry(to, to.factor(weight)));
            // (P − 1)/2 has the digits (p − 1)/2.
            half = to.add(half, to.mul(weight, to.reduce(prime.value() / 2)));
            weight = to.mul(weight, to.reduce(prime.value()));
        }
        let offset = l.splat(if self.centred { to.neg(half) } else { 0 });
        for (v, out) in out.chunks_exact_mut(L::LANES).enumerate() {
            let mut sum = offset;
            for (i, weight) in weights[..self.k].iter().enumerate() {
                let digit = l.load(&digits[i * n + v * L::LANES..]);
                sum = l.add(p, sum, l.mul_by(p, digit, *weight));
            }
            l.store(p, sum, out);
        }
    }

    /// The integers modulo 2⁶⁴, from k·n digits.
    pub fn words(&self, backend: Backend, digits: &[u64], out: &mut [u64]) {
        let n = self.check(digits.len());
        check(n, &[out.len()]);
        let (mut weight, mut half) = (1u64, 0u64);
        out.fill(0);
        for (prime, digits) in self.primes().iter().zip(digits.chunks_exact(n.max(1))) {
            backend.run(inlined!(|| {
                for (out, digit) in out.iter_mut().zip(digits) {
                    *out = out.wrapping_add(digit.wrapping_mul(weight));
                }
            }));
            half = half.wrapping_add(weight.wrapping_mul(prime.value() / 2));
            weight = weight.wrapping_mul(prime.value());
        }
        if self.centred {
            out.iter_mut().for_each(|out| *out = out.wrapping_sub(half));
        }
    }

    /// 1 where X > (P − 1)/2, else 0, from k·n digits: that is where an integer from 0 to P − 1 is at
    /// least (P + 1)/2, and where a centred one is positive.
    pub fn exceeds_half(&self, backend: Backend, digits: &[u64], out: &mut [u64]) {
        let n = self.check(digits.len());
        check(n, &[out.len()]);
        out.fill(0);
        for (prime, digits) in self.primes().iter().zip(digits.chunks_exact(n.max(1))) {
            // (P − 1)/2 has the digits (p − 1)/2.
            let half = prime.value() / 2;
            backend.run(inlined!(|| {
                for (out, digit) in out.iter_mut().zip(digits) {
                    // Negative exactly if the digit is greater, or equal below a greater rest.
                    *out = half.wrapping_sub(digit + *out) >> 63;
                }
            }));
        }
    }

    /// n.
    fn check(&self, words: usize) -> usize {
        assert!(words.is_multiple_of(self.k), "as many residues for each prime");
        check(words / self.k, &[]);
        words / self.k
    }
}

/// The least multiple of p that is not below `other`: then x + it − y is not negative, and below 2⁵²
/// for x < 2p.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) const fn above(p: &Modulus, other: &Modulus) -> u64 {
    other.value().next_multiple_of(p.value())
}
