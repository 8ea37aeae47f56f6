//! Polynomials over Z_q modulo X^N + 1 and their encodings, as in `docs/wire/README.md`, section 4.
//!
//! Products are sums over all pairs of coefficients and the transform to NTT order is N evaluations
//! by definition: N² steps each, where the fast code takes N·log N.

use crate::{bits_from_bytes, bytes_from_bits};

/// N coefficients, the constant one first, or N values in NTT order; each in `0..q`.
pub type Poly = Vec<u64>;

/// Three polynomials.
pub type Vector = [Poly; 3];

/// The ring `Z_q[X]/(X^N + 1)` with its root of unity.
#[derive(Debug)]
pub struct Ring {
    /// Number of coefficients N, a power of two.
    pub n: usize,
    /// Modulus, a prime with q ≡ 1 mod 2N.
    pub q: u64,
    /// Width in which a coefficient is packed.
    pub bits: usize,
    /// ψ⁰, ψ¹, …, ψ^(2N−1); ψ is the least primitive 2N-th root of unity mod q.
    powers: Vec<u64>,
}

impl Ring {
    /// The ring of `roted`.
    #[must_use]
    pub fn module768() -> Self {
        Self::new(256, 7681, 62)
    }

    /// The ring of the paper's Figure 1.
    #[must_use]
    pub fn paper512() -> Self {
        Self::new(512, 13313, 7)
    }

    fn new(n: usize, q: u64, psi: u64) -> Self {
        let powers = core::iter::successors(Some(1), |power| Some(power * psi % q)).take(2 * n);
        Self { n, q, bits: q.ilog2() as usize + 1, powers: powers.collect() }
    }

    /// Returns a + b, in either domain.
    #[must_use]
    pub fn add(&self, a: &Poly, b: &Poly) -> Poly {
        a.iter().zip(b).map(|(a, b)| (a + b) % self.q).collect()
    }

    /// Returns a − b, in either domain.
    #[must_use]
    pub fn subtract(&self, a: &Poly, b: &Poly) -> Poly {
        a.iter().zip(b).map(|(a, b)| (a + self.q - b) % self.q).collect()
    }

