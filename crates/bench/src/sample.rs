//! Figures of a run.

use std::time::Duration;

/// A party of the extension, as an index.
pub(super) const SENDER: usize = 0;
pub(super) const RECEIVER: usize = 1;

/// One run; figures of the sender first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) wall: Duration,
    pub(super) cpu: [Duration; 2],
    /// Time of the slower party.
    pub(super) slower: Duration,
    pub(super) bytes: [u64; 2],
    pub(super) flows: u64,
    /// Times since the start over a link: when it was over for each party,
    pub(super) ended: [Duration; 2],
    /// when what is done for each transfer began,
    pub(super) begun: [Duration; 2],
    /// when what is done once was over,
    pub(super) set_up: [Duration; 2],
    /// and the bytes up to then.
    pub(super) set_up_bytes: [u64; 2],
    /// The most memory in bytes, of processes.
    pub(super) peaks: [u64; 2],
}
