//! OOS [[OOS17](https://eprint.iacr.org/2016/933)]: 1-of-N OT over a binary linear code, with a check
//! that the receiver's corrections are codewords. The check is not that of the paper: see
//! `docs/protocols/oos.md`.
//!
//! Without the check it is semi-honest, and what [KKRT16](https://eprint.iacr.org/2016/799) calls
//! KK13 with a better code: rows are linear in words, which some protocols need.

use super::{
    code::{Family, Linear},
    one_of_n::Extension,
};
use crate::base::Adversary;

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
