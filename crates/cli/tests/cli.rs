//! The command as its users meet it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "cli/cmd.rs"]
mod cmd;
#[path = "cli/readme.rs"]
mod readme;
#[path = "cli/support.rs"]
mod support;
#[path = "cli/two_parties.rs"]
mod two_parties;
