//! Tags: hashes of items and decoded values.

use alloc::vec;
use core::ops::Range;

use foxtrot_ot::{
    Backend, Session, Usage,
    erase::Secret,
    tasks::{Executor, for_each},
};

use super::{Digest, Parameters, RowSeed, add_products};
use crate::{
    okvs::{Decoder, Plan},
    paxos::hashes::{Keyed, TOGETHER},
};

/// Bytes of an input: an item and a value.
const INPUT: usize = 32 + 16;

/// The hash with which a bucket's tags are computed.
pub(super) struct Work<'a> {
    executor: &'a dyn Executor,
    backend: Backend,
    hash: Keyed,
    bits: u32,
}

/// The sender's Δ, and the words of a plan's items: they turn its values into the receiver's.
pub(super) struct Shift<'a, const W: usize> {
    pub(super) delta: &'a u128,
    pub(super) words: &'a [[u8; W]],
}

impl<'a> Work<'a> {
    pub(super) fn new(parameters: &Parameters, bucket: &'a Session, seed: &RowSeed) -> Self {
        let (executor, backend) = (bucket.executor(), bucket.backend());
        Self { executor, backend, hash: Keyed::tags(bucket, seed), bits: parameters.tag_bits() }
    }

    /// Computes the tags of a plan's items, in the order of the plan.
    pub(super) fn run<const H: usize, const W: usize>(
        &self,
        (plan, decoder): (&Plan<H>, &Decoder<'_, H, 16>),
        items: &[Digest],
        shift: Option<&Shift<'_, W>>,
    ) -> Result<Secret<u128>, Usage> {
        let mut tags = Secret::<u128>::zeroed(plan.len());
        let mut done = vec![Ok(()); tags.len().div_ceil(TOGETHER)];
        let parts = tags.chunks_mut(TOGETHER).zip(&mut done).enumerate();
        for_each(self.executor, parts, |(part, (tags, done))| {
            let first = part * TOGETHER;
            *done = self.part((plan, decoder), items, first..first + tags.len(), shift, tags);
        });
        done.into_iter().collect::<Result<(), _>>()?;
        Ok(tags)
    }

    /// Computes TOGETHER tags at most.
    fn part<const H: usize, const W: usize>(
        &self,
        (plan, decoder): (&Plan<H>, &Decoder<'_, H, 16>),
        items: &[Digest],
        range: Range<usize>,
        shift: Option<&Shift<'_, W>>,
        tags: &mut [u128],
    ) -> Result<(), Usage> {
        let mut values = Secret::<[u8; 16]>::zeroed(range.len());
        plan.decode_range(decoder, range.clone(), &mut values)?;
        if let Some(Shift { delta, words }) = shift {
            let mut sums = Secret(values.iter().map(|it| u128::from_le_bytes(*it)).collect());
            add_products(self.backend, **delta, &words[range.clone()], &mut sums);
            values.iter_mut().zip(&*sums).for_each(|(to, sum)| *to = sum.to_le_bytes());
        }
        let mut inputs = Secret::<[u8; INPUT]>::zeroed(range.len());
        for ((input, &index), value) in inputs.iter_mut().zip(&plan.order()[range]).zip(&*values) {
            input[..32].copy_from_slice(&items[index as usize]);
            input[32..].copy_from_slice(value);
        }
        let mut answers = Secret::<[u8; 16]>::zeroed(tags.len());
        self.hash.hash(INPUT, inputs.as_flattened(), 16, answers.as_flattened_mut());
        let mask = u128::MAX >> (128 - self.bits);
        let ours = tags.iter_mut().zip(&*answers);
        ours.for_each(|(tag, answer)| *tag = u128::from_le_bytes(*answer) & mask);
        Ok(())
    }
}
