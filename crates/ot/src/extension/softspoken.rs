//! SoftSpokenOT [[Roy22](https://eprint.iacr.org/2022/192)]: the default extension.
//!
//! ```text
//! R: both keys of 128 base OTs                          S: Δ, one key each
//! trees τ, with 2^k leaves x, of k base OTs each
//!                  ── [Setup] ──►                       all leaves but the one at Δ_τ
//!    per batch, with the key stream G(x) of every leaf, for the base OTs j of a tree:
//! Z = ⊕ G(x), T = ⊕ xⱼ·G(x)                             W = ⊕ (x ⊕ Δ_τ)ⱼ·G(x) = T ⊕ Δⱼ·Z
//!                  ── Corrections: D = Z ⊕ b ──►        Q = W ⊕ Δⱼ·D = T ⊕ Δⱼ·b
//!                  ◄── [Challenge: a linear hash h] ──
//!                  ── [Proof: h(b), h(T)] ──►           h(Q) = h(T) ⊕ Δⱼ·h(b)?
//!    for every OT, with the matrices transposed:
//! t                                                     q = t ⊕ b·Δ
//! key = H(t)                                            keys = H(q), H(q ⊕ Δ)
//! ```
//!
//! k base OTs become a vector OLE over GF(2^k) from a tree of 2^k seeds, so that one correction of n
//! bits serves k rows: 16/k bytes per OT, for 2^k/k blocks of a key stream. Paper: Figure 7 (small-field
//! VOLE), and its subspace VOLE with the repetition code. `docs/protocols/softspoken.md` has it all,
//! with the differences.
//!
//! A larger k sends less and computes more: from k = 2 to 4 the bytes halve for less than a third more
//! time, and 8 is for slow links (`bench/record`, `foxtrot-bench run ext/`).
//!
#![doc = extension_example!("extension::softspoken::malicious(4)?")]

use super::Extension;
use crate::{Usage, base::Adversary};

/// The k that a bare `softspoken` means.
pub const DEFAULT_K: usize = 4;

/// Secure against malicious peers, 1 ≤ k ≤ 8.
///
/// # Errors
/// [`Usage::FieldSize`] for another k.
pub const fn malicious(k: usize) -> Result<Extension, Usage> {
    const NAMES: [&str; 8] = [
        "softspoken-1",
        "softspoken-2",
        "softspoken-3",
        "softspoken-4",
        "softspoken-5",
        "softspoken-6",
        "softspoken-7",
        "softspoken-8",
    ];
    match k {
        1..=8 => Ok(Extension::new(NAMES[k - 1], k, false, Adversary::Malicious)),
        _ => Err(Usage::FieldSize { k }),
    }
}

/// Returns the extension without checks, 1 ≤ k ≤ 8.
///
/// # Errors
/// [`Usage::FieldSize`] for another k.
pub const fn semi_honest(k: usize) -> Result<Extension, Usage> {
    const NAMES: [&str; 8] = [
        "softspoken-1-semi-honest",
        "softspoken-2-semi-honest",
        "softspoken-3-semi-honest",
        "softspoken-4-semi-honest",
        "softspoken-5-semi-honest",
        "softspoken-6-semi-honest",
        "softspoken-7-semi-honest",
        "softspoken-8-semi-honest",
    ];
    match k {
        1..=8 => Ok(Extension::new(NAMES[k - 1], k, false, Adversary::SemiHonest)),
        _ => Err(Usage::FieldSize { k }),
    }
}
