//! Noise from a discrete Gaussian with σ = 2, by its cumulative table.
//!
//! Two bytes per coefficient, a sign and 15 bits to compare with the whole table, as in
//! [FrodoKEM](https://frodokem.org). The result is in −8..=8. Per coefficient the statistical
//! distance to the Gaussian on all of Z is 2⁻¹⁴·¹, so hardness should be assumed for this
//! distribution, not derived from the ideal one.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::vector;
use super::{Factor, NttPoly, Poly, add_to, erase, field, ntt};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::simd::Simd;
use crate::{
    Backend,
    counters::{Operation, count},
};

/// ⌈2¹⁵·P(|X| ≤ k)⌉ for k = 0, 1, …, as far as it is below 2¹⁵.
///
/// Rounding up makes the tail lighter than it should be: no value is much more likely than it is
/// under the Gaussian.
pub(super) const TABLE: [u16; 8] = [6537, 18073, 26002, 30246, 32015, 32590, 32735, 32764];

/// The largest absolute value.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const LARGEST: u16 = 8;

const _: () = {
    assert!(TABLE.len() == 8);
    let mut k = 1;
    while k < TABLE.len() {
        assert!(TABLE[k - 1] < TABLE[k] && TABLE[k] < 1 << 15);
        k += 1;
    }
};

impl<const N: usize, const Q: u16> Poly<N, Q> {
    /// Noise: a discrete Gaussian with σ = 2, from 2N bytes.
    ///
    /// # Panics
    /// If there are not 2N bytes.
    #[must_use]
    #[inline]
    pub fn gaussian(backend: Backend, bytes: &[u8]) -> Self {
        count(Operation::Noise, 1);
        check::<N>(bytes);
        let mut poly = Self::ZERO;
        let f = &mut poly.0;
        dispatch!(
            neon backend,
            simd => vector::map(simd, f, inlined!(|i, _| {
                vector::canonical::<_, Q>(simd, vector::gaussian_at(simd, bytes, i))
            })),
            gaussian::<N, Q>(bytes, f),
        );
        poly
    }

    /// Twice the noise of [`Poly::gaussian`].
    ///
    /// # Panics
    /// If there are not 2N bytes.
    #[inline]
    pub fn set_twice_gaussian(&mut self, backend: Backend, bytes: &[u8]) {
        count(Operation::Noise, 1);
        check::<N>(bytes);
        let f = &mut self.0;
        dispatch!(
            neon backend,
            simd => vector::map(simd, f, inlined!(|i, _| {
                vector::canonical::<_, Q>(simd, vector::twice_gaussian_at(simd, bytes, i))
            })),
            twice_gaussian::<N, Q>(bytes, f),
        );
    }
}

impl<const N: usize, const Q: u16> NttPoly<N, Q> {
    /// a·s + 2e, for noise e as in [`Poly::gaussian`], from 2N bytes.
    ///
    /// # Panics
    /// If there are not 2N bytes.
    pub fn set_noisy_product(
        &mut self,
        backend: Backend,
        a: &Self,
        s: &Factor<N, Q>,
        bytes: &[u8],
    ) {
        count(Operation::Noise, 1);
        count(Operation::Ntt, 1);
        check::<N>(bytes);
        let (a, s, f) = ([&a.0], [&s.0], &mut self.0);
        dispatch!(
            neon backend,
            simd => vector::forward::<_, N, Q, 1>(
                simd,
                [f],
                inlined!(|_, _, i| vector::twice_gaussian_at(simd, bytes, i)),
                inlined!(|_, i, x| {
                    let product = vector::products::<_, N, Q, 1>(simd, s, a, i);
                    let product = vector::canonical::<_, Q>(simd, product);
                    vector::add::<_, Q>(simd, vector::canonical::<_, Q>(simd, x), product)
                }),
            ),
            {
                twice_gaussian::<N, Q>(bytes, f);
                ntt::forward::<N, Q>(backend, f);
                let mut product = [0; N];
                ntt::products::<N, Q, 1>(backend, s, a, &mut product);
                add_to::<N, Q>(backend, f, &product);
                erase(&mut product, 0);
            },
        );
    }
}

impl<const N: usize, const Q: u16> Factor<N, Q> {
    /// The noise of [`Poly::gaussian`] by its values.
    ///
    /// # Panics
    /// If there are not 2N bytes.
    #[inline]
    pub fn set_gaussian(&mut self, backend: Backend, bytes: &[u8]) {
        count(Operation::Noise, 1);
        count(Operation::Ntt, 1);
        check::<N>(bytes);
        let f = &mut self.0;
        dispatch!(
            neon backend,
            simd => {
                const {
                    let one = vector::montgomery_one::<Q>().cast_signed().unsigned_abs();
                    assert!(LARGEST * one <= Q, "products are below Q");
                }
                let one = simd.splat(const { vector::montgomery_one::<Q>() });
                vector::forward::<_, N, Q, 1>(
                    simd,
                    [f],
                    inlined!(|_, _, i| simd.mul_low(vector::gaussian_at(simd, bytes, i), one)),
                    inlined!(|_, _, x| vector::canonical::<_, Q>(simd, x)),
                );
            },
            {
                gaussian::<N, Q>(bytes, f);
                ntt::forward_scaled::<N, Q>(backend, f);
            },
        );
    }
}

fn check<const N: usize>(bytes: &[u8]) {
    assert_eq!(bytes.len(), 2 * N, "two bytes per coefficient");
}

