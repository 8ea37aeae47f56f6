//! Parts of protocols of many batches: how many are on their way, and how many are computed at once.

use alloc::vec::Vec;

use super::Limits;
use crate::{
    Usage,
    erase::{Secret, Zero},
    tasks::Executor,
};

/// Batches that may be on their way: what hides the latency of the link.
pub const WINDOW: usize = 8;

/// The stream of proofs, which go between corrections.
pub const PROOFS: super::Stream = 1;

/// The limits of a party that waits for proofs of a window of batches: corrections are a window ahead of proofs at most,
/// whatever the groups, and proofs of challenges.
#[must_use]
pub const fn window_limits(longest: usize) -> Limits {
    Limits { streams: PROOFS + 1, messages: 2 * WINDOW, len: longest }
}

/// Batches that are computed at once: one per thread, and a power of two, which may be another one
/// than the peer's. Both windows are then full of whole groups, so that neither party waits for a
/// message of a group that the other one has not begun.
#[must_use]
pub fn group(executor: &dyn Executor) -> usize {
    executor.threads().clamp(1, WINDOW).next_power_of_two()
}

/// The next items, as many as are computed at once, unless there are none.
pub fn next_group<T>(items: &mut impl Iterator<Item = T>, group: usize) -> Option<Vec<T>> {
    let items: Vec<_> = items.take(group).collect();
    if items.is_empty() { None } else { Some(items) }
}

/// Buffers of those sizes, which are used again.
pub fn sized<'b, T: Zero>(
    buffers: &'b mut Vec<Secret<T>>,
    sizes: &'b [usize],
) -> impl Iterator<Item = &'b mut [T]> {
    buffers.resize_with(buffers.len().max(sizes.len()), Secret::default);
    buffers.iter_mut().zip(sizes).map(|(buffer, n)| {
        if buffer.len() < *n {
            *buffer = Secret::zeroed(*n);
        }
        &mut buffer[..*n]
    })
}

/// Tells whether a party may begin a run: no earlier run has failed or was dropped.
///
/// A run that ends well says so with [`Runs::end`]; what is on its way of any other belongs to it, and there is no other.
#[derive(Debug, Default)]
pub struct Runs {
    under_way: bool,
}

impl Runs {
    /// Marks a run as under way.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`] if one has not come to its end.
    pub fn begin(&mut self) -> Result<(), Usage> {
        if core::mem::replace(&mut self.under_way, true) {
            Err(Usage::SessionEnded)
        } else {
            Ok(())
        }
    }

    /// Marks the run as ended well.
    pub fn end(&mut self) {
        self.under_way = false;
    }
}
