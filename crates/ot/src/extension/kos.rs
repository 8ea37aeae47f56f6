//! KOS [[KOS15](https://eprint.iacr.org/2015/546), with the check of its revision of 2022]: IKNP
//! made secure against malicious peers by a hash of every column.
//!
//! ```text
//! R: both keys of 128 base OTs                          S: Δ, one key each
//!    per batch, for every base OT r, from key streams:
//! Z, T                                                  W = T ⊕ Δᵣ·Z
//!                  ── Corrections: D = Z ⊕ b, a coin's hash ──►
//!                                                       Q = W ⊕ Δᵣ·D = T ⊕ Δᵣ·b
//!                  ◄── Challenge: a coin, for a linear hash h ──
//!                  ── Proof: coin, h(b), h(T) ──►       h(Q) = h(T) ⊕ Δᵣ·h(b)?
//!    for every OT, with the matrices transposed:
//! t                                                     q = t ⊕ b·Δ
//! key = H(t)                                            keys = H(q), H(q ⊕ Δ)
//! ```
//!
//! Here the choices b are given. If they are not, b is random, and the challenge's coin flips bits of it.
//!
//! The check of 2015 has no proof at 128 bits (Roy22; ePrint 2022/1371); this is the column
//! check that all checked extensions here share, see `docs/protocols/softspoken.md`. 16 bytes per
//! OT.
#![doc = extension_example!("extension::kos::malicious()")]

use super::Extension;
use crate::base::Adversary;

/// KOS.
#[must_use]
pub const fn malicious() -> Extension {
    Extension::new("kos", 1, true, Adversary::Malicious)
}
