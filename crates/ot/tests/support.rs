//! Helpers of several files of tests.

pub(crate) mod extension;
pub(crate) mod faults;
pub(crate) mod narrow;
pub(crate) mod one_of_n;
pub(crate) mod runs;
pub(crate) mod threads;