#[cfg_attr(not(unoptimized), inline(always))]
fn gaussian<const N: usize, const Q: u16>(bytes: &[u8], coefficients: &mut [u16; N]) {
    for (x, &pair) in coefficients.iter_mut().zip(bytes.as_chunks::<2>().0) {
        let word = u16::from_le_bytes(pair);
        let (negative, uniform) = ((word & 1).wrapping_neg(), word >> 1);
        // How many entries are at most `uniform`; both are below 2¹⁵.
        let magnitude = TABLE
            .iter()
            .fold(0, |magnitude, &entry| magnitude + (entry.wrapping_sub(uniform + 1) >> 15));
        // magnitude − 0 or 0 − magnitude.
        *x = field::sub::<Q>(magnitude & !negative, magnitude & negative);
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn twice_gaussian<const N: usize, const Q: u16>(bytes: &[u8], coefficients: &mut [u16; N]) {
    gaussian::<N, Q>(bytes, coefficients);
    coefficients.iter_mut().for_each(|x| *x = field::add::<Q>(*x, *x));
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    const Q: u16 = 13313;

    /// P(X = x) of the Gaussian, proportional to exp(−x²/2σ²).
    fn ideal(x: i32) -> f64 {
        let weight = |x: i32| (-f64::from(x * x) / 8.0).exp();
        weight(x) / (-60..=60).map(weight).sum::<f64>()
    }

    /// Counts the inputs, of 2¹⁶ possible ones, that give x, for x in −8..=8.
    fn histogram(backend: Backend) -> [u32; 17] {
        let mut counts = [0; 17];
        let words: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        for bytes in words.chunks(1024) {
            for &x in Poly::<512, Q>::gaussian(backend, bytes).coefficients() {
                counts[usize::from((x + 8) % Q)] += 1;
            }
        }
        counts
    }

    #[test]
    fn the_table_is_the_rounded_cumulative_distribution() {
        let mut below = 0.0;
        for (k, magnitude) in (0..).enumerate().take(TABLE.len() + 1) {
            below += ideal(magnitude) * if k == 0 { 1.0 } else { 2.0 };
            let scaled = below * 32768.0;
            // Far from a whole number, in units of the error of this computation.
            assert!((scaled - scaled.round()).abs() > 1e-3);
            let entry = TABLE.get(k).map_or(32768.0, |&entry| f64::from(entry));
            assert_eq!(scaled.ceil(), entry, "{k}");
        }
    }

    #[test]
    fn every_input_gives_the_value_that_the_table_says() {
        let mut expected = [0; 17];
        for k in 0..=8usize {
            let (from, to) = (k.checked_sub(1).map_or(0, |k| TABLE[k]), TABLE.get(k));
            let count = u32::from(to.copied().unwrap_or(32768) - from);
            expected[8 + k] += count;
            expected[8 - k] += count;
        }
        for backend in Backend::all() {
            assert_eq!(histogram(backend), expected, "{backend:?}");
        }
    }

    /// Compares all forms on the same bytes, with the largest values of either sign among them.
    #[test]
    fn all_forms_hold_the_same_noise() {
        let mixed: Vec<u8> = (0..1024u32).map(|k| (k * k % 251) as u8).collect();
        let [plus, minus] = [0xfffeu16, 0xffff].map(|word| word.to_le_bytes().repeat(512));
        let both = [0xfe, 0xff, 0xff, 0xff].repeat(256);
        for (backend, bytes) in
            Backend::all().flat_map(|backend| [&mixed, &plus, &minus, &both].map(|b| (backend, b)))
        {
            let mut noise = Poly::<512, Q>::gaussian(backend, bytes);
            let (mut factor, mut one) = (Factor::ZERO, Poly::ZERO);
            factor.set_gaussian(backend, bytes);
            one.0[0] = 1;
            let one = one.into_ntt(backend);
            let mut values = NttPoly::ZERO;
            values.set_product(backend, [&factor], [&one]);
            assert_eq!(values, noise.clone().into_ntt(backend), "{backend:?}");

            let mut sum = NttPoly::ZERO;
            sum.set_noisy_product(backend, &one, &factor, bytes);
            let mut product = noise.clone().into_ntt(backend);
            noise.double(backend);
            let mut twice = Poly::ZERO;
            twice.set_twice_gaussian(backend, bytes);
            assert_eq!(twice, noise, "{backend:?}");
            values = noise.into_ntt(backend);
            product.add(backend, &values);
            assert_eq!(sum, product, "{backend:?}");
        }
    }

    #[test]
    fn the_distance_to_the_gaussian_matches_the_documentation() {
        let counts = histogram(Backend::PORTABLE);
        let p = |x: i32| {
            let index = usize::try_from(x + 8).unwrap();
            counts.get(index).map_or(0.0, |&count| f64::from(count) / 65536.0)
        };
        let distance: f64 =
            (-8..=8).map(|x| (p(x) - ideal(x)).abs()).sum::<f64>() / 2.0 + tail() / 2.0;
        let variance: f64 = (-8..=8).map(|x| p(x) * f64::from(x * x)).sum();
        std::println!("distance 2^{:.2}, σ = {:.5}", distance.log2(), variance.sqrt());
        assert!((-14.2..-14.0).contains(&distance.log2()));
        assert!((variance.sqrt() - 2.0).abs() < 0.0005);
        assert!((-8..=8).all(|x| p(x) < 1.015 * ideal(x)));
    }

    /// P(|X| > 8), which the table leaves out.
    fn tail() -> f64 {
        1.0 - (-8..=8).map(ideal).sum::<f64>()
    }
}
