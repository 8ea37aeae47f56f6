//! `rlwe`: multiplication triples, as in `docs/wire/rlwe.md`, section 18, and `docs/protocols/triples.md`.
//!
//! ```text
//!     P₀                                               P₁
//!  1  s                ── PublicKey: B ──→
//!  2  a₀, b₀           ── Request: ct_a, ct_b ──→
//!  3                                                   a₁, b₁; C₀, C₁
//!  4                   ←── Response: y₀, y₁ [, x] ──
//!  5  c₀               [── Correction: z ──→]
//!  6                                                   c₁
//! ```
//!
//! Parts in brackets there are with the MSB fix only, and takes a random OT per triple, of which P₀ is the sender.
//!
//! An element of R_q is a list of integers in [0, q), coefficients, and products are school products over the
//! integers, which have to stay below 2¹²⁷: of the sets of `docs/wire/rlwe.md` only [`rlwe_8`] does.

mod numbers;
mod streams;

use crate::oracle::{Id, oracle32};
use crate::{bits_from_bytes, bytes_from_bits};
use numbers::{fourier, integer_product, multiply, pack, power, reduced, unpack, width};
use streams::{Key, binomial, stream_key, ternary, uniform, words};

/// A polynomial: n integers.
type Poly = Vec<i128>;

/// Parameters that both parties know.
#[derive(Clone, Debug)]
pub struct Set {
    /// ℓ.
    pub bits: usize,
    /// The dimension.
    pub n: usize,
    /// The primes of p.
    pub plain: Vec<i128>,
    /// r₁, r₂, ….
    pub rest: Vec<i128>,
    /// t₀ and t₁.
    pub t: [usize; 2],
    /// True if the set has the MSB fix.
    pub fix: bool,
}

/// A set without any security, whose integers are small; with the MSB fix.
#[must_use]
pub fn toy() -> Set {
    Set { plain: vec![147_457], fix: true, ..toy_lift() }
}

/// Returns the toy set without the fix.
#[must_use]
pub fn toy_lift() -> Set {
    Set {
        bits: 8,
        n: 128,
        plain: vec![125_441, 120_833],
        rest: vec![16_770_049, 16_769_537],
        t: [1, 10],
        fix: false,
    }
}

/// The set `rlwe-8` of `docs/wire/rlwe.md`, section 18.
#[must_use]
pub fn rlwe_8() -> Set {
    Set {
        bits: 8,
        n: 4096,
        plain: vec![147_457],
        rest: vec![549_755_731_969, 274_877_816_833],
        t: [1, 9],
        fix: true,
    }
}

/// Both keys of every random OT of a batch.
pub type Pairs = Vec<[[u8; 16]; 2]>;

/// The choice and the key of every one.
pub type Chosen = Vec<(bool, [u8; 16])>;

/// A batch of P₁ that waits for the correction: its shares so far, and m₁ where there is a fix.
#[derive(Debug)]
pub struct Responded {
    shares: Shares,
    upper: Vec<bool>,
}

/// A party's shares of a batch: a, b, c, each modulo 2^ℓ.
pub type Shares = [Vec<i128>; 3];

impl Set {
    fn p(&self) -> i128 {
        self.plain.iter().product()
    }

    fn delta(&self) -> i128 {
        self.rest.iter().product()
    }

    fn q(&self) -> i128 {
        self.p() * self.delta()
    }

    fn primes(&self) -> impl Iterator<Item = i128> {
        self.plain.iter().chain(&self.rest).copied()
    }

    /// The product modulo q with a polynomial of small coefficients.
    fn multiply(&self, f: &[i128], small: &[i128]) -> Poly {
        let most = small.iter().map(|x| x.abs()).max().unwrap_or(0);
        assert!(self.n as i128 * most < i128::MAX / self.q(), "sums have 127 bits");
        reduced(&integer_product(f, small), self.q())
    }