    /// Returns a·b mod X^N + 1, all three as coefficients.
    #[must_use]
    pub fn multiply(&self, a: &Poly, b: &Poly) -> Poly {
        let mut full = vec![0; 2 * self.n];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                full[i + j] += x * y;
            }
        }
        // X^(N+k) = −X^k.
        let (low, high) = full.split_at(self.n);
        low.iter().zip(high).map(|(l, h)| (l + self.q - h % self.q) % self.q).collect()
    }

    /// Returns the scalar product ⟨a, b⟩, all as coefficients.
    #[must_use]
    pub fn inner_product(&self, a: [&Poly; 3], b: &Vector) -> Poly {
        let zero = vec![0; self.n];
        a.into_iter().zip(b).fold(zero, |sum, (a, b)| self.add(&sum, &self.multiply(a, b)))
    }

    /// Returns f(ψ^(2·brv(i) + 1)) for all i: the polynomial `f` in NTT order.
    #[must_use]
    pub fn to_ntt_order(&self, f: &Poly) -> Poly {
        let value_at = |exponent: usize| {
            let terms = f.iter().enumerate();
            terms.map(|(k, x)| x * self.powers[exponent * k % (2 * self.n)]).sum::<u64>() % self.q
        };
        (0..self.n).map(|i| value_at(self.exponent(i))).collect()
    }

    /// Returns the coefficients of the polynomial whose NTT order is `values`.
    ///
    /// Coefficient k is 1/N times the sum of all values, each divided by the k-th power of the
    /// point it was taken at: powers of another exponent sum to zero over the roots of X^N + 1.
    #[must_use]
    pub fn from_ntt_order(&self, values: &Poly) -> Poly {
        let two_n = 2 * self.n;
        // N⁻¹, because −N·(q−1)/N = 1 mod q.
        let inverse_n = self.q - (self.q - 1) / self.n as u64;
        let coefficient = |k: usize| {
            let over_power = |(i, x): (usize, &u64)| {
                let exponent = self.exponent(i) * k % two_n;
                x * self.powers[(two_n - exponent) % two_n]
            };
            values.iter().enumerate().map(over_power).sum::<u64>() % self.q * inverse_n % self.q
        };
        (0..self.n).map(coefficient).collect()
    }

    /// Returns 2·brv(i) + 1, where brv reverses the log₂ N bits of `i`.
    fn exponent(&self, i: usize) -> usize {
        let width = self.n.ilog2();
        let reversed = (0..width).map(|k| (i >> k & 1) << (width - 1 - k)).sum::<usize>();
        2 * reversed + 1
    }

    /// Returns the first `count` polynomials, in NTT order, that `bytes` hold when every candidate
    /// not below q is dropped; all zero if there are too few.
    #[must_use]
    pub fn uniform(&self, bytes: &[u8], count: usize) -> Vec<Poly> {
        let candidates = unpack(bytes, self.bits, 8 * bytes.len() / self.bits);
        let accepted = candidates.into_iter().filter(|&x| x < self.q);
        let mut values: Poly = accepted.take(count * self.n).collect();
        if values.len() < count * self.n {
            values = vec![0; count * self.n];
        }
        values.chunks(self.n).map(<[u64]>::to_vec).collect()
    }

    /// Returns the polynomial of centred binomial coefficients (η = 2) that N/2 bytes hold.
    #[must_use]
    pub fn centred_binomial(&self, bytes: &[u8]) -> Poly {
        let bits: Poly = unpack(bytes, 1, 4 * self.n);
        bits.chunks(4).map(|b| (b[0] + b[1] + 2 * self.q - b[2] - b[3]) % self.q).collect()
    }

    /// Returns `x` rounded from `0..q` to d bits.
    #[must_use]
    pub fn round(&self, x: u64, d: usize) -> u64 {
        ((x << d) + self.q / 2) / self.q % (1 << d)
    }

    /// Returns the element of `0..q` that the d-bit `y` stands for, the inverse of
    /// [`Ring::round`] up to the rounding error.
    #[must_use]
    pub fn unround(&self, y: u64, d: usize) -> u64 {
        (self.q * y + (1 << (d - 1))) >> d
    }

    /// Returns the key bit at `x` without a hint: whether it lies in the half around q/2.
    #[must_use]
    pub fn bit(&self, x: u64) -> bool {
        let e = (self.q - 1) / 8;
        2 * e < x && x <= 6 * e
    }

    /// Returns whether `x` is so near a border of [`Ring::bit`] that a quarter turn takes it away.
    #[must_use]
    pub fn hint(&self, x: u64) -> bool {
        let e = (self.q - 1) / 8;
        e < x && x <= 3 * e || 5 * e < x && x <= 7 * e
    }

    /// Returns the key bit at `x` under `hint`, equal on both sides if their x differ by less than
    /// about q/8.
    #[must_use]
    pub fn key_bit(&self, x: u64, hint: bool) -> bool {
        let e = (self.q - 1) / 8;
        self.bit((x + 2 * e * u64::from(hint)) % self.q)
    }

    /// Returns the polynomials with full coefficients, one after another.
    #[must_use]
    pub fn pack(&self, polys: &[Poly]) -> Vec<u8> {
        pack(&polys.concat(), self.bits)
    }

    /// Returns the polynomials that [`Ring::pack`] packed.
    #[must_use]
    pub fn unpack(&self, bytes: &[u8]) -> Vec<Poly> {
        let count = 8 * bytes.len() / (self.bits * self.n);
        let values = unpack(bytes, self.bits, count * self.n);
        values.chunks(self.n).map(<[u64]>::to_vec).collect()
    }
}

/// Returns the values in d bits each, without gaps.
#[must_use]
pub fn pack(values: &[u64], d: usize) -> Vec<u8> {
    let bits_of = |&x: &u64| (0..d).map(move |k| x >> k & 1 == 1);
    bytes_from_bits(&values.iter().flat_map(bits_of).collect::<Vec<_>>())
}

