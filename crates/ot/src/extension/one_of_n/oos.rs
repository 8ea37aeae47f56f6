//! OOS [[OOS17](https://eprint.iacr.org/2016/933)]: 1-of-N OT over a binary linear code, with a check
//! that the receiver's corrections are codewords. The check is not that of the paper: see
//! `docs/protocols/oos.md`.
//!
//! ```text
//! R: both keys of every base OT, words w                S: Δ, one key each
//!    per batch, for every base OT j, with a key's stream G:
//! T = G(key⁰)      ── Corrections: D = T ⊕ G(key¹) ⊕ C(w)ⱼ ──►
//!                                                       Q = G(key) ⊕ Δⱼ·D = T ⊕ Δⱼ·C(w)ⱼ
//!                  ◄── [Challenge: a linear hash h] ──
//!                  ── [Proof: h(w), h(T)] ──►           h(Q) = h(T) ⊕ Δⱼ·C(h(w))ⱼ?
//!    for every OT i, with the matrices transposed:
//! t                                                     q = t ⊕ C(w)·Δ
//! key = H(i, t)                                         key of v = H(i, q ⊕ C(v)·Δ)
//! ```
//!
//! Only the malicious protocol sends the messages in brackets. Without the check it is semi-honest, and what [KKRT16](https://eprint.iacr.org/2016/799) calls
//! KK13 with a better code: rows are linear in words, which some protocols need.
#![doc = one_of_n_example!("extension::oos::malicious(extension::code::Linear::Bch512)")]

use super::Extension;
use crate::{
    base::Adversary,
    extension::code::{Family, Linear},
};

/// OOS over that code, with its check.
#[must_use]
pub const fn malicious(code: Linear) -> Extension {
    let name = match code {
        Linear::Repetition128 => "oos-128",
        Linear::Bch512 => "oos",
        Linear::Bch802 => "oos-802",
    };
    Extension::new(name, Family::Linear(code), Adversary::Malicious)
}

/// Returns the extension without the check.
#[must_use]
pub const fn semi_honest(code: Linear) -> Extension {
    let name = match code {
        Linear::Repetition128 => "oos-128-semi-honest",
        Linear::Bch512 => "oos-semi-honest",
        Linear::Bch802 => "oos-802-semi-honest",
    };
    Extension::new(name, Family::Linear(code), Adversary::SemiHonest)
}
