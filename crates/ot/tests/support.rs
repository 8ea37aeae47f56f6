//! What several files of tests use.

pub(crate) mod extension;
pub(crate) mod faults;
pub(crate) mod narrow;
pub(crate) mod one_of_n;
pub(crate) mod runs;
pub(crate) mod threads;
