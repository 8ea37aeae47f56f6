//! IKNP [[IKNP03](https://www.iacr.org/archive/crypto2003/27290145/27290145.pdf), in the form of
//! [ALSZ13](https://eprint.iacr.org/2013/552)]: semi-honest, one correction of n bits per base OT.
//!
//! SoftSpokenOT with k = 1 but for the corrections, all 128 of which are sent: 16 bytes per OT. A
//! receiver that deviates learns Δ; `kos` is the same with a check.

use super::Extension;
use crate::base::Adversary;

/// IKNP.
#[must_use]
pub const fn semi_honest() -> Extension {
    Extension::new("iknp", 1, true, Adversary::SemiHonest)
}
