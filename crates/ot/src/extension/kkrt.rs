//! KKRT [[KKRT16](https://eprint.iacr.org/2016/799)]: semi-honest 1-of-N OT over a pseudorandom code,
//! for words of any 128 bits.

use super::{code::Family, one_of_n::Extension};
use crate::base::Adversary;

/// KKRT.
#[must_use]
pub const fn semi_honest() -> Extension {
    Extension::new("kkrt", Family::Pseudorandom, Adversary::SemiHonest)
}
