//! Tags: hashes of items and rows.

use alloc::vec;
use core::ops::Range;

use foxtrot_ot::{Session, Usage, extension::one_of_n, tasks::Executor};

use super::{Digest, Parameters, RowSeed, hashes::Keyed};
use crate::{
    erase::Secret,
    store::{Decoder, Plan},
    tags::{Answers, Part},
};

/// The hashes and settings with which a bucket's tags are computed.
pub(super) struct Work<'a> {
    parameters: &'a Parameters,
    executor: &'a dyn Executor,
    words: Keyed,
    tags: Keyed,
    /// The sender's, to turn its rows into those that the receiver would have.
    shift: Option<&'a one_of_n::Sender>,
    /// True if keys are wanted.
    keyed: bool,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        parameters: &'a Parameters,
        (bucket, seed): (&'a Session, &RowSeed),
        shift: Option<&'a one_of_n::Sender>,
        keyed: bool,
    ) -> Self {
        let (words, tags) = (Keyed::words(bucket, seed), Keyed::tags(bucket, seed));
        Self { parameters, executor: bucket.executor(), words, tags, shift, keyed }
    }

    /// Computes the tags of a plan's items, in the order of the plan, from the rows of all slots.
    pub(super) fn run(&self, plan: &Plan, items: &[Digest], rows: &[u8]) -> Result<Answers, Usage> {
        if self.parameters.checked() {
            self.run_rows::<101>(plan, items, rows)
        } else {
            self.run_rows::<64>(plan, items, rows)
        }
    }

    fn run_rows<const N: usize>(
        &self,
        plan: &Plan,
        items: &[Digest],
        rows: &[u8],
    ) -> Result<Answers, Usage> {
        let decoder = self.parameters.store().decoder::<N>(rows.as_chunks().0)?;
        Answers::compute(self.executor, items.len(), self.keyed, |range, answers| {
            self.part(plan, (&decoder, range), items, answers)
        })
    }

    /// Computes TOGETHER tags at most.
    fn part<const N: usize>(
        &self,
        plan: &Plan,
        (decoder, range): (&Decoder<'_, N>, Range<usize>),
        items: &[Digest],
        mut answers: Part<'_>,
    ) -> Result<(), Usage> {
        let mut ordered = Secret::with_capacity(range.len());
        ordered.0.extend(plan.order()[range.clone()].iter().map(|&index| items[index as usize]));
        let mut rows = Secret(vec![0; range.len() * N]);
        plan.decode_range(decoder, range, rows.0.as_chunks_mut().0)?;
        if let Some(sender) = self.shift {
            let word_len = self.parameters.lengths().word_len();
            let mut words = Secret(vec![0; ordered.0.len() * word_len]);
            self.words.words_of(&ordered.0, &mut words.0, word_len);
            sender.shift_sums(&words.0, &mut rows.0)?;
        }
        answers.fill(self.parameters.tag_bits(), |len, answers| {
            self.tags.answers_of(&ordered.0, &rows.0, len, answers);
        });
        Ok(())
    }
}
