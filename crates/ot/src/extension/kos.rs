//! KOS [[KOS15](https://eprint.iacr.org/2015/546), with the check of its revision of 2022]: IKNP
//! made secure against malicious peers by a hash of every column.
//!
//! The check of 2015 has no proof at 128 bits (Roy22; ePrint 2022/1371); this is the column
//! check that all checked extensions here share, see `docs/protocols/softspoken.md`. 16 bytes per
//! OT.

use super::Extension;
use crate::base::Adversary;

/// KOS.
#[must_use]
pub const fn malicious() -> Extension {
    Extension::new("kos", 1, true, Adversary::Malicious)
}
