//! Parts of protocols of many batches: how many are on their way, and how many are computed at once.
//!
//! A [`Window`] is for batches that one party begins and the other answers; [`Turns`] are for two parties that do both.

mod turns;

use alloc::{collections::VecDeque, vec::Vec};
use core::{iter, mem};

pub use turns::Turns;

use super::{Io, Limits};
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

/// The sizes of batches of n items, `max` each but for the last.
pub fn sizes(n: usize, max: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(max).map(move |start| max.min(n - start))
}

/// The items in groups that are computed at once.
pub fn groups<T>(mut items: impl Iterator<Item = T>, group: usize) -> impl Iterator<Item = Vec<T>> {
    iter::from_fn(move || {
        Some(items.by_ref().take(group).collect()).filter(|it: &Vec<_>| !it.is_empty())
    })
}

/// Groups of batches on their way, in the order in which they were begun.
///
/// ```
/// # use foxtrot_ot::engine::{Engine, batches::{Step, Window}};
/// # let _ = Engine::new(|io| async move {
/// // Twenty batches of one byte each, which the peer answers by a byte.
/// let mut window = Window::new(io.clone(), 1, 1, 0..20);
/// while let Some(step) = window.step().await {
///     match step {
///         Step::Begin(batch) => {
///             io.send(vec![batch]).await;
///             window.push(batch);
///         }
///         Step::End(batch) => assert_eq!(io.recv(1).await, [batch]),
///     }
/// }
/// # Ok::<_, foxtrot_ot::Error>(())
/// # });
/// ```
pub struct Window<I, B> {
    io: Io,
    /// Bytes of the peer's message without which a batch does not end; with none, it ends as soon as it has begun.
    awaited: usize,
    /// Batches of a group.
    group: usize,
    items: I,
    under_way: VecDeque<B>,
    /// True if a group has been begun since one ended.
    begun: bool,
}

/// The next step of a run of batches.
#[derive(Debug)]
pub enum Step<T, B> {
    /// Begin the group of this item, and [push](Window::push) it.
    Begin(T),
    /// End this group.
    End(B),
}

impl<I: Iterator, B> Window<I, B> {
    /// A window of groups of batches, an item each. Each batch ends with a message of `awaited` bytes on the stream of `io`.
    #[must_use]
    pub fn new(io: Io, awaited: usize, group: usize, items: I) -> Self {
        let under_way = VecDeque::with_capacity(WINDOW);
        Self { io, awaited, group, items, under_way, begun: false }
    }

    /// Adds a group that was begun.
    pub fn push(&mut self, batch: B) {
        self.under_way.push_back(batch);
    }

    /// Returns the next step, as soon as it can be taken: the oldest group ends before another one is begun if the window is full.
    /// `None` when all groups have ended.
    pub async fn step(&mut self) -> Option<Step<I::Item, B>> {
        // One group can be computed while another is on its way.
        let (under_way, least) = (self.under_way.len() * self.group, 2 * self.group);
        let due = mem::take(&mut self.begun)
            && self.io.wait_until_due(under_way, least, self.awaited).await;
        let next = if due { None } else { self.items.next() };
        self.begun = next.is_some();
        match next {
            Some(item) => Some(Step::Begin(item)),
            None => self.under_way.pop_front().map(Step::End),
        }
    }
}

foxtrot_kernel::redacted! {
    [I, B] Window<I, B>, window => "{} under way", window.under_way.len();
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
        if mem::replace(&mut self.under_way, true) { Err(Usage::SessionEnded) } else { Ok(()) }
    }

    /// Marks the run as ended well.
    pub fn end(&mut self) {
        self.under_way = false;
    }
}