    fn sum(&self, terms: &[&[i128]]) -> Poly {
        let sum = |i: usize| terms.iter().map(|f| f[i]).sum::<i128>().rem_euclid(self.q());
        (0..self.n).map(sum).collect()
    }

    /// The values of a polynomial modulo a prime: value j is f(x^(2·brv(j) + 1)), x = ψ.
    fn values(&self, f: &[i128], prime: i128) -> Vec<i128> {
        let psi = self.psi(prime);
        // f(ψ^(2k + 1)) = Σ (f_i·ψⁱ)·(ψ²)^(ik).
        let values = fourier(&scaled(f, psi, prime), psi * psi % prime, prime);
        (0..self.n).map(|j| values[self.reversed(j)]).collect()
    }

    /// The polynomial modulo a prime with these values: f_i = n⁻¹·ψ⁻ⁱ·Σ v(k)·(ψ⁻²)^(ik).
    fn coefficients(&self, values: &[i128], prime: i128) -> Poly {
        let inverse = |x| power(x, prime - 2, prime);
        let psi = inverse(self.psi(prime));
        let values: Vec<i128> = (0..self.n).map(|k| values[self.reversed(k)]).collect();
        let f = scaled(&fourier(&values, psi * psi % prime, prime), psi, prime);
        f.iter().map(|x| x * inverse(self.n as i128) % prime).collect()
    }

    /// ψ, by the least x that is no square.
    fn psi(&self, prime: i128) -> i128 {
        let is_no_square = |x: &i128| power(*x, (prime - 1) / 2, prime) == prime - 1;
        let x = (2..).find(is_no_square).expect("half of all");
        power(x, (prime - 1) / (2 * self.n as i128), prime)
    }

    /// brv(j).
    fn reversed(&self, j: usize) -> usize {
        j.reverse_bits() >> (usize::BITS - self.n.trailing_zeros())
    }

    /// The polynomial modulo the product of these primes with given residues.
    fn combine(&self, primes: &[i128], residues: &[Poly]) -> Poly {
        let product: i128 = primes.iter().product();
        let coefficient = |i: usize| {
            let term = |(prime, f): (&i128, &Poly)| {
                let others = product / prime;
                let inverse = power(others % prime, prime - 2, *prime);
                multiply(others, f[i].rem_euclid(*prime) * inverse % prime, product)
            };
            primes.iter().zip(residues).map(term).sum::<i128>() % product
        };
        (0..self.n).map(coefficient).collect()
    }

    /// The element of R_q that a key of streams gives.
    fn uniform(&self, key: Key) -> Poly {
        let primes: Vec<i128> = self.primes().collect();
        let residues: Vec<Poly> = (0..)
            .zip(&primes)
            .map(|(i, prime)| self.coefficients(&uniform(key, i, *prime, self.n), *prime))
            .collect();
        self.combine(&primes, &residues)
    }

    /// The polynomial in R_p whose slots are given, centred.
    fn centred(&self, slots: &[i128]) -> Poly {
        let residues: Vec<Poly> = self
            .plain
            .iter()
            .map(|prime| self.coefficients(&reduced(slots, *prime), *prime))
            .collect();
        let p = self.p();
        let centre = |x: i128| if x > p / 2 { x - p } else { x };
        self.combine(&self.plain, &residues).into_iter().map(centre).collect()
    }

    /// The slots of a polynomial in R_p, integers in [0, p).
    fn slots(&self, f: &[i128]) -> Vec<i128> {
        let values: Vec<Poly> = self.plain.iter().map(|prime| self.values(f, *prime)).collect();
        self.combine(&self.plain, &values)
    }

    /// F_t.
    fn round(&self, c: &[i128], t: usize) -> Poly {
        let divide = |x: i128, r: &i128| (x + (r - 1) / 2).div_euclid(*r);
        let round = |c: &i128| {
            let quotient = self.rest.iter().rev().fold(c.rem_euclid(self.q()) << t, divide);
            quotient.rem_euclid(self.p() << t)
        };
        c.iter().map(round).collect()
    }

