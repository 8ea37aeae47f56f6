//! IKNP [[IKNP03](https://www.iacr.org/archive/crypto2003/27290145/27290145.pdf), in the form of
//! [ALSZ13](https://eprint.iacr.org/2013/552)]: semi-honest, one correction of n bits per base OT.
//!
//! ```text
//! R: both keys of 128 base OTs                          S: Δ, one key each
//!    per batch, for every base OT r, from key streams:
//! Z, T                                                  W = T ⊕ Δᵣ·Z
//!                  ── Corrections: D = Z ⊕ b ──►        Q = W ⊕ Δᵣ·D = T ⊕ Δᵣ·b
//!    for every OT, with the matrices transposed:
//! t                                                     q = t ⊕ b·Δ
//! key = H(t)                                            keys = H(q), H(q ⊕ Δ)
//! ```
//!
//! SoftSpokenOT with k = 1 but for the corrections, all 128 of which are sent: 16 bytes per OT. A
//! receiver that deviates learns Δ; `kos` is the same with a check.
#![doc = extension_example!("extension::iknp::semi_honest()")]

use super::Extension;
use crate::base::Adversary;

/// IKNP.
#[must_use]
pub const fn semi_honest() -> Extension {
    Extension::new("iknp", 1, true, Adversary::SemiHonest)
}
