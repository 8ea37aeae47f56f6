//! A bound on the number of items in the fullest bucket: on balls in bins, in integers, so that both
//! parties compute the same one.

use crate::sizes::{FRACTION, LOG2_E, SIGMA, last, log2};

/// The least number for which the bound below says that no bucket has more items, but with
/// probability 2⁻⁴¹, if n items are thrown into `buckets`; never more than n.
///
/// A bucket's load is Bin(n, 1/B) with mean μ = n/B, and for a > μ, by Chernoff,
///
/// > P\[load ≥ a\] ≤ e^(a − μ)·(μ/a)^a,
///
/// so a load of a or more does not occur if a·log₂(a/μ) − (a − μ)·log₂ e ≥ 41 + log₂ B. All roundings
/// are to the safe side.
pub(crate) fn most(n: usize, buckets: usize) -> usize {
    if buckets <= 1 || n == 0 {
        return n;
    }
    let (balls, bins) = (n as i128, buckets as i128);
    let wanted = (i128::from(SIGMA + 1 + buckets.next_power_of_two().ilog2()) * bins) << FRACTION;
    let log2_n = log2(n as u64) + 1;
    // Both sides times B.
    let occurs = |a: u64| {
        let a_bins = i128::from(a) * bins;
        let log2_ratio = log2(a.saturating_mul(buckets as u64)) - log2_n;
        a_bins * log2_ratio - (a_bins - balls) * LOG2_E < wanted
    };
    // Grows with a from μ on.
    usize::try_from(last((n / buckets) as u64, n as u64 + 1, occurs)).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    /// log₂ P[Bin(n, p) ≥ a], summed in floating point from the top of the distribution.
    fn log2_tail(n: f64, p: f64, a: f64) -> f64 {
        // The first term by logarithms of factorials, the others by their ratios.
        let ln_factorial = |x: f64| -> f64 {
            if x < 32.0 {
                return (2_i32..).map(f64::from).take_while(|&k| k <= x).map(f64::ln).sum();
            }
            x * x.ln() - x + (core::f64::consts::TAU * x).ln() / 2.0 + 1.0 / (12.0 * x)
        };
        let ln_first = ln_factorial(n) - ln_factorial(a) - ln_factorial(n - a)
            + a * p.ln()
            + (n - a) * (-p).ln_1p();
        let (mut term, mut sum, mut k) = (1.0, 0.0, a);
        while k <= n && term > 1e-18 {
            sum += term;
            term *= (n - k) / (k + 1.0) * p / (1.0 - p);
            k += 1.0;
        }
        (ln_first + sum.ln()) / core::f64::consts::LN_2
    }

    #[test]
    fn no_bucket_is_fuller_but_with_probability_2_to_the_minus_41() {
        for (n, buckets) in [
            (1 << 12, 2),
            (1000, 10),
            (100, 100),
            (3, 2),
            ((1 << 20) + 1, 2),
            (10_000_000, 10),
            (100_000_000, 96),
            (1 << 30, 1 << 10),
            (1 << 16, 1 << 8),
            (1, 1 << 10),
            (1 << 10, 1 << 10),
        ] {
            let load = most(n, buckets);
            assert!(load <= n && load * buckets >= n);
            if load == n {
                continue;
            }
            let (n, bins) = (n as f64, buckets as f64);
            let log2_failure = log2_tail(n, 1.0 / bins, load as f64 + 1.0) + bins.log2();
            assert!(log2_failure <= -41.0, "{n} {bins}: {log2_failure}");
            // Nor is it much more than it has to be, as soon as binomial is about Poisson.
            if buckets < 8 {
                continue;
            }
            let less = load as f64 - (load as f64 - n / bins) / 4.0;
            let log2_failure = log2_tail(n, 1.0 / bins, less.floor()) + bins.log2();
            assert!(log2_failure > -41.0, "{n} {bins}: {load} {log2_failure}");
        }
    }

    #[test]
    fn padding_costs_a_percent_where_buckets_have_2_to_the_20() {
        let load = most(10_000_000, 10);
        assert!(load < 1_010_000, "{load}");
        assert_eq!(most(10_000_000, 1), 10_000_000);
        assert_eq!(most(0, 7), 0);
        assert_eq!(most(1, 7), 1);
    }
}