    /// Returns o, the offset that is added to products.
    fn offset(&self) -> i128 {
        if self.fix { (1 << (2 * self.bits - 1)) - (1 << self.bits) } else { 0 }
    }

    /// The ℓ bits of a key.
    fn key(&self, key: &[u8; 16]) -> i128 {
        key[..self.bits / 8].iter().rev().fold(0, |x, byte| x << 8 | i128::from(*byte))
    }

    fn reduced(&self, c: i128) -> i128 {
        c.rem_euclid(1 << self.bits)
    }

    /// The residues of y₀ modulo the primes of p, as one polynomial modulo p.
    fn answer(&self, id: &Id, batch: usize) -> Poly {
        let half = stream_key("foxtrot v1 rlwe uniform half", id, batch, 2, &[]);
        let residues: Vec<Poly> =
            (0..).zip(&self.plain).map(|(i, prime)| uniform(half, i, *prime, self.n)).collect();
        self.combine(&self.plain, &residues)
    }

    /// The shares of a stream.
    fn shares(&self, key: Key, stream: u64) -> Vec<i128> {
        let width = self.bits / 8;
        let bytes: Vec<u8> =
            words(key, stream).flat_map(u64::to_le_bytes).take(self.n * width).collect();
        let share = |bytes: &[u8]| bytes.iter().rev().fold(0, |x, byte| x << 8 | i128::from(*byte));
        bytes.chunks(width).map(share).collect()
    }

    fn signed(&self, shares: &[i128]) -> Vec<i128> {
        let signed = |x: &i128| if x >> (self.bits - 1) == 1 { x - (1 << self.bits) } else { *x };
        shares.iter().map(signed).collect()
    }

    /// Packs polynomials in NTT order modulo some primes.
    fn pack_values(&self, f: &[i128], primes: &[i128]) -> Vec<u8> {
        let pack = |prime: &i128| pack(&self.values(f, *prime), width(*prime));
        primes.iter().flat_map(pack).collect()
    }

    fn unpack_values<'m>(&self, mut bytes: &'m [u8], primes: &[i128]) -> (Poly, &'m [u8]) {
        let mut residues = Vec::new();
        for prime in primes {
            let (values, rest) = unpack(bytes, width(*prime), self.n);
            residues.push(self.coefficients(&values, *prime));
            bytes = rest;
        }
        (self.combine(primes, &residues), bytes)
    }

    /// Packs a response but for the bits x.
    fn pack_response(&self, y0: &[i128], y1: &[i128]) -> Vec<u8> {
        let [t0, t1] = self.t;
        let residues =
            self.plain.iter().flat_map(|prime| pack(&reduced(y1, *prime), width(*prime)));
        let low = [(y0, t0), (y1, t1)].map(|(y, t)| pack(&reduced(y, 1 << t), t));
        let [low0, low1] = low;
        low0.into_iter().chain(residues).chain(low1).collect()
    }

    /// The inverse: y₀ and y₁ modulo p·2^t, and what is left.
    fn unpack_response<'m>(&self, bytes: &'m [u8], answer: &[i128]) -> ([Poly; 2], &'m [u8]) {
        let [t0, t1] = self.t;
        let (low0, mut bytes) = unpack(bytes, t0, self.n);
        let mut residues = Vec::new();
        for prime in &self.plain {
            let (of_prime, rest) = unpack(bytes, width(*prime), self.n);
            residues.push(of_prime);
            bytes = rest;
        }
        let (low1, rest) = unpack(bytes, t1, self.n);
        let lift = |modulo_p: &[i128], low: &[i128], t: usize| {
            let lift = |(x, low): (&i128, &i128)| {
                let mut lifts = (0..1 << t).map(|k| x + k * self.p());
                lifts.find(|y| y % (1 << t) == *low).expect("p is odd")
            };
            modulo_p.iter().zip(low).map(lift).collect()
        };
        let y1 = lift(&self.combine(&self.plain, &residues), &low1, t1);
        ([lift(answer, &low0, t0), y1], rest)
    }
}

