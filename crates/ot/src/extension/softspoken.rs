//! SoftSpokenOT [[Roy22](https://eprint.iacr.org/2022/192)]: the default extension.
//!
//! ```text
//! R: both keys of 128 base OTs                          S: Δ, one key each
//! trees τ, with 2^k leaves x, of k base OTs each
//!                  ── Setup ──►                         all leaves but the one at Δ_τ
//!    per batch, with the key stream G(x) of every leaf, for the base OTs j of a tree:
//! Z = ⊕ G(x), T = ⊕ xⱼ·G(x)                             W = ⊕ (x ⊕ Δ_τ)ⱼ·G(x) = T ⊕ Δⱼ·Z
//!                  ── Corrections: D = Z ⊕ b, [a coin's hash] ──►
//!                                                       Q = W ⊕ Δⱼ·D = T ⊕ Δⱼ·b
//!                  ◄── [Challenge: a coin, for a linear hash h] ──
//!                  ── [Proof: coin, h(b), h(T)] ──►     h(Q) = h(T) ⊕ Δⱼ·h(b)?
//!    for every OT, with the matrices transposed:
//! t                                                     q = t ⊕ b·Δ
//! key = H(t)                                            keys = H(q), H(q ⊕ Δ)
//! ```
//!
//! Only the malicious protocol sends what is in brackets, and with k = 1 there is no `Setup`. Here the choices b are
//! given. If they are not, b is Z of the first tree, whose D is not sent, and the challenge's coin flips bits of it.
//!
//! k base OTs become a vector OLE over GF(2^k) from a tree of 2^k seeds, so that one correction of n
//! bits serves k rows: 16/k bytes per OT, for 2^k/k blocks of a key stream. Paper: Figure 7 (small-field
//! VOLE), and its subspace VOLE with the repetition code. `docs/protocols/softspoken.md` has it all,
//! with the differences.
//!
//! A larger k sends less and computes more: from k = 2 to 4 the bytes halve for less than a third more
//! time, and 8 is for slow links (`bench/record`, `foxtrot-bench run ext/`).
#![doc = extension_example!("extension::softspoken::malicious(4)?")]

use super::Extension;
use crate::{Usage, base::Adversary};

/// The k that a bare `softspoken` means.
pub const DEFAULT_K: usize = 4;

/// The names for k = 1 … 8, with this ending.
macro_rules! names {
    ($end:literal) => {
        names!($end, "1" "2" "3" "4" "5" "6" "7" "8")
    };
    ($end:literal, $($k:literal)*) => {
        &[$(concat!("softspoken-", $k, $end)),*]
    };
}

/// Secure against malicious peers, 1 ≤ k ≤ 8.
///
/// # Errors
/// [`Usage::FieldSize`] for another k.
pub const fn malicious(k: usize) -> Result<Extension, Usage> {
    of_size(k, names!(""), Adversary::Malicious)
}

/// Returns the extension without checks, 1 ≤ k ≤ 8.
///
/// # Errors
/// [`Usage::FieldSize`] for another k.
pub const fn semi_honest(k: usize) -> Result<Extension, Usage> {
    of_size(k, names!("-semi-honest"), Adversary::SemiHonest)
}

const fn of_size(
    k: usize,
    names: &[&'static str; 8],
    adversary: Adversary,
) -> Result<Extension, Usage> {
    match k {
        1..=8 => Ok(Extension::new(names[k - 1], k, false, adversary)),
        _ => Err(Usage::FieldSize { k }),
    }
}
