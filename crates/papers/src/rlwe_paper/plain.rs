//! Arithmetic modulo the primes of plaintexts, which may have more bits than the kernel's: Shoup's products by
//! constants, Harvey's lazy transform, word by word. No operation's time depends on the residues.

use foxtrot_kernel::{
    Backend,
    rns::{Modulus, Ntt},
};

/// A prime below 2⁶⁰ of plaintexts, with its transform.
pub(super) struct Plain {
    p: u64,
    /// ⌊2⁶⁴/p⌋.
    barrett: u64,
    transform: Transform,
}

/// The kernel's where the prime is short enough; the order of values is the same.
enum Transform {
    Kernel(Ntt<Vec<u64>>),
    Wide {
        /// ψ^rev(i).
        roots: Vec<Factor>,
        /// ψ^−rev(i).
        inverses: Vec<Factor>,
        /// 1/n.
        scale: Factor,
    },
}

/// A multiplier w < p, and ⌊w·2⁶⁴/p⌋.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    w: u64,
    quotient: u64,
}

impl Plain {
    pub(super) fn new(backend: Backend, p: u64, n: usize) -> Self {
        let barrett = u64::try_from((1u128 << 64) / u128::from(p)).expect("p > 1");
        let kernel = Modulus::new(p).and_then(|modulus| {
            Ntt::new(backend, &modulus, n, vec![0; Ntt::<Vec<u64>>::WORDS * n])
        });
        let transform = kernel.map_or_else(|| wide(p, n), Transform::Kernel);
        Self { p, barrett, transform }
    }

    pub(super) fn value(&self) -> u64 {
        self.p
    }

    /// x mod p.
    #[inline]
    pub(super) fn reduce(&self, x: u64) -> u64 {
        let r = x.wrapping_sub(high(x, self.barrett).wrapping_mul(self.p));
        below(r, self.p)
    }

    pub(super) fn factor(&self, w: u64) -> Factor {
        factor(self.p, w)
    }

    /// x·w, for any x.
    #[inline]
    pub(super) fn mul(&self, x: u64, w: Factor) -> u64 {
        below(lazy(self.p, x, w), self.p)
    }

    /// a + b.
    #[inline]
    pub(super) fn add(&self, a: u64, b: u64) -> u64 {
        below(a + b, self.p)
    }

    /// a − b.
    #[inline]
    pub(super) fn sub(&self, a: u64, b: u64) -> u64 {
        below(a + self.p - b, self.p)
    }

    /// w^e; takes time that depends on e.
    pub(super) fn pow(&self, w: u64, e: u64) -> u64 {
        power(self.p, w, e)
    }

    /// Transforms coefficients to slots.
    pub(super) fn forward(&self, f: &mut [u64]) {
        match &self.transform {
            Transform::Kernel(ntt) => ntt.forward(f),
            Transform::Wide { roots, .. } => {
                let p = self.p;
                let (mut blocks, mut half) = (1, f.len() / 2);
                while half > 0 {
                    for (block, root) in f.chunks_exact_mut(2 * half).zip(&roots[blocks..]) {
                        let (x, y) = block.split_at_mut(half);
                        for (x, y) in x.iter_mut().zip(y) {
                            let (u, v) = (below(*x, 2 * p), lazy(p, *y, *root));
                            (*x, *y) = (u + v, u + 2 * p - v);
                        }
                    }
                    (blocks, half) = (2 * blocks, half / 2);
                }
                f.iter_mut().for_each(|x| *x = below(below(*x, 2 * p), p));
            }
        }
    }

