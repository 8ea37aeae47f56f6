//! Counting sort by ranges of keys, shared among threads: each takes a part of the things, and writes to places of its own.

use alloc::{vec, vec::Vec};
use core::{mem, slice};

use foxtrot_ot::tasks::{Executor, for_each};

use crate::erase::Secret;

/// Numbers of things that each part has of each range.
pub(crate) struct Ranges {
    parts: Vec<Secret<usize>>,
    /// Things of a part.
    len: usize,
}

/// The places of a part's things, by ranges, that have not been taken. They are not erased: they tell how many things a range has, as the addresses of
/// the sort do.
pub(crate) struct Places<'a, T>(Vec<slice::IterMut<'a, T>>);

impl Ranges {
    /// Counts things by their ranges, of which there are so many.
    pub(crate) fn count<T: Sync>(
        executor: &dyn Executor,
        ranges: usize,
        things: &[T],
        range: impl Fn(&T) -> usize + Sync,
    ) -> Self {
        let len = things.len().div_ceil(executor.threads().max(1)).max(1);
        let none = || Secret(vec![0; ranges]);
        let mut parts: Vec<_> = things.chunks(len).map(|_| none()).collect();
        for_each(executor, parts.iter_mut().zip(things.chunks(len)), |(counts, things)| {
            things.iter().for_each(|thing| counts[range(thing)] += 1);
        });
        Self { parts, len }
    }

    /// The number of things of each part but the last.
    pub(crate) const fn part_len(&self) -> usize {
        self.len
    }

    /// The things of each part.
    pub(crate) fn parts<'a, T>(&self, things: &'a [T]) -> impl Iterator<Item = &'a [T]> {
        things.chunks(self.len)
    }

    /// The places of each part: ranges follow each other, and within a range parts do.
    pub(crate) fn places<'a, T>(
        &self,
        mut list: &'a mut [T],
    ) -> impl Iterator<Item = Places<'a, T>> {
        let ranges = self.parts.first().map_or(0, |counts| counts.len());
        let none = || Places(Vec::with_capacity(ranges));
        let mut places: Vec<_> = self.parts.iter().map(|_| none()).collect();
        for range in 0..ranges {
            for (counts, Places(places)) in self.parts.iter().zip(&mut places) {
                places.push(cut(&mut list, counts[range]).iter_mut());
            }
        }
        places.into_iter()
    }

    /// The sorted things, range after range.
    pub(crate) fn split<'a, T>(&self, mut list: &'a mut [T]) -> impl Iterator<Item = &'a mut [T]> {
        let ranges = 0..self.parts.first().map_or(0, |counts| counts.len());
        ranges.map(move |k| cut(&mut list, self.parts.iter().map(|counts| counts[k]).sum()))
    }
}

impl<T> Places<'_, T> {
    /// Puts a thing to the next place of its range.
    #[inline]
    pub(crate) fn put(&mut self, range: usize, thing: T) {
        if let Some(place) = self.0[range].next() {
            *place = thing;
        }
    }
}

fn cut<'a, T>(list: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (some, rest) = mem::take(list).split_at_mut(len);
    *list = rest;
    some
}