/// f_i·xⁱ modulo a prime.
fn scaled(f: &[i128], x: i128, prime: i128) -> Poly {
    let powers = core::iter::successors(Some(1), |power| Some(power * x % prime));
    f.iter().zip(powers).map(|(f, power)| f.rem_euclid(prime) * power % prime).collect()
}

/// The party with the key.
#[derive(Debug)]
pub struct P0 {
    set: Set,
    id: Id,
    seed: [u8; 32],
    s: Poly,
}

impl P0 {
    /// Step 1.
    #[must_use]
    pub fn new(set: &Set, id: &Id, seed: [u8; 32]) -> (Self, Vec<u8>) {
        let key = stream_key("foxtrot v1 rlwe key", id, 0, 0, &[&seed]);
        let (s, e) = (ternary(key, 0, set.n), binomial(key, 1, set.n));
        let a = set.uniform(stream_key("foxtrot v1 rlwe public key", id, 0, 0, &[]));
        let minus: Poly = s.iter().map(|x| -x).collect();
        let unrounded = set.sum(&[&set.multiply(&a, &minus), &e]);
        let nearest = |x: &i128| (x + set.p() / 2).div_euclid(set.p()) * set.p();
        let b: Poly = unrounded.iter().map(nearest).collect();
        let public_key = set.pack_values(&b, &set.rest);
        (Self { set: set.clone(), id: *id, seed, s }, public_key)
    }

    /// Step 2.
    #[must_use]
    pub fn request(&self, batch: usize) -> Vec<u8> {
        let Self { set, id, seed, s } = self;
        let key = stream_key("foxtrot v1 rlwe request", id, batch, 0, &[seed]);
        let minus: Poly = s.iter().map(|x| -x).collect();
        let primes: Vec<i128> = set.primes().collect();
        let encrypt = |which: u8| {
            let half = stream_key("foxtrot v1 rlwe uniform half", id, batch, which, &[]);
            let m = set.centred(&set.signed(&set.shares(key, which.into())));
            let scaled: Poly =
                m.iter().map(|x| multiply(x.rem_euclid(set.p()), set.delta(), set.q())).collect();
            let error = binomial(key, 2 + u64::from(which), set.n);
            let ct = set.sum(&[&scaled, &set.multiply(&set.uniform(half), &minus), &error]);
            set.pack_values(&ct, &primes)
        };
        [encrypt(0), encrypt(1)].concat()
    }

    /// Step 5; with the correction, which is empty without the fix.
    ///
    /// # Panics
    /// If the message is malformed.
    #[must_use]
    pub fn receive(&self, batch: usize, response: &[u8], ots: &Pairs) -> (Shares, Vec<u8>) {
        let Self { set, id, seed, s } = self;
        let [t0, t1] = set.t;
        let ([y0, y1], rest) = set.unpack_response(response, &set.answer(id, batch));
        assert_eq!(rest.len(), if set.fix { set.n / 8 } else { 0 }, "no other bytes");
        // Modulo q·2^t₁ the integers are too large: the product is taken in Z first.
        let product = integer_product(&y1, s);
        let modulus = set.p() << t1;
        let decrypt = |(y0, product): (&i128, &i128)| {
            let phase = ((y0 << (t1 - t0)) + product).rem_euclid(modulus);
            ((phase + (1 << (t1 - 1))) >> t1) % set.p()
        };
        let plaintext: Poly = y0.iter().zip(&product).map(decrypt).collect();
        let key = stream_key("foxtrot v1 rlwe request", id, batch, 0, &[seed]);
        let (a, b) = (set.shares(key, 0), set.shares(key, 1));
        let d = set.slots(&plaintext);
        let mut c: Vec<i128> = (0..set.n).map(|j| set.reduced(a[j] * b[j] + d[j])).collect();
        let mut z = Vec::new();
        if set.fix {
            for (j, x) in bits_from_bytes(rest, set.n).into_iter().enumerate() {
                let keys = ots[j].map(|key| set.key(&key));
                let (chosen, other) = (keys[usize::from(x)], keys[usize::from(!x)]);
                let wrapped = if d[j] < (set.p() + 1) / 2 { set.p() } else { 0 };
                z.push(set.reduced(chosen + wrapped - other));
                c[j] = set.reduced(c[j] - chosen);
            }
        }
        ([a, b, c], pack(&z, set.bits))
    }
}

