//! Protocols of papers as they are printed, to fill the papers' tables and to show their faults. **Not for
//! use:** `foxtrot-bench` measures them, the command does not know them. They are written over public items of
//! `foxtrot-ot` and `foxtrot-triples`.
#![forbid(unsafe_code)]

pub mod rlwe_paper;
pub mod roted_figure1;

use foxtrot_ot::base::{BaseOt, registry};

/// Every base OT there is to measure: the registry's, and behind them this crate's.
pub fn base_ots() -> impl Iterator<Item = &'static dyn BaseOt> {
    static OURS: [&dyn BaseOt; 1] = [&roted_figure1::Figure1];
    registry().iter().chain(&OURS).copied()
}
