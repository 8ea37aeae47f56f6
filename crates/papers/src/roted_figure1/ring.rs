//! The paper's ring, N = 512 and q = 13313, at rank 1. Its noise, signals and parities are plain Rust that is compiled
//! for each backend.

use foxtrot_kernel::{
    Backend,
    counters::{Operation, count},
    ring,
};

const N: usize = 512;
const Q: u16 = 13313;

/// Bits of a packed coefficient.
pub const BITS: usize = 14;
/// Bytes from which a uniform polynomial is expanded: 880 candidates.
pub const UNIFORM_BYTES: usize = 1540;
/// A length that mostly has enough candidates: 688; too few once in 2¹⁷ times.
pub const USUAL_BYTES: usize = 1204;
/// Polynomials by coefficients.
pub type Poly = ring::Poly<N, Q>;
/// Polynomials by values.
pub type NttPoly = ring::NttPoly<N, Q>;
/// Factors of products.
pub type Factor = ring::Factor<N, Q>;

/// ⌈2¹⁵·P(|X| ≤ k)⌉ for k = 0, 1, …, as far as it is below 2¹⁵.
///
/// Rounding up makes the tail lighter than it should be: no value is much more likely than it is
/// under the Gaussian.
const TABLE: [u16; 8] = [6537, 18073, 26002, 30246, 32015, 32590, 32735, 32764];

/// Noise from a discrete Gaussian with σ = 2, by its cumulative table: 2·N bytes give N coefficients in −8..=8, by their
/// index, each times a factor.
///
/// Two bytes per coefficient, a sign and 15 bits to look up in the table, as in
/// [FrodoKEM](https://frodokem.org). Per coefficient the statistical distance to the Gaussian on all of Z is 2⁻¹⁴·¹,
/// so hardness should be assumed for this distribution, not derived from the ideal one.
///
/// # Panics
/// If there are not 2·N bytes.
pub fn gaussian<const FACTOR: i16>(bytes: &[u8]) -> impl Fn(usize) -> i16 {
    count(Operation::Noise, 1);
    assert_eq!(bytes.len(), 2 * N, "two bytes per coefficient");
    let words: &[[u8; 2]; N] = bytes.as_chunks().0.try_into().expect("two bytes per coefficient");
    #[inline(always)]
    move |i| {
        let word = u16::from_le_bytes(words[i]);
        let uniform = word >> 1;
        // All ones for entries that are at most `uniform`. How many these are is found by bisection.
        let counts = |entry: u16| negative(entry.wrapping_sub(uniform + 1));
        let choose = |mask, one, zero| zero ^ mask & (zero ^ one);
        let [a, b, c, d, e, f, g, h] = TABLE;
        let four = counts(d);
        let two = counts(choose(four, f, b));
        let one = counts(choose(two, choose(four, g, c), choose(four, e, a)));
        let minus = (four << 2).wrapping_add(two << 1).wrapping_add(one).wrapping_add(counts(h));
        // 1 where the lowest bit is set, else −1.
        minus.cast_signed() * FACTOR * (2 * (word & 1).cast_signed() - 1)
    }
}

/// All ones where the top bit is set, else 0.
#[inline(always)]
fn negative(x: u16) -> u16 {
    (x.cast_signed() >> 15).cast_unsigned()
}

/// Sig of each coefficient of k: whether, centred, it is further than ⌊q/4⌋ + coin from 0. The coin, 0 or 1, may be
/// secret.
///
/// # Panics
/// If `signals` has not N/8 bytes.
pub fn signal(backend: Backend, k: &Poly, coin: u8, signals: &mut [u8]) {
    let low = Q / 4 + u16::from(coin & 1);
    k.bits(
        backend,
        &[0; N / 8],
        signals,
        #[inline(always)]
        // low < x < q − low: both differences have their sign in bit 15, as all are below 2¹⁵.
        |x, _| low.wrapping_sub(x) & x.wrapping_sub(Q - low),
    );
}

