//! Reconciliation by parity [[DXL12](https://eprint.iacr.org/2012/688)], for noise that is even.
//!
//! [`Poly::reconcile`] is the same up to a factor of 2 mod Q, without the coin.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::vector;
use super::{Poly, encode::pack_bits, field::add};
use crate::Backend;

impl<const N: usize, const Q: u16> Poly<N, Q> {
    /// Doubles every coefficient.
    #[inline]
    pub fn double(&mut self, backend: Backend) {
        backend.run(inlined!(|| self.0.iter_mut().for_each(|x| *x = add::<Q>(*x, *x))));
    }

    /// Sig: whether each coefficient, centred, is further than ⌊Q/4⌋ + coin from 0. The coin, 0 or
    /// 1, may be secret.
    ///
    /// # Panics
    /// If `signals` has not N/8 bytes.
    #[inline]
    pub fn signal(&self, backend: Backend, coin: u8, signals: &mut [u8]) {
        assert!(signals.len() == N / 8, "one bit per coefficient");
        let bound = Q / 4 + u16::from(coin & 1);
        dispatch!(
            neon backend,
            simd => vector::signals::<_, N, Q>(simd, &self.0, bound, signals),
            pack_bits(|k| signal::<Q>(self.0[k], bound), signals),
        );
    }

    /// Mod₂: the parity of each coefficient, centred, after Q/2 was added where the signal is 1.
    ///
    /// Two holders of values with an even difference below Q/4 − 2 get the same parities from one's
    /// signals.
    ///
    /// # Panics
    /// If `signals` or `key` has not N/8 bytes.
    #[inline]
    pub fn parities(&self, backend: Backend, signals: &[u8], key: &mut [u8]) {
        assert!(signals.len() == N / 8 && key.len() == N / 8, "one bit per coefficient");
        dispatch!(
            neon backend,
            simd => vector::parities::<_, N, Q>(simd, &self.0, signals, key),
            {
                let signal = |k: usize| u16::from(signals[k / 8] >> (k % 8) & 1);
                pack_bits(|k| parity::<Q>(self.0[k], signal(k)), key);
            },
        );
    }
}

/// 1 iff bound < x < Q − bound.
#[cfg_attr(not(unoptimized), inline(always))]
const fn signal<const Q: u16>(x: u16, bound: u16) -> u16 {
    // Both differences have their sign in bit 15, as all are below 2¹⁵.
    (bound.wrapping_sub(x) & x.wrapping_sub(Q - bound)) >> 15
}

#[cfg_attr(not(unoptimized), inline(always))]
fn parity<const Q: u16>(x: u16, signal: u16) -> u16 {
    let x = add::<Q>(x, (Q / 2) & signal.wrapping_neg());
    // Centring subtracts the odd Q from the upper half.
    (x ^ (Q / 2).wrapping_sub(x) >> 15) & 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const Q: u16 = 13313;
    type Ring = Poly<512, Q>;

    fn centred(x: i32) -> i32 {
        let x = x.rem_euclid(i32::from(Q));
        if x > i32::from(Q / 2) { x - i32::from(Q) } else { x }
    }

    fn bit(bytes: &[u8], k: usize) -> i32 {
        i32::from(bytes[k / 8] >> (k % 8) & 1)
    }

    /// Calls `check` with each element of Z_q, its place in a polynomial, its signals and parities.
    fn for_every_coefficient(backend: Backend, coin: u8, mut check: impl FnMut(i32, i32, i32)) {
        for start in (0..Q).step_by(512) {
            let mut x = start;
            let coefficients = [(); 512].map(|()| {
                x += 1;
                (x - 1).min(Q - 1)
            });
            let poly = Ring::new(coefficients).unwrap();
            let (mut signals, mut key) = ([0; 64], [0; 64]);
            poly.signal(backend, coin, &mut signals);
            poly.parities(backend, &signals, &mut key);
            for (k, &x) in coefficients.iter().enumerate().take(usize::from(Q - start)) {
                check(x.into(), bit(&signals, k), bit(&key, k));
            }
        }
    }

    #[test]
    fn signals_and_parities_match_the_definition() {
        for backend in Backend::all() {
            for coin in [0, 1] {
                for_every_coefficient(backend, coin, |x, signal, parity| {
                    let bound = i32::from(Q) / 4 + i32::from(coin);
                    assert_eq!(signal, i32::from(centred(x).abs() > bound));
                    let shifted = centred(x + signal * (i32::from(Q) - 1) / 2);
                    assert_eq!(parity, shifted.rem_euclid(2));
                });
            }
        }
    }

    #[test]
    fn an_even_difference_below_a_quarter_is_reconciled() {
        let constant =
            |x: i32| Ring::new([u16::try_from(x.rem_euclid(i32::from(Q))).unwrap(); 512]).unwrap();
        for (x, coin) in (0..i32::from(Q)).step_by(13).flat_map(|x| [(x, 0), (x, 1)]) {
            let (mut signals, mut key, mut other) = ([0; 64], [0; 64], [0; 64]);
            constant(x).signal(Backend::PORTABLE, coin, &mut signals);
            constant(x).parities(Backend::PORTABLE, &signals, &mut key);
            for d in [2, 100, i32::from(Q / 4 - 2) & !1] {
                for y in [x + d, x - d] {
                    constant(y).parities(Backend::PORTABLE, &signals, &mut other);
                    assert_eq!(key, other, "{x} and {y}");
                }
            }
        }
    }

    /// Parities are fair only because of the coin.
    #[test]
    fn parities_are_exactly_fair_given_the_signal() {
        let mut counts = [[0; 2]; 2];
        for coin in [0, 1] {
            for_every_coefficient(Backend::PORTABLE, coin, |_, signal, parity| {
                counts[usize::from(signal == 1)][usize::from(parity == 1)] += 1;
            });
        }
        assert!(counts.iter().all(|[zero, one]| zero == one), "{counts:?}");
    }

    #[test]
    fn double_is_twice_each_coefficient_mod_q() {
        for backend in Backend::all() {
            let x = |k: usize| Q - 1 - u16::try_from(k).unwrap();
            let mut poly = Ring::new(core::array::from_fn(x)).unwrap();
            poly.double(backend);
            // 2(q − 1 − k) = q − 2(k + 1) mod q.
            let doubled: [u16; 512] = core::array::from_fn(|k| Q - 2 * (Q - x(k)));
            assert_eq!(poly.coefficients(), &doubled);
        }
    }
}
