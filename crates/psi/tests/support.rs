//! Helpers of several files of tests.

#[path = "../../ot/tests/support/faults.rs"]
pub(crate) mod faults;
pub(crate) mod moment;
#[path = "../../ot/tests/support/narrow.rs"]
pub(crate) mod narrow;
