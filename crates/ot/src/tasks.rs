//! Work in parts that may run side by side: the protocols cut it, the caller's threads do it.

use alloc::{boxed::Box, vec::Vec};
use core::{
    fmt, mem,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::erase::{Secret, Zero, erase};

/// A part of the work.
pub type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Something that runs tasks: a pool of threads, or nothing of the kind.
pub trait Executor: Send + Sync + fmt::Debug {
    /// Returns the number of tasks that can run at the same time, at least 1.
    fn threads(&self) -> usize;

    /// Runs all of them, in any order, and returns when the last has ended.
    fn run<'a>(&self, tasks: Vec<Task<'a>>);
}

/// One task after another, in the calling thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InPlace;

impl Executor for InPlace {
    fn threads(&self) -> usize {
        1
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        tasks.into_iter().for_each(|task| task());
    }
}

/// Does the work for every part; neighbouring parts in the same thread.
///
/// # Panics
/// If the executor has not run all of its tasks: there would be output that nobody has made.
pub fn for_each<T: Send>(
    executor: &dyn Executor,
    parts: impl Iterator<Item = T>,
    work: impl Fn(T) + Sync,
) {
    let threads = executor.threads();
    if threads <= 1 {
        return parts.for_each(work);
    }
    let parts: Vec<T> = parts.collect();
    let at_once = parts.len().div_ceil(threads).max(1);
    side_by_side(executor, parts, at_once, work);
}

/// Erases a list with all threads, and frees it.
pub fn erase_with<T: Zero + Send>(executor: &dyn Executor, mut list: Secret<T>) {
    /// Elements that a thread erases at a time.
    const PART: usize = 1 << 14;
    for_each(executor, list.chunks_mut(PART), erase);
    // What it held is not erased again.
    drop(mem::take(&mut list.0));
}

/// Runs `one`, and `other` beside it on another thread or after it. Returns what `other` returns.
///
/// # Panics
/// If the executor has not run both.
pub(crate) fn both<'a, R: Send + 'a>(
    executor: &dyn Executor,
    one: impl FnOnce() + Send + 'a,
    other: impl FnOnce() -> R + Send + 'a,
) -> R {
    let mut result = None;
    let tasks: [Task<'_>; 2] = [Box::new(one), Box::new(|| result = Some(other()))];
    for_each(executor, tasks.into_iter(), |task| task());
    result.expect("the executor has run both")
}

/// Maps every item, and returns the results in their order. While there is an item for every thread,
/// each item is mapped by one thread; the remaining items are mapped one after another and may use
/// all threads.
///
/// # Panics
/// If the executor has not run all of its tasks.
pub(crate) fn map<T: Send, R: Send>(
    executor: &dyn Executor,
    mut items: Vec<T>,
    work: impl Fn(&dyn Executor, T) -> R + Sync,
) -> Vec<R> {
    let rest = items.split_off(items.len() - items.len() % executor.threads().max(1));
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let parts = items.into_iter().zip(&mut results).collect();
    side_by_side(executor, parts, 1, |(item, result)| *result = Some(work(&InPlace, item)));
    let rest = rest.into_iter().map(|item| work(executor, item));
    results.into_iter().flatten().chain(rest).collect()
}

/// Returns the result of a call for several items that was for a single one.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn only<R>(results: Vec<R>) -> R {
    results.into_iter().next().expect("one result for one item")
}

/// Tasks of so many parts each.
fn side_by_side<T: Send>(
    executor: &dyn Executor,
    mut parts: Vec<T>,
    at_once: usize,
    work: impl Fn(T) + Sync,
) {
    let (work, done) = (&work, &AtomicUsize::new(0));
    let mut tasks: Vec<Task<'_>> = Vec::with_capacity(parts.len().div_ceil(at_once));
    while !parts.is_empty() {
        let mine = parts.split_off(parts.len().saturating_sub(at_once));
        tasks.push(Box::new(move || {
            mine.into_iter().for_each(work);
            done.fetch_add(1, Ordering::Relaxed);
        }));
    }
    let expected = tasks.len();
    executor.run(tasks);
    assert_eq!(done.load(Ordering::Relaxed), expected, "the executor left tasks undone");
}