    /// Transforms slots to coefficients.
    pub(super) fn inverse(&self, f: &mut [u64]) {
        match &self.transform {
            Transform::Kernel(ntt) => ntt.inverse(f),
            Transform::Wide { inverses, scale, .. } => {
                let p = self.p;
                let (mut blocks, mut half) = (f.len() / 2, 1);
                while blocks > 0 {
                    for (block, root) in f.chunks_exact_mut(2 * half).zip(&inverses[blocks..]) {
                        let (x, y) = block.split_at_mut(half);
                        for (x, y) in x.iter_mut().zip(y) {
                            let (u, v) = (*x, *y);
                            (*x, *y) = (below(u + v, 2 * p), lazy(p, u + 2 * p - v, *root));
                        }
                    }
                    (blocks, half) = (blocks / 2, 2 * half);
                }
                f.iter_mut().for_each(|x| *x = below(lazy(p, *x, *scale), p));
            }
        }
    }
}

fn wide(p: u64, n: usize) -> Transform {
    let is_no_square = |x: &u64| power(p, *x, (p - 1) / 2) == p - 1;
    let x = (2..p).find(is_no_square).expect("half of all");
    let psi = power(p, x, (p - 1) / (2 * n as u64));
    let shift = usize::BITS - n.trailing_zeros();
    let table = |psi: u64| {
        let mut table = vec![factor(p, 1); n];
        let mut root = 1;
        for i in 0..n {
            table[i.reverse_bits() >> shift] = factor(p, root);
            root = product(p, root, psi);
        }
        table
    };
    let inverse = |x: u64| power(p, x, p - 2);
    Transform::Wide {
        roots: table(psi),
        inverses: table(inverse(psi)),
        scale: factor(p, inverse(n as u64)),
    }
}

/// The upper half of a product.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    let [_, high] = halves(u128::from(a) * u128::from(b));
    high
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

/// x mod `bound`, for x < 2·bound < 2⁶³, without a branch.
#[inline(always)]
fn below(x: u64, bound: u64) -> u64 {
    let less = x.wrapping_sub(bound);
    // All ones if x was below already.
    less.wrapping_add(bound & (less >> 63).wrapping_neg())
}

/// x·w mod p or that plus p, for any x.
#[inline(always)]
fn lazy(p: u64, x: u64, w: Factor) -> u64 {
    x.wrapping_mul(w.w).wrapping_sub(high(x, w.quotient).wrapping_mul(p))
}

fn factor(p: u64, w: u64) -> Factor {
    let [quotient, _] = halves((u128::from(w) << 64) / u128::from(p));
    Factor { w, quotient }
}

fn product(p: u64, a: u64, b: u64) -> u64 {
    let [product, _] = halves(u128::from(a) * u128::from(b) % u128::from(p));
    product
}

fn power(p: u64, w: u64, mut e: u64) -> u64 {
    let (mut power, mut square) = (1, w);
    while e > 0 {
        if e & 1 == 1 {
            power = product(p, power, square);
        }
        square = product(p, square, square);
        e >>= 1;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wide_transform_is_the_kernels() {
        let (p, n) = (17_592_186_028_033, 256);
        let plain = Plain::new(Backend::PORTABLE, p, n);
        let other = Plain { p, barrett: plain.barrett, transform: wide(p, n) };
        let f: Vec<u64> = (0..n as u64).map(|i| power(p, 3 + i, 1 << 40)).collect();
        let (mut x, mut y) = (f.clone(), f.clone());
        plain.forward(&mut x);
        other.forward(&mut y);
        assert_eq!(x, y);
        other.inverse(&mut y);
        assert_eq!(f, y);
    }

    #[test]
    fn words_are_reduced() {
        for p in [1_073_692_673, 18_014_398_508_400_641] {
            let plain = Plain::new(Backend::PORTABLE, p, 256);
            for x in [0, 1, p - 1, p, p + 1, 2 * p - 1, 2 * p, u64::MAX, u64::MAX - p, 1 << 63] {
                assert_eq!(plain.reduce(x), x % p);
                let w = plain.factor(p - 2);
                let expected = u128::from(x) * u128::from(p - 2) % u128::from(p);
                assert_eq!(u128::from(plain.mul(x, w)), expected);
            }
            assert_eq!(plain.add(p - 1, p - 1), p - 2);
            assert_eq!((plain.sub(0, p - 1), plain.sub(p - 1, p - 1)), (1, 0));
        }
    }
}
