//! The first moment of dependent sets of rows (`docs/protocols/okvs.md`, "Why encoding succeeds").
//!
//! Natural logarithms throughout; sums of terms that are too small to matter are left to floating
//! point, whose errors are far below the last digit of any statement made with them.

#![allow(dead_code, reason = "each user takes a part")]

use std::f64::consts::{LN_2, PI};

use foxtrot_psi::okvs::Okvs;

/// The highest load of a start for which the bound of coupled windows holds, in rows per slot of a
/// segment.
const FULL: f64 = 0.885;

/// ln n!, by Stirling's series; the error is below 10⁻¹¹ where it is used.
pub(crate) fn ln_factorial(n: f64) -> f64 {
    if n < 20.0 {
        return (2_i32..).map(f64::from).take_while(|&k| k <= n).map(f64::ln).sum();
    }
    n * n.ln() - n + (2.0 * PI * n).ln() / 2.0 + 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3))
}

fn ln_binomial(n: f64, t: f64) -> f64 {
    ln_factorial(n) - ln_factorial(t) - ln_factorial(n - t)
}

/// h(u): ln of the probability that u balls fall into `bins` bins so that every bin has an even
/// number, or more.
pub(crate) fn ln_even(u: f64, bins: f64) -> f64 {
    if u <= 32.0 { ln_even_exact(u, bins) } else { ln_even_saddle(u, bins) }
}

/// ln of 2^−L Σ_j C(L, j)·|1 − 2j/L|^u, without terms that are far too small to matter.
pub(crate) fn ln_even_exact(u: f64, bins: f64) -> f64 {
    let half = bins / 2.0;
    let first = (half - (bins * (20.0 + u)).sqrt()).max(0.0).floor();
    let (mut sum, mut j) = (0.0, first);
    while j <= bins - first {
        let deviation = (1.0 - 2.0 * j / bins).abs();
        if deviation > 0.0 {
            sum += (ln_binomial(bins, j) + u * deviation.ln() - bins * LN_2).exp();
        }
        j += 1.0;
    }
    sum.ln()
}

/// ln of u!/L^u·[x^u] cosh(x)^L ≤ u!/(L·x)^u·cosh(x)^L, true for every x > 0; x·tanh x = u/L is the
/// best.
pub(crate) fn ln_even_saddle(u: f64, bins: f64) -> f64 {
    let load = u / bins;
    let mut x = load.sqrt().max(load);
    for _ in 0..5 {
        let (tanh, cosh) = (x.tanh(), x.cosh());
        x -= (x * tanh - load) / (tanh + x / (cosh * cosh));
    }
    let ln_cosh = x + (-2.0 * x).exp().ln_1p() - LN_2;
    (ln_factorial(u) - u * (bins * x).ln() + bins * ln_cosh).min(0.0)
}

/// E[2^deficit − 1], or more: the expected number of non-empty sets of rows whose sparse parts add up
/// to zero. For stores with one start.
pub(crate) fn plain<const H: usize>(okvs: &Okvs<H>) -> f64 {
    assert_eq!(okvs.starts(), 1);
    sets::<H>(okvs.keys() as f64, okvs.segment() as f64, 1.0)
}

/// Σ over even t ≤ n of C(n, t)·exp(h(spread·t))^(H/spread).
pub(crate) fn sets<const H: usize>(n: f64, bins: f64, spread: f64) -> f64 {
    let (mut sum, mut t) = (0.0, 2.0);
    while t <= n {
        let term = ln_binomial(n, t) + H as f64 / spread * ln_even(spread * t, bins);
        sum += term.exp();
        t += 2.0;
    }
    sum
}

/// log₂ of a bound on the probability that encoding fails.
pub(crate) fn log2_failure<const H: usize>(okvs: &Okvs<H>) -> f64 {
    let dense = okvs.dense() as f64;
    if okvs.starts() == 1 {
        return plain(okvs).log2() - dense;
    }
    let (n, starts, bins) = (okvs.keys() as f64, okvs.starts() as f64, okvs.segment() as f64);
    let full = (FULL * bins).floor();
    // Chernoff: a start has more than `full` rows.
    let (p, a) = (1.0 / starts, (full + 1.0) / n);
    let divergence = a * (a / p).ln() + (1.0 - a) * ((1.0 - a) / (1.0 - p)).ln();
    let overfull = starts * (-n * divergence).exp();
    let dependent = (starts * sets::<H>(full, bins, H as f64).ln_1p()).exp_m1();
    (overfull + dependent * (-dense * LN_2).exp()).log2()
}
