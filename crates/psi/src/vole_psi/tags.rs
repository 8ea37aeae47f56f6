//! Tags: hashes of items and decoded values.

use core::ops::Range;

use foxtrot_kernel::memory::{prefetch, strings};
use foxtrot_ot::{Backend, Session, Usage, erase::Secret, tasks::Executor};

use super::{Digest, Parameters, RowSeed, add_products};
use crate::{
    paxos::hashes::Keyed,
    store::{Decoder, Plan},
    tags::{Answers, Part},
};

/// Bytes of an input: an item and a value.
const INPUT: usize = 32 + 16;

/// The hash with which a bucket's tags are computed.
pub(super) struct Work<'a> {
    executor: &'a dyn Executor,
    backend: Backend,
    hash: Keyed,
    bits: u32,
    /// True if keys are wanted.
    keyed: bool,
}

/// The sender's Δ, and the words of a plan's items: they turn its values into the receiver's.
pub(super) struct Shift<'a, const W: usize> {
    pub(super) delta: &'a u128,
    pub(super) words: &'a [[u8; W]],
}

impl<'a> Work<'a> {
    pub(super) fn new(
        parameters: &Parameters,
        (bucket, seed): (&'a Session, &RowSeed),
        keyed: bool,
    ) -> Self {
        let (executor, backend) = (bucket.executor(), bucket.backend());
        let (hash, bits) = (Keyed::tags(bucket, seed), parameters.tag_bits());
        Self { executor, backend, hash, bits, keyed }
    }

    /// Computes the tags of a plan's items, in the order of the plan.
    pub(super) fn run<const W: usize>(
        &self,
        (plan, decoder): (&Plan, &Decoder<'_, 16>),
        items: &[Digest],
        shift: Option<&Shift<'_, W>>,
    ) -> Result<Answers, Usage> {
        Answers::compute(self.executor, items.len(), self.keyed, |range, answers| {
            self.part((plan, decoder), items, range, shift, answers)
        })
    }

    /// Computes TOGETHER tags at most.
    fn part<const W: usize>(
        &self,
        (plan, decoder): (&Plan, &Decoder<'_, 16>),
        items: &[Digest],
        range: Range<usize>,
        shift: Option<&Shift<'_, W>>,
        mut answers: Part<'_>,
    ) -> Result<(), Usage> {
        // They are needed when the values are there.
        plan.order()[range.clone()].iter().for_each(|&index| prefetch(&items[index as usize]));
        let mut values = Secret::zeroed(range.len());
        plan.decode_range(decoder, range.clone(), strings(&mut values))?;
        values.iter_mut().for_each(|value| *value = u128::from_le(*value));
        if let Some(Shift { delta, words }) = shift {
            add_products(self.backend, **delta, &words[range.clone()], &mut values);
        }
        let mut inputs = Secret::<[u8; INPUT]>::zeroed(range.len());
        for ((input, &index), value) in inputs.iter_mut().zip(&plan.order()[range]).zip(&*values) {
            input[..32].copy_from_slice(&items[index as usize]);
            input[32..].copy_from_slice(&value.to_le_bytes());
        }
        answers.fill(self.bits, |len, answers| {
            self.hash.hash(INPUT, inputs.as_flattened(), len, answers);
        });
        Ok(())
    }
}