/// The party that multiplies.
#[derive(Debug)]
pub struct P1 {
    set: Set,
    id: Id,
    seed: [u8; 32],
    b: Poly,
}

impl P1 {
    /// Takes the public key, after step 1.
    ///
    /// # Panics
    /// If the message is malformed.
    #[must_use]
    pub fn new(set: &Set, id: &Id, public_key: &[u8], seed: [u8; 32]) -> Self {
        let (modulo_delta, rest) = set.unpack_values(public_key, &set.rest);
        assert!(rest.is_empty(), "trailing bytes");
        // The multiple of p with these residues.
        let primes: Vec<i128> = set.primes().collect();
        let zeros = set.plain.iter().map(|_| vec![0; set.n]);
        let residues: Vec<Poly> =
            zeros.chain(set.rest.iter().map(|_| modulo_delta.clone())).collect();
        let b = set.combine(&primes, &residues);
        Self { set: set.clone(), id: *id, seed, b }
    }

    /// Steps 3 and 4.
    ///
    /// # Panics
    /// If the message is malformed.
    #[must_use]
    pub fn respond(&self, batch: usize, request: &[u8], ots: &Chosen) -> (Responded, Vec<u8>) {
        let Self { set, id, seed, b } = self;
        let key = stream_key("foxtrot v1 rlwe response", id, batch, 0, &[seed]);
        let primes: Vec<i128> = set.primes().collect();
        let (ct_a, rest) = set.unpack_values(request, &primes);
        let (ct_b, rest) = set.unpack_values(rest, &primes);
        assert!(rest.is_empty(), "trailing bytes");
        let half = |which| stream_key("foxtrot v1 rlwe uniform half", id, batch, which, &[]);
        let [half_a, half_b] = [0, 1].map(|which| set.uniform(half(which)));
        let public = set.uniform(stream_key("foxtrot v1 rlwe public key", id, 0, 0, &[]));

        let (a1, b1) = (set.shares(key, 0), set.shares(key, 1));
        let (alpha, beta) = (set.centred(&set.signed(&a1)), set.centred(&set.signed(&b1)));
        let u = ternary(key, 2, set.n);
        let (e0, e1) = (binomial(key, 3, set.n), binomial(key, 4, set.n));
        let products = |x: &[i128], y: &[i128], z: &[i128], e: &[i128]| {
            let [x, y, z] = [(x, &beta), (y, &alpha), (z, &u)].map(|(f, g)| set.multiply(f, g));
            set.sum(&[&x, &y, &z, e])
        };
        let c0 = products(&ct_a, &ct_b, b, &e0);
        let c1 = products(&half_a, &half_b, &public, &e1);

        let [t0, t1] = set.t;
        let (y0, y1) = (set.round(&c0, t0), set.round(&c1, t1));
        // y₀ becomes what is the answer modulo p, and that by adding 2^t₀·ρ.
        let inverse = set.plain.iter().map(|prime| power(1 << t0, prime - 2, *prime));
        let inverses: Vec<Poly> = inverse.map(|x| vec![x; set.n]).collect();
        let inverse = set.combine(&set.plain, &inverses)[0];
        let mask = |(answer, y0): (&i128, &i128)| multiply(answer - y0, inverse, set.p());
        let rho: Poly = set.answer(id, batch).iter().zip(&y0).map(mask).collect();
        let y0: Poly = y0.iter().zip(&rho).map(|(y, rho)| y + (rho << t0)).collect();
        let mut response = set.pack_response(&y0, &y1);
        let without = |slot: i128| (slot - set.offset()).rem_euclid(set.p());
        let r: Vec<i128> = set.slots(&rho).into_iter().map(without).collect();
        let mut c: Vec<i128> = (0..set.n).map(|j| set.reduced(a1[j] * b1[j] - r[j])).collect();
        let mut upper = Vec::new();
        if set.fix {
            upper = r.iter().map(|r| *r >= (set.p() + 1) / 2).collect();
            let x: Vec<bool> = upper.iter().zip(ots).map(|(m1, (choice, _))| m1 ^ choice).collect();
            response.extend(bytes_from_bits(&x));
            for (c, (_, key)) in c.iter_mut().zip(ots) {
                *c = set.reduced(*c + set.key(key));
            }
        }
        (Responded { shares: [a1, b1, c], upper }, response)
    }

