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
pub(crate) fn plain(okvs: &Okvs) -> f64 {
    assert_eq!(okvs.starts(), 1);
    sets(okvs.sparse(), okvs.keys() as f64, okvs.segment() as f64, 1.0)
}

/// Σ over even t ≤ n of C(n, t)·exp(h(spread·t))^(H/spread).
pub(crate) fn sets(sparse: usize, n: f64, bins: f64, spread: f64) -> f64 {
    let (mut sum, mut t) = (0.0, 2.0);
    while t <= n {
        let term = ln_binomial(n, t) + sparse as f64 / spread * ln_even(spread * t, bins);
        sum += term.exp();
        t += 2.0;
    }
    sum
}

/// log₂ of a bound on the probability that encoding fails.
pub(crate) fn log2_failure(okvs: &Okvs) -> f64 {
    let dense = okvs.dense() as f64;
    if okvs.starts() == 1 {
        return plain(okvs).log2() - dense;
    }
    if okvs.sparse() == 4 {
        return Windows::of(okvs).log2_failure(okvs.keys() as f64, okvs.starts() as f64, dense);
    }
    let (n, starts, bins) = (okvs.keys() as f64, okvs.starts() as f64, okvs.segment() as f64);
    let full = (FULL * bins).floor();
    // Chernoff: a start has more than `full` rows.
    let (p, a) = (1.0 / starts, (full + 1.0) / n);
    let divergence = a * (a / p).ln() + (1.0 - a) * ((1.0 - a) / (1.0 - p)).ln();
    let overfull = starts * (-n * divergence).exp();
    let dependent =
        (starts * sets(okvs.sparse(), full, bins, okvs.sparse() as f64).ln_1p()).exp_m1();
    (overfull + dependent * (-dense * LN_2).exp()).log2()
}

/// The bound for four sparse slots, section 3 of the document: of windows of four starts, not of single ones.
pub(crate) struct Windows {
    bins: f64,
    /// M, the most rows of a window.
    rows: f64,
    /// The fewest rows of a start.
    fewest: f64,
    /// F, or more, for any number of rows of a start from `fewest` to M.
    sets: f64,
}

impl Windows {
    /// Share of a start's rows up to which a set counts as small.
    const SMALL: f64 = 0.04;

    /// Computes the part that depends on the length of segments only.
    pub(crate) fn of(okvs: &Okvs) -> Self {
        let bins = okvs.segment() as f64;
        let load = if okvs.segment() < 1 << 12 { 0.95 } else { 0.955 };
        let (rows, fewest) = ((4.0 * load * bins).floor(), (0.6 * load * bins).floor());
        let windows = Self { bins, rows, fewest, sets: 0.0 };
        Self { sets: windows.large_sets() + windows.small_sets(), ..windows }
    }

    /// The most, over all numbers of rows N, of Σ C(N, t)·exp((4N/M)·h(tM/N)) over even t ≤ SMALL·N.
    fn small_sets(&self) -> f64 {
        let (mut least, mut most) = (self.fewest, 0.0_f64);
        while least < self.rows {
            // C(N, t) grows with N, and the exponent falls.
            let next = (1.1 * least).min(self.rows);
            let (mut sum, mut t) = (0.0, 2.0);
            while t <= Self::SMALL * next {
                let even = ln_even(t * self.rows / least, self.bins);
                sum += (ln_binomial(next, t) + 4.0 * least / self.rows * even).exp();
                t += 2.0;
            }
            most = most.max(sum);
            least = next;
        }
        most
    }

    /// The most of the same sum over t > SMALL·N. With τ = t/N each term is at most √(N/(2πt(N − t)))·exp(N·Φ(τ)),
    /// Φ(τ) = H(τ) + (4/M)·h(τM).
    fn large_sets(&self) -> f64 {
        const CELLS: u32 = 1500;
        let entropy = |x: f64| -x * x.ln() - (1.0 - x) * (-x).ln_1p();
        let n = self.fewest;
        let cell = |k: u32| {
            let at = |k: u32| Self::SMALL + (1.0 - Self::SMALL) * f64::from(k) / f64::from(CELLS);
            let (from, to) = (at(k), at(k + 1));
            let last = k + 1 == CELLS;
            let entropy = match last {
                true => entropy(from),
                false if from <= 0.5 && to >= 0.5 => LN_2,
                false => entropy(from).max(entropy(to)),
            };
            let phi = entropy + 4.0 / self.rows * ln_even(from * self.rows, self.bins);
            // Then what a cell adds falls with N.
            assert!(n * phi < -1.0, "{from}: {phi}");
            let root = |x: f64| (1.0 / (2.0 * PI * n * x * (1.0 - x))).sqrt().min(1.0);
            let root = if last { 1.0 } else { root(from).max(root(to)) };
            (n * (to - from) / 2.0 + 1.0) * root * (n * phi).exp()
        };
        (0..CELLS).map(cell).sum()
    }

    /// log₂ of the bound for so many keys and starts.
    pub(crate) fn log2_failure(&self, n: f64, starts: f64, dense: f64) -> f64 {
        let overfull = (starts - 3.0) * tail(n, 4.0 / starts, self.rows + 1.0);
        // Chernoff: a start has fewer than the fewest.
        let (p, a) = (1.0 / starts, self.fewest / n);
        let divergence = a * (a / p).ln() + (1.0 - a) * ((1.0 - a) / (1.0 - p)).ln();
        let empty = starts * (-n * divergence).exp();
        let dependent = (starts * self.sets.ln_1p()).exp_m1();
        (overfull + empty + dependent * (-dense * LN_2).exp()).log2()
    }
}

/// P[Bin(n, p) ≥ a], or more, for a > np: the first term and a geometric series.
fn tail(n: f64, p: f64, a: f64) -> f64 {
    assert!(a > n * p, "it is a tail");
    let ratio = (n - a) * p / ((a + 1.0) * (1.0 - p));
    (ln_binomial(n, a) + a * p.ln() + (n - a) * (-p).ln_1p()).exp() / (1.0 - ratio)
}
