//! The trees of a batch, each expanded by itself, and the first accumulator over the leaves of all.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    aes::Aes128,
    lpn::{Prefix, mark},
};

use super::{code::Code, parameters::Size};
use crate::{Session, base::Block, erase::Secret, tasks::for_each};

/// The trees of a batch.
pub(super) struct Trees<'a> {
    session: &'a Session,
    height: usize,
    keys: Vec<Block>,
}

impl<'a> Trees<'a> {
    pub(super) fn new(session: &'a Session, batch: u64, size: &Size) -> Self {
        let mut keys = vec![[0; 16]; size.trees];
        let query = session.oracle("foxtrot v1 silent tree").query(batch, 0);
        query.fill(keys.as_flattened_mut());
        Self { session, height: size.height, keys }
    }

    /// The permutation of a tree.
    pub(super) fn permutation(&self, tree: usize) -> Aes128 {
        Aes128::new(self.session.backend(), &self.keys[tree])
    }

    /// Writes the sums of leaves to their places. `expand` writes the leaves of a tree; one call for each tree has the tree's output, which is
    /// to be written also. `totals` are the sums of whole trees, where they are known before.
    pub(super) fn accumulate<T: Send>(
        &self,
        code: &Code,
        totals: Option<&[u128]>,
        cells: &mut [Block],
        mut outputs: &mut [T],
        expand: impl Fn(usize, &mut [Block], Option<&mut T>) + Sync,
    ) {
        let (session, height) = (self.session, self.height);
        let (backend, executor) = (session.backend(), session.executor());
        let threads = executor.threads().max(1);
        let mut sums = Secret::<u128>::zeroed(threads);
        let mut begun = 0;
        let parts = split(code, threads, cells).zip(sums.iter_mut()).map(|(part, sum)| {
            // Those of the trees that begin in the part.
            let end = part.0.end.div_ceil(1 << height);
            let (some, rest) = core::mem::take(&mut outputs).split_at_mut(end - begun);
            (begun, outputs) = (end, rest);
            (part, some, sum)
        });
        for_each(executor, parts, |((part, cells), outputs, sum)| {
            if part.is_empty() {
                return;
            }
            let mut leaves = Secret::zeroed(1 << height);
            let first = part.start >> height;
            let mut outputs = outputs.iter_mut();
            let mut prefix: Option<Prefix> = None;
            for tree in first..((part.end - 1) >> height) + 1 {
                let begins = tree << height >= part.start;
                expand(tree, &mut leaves, if begins { outputs.next() } else { None });
                let [from, to] = [part.start, part.end]
                    .map(|it| it.saturating_sub(tree << height).min(1 << height));
                let prefix = prefix.get_or_insert_with(|| {
                    let before = totals.map_or(0, |totals| {
                        let leaves = leaves[..from].iter().map(|leaf| u128::from_le_bytes(*leaf));
                        leaves.chain(totals[..first].iter().copied()).fold(0, |sum, it| sum ^ it)
                    });
                    Prefix::from(backend, part.start, before.to_le_bytes())
                });
                prefix.add(&leaves[from..to], code.first(), cells);
            }
            *sum = prefix.map_or(0, |prefix| prefix.sum());
        });
        if totals.is_none() {
            // Every part has begun with 0, and lacks what the parts before it add up to.
            for part in 1..threads {
                sums[part] ^= sums[part - 1];
            }
            let later = split(code, threads, cells).skip(1).zip(sums.iter());
            for_each(executor, later, |((_, cells), before)| {
                for cell in cells {
                    *cell = (u128::from_le_bytes(*cell) ^ before).to_le_bytes();
                }
            });
        }
    }

    /// The marks of all leaves at their places, from the place of noise in each tree: twice the number of a leaf's tree, and 1 more from
    /// the noise on.
    pub(super) fn marks(&self, code: &Code, alphas: &[u32]) -> Secret<u16> {
        let (session, height) = (self.session, self.height);
        let threads = session.executor().threads().max(1);
        let mut marks = Secret::zeroed(code.len());
        for_each(session.executor(), split(code, threads, &mut marks), |(part, marks)| {
            for (tree, &alpha) in (0..).zip(alphas) {
                let leaves = part.start.max(tree << height)..part.end.min((tree + 1) << height);
                if !leaves.is_empty() {
                    let first = u16::try_from(2 * tree).expect("fewer than 2^15 trees");
                    let places = (part.start, &mut *marks);
                    mark(session.backend(), code.first(), leaves, alpha, first, places);
                }
            }
        });
        marks
    }
}

/// Places in parts of whole buckets, one for each thread.
fn split<'a, T>(
    code: &Code,
    threads: usize,
    mut places: &'a mut [T],
) -> impl Iterator<Item = (core::ops::Range<usize>, &'a mut [T])> {
    code.parts(threads).map(move |part| {
        let (some, rest) = core::mem::take(&mut places).split_at_mut(part.len());
        places = rest;
        (part, some)
    })
}