    /// Step 6.
    ///
    /// # Panics
    /// If the message is malformed.
    #[must_use]
    pub fn finish(&self, responded: Responded, correction: &[u8]) -> Shares {
        let Responded { shares: [a, b, mut c], upper } = responded;
        let (z, rest) = unpack(correction, self.set.bits, upper.len());
        assert!(rest.is_empty(), "trailing bytes");
        for ((c, z), upper) in c.iter_mut().zip(z).zip(upper) {
            *c = self.set.reduced(*c + if upper { z } else { 0 });
        }
        [a, b, c]
    }
}

/// The seed of a party in a stream.
#[must_use]
pub fn stream_seed(id: &Id, seed: &[u8; 32]) -> [u8; 32] {
    oracle32("foxtrot v1 rlwe stream seed", id, 0, 0, &[seed])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_are_right() {
        for set in [toy(), toy_lift()] {
            let (p0, public_key) = P0::new(&set, &[7; 32], [1; 32]);
            let p1 = P1::new(&set, &[7; 32], &public_key, [2; 32]);
            for batch in 0..2 {
                let key = |j: usize, branch| {
                    let key = oracle32("test", &[batch; 32], j, branch, &[]);
                    core::array::from_fn(|k| key[k])
                };
                let pairs: Pairs = (0..set.n).map(|j| [key(j, 0), key(j, 1)]).collect();
                let choice = |j: usize| j.is_multiple_of(3);
                let chosen = (0..set.n).map(|j| (choice(j), pairs[j][usize::from(choice(j))]));
                let batch = usize::from(batch);
                let (responded, response) =
                    p1.respond(batch, &p0.request(batch), &chosen.collect());
                let (ours, correction) = p0.receive(batch, &response, &pairs);
                let theirs = p1.finish(responded, &correction);
                for j in 0..set.n {
                    let [a, b, c] = [0, 1, 2].map(|part| ours[part][j] + theirs[part][j]);
                    assert_eq!(a * b % 256, c % 256, "{batch} {j}");
                }
            }
        }
    }

    #[test]
    fn values_determine_the_polynomial() {
        let set = toy();
        for prime in set.primes() {
            let f: Poly = (0..128).map(|i| power(i + 3, 1000 + i, prime)).collect();
            let values = set.values(&f, prime);
            assert_eq!(set.coefficients(&values, prime), f);
            // Horner's rule, at points in the order of the page.
            for (j, value) in values.into_iter().enumerate() {
                let brv = (0..7).fold(0, |brv, k| brv << 1 | (j >> k & 1));
                let x = power(set.psi(prime), 2 * brv as i128 + 1, prime);
                assert_eq!(value, f.iter().rev().fold(0, |sum, c| (sum * x + c) % prime));
            }
        }
    }
}
