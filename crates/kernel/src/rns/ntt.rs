//! The negacyclic number-theoretic transform.

mod passes;

use super::{Modulus, check, lanes::Lanes};
use crate::{
    Backend,
    counters::{Operation, count},
};

/// The transform of n coefficients modulo a prime, in a backend, with its tables in memory that the
/// caller gives: 2n words, as a `Vec<u64>`, a `&mut [u64]`, ….
///
/// **Order.** With ψ = x^((p−1)/2n) for the least x > 1 that is no square, ψ is a primitive 2n-th root of
/// unity, and value j is that of the polynomial at ψ^(2·rev(j) + 1), where rev reverses the log₂ n bits
/// of j. This is the same for every backend and part of what peers agree on.
pub struct Ntt<S> {
    /// The backend that the tables were made for.
    backend: Backend,
    modulus: Modulus,
    n: usize,
    /// The entries of 1/n, and of the root of the last layer of the inverse divided by n.
    last: [[u64; 2]; 2],
    /// ψ^rev(i) for 0 < i < n as entries, in the order of `passes`.
    table: S,
}

impl<S: AsRef<[u64]> + AsMut<[u64]>> Ntt<S> {
    /// Makes the tables for n coefficients modulo p; `None` unless p ≡ 1 mod 2n.
    ///
    /// # Panics
    /// Unless n is a power of two, 2⁷ to 2²⁰, and the memory has [`Ntt::WORDS`]·n words.
    #[must_use]
    pub fn new(backend: Backend, modulus: &Modulus, n: usize, mut memory: S) -> Option<Self> {
        assert!(n.is_power_of_two() && (1 << 7..=1 << 20).contains(&n), "a length of a transform");
        let psi = root(modulus, n as u64)?;
        let table = memory.as_mut();
        assert_eq!(table.len(), Self::WORDS * n, "tables of two words per coefficient");
        let last = dispatch!(backend, l => fill(l, modulus, n, psi, table));
        Some(Self { backend, modulus: *modulus, n, last, table: memory })
    }
}

impl<S: AsRef<[u64]>> Ntt<S> {
    /// Words of tables per coefficient.
    pub const WORDS: usize = 2;

    /// The prime.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// Transforms coefficients, the constant one first, to values; canonical words.
    pub fn forward(&self, f: &mut [u64]) {
        count(Operation::Ntt, 1);
        check(self.n, &[f.len()]);
        let (p, table) = (&self.modulus, self.table.as_ref());
        dispatch!(self.backend, l => match size(l) {
            8 => passes::forward::<_, 8>(l, p, table, f),
            _ => passes::forward::<_, 4>(l, p, table, f),
        });
    }

    /// Transforms values to coefficients; canonical words.
    pub fn inverse(&self, f: &mut [u64]) {
        count(Operation::InverseNtt, 1);
        check(self.n, &[f.len()]);
        let (p, table) = (&self.modulus, self.table.as_ref());
        dispatch!(self.backend, l => match size(l) {
            8 => passes::inverse::<_, 8>(l, p, table, self.last, f),
            _ => passes::inverse::<_, 4>(l, p, table, self.last, f),
        });
    }
}

/// Returns the number of vectors in a group of the last pass: 4 or 8.
#[cfg_attr(not(unoptimized), inline(always))]
const fn size<L: Lanes>(_: L) -> usize {
    L::GROUP
}

/// ψ; `None` unless p ≡ 1 mod 2n.
fn root(modulus: &Modulus, n: u64) -> Option<u64> {
    let p = modulus.value();
    if !(p - 1).is_multiple_of(2 * n) {
        return None;
    }
    let is_no_square = |x: &u64| modulus.pow(*x, (p - 1) / 2) == p - 1;
    (2..p).find(is_no_square).map(|x| modulus.pow(x, (p - 1) / (2 * n)))
}

/// Fills the table and returns the two entries of the last layer.
#[cfg_attr(not(unoptimized), inline(always))]
fn fill<L: Lanes>(l: L, modulus: &Modulus, n: usize, psi: u64, table: &mut [u64]) -> [[u64; 2]; 2] {
    let shift = usize::BITS - n.trailing_zeros();
    let mut power = 1;
    for i in 0..n {
        let at = i.reverse_bits() >> shift;
        let places = match L::GROUP {
            8 => passes::place::<L, 8>(n, at),
            _ => passes::place::<L, 4>(n, at),
        };
        [table[places[0]], table[places[1]]] = l.entry(modulus, modulus.factor(power));
        power = modulus.mul(power, psi);
    }
    let scale = modulus.inv(n as u64);
    let root = modulus.mul(modulus.pow(psi, n as u64 / 2), scale);
    [scale, root].map(inlined!(|w| l.entry(modulus, modulus.factor(w))))
}

redacted! {
    [S] Ntt<S>, ntt => "{:?}, {:?}, {}", ntt.backend, ntt.modulus, ntt.n;
}
