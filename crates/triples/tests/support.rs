//! Helpers of several files of tests.

#[path = "../../ot/tests/support/faults.rs"]
pub(crate) mod faults;
#[path = "../../ot/tests/support/narrow.rs"]
pub(crate) mod narrow;
pub(crate) mod ots;
pub(crate) mod single;
