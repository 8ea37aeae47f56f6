//! Promises of a set of `rlwe`.

use foxtrot_triples::params::Set;

/// log₂ of a bound on the probability that any of so many triples is wrong: that their batches do not decrypt, or that a
/// sum wraps around unnoticed (`docs/protocols/triples.md`, sections 5 and 7).
pub(crate) fn wrong_log2(set: &Set, triples: u64) -> f64 {
    let batches = set.batches(triples) as f64 * (-f64::from(set.failure)).exp2();
    (batches + triples as f64 * unnoticed(set)).log2()
}

/// The probability of the latter for a triple: on average 2^(2ℓ − 3.4)/p without the fix; with it 0, or, where p is
/// (1 − θ)·2^(2ℓ + 1), at most (8/3)·θ⁵.
fn unnoticed(set: &Set) -> f64 {
    let bits = f64::from(set.bits());
    let p = set.plain.iter().map(|&prime| prime as f64).product::<f64>();
    if set.fix().is_none() {
        return (2.0 * bits - 3.4).exp2() / p;
    }
    // Each factor is a power of two times what a double holds.
    let theta = 1.0 - p / (2.0 * bits + 1.0).exp2();
    if theta > (-bits).exp2() { 8.0 / 3.0 * theta.powi(5) } else { 0.0 }
}