/// Mod₂: the parity of each coefficient of k, centred, after q/2 was added where the signal is 1.
///
/// Two holders of values with an even difference below q/4 − 2 get the same parities from one's signals.
///
/// # Panics
/// If `signals` or `key` has not N/8 bytes.
pub fn parities(backend: Backend, k: &Poly, signals: &[u8], key: &mut [u8]) {
    k.bits(
        backend,
        signals,
        key,
        #[inline(always)]
        |x, signal| {
            // Below 3q/2 < 2¹⁵.
            let turned = x + ((Q / 2) & signal);
            let x = turned.wrapping_sub(Q);
            let x = x.wrapping_add(Q & negative(x));
            // Centring subtracts the odd q from the upper half.
            x << 15 ^ (Q / 2).wrapping_sub(x)
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let mut noise = Poly::ZERO;
            noise.set_signed(backend, gaussian::<1>(bytes));
            for &x in noise.coefficients() {
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
            assert!((scaled.ceil() - entry).abs() < 0.5, "{k}");
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

    #[test]
    fn the_distance_to_the_gaussian_matches_the_documentation() {
        let counts = histogram(Backend::PORTABLE);
        let p = |x: i32| {
            let index = usize::try_from(x + 8).unwrap();
            counts.get(index).map_or(0.0, |&count| f64::from(count) / 65536.0)
        };
        // P(|X| > 8), which the table leaves out.
        let tail = 1.0 - (-8..=8).map(ideal).sum::<f64>();
        let distance: f64 =
            (-8..=8).map(|x| (p(x) - ideal(x)).abs()).sum::<f64>() / 2.0 + tail / 2.0;
        let variance: f64 = (-8..=8).map(|x| p(x) * f64::from(x * x)).sum();
        println!("distance 2^{:.2}, σ = {:.5}", distance.log2(), variance.sqrt());
        assert!((-14.2..-14.0).contains(&distance.log2()));
        assert!((variance.sqrt() - 2.0).abs() < 0.0005);
        assert!((-8..=8).all(|x| p(x) < 1.015 * ideal(x)));
    }

    fn centred(x: i32) -> i32 {
        let x = x.rem_euclid(i32::from(Q));
        if x > i32::from(Q / 2) { x - i32::from(Q) } else { x }
    }

    fn bit(bytes: &[u8], k: usize) -> i32 {
        i32::from(bytes[k / 8] >> (k % 8) & 1)
    }

    /// Calls `check` with each element of Z_q, its signals and parities.
    fn for_every_coefficient(backend: Backend, coin: u8, mut check: impl FnMut(i32, i32, i32)) {
        for start in (0..Q).step_by(N) {
            let x = |i: usize| (start + u16::try_from(i).unwrap()).min(Q - 1);
            let poly = Poly::new(std::array::from_fn(x)).unwrap();
            let (mut signals, mut key) = ([0; 64], [0; 64]);
            signal(backend, &poly, coin, &mut signals);
            parities(backend, &poly, &signals, &mut key);
            for k in 0..N.min(usize::from(Q - start)) {
                check(x(k).into(), bit(&signals, k), bit(&key, k));
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
        let backend = Backend::PORTABLE;
        let constant =
            |x: i32| Poly::new([u16::try_from(x.rem_euclid(i32::from(Q))).unwrap(); N]).unwrap();
        for (x, coin) in (0..i32::from(Q)).step_by(13).flat_map(|x| [(x, 0), (x, 1)]) {
            let (mut signals, mut key, mut other) = ([0; 64], [0; 64], [0; 64]);
            signal(backend, &constant(x), coin, &mut signals);
            parities(backend, &constant(x), &signals, &mut key);
            for d in [2, 100, i32::from(Q / 4 - 2) & !1] {
                for y in [x + d, x - d] {
                    parities(backend, &constant(y), &signals, &mut other);
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
}
