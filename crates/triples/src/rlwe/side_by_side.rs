//! Several batches at once, each whole in one thread.

use alloc::vec::Vec;

use foxtrot_ot::tasks::{Executor, for_each};

/// Maps the items on the executor's threads, and returns the results in the items' order. Each thread has one of the
/// scratches.
pub(super) fn side_by_side<T: Send, S: Send, R: Send>(
    executor: &dyn Executor,
    scratches: &mut Vec<S>,
    new: impl Fn() -> S,
    mut items: Vec<T>,
    work: impl Fn(&mut S, T) -> R + Sync,
) -> Vec<R> {
    let threads = executor.threads().clamp(1, items.len().max(1));
    while scratches.len() < threads {
        scratches.push(new());
    }
    let each = items.len().div_ceil(threads).max(1);
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let mut groups = Vec::with_capacity(threads);
    while !items.is_empty() {
        let rest = items.split_off(each.min(items.len()));
        groups.push(core::mem::replace(&mut items, rest));
    }
    let parts = groups.into_iter().zip(results.chunks_mut(each)).zip(&mut *scratches);
    for_each(executor, parts, |((items, results), scratch)| {
        for (item, result) in items.into_iter().zip(results) {
            *result = Some(work(scratch, item));
        }
    });
    results.into_iter().flatten().collect()
}
