//! The trees of a batch, each expanded by itself, and the first accumulator over the leaves of all.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    aes::Aes128,
    lpn::{Challenges, Prefix, mark},
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

    /// Writes the sums of leaves to their places: `totals` are the sums of whole trees, and `expand` writes the leaves of one. Returns the
    /// sum of all leaves times challenges, if there are some.
    pub(super) fn accumulate(
        &self,
        code: &Code,
        totals: &[u128],
        challenges: Option<&Challenges>,
        cells: &mut [Block],
        expand: impl Fn(usize, &mut [Block]) + Sync,
    ) -> u128 {
        let (session, height) = (self.session, self.height);
        let threads = session.executor().threads().max(1);
        let mut checks = Secret::<u128>::zeroed(threads);
        let parts = split(code, threads, cells).zip(checks.iter_mut());
        for_each(session.executor(), parts, |((part, cells), check)| {
            if part.is_empty() {
                return;
            }
            let mut leaves = Secret::zeroed(1 << height);
            let first = part.start >> height;
            let mut prefix: Option<Prefix<'_>> = None;
            for tree in first..((part.end - 1) >> height) + 1 {
                expand(tree, &mut leaves);
                let [from, to] = [part.start, part.end]
                    .map(|it| it.saturating_sub(tree << height).min(1 << height));
                let prefix = prefix.get_or_insert_with(|| {
                    let before = leaves[..from].iter().map(|leaf| u128::from_le_bytes(*leaf));
                    let sum =
                        before.chain(totals[..first].iter().copied()).fold(0, |sum, it| sum ^ it);
                    let sum = sum.to_le_bytes();
                    Prefix::from(session.backend(), challenges, part.start, sum)
                });
                prefix.add(&leaves[from..to], code.first(), cells);
            }
            *check = prefix.map_or(0, |prefix| prefix.check());
        });
        checks.iter().fold(0, |sum, check| sum ^ check)
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

foxtrot_kernel::redacted! {
    Trees<'_>, trees => "{}", trees.keys.len();
}