/// Returns the first `count` values of d bits each.
#[must_use]
pub fn unpack(bytes: &[u8], d: usize, count: usize) -> Vec<u64> {
    let value = |bits: &[bool]| (0..).zip(bits).map(|(k, &bit)| u64::from(bit) << k).sum();
    bits_from_bytes(bytes, count * d).chunks(d).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blake3::derive_key;

    fn rings() -> [Ring; 2] {
        [Ring::module768(), Ring::paper512()]
    }

    /// Two polynomials without pattern.
    fn samples(ring: &Ring) -> (Poly, Poly) {
        let polys = ring.uniform(&derive_key("samples", &[], 4 * ring.n * ring.bits / 8), 2);
        (polys[0].clone(), polys[1].clone())
    }

    #[test]
    fn psi_is_the_least_primitive_root() {
        for ring in rings() {
            // Of order 2N, a power of two, exactly if the N-th power is −1.
            let power = |x: u64| (0..ring.n).fold(1, |power, _| power * x % ring.q);
            let psi = (2..ring.q).find(|&x| power(x) == ring.q - 1);
            assert_eq!(psi, Some(ring.powers[1]));
        }
    }

    #[test]
    fn product_by_evaluation_is_the_negacyclic_product() {
        for ring in rings() {
            let (a, b) = samples(&ring);
            let (values_a, values_b) = (ring.to_ntt_order(&a), ring.to_ntt_order(&b));
            let pointwise = values_a.iter().zip(&values_b).map(|(x, y)| x * y % ring.q).collect();
            assert_eq!(ring.from_ntt_order(&pointwise), ring.multiply(&a, &b));
        }
    }

    #[test]
    fn ntt_order_starts_at_psi_and_its_negative() {
        for ring in rings() {
            let mut x = vec![0; ring.n];
            x[1] = 1;
            let values = ring.to_ntt_order(&x);
            let psi = ring.powers[1];
            assert_eq!(values[..2], [psi, ring.q - psi]);
            assert_eq!(ring.from_ntt_order(&values), x);
        }
    }

    #[test]
    fn uniform_takes_the_candidates_below_q_in_order_or_none() {
        let ring = Ring::module768();
        let mut candidates: Vec<u64> = (0..960).collect();
        candidates[..192].fill(7681);
        let expected: Vec<Poly> = candidates[192..].chunks(256).map(<[u64]>::to_vec).collect();
        assert_eq!(ring.uniform(&pack(&candidates, 13), 3), expected);
        candidates[959] = 8191;
        assert_eq!(ring.uniform(&pack(&candidates, 13), 3), vec![vec![0; 256]; 3]);
    }

    #[test]
    fn centred_binomial_is_a_difference_of_two_bits_each() {
        let ring = Ring::module768();
        let mut bytes = vec![0; 128];
        bytes[0] = 0b0100_0011;
        assert_eq!(ring.centred_binomial(&bytes)[..3], [2, 7680, 0]);
    }

    #[test]
    fn rounding_errs_by_at_most_half_a_step() {
        let ring = Ring::module768();
        for x in 0..ring.q {
            let back = ring.unround(ring.round(x, 11), 11);
            let error = (x + ring.q - back) % ring.q;
            assert!(error.min(ring.q - error) <= 2, "{x} became {back}");
        }
    }

    #[test]
    fn hints_reconcile_values_that_differ_by_less_than_an_eighth() {
        let ring = Ring::module768();
        for x in 0..ring.q {
            for distance in [1, 400, 959] {
                for y in [(x + distance) % ring.q, (x + ring.q - distance) % ring.q] {
                    let hint = ring.hint(x);
                    assert_eq!(ring.key_bit(x, hint), ring.key_bit(y, hint), "{x} and {y}");
                }
            }
        }
    }

    #[test]
    fn unpacking_undoes_packing() {
        for ring in rings() {
            let (a, b) = samples(&ring);
            assert_eq!(ring.unpack(&ring.pack(&[a.clone(), b.clone()])), [a, b]);
        }
    }
}
