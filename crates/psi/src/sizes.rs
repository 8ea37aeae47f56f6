//! The number of items that fit into a store that was made for fewer.

/// Statistical security in bits, the design's σ.
pub(crate) const SIGMA: u32 = 40;
/// Bits of a row seed, which a cheating receiver may choose.
const SEED: u32 = 256;
/// Fraction bits of the logarithms below.
pub(crate) const FRACTION: u32 = 24;
/// log₂ e, rounded up.
pub(crate) const LOG2_E: i128 = 24_204_407;
/// Larger sets than this do not occur.
const LARGEST: u64 = 1 << 48;

/// The most items for which a receiver can make one store of `m` slots decode to the right words, but
/// with probability 2⁻⁴⁰: n′ − 1 for the least n′ with
///
/// > n′·(k − log₂ q + log₂(n′/e)) ≥ k·m + 256 + 40.
///
/// Words have `k` bits, and the receiver asks their hash `log2_q` times, as a logarithm. The reason
/// (`docs/protocols/paxos.md`, section 5): of q items a fixed store fits each with probability 2⁻ᵏ, and
/// there are 2^(k·m) stores and 2²⁵⁶ row seeds. `None` if there is no bound, or none below 2⁴⁸.
///
/// ```
/// use foxtrot_psi::{largest_fitted_set, okvs::Okvs};
///
/// let n = 1 << 20;
/// let m = Okvs::four(n)?.slots();
/// let fitted = largest_fitted_set(231, 80, m).expect("words are longer than 80 bits");
/// assert_eq!(fitted * 100 / n as u64, 152); // 1.52 times as many
/// # Ok::<(), foxtrot_ot::Usage>(())
/// ```
#[must_use]
pub fn largest_fitted_set(k: u32, log2_q: u32, m: usize) -> Option<u64> {
    let right = (i128::from(k) * (m as i128) + i128::from(SEED + SIGMA)) << FRACTION;
    let margin = (i128::from(k) - i128::from(log2_q)) << FRACTION;
    let excluded = |n: u64| i128::from(n) * (margin + log2(n) - LOG2_E) >= right;
    // The left side grows with n′ as soon as it is positive.
    excluded(LARGEST).then(|| last(1, LARGEST, |n| !excluded(n)))
}

/// The last number from `first` on for which a condition holds, which holds for all up to there and not for `end`.
pub(crate) fn last(first: u64, end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut last, mut end) = (first, end);
    while end - last > 1 {
        let middle = u64::midpoint(last, end);
        if holds(middle) {
            last = middle;
        } else {
            end = middle;
        }
    }
    last
}

/// Returns log₂ n for n > 0, with `FRACTION` fraction bits, rounded down.
pub(crate) fn log2(n: u64) -> i128 {
    let whole = n.ilog2();
    let mut log = i128::from(whole);
    // n/2^whole, between 1 and 2, with 63 fraction bits; squared, it gives a bit of the logarithm.
    let mut power = u128::from(n) << (63 - whole);
    for _ in 0..FRACTION {
        power = (power * power) >> 63;
        let bit = power >> 64;
        power >>= bit;
        log = log << 1 | i128::from(bit == 1);
    }
    log
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::okvs::Okvs;

    #[test]
    fn logarithms_are_right_and_rounded_down() {
        let scale = 2_f64.powi(24);
        assert!(LOG2_E as f64 > core::f64::consts::LOG2_E * scale);
        assert!((LOG2_E as f64) < core::f64::consts::LOG2_E * scale + 2.0);
        for n in [1, 2, 3, 5, 7, 1 << 20, (1 << 20) + 1, 1_299_709, LARGEST - 1, LARGEST] {
            let error = (n as f64).log2() - log2(n) as f64 / scale;
            assert!((-1e-12..1e-6).contains(&error), "{n}: {error}");
        }
    }

    /// The formula in floating point, at the bound and one above.
    #[test]
    fn the_bound_is_the_largest_that_the_formula_allows() {
        for (k, q, m) in [(231, 80, 2780), (231, 128, 2780), (231, 80, 45), (132, 128, 3000)] {
            let largest = largest_fitted_set(k, q, m).unwrap();
            let excluded = |n: u64| {
                let n = n as f64;
                let bits = f64::from(k) - f64::from(q) + (n / core::f64::consts::E).log2();
                n * bits >= f64::from(k) * m as f64 + 296.0
            };
            assert!(!excluded(largest) && excluded(largest + 1), "{k} {q} {m}: {largest}");
        }
    }

    /// Known values, rounded, for stores of 1.3 n + 60 and 2.4 n + 60 slots; they leave out the seed.
    #[test]
    fn known_item_bounds_are_reproduced() {
        let ratio = |k, q, n: usize, slots: usize| {
            largest_fitted_set(k, q, slots).unwrap() as f64 / n as f64
        };
        let near = |value: f64, known: f64| (value / known - 1.0).abs() < 0.03;
        let (small, large) = (1 << 11, 1 << 20);
        assert!(near(ratio(231, 80, large, large * 13 / 10 + 60), 1.76));
        assert!(near(ratio(231, 128, large, large * 13 / 10 + 60), 2.45));
        assert!(near(ratio(231, 80, large, large * 24 / 10 + 60), 3.2));
        assert!(near(ratio(231, 128, large, large * 24 / 10 + 60), 4.5));
        assert!(near(ratio(132, 80, small, small * 13 / 10 + 60), 2.8));
        assert!(near(ratio(132, 128, small, small * 13 / 10 + 60), 10.4));
    }

    #[test]
    fn malicious_words_of_231_bits_keep_the_excess_below_twice_and_a_half() {
        for n in [1 << 11, 1 << 16, 1 << 20, 1 << 22] {
            let three = largest_fitted_set(231, 80, Okvs::three(n).unwrap().slots()).unwrap();
            let two = largest_fitted_set(231, 80, Okvs::two(n).unwrap().slots()).unwrap();
            assert!(three as f64 / (n as f64) < 2.0 && two > three, "{n}: {three} {two}");
            let three = largest_fitted_set(231, 128, Okvs::three(n).unwrap().slots()).unwrap();
            assert!((three as f64) < 2.8 * n as f64, "{n}: {three}");
        }
    }

    #[test]
    fn words_of_few_bits_have_no_useful_bound() {
        assert!(largest_fitted_set(85, 128, 1 << 20).unwrap() > 1 << 40);
        assert_eq!(largest_fitted_set(70, 128, 1 << 20), None);
        assert_eq!(largest_fitted_set(1, 0, usize::MAX), None);
        assert_eq!(largest_fitted_set(u32::MAX, u32::MAX, usize::MAX), None);
        assert!(largest_fitted_set(u32::MAX, 0, 0).is_some());
    }
}
