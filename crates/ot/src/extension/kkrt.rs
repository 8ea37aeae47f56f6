//! KKRT [[KKRT16](https://eprint.iacr.org/2016/799)]: semi-honest 1-of-N OT over a pseudorandom code,
//! for words of any 128 bits.

use super::{SemiHonest, code::Pseudorandom, one_of_n::Extension};

/// KKRT.
#[must_use]
pub const fn semi_honest() -> Extension<Pseudorandom, SemiHonest> {
    Extension::new("kkrt", Pseudorandom)
}
