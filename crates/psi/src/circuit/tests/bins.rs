//! Bins: assignments, and how rarely there is none.

use std::collections::BTreeSet;

use super::*;
use crate::{
    Error,
    circuit::cuckoo::{assign, bins},
};

fn session(byte: u8) -> Session {
    Session::new(Sid::from_bytes([byte; 32]))
}

#[test]
fn every_item_has_a_bin_of_its_own_among_its_three() {
    for n in [0, 1, 2, 3, 10, 255, 256, 257, 1000, 5000, 50_000] {
        let parameters = Parameters::new(CircuitTerms::default(), n, 1).unwrap();
        let items = digests(0..n);
        let bins = bins(&session(1), &items, parameters.segment());
        let which = assign(&bins, parameters.bins()).unwrap();
        let mut taken = BTreeSet::new();
        for (bins, &which) in bins.iter().zip(&*which) {
            for (k, bin) in (0_u8..).zip(bins) {
                assert_eq!(*bin as usize / parameters.segment(), usize::from(k));
            }
            assert!(taken.insert(bins[usize::from(which)]));
        }
    }
}

/// Tables that peeling alone does not fill: full segments, and items with the same bins.
#[test]
fn augmenting_paths_find_an_assignment_whenever_there_is_one() {
    // Three items with the same three bins have one, four have none.
    assert!(assign(&[[0, 5, 10]; 3], 15).is_ok());
    assert_eq!(assign(&[[0, 5, 10]; 4], 15).unwrap_err(), Error::Unlucky);
    // As many items as bins, in all ways; a naive search says whether there is an assignment.
    fn naive(bins: &[[u32; 3]], taken: u32) -> bool {
        let Some((first, rest)) = bins.split_first() else { return true };
        first.iter().any(|bin| taken >> bin & 1 == 0 && naive(rest, taken | 1 << bin))
    }
    let (mut found, mut none) = (0, 0);
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from((state >> 33) % 3).unwrap()
    };
    for _ in 0..2000 {
        let items: Vec<[u32; 3]> = (0..9).map(|_| [random(), 3 + random(), 6 + random()]).collect();
        let assigned = assign(&items, 9);
        assert_eq!(assigned.is_ok(), naive(&items, 0), "{items:?}");
        if let Ok(which) = assigned {
            let bins: BTreeSet<_> =
                items.iter().zip(&*which).map(|(bins, which)| bins[usize::from(*which)]).collect();
            assert_eq!(bins.len(), 9);
            found += 1;
        } else {
            none += 1;
        }
    }
    assert!(found > 100 && none > 100, "{found} {none}");
}

/// ln n!, by Stirling's series.
fn ln_factorial(n: f64) -> f64 {
    if n < 20.0 {
        return (1..20).map(f64::from).take_while(|k| *k <= n).map(f64::ln).sum();
    }
    n * n.ln() - n + 0.5 * (core::f64::consts::TAU * n).ln() + 1.0 / (12.0 * n)
        - 1.0 / (360.0 * n.powi(3))
}

fn ln_choose(n: f64, k: f64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// ln of a bound of P[s balls in `a` bins leave none with less than two].
fn ln_all_twice(s: f64, a: f64) -> f64 {
    if s < 2.0 * a {
        return f64::NEG_INFINITY;
    }
    if s < 2.0 * a + 0.5 {
        return (ln_factorial(s) - a * 2_f64.ln() - s * a.ln()).min(0.0);
    }
    // inf over z of s!/a^s · (e^z − 1 − z)^a / z^s.
    let (mut low, mut high) = (1e-9, s / a + 5.0);
    for _ in 0..60 {
        let z = f64::midpoint(low, high);
        if z * z.exp_m1() / (z.exp_m1() - z) > s / a { high = z } else { low = z }
    }
    let bound = ln_factorial(s) - s * a.ln() + a * (high.exp_m1() - high).ln() - s * high.ln();
    bound.min(0.0)
}

/// ln of the expected number of sets of a, b, c bins of the three segments in which s or more items lie, each bin with two or more.
fn ln_sets(n: f64, segment: f64, [a, b, c]: [f64; 3], s: f64) -> f64 {
    let p = a / segment * (b / segment) * (c / segment);
    let (mut sum, mut most, mut k) = (f64::NEG_INFINITY, f64::NEG_INFINITY, s);
    while k <= n {
        let rest = if p < 1.0 { (n - k) * (-p).ln_1p() } else { 0.0 };
        let all_twice = ln_all_twice(k, a) + ln_all_twice(k, b) + ln_all_twice(k, c);
        let term = ln_choose(n, k) + k * p.ln() + rest + all_twice;
        sum = add(sum, term);
        if term < most - 30.0 {
            break;
        }
        (most, k) = (most.max(term), k + 1.0);
    }
    ln_choose(segment, a) + ln_choose(segment, b) + ln_choose(segment, c) + sum
}

/// ln (e^a + e^b).
fn add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// `docs/protocols/circuit-psi.md`, section 5: there is no assignment with probability 2⁻⁴⁰ at most.
#[test]
fn there_is_no_assignment_with_probability_2_to_the_minus_40_at_most() {
    for n in [4, 16, 64, 128, 180, 200, 220, 256, 400, 1000, 4096, 1 << 15, 1 << 20] {
        let segment = Parameters::new(CircuitTerms::default(), n, 1).unwrap().segment() as f64;
        let n = n as f64;
        let mut all = f64::NEG_INFINITY;
        let mut s = 4.0;
        while s <= n && s - 1.0 <= 3.0 * segment {
            // s items in s − 1 bins. Up to 16 every division among the segments; above that, as many divisions as there are,
            // each with the even one's number.
            let m = s - 1.0;
            if s <= 16.0 {
                let few = (1..).find(|few| f64::from(*few) >= m).unwrap();
                for a in 1..few {
                    for b in 1..few - a {
                        let sizes = [a, b, few - a - b].map(f64::from);
                        all = add(all, ln_sets(n, segment, sizes, s));
                    }
                }
                s += 1.0;
            } else {
                let a = (m / 3.0).floor();
                let b = ((m - a) / 2.0).floor();
                let sizes = [a, b, m - a - b];
                let step = if s < 200.0 { 1.0 } else { (s * 0.02).floor() };
                // Between two sizes that are computed, each counts like the larger term.
                let here = ln_sets(n, segment, sizes, s) + 2.0 * m.ln();
                all = add(all, here + f64::ln(step));
                s += step;
            }
        }
        assert!(all / 2_f64.ln() < -40.9, "{n}: 2^{}", all / 2_f64.ln());
    }
}
