//! KKRT [[KKRT16](https://eprint.iacr.org/2016/799)]: semi-honest 1-of-N OT over a pseudorandom code,
//! for words of any 128 bits.
//!
//! ```text
//! R: both keys of 512 base OTs, words w                 S: Δ, one key each
//!    per batch, for every base OT j, with a key's stream G:
//! T = G(key⁰)      ── Corrections: D = T ⊕ G(key¹) ⊕ C(w)ⱼ ──►
//!                                                       Q = G(key) ⊕ Δⱼ·D = T ⊕ Δⱼ·C(w)ⱼ
//!    for every OT i, with the matrices transposed:
//! t                                                     q = t ⊕ C(w)·Δ
//! key = H(i, t)                                         key of v = H(i, q ⊕ C(v)·Δ)
//! ```
//!
//! C(w) is four encryptions of w by AES, under keys that everybody knows: `docs/protocols/oos.md`.
#![doc = one_of_n_example!("extension::kkrt::semi_honest()")]

use super::Extension;
use crate::{base::Adversary, extension::code::Family};

/// KKRT.
#[must_use]
pub const fn semi_honest() -> Extension {
    Extension::new("kkrt", Family::Pseudorandom, Adversary::SemiHonest)
}
